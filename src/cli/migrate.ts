import { type Command, InvalidArgumentError } from 'commander'
import { type CopiedCount, copyRows } from '../copying/copy-rows.ts'
import { openSource, openTarget } from '../copying/open.ts'
import { systemClock } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { admitKeys } from '../services/sealing-keys.ts'
import { parseDatabaseUrl } from '../settings/database.ts'
import {
  type DatabaseLocation,
  databaseName,
  MOST_PARTITIONS,
  MOST_SHARDS,
} from '../store/database-location.ts'
import { MOVED_FACT } from '../store/facts.ts'
import { isBegun, openStore, pendingMigrations, readFacts } from '../store/open-store.ts'
import { createSealer } from '../store/seal.ts'
import { recordInAuditTrail } from './audit-record.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, MARKS, print, printJson, quantity, sanitize, table } from './print.ts'
import { jsonOption, type Shell } from './shell.ts'
import { readSettings } from './with-broker.ts'

interface MigrateOptions {
  readonly from?: string
  readonly to?: string
  readonly force?: true
  readonly partitions?: number
  readonly distribute?: number
  readonly json?: true
}

export function defineMigrate(command: Command, shell: Shell): void {
  command
    .option('--from <url>', 'the database to move from: file:<path> or postgres://…')
    .option('--to <url>', 'the empty database to move to')
    .option('--force', 'copy again from a database that was already moved')
    .option('--partitions <number>', PARTITIONS, numberUpTo(MOST_PARTITIONS))
    .option('--distribute <shards>', DISTRIBUTE, numberUpTo(MOST_SHARDS))
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async ({ from, to, ...options }: MigrateOptions) => {
      if (from === undefined && to === undefined) return bringUpToDate(shell, options)
      if (from === undefined || to === undefined)
        throw new CommandFailure('Moving needs both --from <url> and --to <url>.', EXIT.usage)
      return move(shell, { ...options, from, to })
    })
}

async function bringUpToDate(
  { environment }: Shell,
  { json, ...form }: Pick<MigrateOptions, 'json' | 'partitions' | 'distribute'>,
): Promise<void> {
  const { database: place, masterKeys } = readSettings(environment, { makeKey: true })
  refuseForm(place, form)
  const database = databaseName(place)
  const applied = await pendingMigrations(place)
  const sealer = createSealer(masterKeys)
  const admit = (facts: ReadonlyMap<string, string>) => admitKeys(facts, sealer)
  await (await openStore(place, { admit, ...form })).close()
  if (json) return printJson({ database, applied, ...form })
  print(
    applied === 0
      ? `${MARKS.ok} ${database} is already up to date.`
      : `${MARKS.ok} ${database} is now up to date: ${quantity(applied, 'migration')} applied.`,
  )
}

/**
 * Copies every row in one transaction, compares both sides row by row, and only then commits the copy and closes the
 * source. No server can write to the source meanwhile.
 */
async function move(
  shell: Shell,
  options: MigrateOptions & { readonly from: string; readonly to: string },
): Promise<void> {
  const [from, to] = [parseDatabaseUrl(options.from), parseDatabaseUrl(options.to)]
  const [fromName, toName] = [databaseName(from), databaseName(to)]
  refuseForm(to, options)
  if (fromName === toName)
    throw new CommandFailure(`${fromName} is the source itself: name another database with --to.`, EXIT.usage)
  if (!(await isBegun(from)))
    throw new CommandFailure(`There is no installation in ${fromName}.`, EXIT.notFound)
  const movedAt = (await readFacts(from)).get(MOVED_FACT)
  if (movedAt !== undefined && !options.force)
    throw new CommandFailure(
      `${fromName} was moved to another database before. Only that one has the changes made since then. To copy the rows of this one anyway, add --force.`,
    )
  const started = performance.now()
  const counts = await copyAll(from, to, options, progressReporter()).catch((error: unknown) => {
    // both databases were reached before, so this is no outage: the exit code must not ask for a retry
    if (error instanceof CommandFailure) throw error
    if (error instanceof BrokerError) throw new CommandFailure(error.message)
    throw new CommandFailure(`Moving to ${toName} failed (${reasonOf(error)}). ${fromName} is unchanged.`)
  })
  const subject = `${fromName} to ${toName}`
  const recorded = await recordInAuditTrail(shell, to, { action: 'installation.moved', subject })
  if (options.json)
    return printJson({
      from: fromName,
      to: toName,
      tables: counts.map(({ table, rows, digest }) => ({ table, rows, digest })),
      recorded,
    })
  print(
    table(
      ['table', 'rows', 'digest of both sides'],
      counts.map(({ table, rows, digest }) => [table, rows.toLocaleString('en'), digest.slice(0, 16)]),
    ),
  )
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  print(
    `\n${MARKS.ok} Moved, and compared row by row: ${sanitize(fromName)} → ${sanitize(toName)} (${seconds} s).`,
  )
  print('Start the servers with GATEPASS_DATABASE_URL set to the new database and with the same master key.')
  print(
    dim('Servers no longer start on the old database. Delete it when you are sure you no longer need it.'),
  )
}

