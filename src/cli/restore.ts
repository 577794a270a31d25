import type { Command } from 'commander'
import { markRestored, restoreBackup } from '../copying/restore.ts'
import { systemClock, toTimestamp } from '../domain/clock.ts'
import { parseDatabaseUrl } from '../settings/database.ts'
import { databaseName } from '../store/database-location.ts'
import { isBegun } from '../store/open-store.ts'
import { isStoreUnavailable } from '../store/retry.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, MARKS, print, printJson, sanitize } from './print.ts'
import { databaseUrlOf, jsonOption, type Shell } from './shell.ts'

interface RestoreOptions {
  readonly to?: string
  readonly mark?: true
  readonly json?: true
}

export function defineRestore(command: Command, shell: Shell): void {
  command
    .argument('[backup]', 'the file that `gatepass backup` wrote')
    .option('--to <url>', 'the empty database to fill (default: GATEPASS_DATABASE_URL)')
    .option('--mark', 'only mark a database as restored, after pg_restore or a snapshot')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async (backup: string | undefined, { to, mark, json }: RestoreOptions) => {
      const place = parseDatabaseUrl(to ?? databaseUrlOf(shell))
      const database = databaseName(place)
      if ((backup === undefined) === (mark === undefined))
        throw new CommandFailure('Name the backup to restore, or use --mark alone.', EXIT.usage)
      if (backup === undefined) {
        if (!(await isBegun(place)))
          throw new CommandFailure(`There is no installation in ${database}.`, EXIT.notFound)
        await markRestored(place, systemClock())
        if (json) return printJson({ database, marked: true })
        return print(
          `${MARKS.ok} ${sanitize(database)} is marked: the next start treats it as a restored backup.`,
        )
      }
      const restored = await restoreBackup(backup, place).catch((error: unknown) => {
        throw isStoreUnavailable(error) ? new CommandFailure(error.message) : error
      })
      const takenAt = toTimestamp(restored.takenAt)
      if (json) return printJson({ backup, database, taken_at: takenAt })
      print(
        `${MARKS.ok} ${sanitize(database)} holds the backup of ${takenAt}; ${sanitize(backup)} is unchanged.`,
      )
      print('Start the servers with the master key that was in use then.')
      print(
        dim(
          'Keys revoked since then are valid again: check `gatepass keys list` first. docs/operate/backup.md lists what is invalid.',
        ),
      )
    })
}

const HELP = `
Stop all servers first. The target must not exist (SQLite) or be empty (PostgreSQL); a restore that fails leaves
nothing behind. The first start afterwards ends what was running at the time of the backup and counts refreshes whose
outcome is unknown: docs/operate/backup.md.

Examples:
  $ gatepass restore /backups/gatepass-2026-11-20.db
  $ gatepass restore gatepass-2026-11-20.db --to postgres://gatepass@db.internal/gatepass_new --json
  $ GATEPASS_DATABASE_URL=postgres://gatepass@db.internal/gatepass gatepass restore --mark`
