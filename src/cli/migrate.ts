import type { Command } from 'commander'
import { databaseName } from '../store/database-place.ts'
import { openStore, pendingMigrations } from '../store/open-store.ts'
import { MARKS, print, printJson } from './print.ts'
import { jsonOption, type Shell } from './shell.ts'
import { readSettings } from './with-broker.ts'

export function addMigrate(program: Command, { environment }: Shell): void {
  program
    .command('migrate')
    .description("bring the database's schema up to date, as each start does by itself")
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async ({ json }: { json?: true }) => {
      const { database: place } = readSettings(environment, { makeKey: true })
      const database = databaseName(place)
      const applied = await pendingMigrations(place)
      await (await openStore(place)).close()
      if (json) return printJson({ database, applied })
      print(
        applied === 0
          ? `${MARKS.ok} ${database} is up to date already.`
          : `${MARKS.ok} ${database} is up to date now: ${applied} migration${applied === 1 ? '' : 's'} applied.`,
      )
    })
}

const EXAMPLES = `
Examples:
  $ gatepass migrate
  $ GATEPASS_DATABASE_URL=postgres://gatepass@db.internal/gatepass gatepass migrate --json`
