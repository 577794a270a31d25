import { basename } from 'node:path'
import type { Command } from 'commander'
import { backUp } from '../copying/backup.ts'
import { systemClock, toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { parseDatabaseUrl } from '../settings/database.ts'
import { databaseName } from '../store/database-location.ts'
import { LAST_BACKUP_FACT } from '../store/facts.ts'
import { isBegun } from '../store/open-store.ts'
import { recordInAuditTrail } from './audit-record.ts'
import { CommandFailure } from './failure.ts'
import { dim, MARKS, print, printJson, quantity, sanitize } from './print.ts'
import { databaseUrlOf, jsonOption, type Shell } from './shell.ts'

interface BackupOptions {
  readonly to: string
  readonly json?: true
}

export function defineBackup(command: Command, shell: Shell): void {
  command
    .requiredOption('--to <path>', 'the file to write; it must not exist yet')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async ({ to, json }: BackupOptions) => {
      const database = parseDatabaseUrl(databaseUrlOf(shell))
      if (!(await isBegun(database)))
        throw new CommandFailure(
          `There is no database ${databaseName(database)} yet. Set GATEPASS_DATABASE_URL to the database that the server uses.`,
        )
      const started = performance.now()
      const takenAt = systemClock()
      const { bytes, rows } = await backUp(database, to, takenAt).catch((error: unknown) => {
        // the database was reached before, so this is no outage: the exit code must not ask for a retry
        throw error instanceof BrokerError ? new CommandFailure(error.message) : error
      })
      const event = { action: 'installation.backed_up', subject: basename(to) } as const
      const recorded = await recordInAuditTrail(shell, database, event, ({ store }) =>
        store.facts.put(LAST_BACKUP_FACT, String(takenAt)),
      )
      if (json) return printJson({ path: to, taken_at: toTimestamp(takenAt), bytes, rows, recorded })
      const { connections = 0, providers = 0, projects = 0, tools = 0 } = rows
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      print(`${MARKS.ok} ${sanitize(to)}: ${size(bytes)}, checked (${seconds} s).`)
      print(
        `  ${quantity(connections, 'connection')}, ${quantity(providers, 'provider')}, ${quantity(tools, 'tool')}, ${quantity(projects, 'project')}`,
      )
      print(
        dim(
          '  Its tokens and secrets open only with the master key, which is not in the file. Keep the key elsewhere.',
        ),
      )
      if (!recorded)
        print(
          dim(
            '  Not recorded in the audit trail, which requires the master key and a database of this release.',
          ),
        )
    })
}

function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

const HELP = `
The file is a SQLite database, even if the installation uses PostgreSQL. To restore it, stop all servers, then
  gatepass restore <backup>
into the database of GATEPASS_DATABASE_URL, which must be empty or not exist yet, and start the servers with the same master key.
Tokens that were rotated after the backup are invalid: docs/operate/backup.md.

Examples:
  $ gatepass backup --to /backups/gatepass-$(date +%F).db
  $ GATEPASS_DATABASE_URL=postgres://gatepass@db.internal/gatepass gatepass backup --to gatepass.db --json`