async function copyAll(
  from: ReturnType<typeof parseDatabaseUrl>,
  to: ReturnType<typeof parseDatabaseUrl>,
  { partitions, distribute }: Pick<MigrateOptions, 'partitions' | 'distribute'>,
  onProgress: (table: string, rows: number) => void,
): Promise<readonly CopiedCount[]> {
  await using source = await openSource(from)
  await using target = await openTarget(to, { partitions, distribute })
  const counts = await copyRows(source, target, onProgress).finally(() => {
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K') // the last line of progress
  })
  await target.commit()
  await source.finish({ name: MOVED_FACT, value: String(systemClock()) }).catch((error: unknown) => {
    throw new CommandFailure(
      `The copy in ${databaseName(to)} is complete, but ${databaseName(from)} could not be marked as moved (${reasonOf(error)}): do not start servers on the old database.`,
    )
  })
  return counts
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : 'unknown'
}

const PARTITIONS =
  'create the empty PostgreSQL database with this many partitions for connections and authorizations'

const DISTRIBUTE =
  'create the empty database of Citus with connections and authorizations in this many shards on its workers'

function numberUpTo(most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
    if (number < 2 || number > most) throw new InvalidArgumentError(`Give a whole number from 2 to ${most}.`)
    return number
  }
}

function refuseForm(
  place: DatabaseLocation,
  { partitions, distribute }: Pick<MigrateOptions, 'partitions' | 'distribute'>,
): void {
  if (partitions !== undefined && distribute !== undefined)
    throw new CommandFailure(
      '--partitions and --distribute are two forms of the same tables: give one of them.',
      EXIT.usage,
    )
  if (place.kind === 'postgres') return
  if (partitions !== undefined)
    throw new CommandFailure('--partitions is for PostgreSQL: SQLite has no partitions.', EXIT.usage)
  if (distribute !== undefined)
    throw new CommandFailure('--distribute is for PostgreSQL with Citus: SQLite is one file.', EXIT.usage)
}

function progressReporter(): (table: string, rows: number) => void {
  return (table, rows) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${table}: ${rows.toLocaleString('en')} rows`)
  }
}

const EXAMPLES = `
Moving: stop all servers first. The target must be empty, and stays empty if the copy fails. The source keeps all its
rows, but no server starts on it afterwards, so that it is not used by mistake. If only marking the source fails, the
copy is complete: do not start servers on the old database.

--partitions: for an empty PostgreSQL database of tens of millions of users. --distribute: for an empty database of Citus,
whose workers hold the rows. docs/operate/scaling.md says what each of them changes.

Examples:
  $ gatepass migrate
  $ gatepass migrate --partitions 64
  $ gatepass migrate --distribute 32
  $ gatepass migrate --from file:/var/lib/gatepass/gatepass.db --to postgres://gatepass:…@db.internal/gatepass
  $ gatepass migrate --from postgres://gatepass:…@db.internal/gatepass --to file:gatepass.db --json`
