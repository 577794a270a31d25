import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Query } from './owner-tables.ts'

// CREATE INDEX blocks writes to its table until it has read all rows. That takes minutes for millions of rows, while nodes
// of the former release still serve. So the indexes that migrations add to existing tables are built CONCURRENTLY, before
// the migrations' transaction, since a transaction may not contain it. After a crash at any step it can be repeated.

const ADDS_COLUMN = /^ALTER TABLE "(\w+)" ADD COLUMN (?="(\w+)")/
const BUILDS_INDEX = /^CREATE (UNIQUE )?INDEX (?="(\w+)" ON "(\w+)")/

/**
 * Adds the columns and builds the indexes of these migration statements, as far as they concern existing tables. An index
 * is left to the migrations when it needs a column or table that only they can add.
 */
export async function buildIndexes(query: Query, statements: readonly string[]): Promise<void> {
  const tables = await existingTables(query)
  const missing = new Set<string>()
  for (const text of statements) {
    const [, table = '', column = ''] = ADDS_COLUMN.exec(text) ?? []
    // the former release adds rows without the column
    const isOptional = !text.includes('NOT NULL') || text.includes(' DEFAULT ')
    if (tables.has(table) && isOptional) await alter(query, repeatable(text))
    else if (column !== '') missing.add(column)
  }
  for (const text of statements) {
    const [, , index = '', table = ''] = BUILDS_INDEX.exec(text) ?? []
    if (!tables.has(table) || text.match(/\w+/g)?.some((word) => missing.has(word))) continue
    // an interrupted build leaves an invalid index of the same name
    const [invalid] = await query(
      'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      [`"${index}"`],
    )
    if (invalid !== undefined) await query(`drop index concurrently if exists "${index}"`)
    await query(text.replace(BUILDS_INDEX, created('CONCURRENTLY IF NOT EXISTS')))
  }
}

const LOCK_NOT_AVAILABLE = '55P03'
/** How often a column is tried: a transaction that runs for longer, such as a dump, ends the start. */
const TRIES = 600

/**
 * Changes a table. While ALTER TABLE waits for a transaction that uses the table, all others wait behind it, so it waits
 * for a second at most, and is tried again.
 */
async function alter(query: Query, text: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    await query("set lock_timeout = '1s'")
    try {
      await query(text)
      await query('reset lock_timeout')
      return
    } catch (error) {
      const isLocked = error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE
      if (!isLocked || tries === TRIES) throw error
    }
    await pause(200)
  }
}

function created(how: string): (statement: string, unique?: string) => string {
  return (_, unique = '') => `CREATE ${unique}INDEX ${how} `
}

/** The statement of a migration, changed so that it does nothing where `buildIndexes` has run it already. */
export function repeatable(text: string): string {
  return text
    .replace(BUILDS_INDEX, created('IF NOT EXISTS'))
    .replace(ADDS_COLUMN, (match) => `${match}IF NOT EXISTS `)
}

/** The existing tables, without partitioned ones: PostgreSQL builds no index concurrently for them. */
async function existingTables(query: Query): Promise<ReadonlySet<string>> {
  const rows = await query(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition`,
  )
  return new Set(rows.map(({ name }) => String(name)))
}
