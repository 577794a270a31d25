import { closeSync, existsSync, openSync } from 'node:fs'
import Database from 'better-sqlite3'
import { BrokerError } from '../domain/errors.ts'
import { openDatabase, reasonOf } from '../store/dialects/sqlite/file.ts'
import { migrateDatabase } from '../store/dialects/sqlite/migrations.ts'
import {
  COPIED_TABLES,
  type Fact,
  isOfThisRelease,
  keyOf,
  notEmpty,
  ofAnotherRelease,
  PAGE,
  type Row,
  type RowReader,
  type RowSource,
  type RowTarget,
  toRow,
} from './copy-rows.ts'
import { discard } from './durable-file.ts'

/**
 * Opens the file exclusively: no other process can open it until the source is closed. Throws `store_unavailable` if another
 * process has it open, or if it is of another release.
 */
export function openSqliteSource(path: string): RowSource {
  if (!existsSync(path)) throw new BrokerError('store_unavailable', `There is no database ${path}.`)
  const client = new Database(path, { fileMustExist: true })
  try {
    client.pragma('busy_timeout = 1000')
    client.pragma('synchronous = full')
    client.pragma('locking_mode = exclusive')
    client.exec('begin exclusive')
    const tables = tablesOf(client)
    const done = tables.has('schema_migrations') ? migrationsDone(client) : new Set<string>()
    if (!isOfThisRelease('sqlite', done, tables)) throw ofAnotherRelease(path)
  } catch (error) {
    client.close()
    throw toRefusal(path, error)
  }
  return {
    pages: reader(client),
    async finish(fact) {
      if (fact !== undefined) putFact(client, fact)
      client.exec('commit')
    },
    async [Symbol.asyncDispose]() {
      close(client)
    },
  }
}

/**
 * Opens a new or empty file. A file that this call made is removed if it is closed without a commit. Throws
 * `store_unavailable` if it cannot be made or holds rows.
 */
export function openSqliteTarget(path: string): RowTarget {
  const isNew = !existsSync(path)
  if (isNew) makeFile(path)
  const client = openDatabase(path)
  let isKept = !isNew
  const closeTarget = () => {
    close(client)
    if (!isKept) discard(path)
  }
  try {
    migrateDatabase(client)
    client.exec('begin exclusive')
    for (const { name } of COPIED_TABLES)
      if (client.prepare(`select 1 from ${name} limit 1`).get() !== undefined) throw notEmpty(path)
  } catch (error) {
    closeTarget()
    throw toRefusal(path, error)
  }
  return {
    pages: reader(client),
    async insert({ name, columns }, rows) {
      const insert = client.prepare(
        `insert into ${name} (${columns.map((column) => column.name).join()}) values (${columns.map(() => '?').join()})`,
      )
      for (const row of rows) insert.run(row)
    },
    async commit(fact) {
      if (fact !== undefined) putFact(client, fact)
      client.exec('commit')
      isKept = true
    },
    async [Symbol.asyncDispose]() {
      closeTarget()
    },
  }
}

function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    throw new BrokerError('store_unavailable', `The database ${path} cannot be made (${reasonOf(error)}).`, {
      cause: error,
    })
  }
}

function reader(client: Database.Database): RowReader['pages'] {
  return async function* (table) {
    const select = `select ${table.columns.map(({ name }) => name).join()} from ${table.name}`
    const key = table.key.join()
    const order = `order by ${key} limit ${PAGE}`
    const first = client.prepare<[], Record<string, unknown>>(`${select} ${order}`)
    const next = client.prepare<unknown[], Record<string, unknown>>(
      `${select} where (${key}) > (${table.key.map(() => '?').join()}) ${order}`,
    )
    for (let after: Row | undefined; ; ) {
      const found = after === undefined ? first.all() : next.all(...keyOf(table, after))
      const rows = found.map((row) => toRow(table, row))
      yield rows
      if (rows.length < PAGE) return
      after = rows.at(-1)
    }
  }
}

function migrationsDone(client: Database.Database): ReadonlySet<string> {
  return new Set(client.prepare<[], string>('select hash from schema_migrations').pluck().all())
}

/** The tables except those that SQLite makes, such as `sqlite_stat1` of ANALYZE. */
function tablesOf(client: Database.Database): ReadonlyMap<string, readonly string[]> {
  const names = client
    .prepare<[], string>("select name from sqlite_master where type = 'table' and name not glob 'sqlite_*'")
    .pluck()
    .all()
  const columns = client.prepare<[string], string>('select name from pragma_table_info(?)').pluck()
  return new Map(names.map((name) => [name, columns.all(name)]))
}

function putFact(client: Database.Database, { name, value }: Fact): void {
  client.prepare('insert or replace into facts (name, value) values (?, ?)').run(name, value)
}

function close(client: Database.Database): void {
  if (client.open && client.inTransaction) client.exec('rollback')
  client.close()
}

function toRefusal(path: string, error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  return new BrokerError(
    'store_unavailable',
    error.code.startsWith('SQLITE_BUSY')
      ? `Another process has ${path} open. Stop all servers and commands on it first.`
      : `${path} cannot be used (${error.message}).`,
    { cause: error },
  )
}
