import { createHash } from 'node:crypto'
import { getTableColumns, getTableName } from 'drizzle-orm'
import { type ForeignKey, getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import { BrokerError } from '../domain/errors.ts'
import type { DatabaseLocation } from '../store/database-location.ts'
import { LAST_BACKUP_FACT, MOVED_FACT } from '../store/facts.ts'
import { migrationsAfter } from '../store/migrations.ts'
import { sqliteKit } from '../store/schema-kit.ts'
import { allTables, storeParts } from '../store/store-parts.ts'

const tables = allTables(sqliteKit)

// Copies whole installations from one database to another: rows unchanged, secrets still sealed. The readers and writers
// of each database are in `sqlite.ts` and `postgres.ts`.

/** A table as both backends have it. */
export interface CopiedTable {
  readonly name: string
  readonly columns: readonly CopiedColumn[]
  /** The columns of the primary key. */
  readonly key: readonly string[]
}

export interface CopiedColumn {
  readonly name: string
  readonly kind: 'text' | 'whole' | 'flag'
}

/** The values of a row in the order of the table's columns. Flags are 0 and 1. */
export type Row = readonly (string | number | null)[]

/**
 * Tables that are not copied, because servers fill them again: the heartbeats of processes and servers, and who works on
 * which audit trail.
 */
const REBUILT_TABLES: readonly SQLiteTable[] = [
  tables.processes,
  tables.servers,
  tables.auditProgress,
  ...storeParts.flatMap(({ rebuilt = [] }) => rebuilt.map((name) => tables[name])),
]

/** The tables that are copied, each after those it refers to. The change feed is not copied. */
export const COPIED_TABLES: readonly CopiedTable[] = inOrder(
  Object.values(tables)
    .filter((table) => !REBUILT_TABLES.includes(table))
    .sort((a, b) => (getTableName(a) < getTableName(b) ? -1 : 1)),
).map((table) => {
  const columns = Object.values(getTableColumns(table))
  const { primaryKeys } = getTableConfig(table)
  const key = primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
  return {
    name: getTableName(table),
    columns: columns.map(({ name, dataType }) => ({
      name,
      kind: dataType === 'number' ? 'whole' : dataType === 'boolean' ? 'flag' : 'text',
    })),
    key: key.map(({ name }) => name),
  }
})

function inOrder(tables: readonly SQLiteTable[]): SQLiteTable[] {
  const done: SQLiteTable[] = []
  while (done.length < tables.length) {
    const ready = tables.filter(
      (table) => !done.includes(table) && getTableConfig(table).foreignKeys.every(refersTo(done)),
    )
    if (ready.length === 0) throw new Error('the tables refer to each other in a circle')
    done.push(...ready)
  }
  return done
}

function refersTo(tables: readonly SQLiteTable[]) {
  return (key: ForeignKey) => tables.includes(key.reference().foreignTable as SQLiteTable) // of this same schema
}

/** Reads one snapshot of a database, in the byte order of each table's key. */
export interface RowReader {
  /** The rows of a table, `PAGE` at a time. The caller reads a table to its end before it reads another. */
  pages(table: CopiedTable): AsyncIterable<readonly Row[]>
}

export interface RowSource extends RowReader, AsyncDisposable {
  /** Ends the snapshot, and writes the fact if one is given. Throws when another process has written meanwhile. */
  finish(fact?: Fact): Promise<void>
}

/** An empty database of this release, which is filled in one transaction. */
export interface RowTarget extends RowReader, AsyncDisposable {
  insert(table: CopiedTable, rows: readonly Row[]): Promise<void>
  /** Commits durably, and writes the fact if one is given. */
  commit(fact?: Fact): Promise<void>
}

export interface Fact {
  readonly name: string
  readonly value: string
}

/** How many rows of a table were copied. */
export interface CopiedCount {
  readonly table: string
  readonly rows: number
  /** SHA-256 over the digests of all rows in the order of their keys. */
  readonly digest: string
}

/** How many rows are read and written at a time. */
export const PAGE = 500
/** Facts that concern only the database they are in. They are not copied. */
const FACTS_LEFT_BEHIND = ['probe', MOVED_FACT, LAST_BACKUP_FACT]

/**
 * Copies every row, then reads source and target side by side and compares them row by row. Commits nothing. Throws
 * `store_unavailable` when a row of the target differs from the source.
 */
export async function copyRows(
  source: RowReader,
  target: RowTarget,
  onProgress: (table: string, rows: number) => void = () => {},
): Promise<readonly CopiedCount[]> {
  for (const table of COPIED_TABLES) {
    let copied = 0
    for await (const rows of copiedPages(source, table)) {
      await target.insert(table, rows)
      copied += rows.length
      onProgress(table.name, copied)
    }
  }
  const counts: CopiedCount[] = []
  for (const table of COPIED_TABLES) counts.push(await compare(source, target, table))
  return counts
}

async function compare(source: RowReader, target: RowReader, table: CopiedTable): Promise<CopiedCount> {
  const all = createHash('sha256')
  const copies = eachRow(target, table)
  let rows = 0
  for await (const original of eachRow(source, table)) {
    const { value: copy } = await copies.next()
    const digest = digestOf(original)
    if (copy === undefined || digestOf(copy) !== digest) throw differs(table, original)
    all.update(digest)
    rows++
  }
  const more = await copies.next()
  if (!more.done) throw differs(table, more.value)
  return { table: table.name, rows, digest: all.digest('hex') }
}

async function* eachRow(reader: RowReader, table: CopiedTable): AsyncGenerator<Row, undefined> {
  for await (const rows of copiedPages(reader, table)) yield* rows
  return undefined
}

async function* copiedPages(reader: RowReader, table: CopiedTable): AsyncGenerator<readonly Row[]> {
  for await (const rows of reader.pages(table)) {
    const copied = table.name === 'facts' ? rows.filter(([name]) => !isLeftBehind(name)) : rows
    if (copied.length > 0) yield copied
  }
}

function isLeftBehind(name: Row[number] | undefined): boolean {
  return FACTS_LEFT_BEHIND.includes(String(name))
}

function digestOf(row: Row): string {
  return createHash('sha256').update(JSON.stringify(row)).digest('hex')
}

function differs(table: CopiedTable, row: Row): BrokerError {
  return new BrokerError(
    'store_unavailable',
    `The copy of ${table.name} differs from the source (at key ${keyOf(table, row).join(' ')}). Nothing was kept of the copy.`,
  )
}

/** The values of the row's primary key. */
export function keyOf({ columns, key }: CopiedTable, row: Row): Row {
  return key.map((name) => row[columns.findIndex((column) => column.name === name)] ?? null)
}

/** Converts what a driver gives to the form that both databases write: whole numbers, flags as 0 and 1. */
export function toRow({ columns }: CopiedTable, values: Readonly<Record<string, unknown>>): Row {
  return columns.map(({ name, kind }) => {
    const value = values[name]
    if (value === null || value === undefined) return null
    if (kind === 'text') return String(value)
    return kind === 'flag' ? Number(Boolean(Number(value))) : Math.floor(Number(value))
  })
}

/** The refusal to copy a database of another release. */
export function ofAnotherRelease(name: string): BrokerError {
  return new BrokerError(
    'store_unavailable',
    `${name} does not have the tables of this release. Use the release that it was last started with, or, if there is a backup, bring it up to date first (\`gatepass migrate\` on it).`,
  )
}

/** The refusal to copy into a database that has rows. */
export function notEmpty(name: string): BrokerError {
  return new BrokerError(
    'store_unavailable',
    `${name} has something in it already. Name a database that is empty, or not there yet.`,
  )
}

/** Whether a database has exactly this release's migrations, tables and columns. `done`: hashes of its migrations. */
export function isOfThisRelease(
  database: DatabaseLocation['kind'],
  done: ReadonlySet<string>,
  columnsOf: ReadonlyMap<string, readonly string[]>,
): boolean {
  const migrations = migrationsAfter(database, new Set())
  const known = new Set([...COPIED_TABLES.map(({ name }) => name), ...OWN_TABLES])
  return (
    done.size === migrations.length &&
    migrations.every(({ hash }) => done.has(hash)) &&
    [...columnsOf.keys()].every((name) => known.has(name)) &&
    COPIED_TABLES.every(({ name, columns }) => {
      const actual = [...(columnsOf.get(name) ?? [])].sort().join()
      return (
        actual ===
        columns
          .map((column) => column.name)
          .sort()
          .join()
      )
    })
  )
}

/** Tables that are not copied, because each database fills its own. */
const OWN_TABLES = [
  ...REBUILT_TABLES.map(getTableName),
  'schema_migrations',
  'commits',
  'changes',
  'audit_heads',
]
