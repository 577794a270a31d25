import type { Query } from './partitioning.ts'

// CREATE INDEX refuses writes to its table until it has read all of it: minutes for millions of rows, while the nodes of
// the former release still serve. So the indexes that migrations add to tables with rows are built before the migrations'
// transaction, CONCURRENTLY, which no transaction may contain. It can be repeated after a crash at any step.

const ADDS_COLUMN = /^ALTER TABLE "(\w+)" ADD COLUMN (?="(\w+)")/
const BUILDS_INDEX = /^CREATE INDEX (?="(\w+)" ON "(\w+)")/

/**
 * Adds the columns and builds the indexes that these statements of migrations would, on tables that are there already.
 * What needs a column or a table that only the migrations make is left to them.
 */
export async function buildIndexes(query: Query, statements: readonly string[]): Promise<void> {
  const tables = await tablesWithRows(query)
  const missing = new Set<string>()
  for (const text of statements) {
    const [, table = '', column = ''] = ADDS_COLUMN.exec(text) ?? []
    // else the former release could add no row without it
    const isOptional = !text.includes('NOT NULL') || text.includes(' DEFAULT ')
    if (tables.has(table) && isOptional) await query(repeatable(text))
    else if (column !== '') missing.add(column)
  }
  for (const text of statements) {
    const [, index = '', table = ''] = BUILDS_INDEX.exec(text) ?? []
    if (!tables.has(table) || text.match(/\w+/g)?.some((word) => missing.has(word))) continue
    // a build that was broken off leaves an index that is not valid, and in the way of the next one
    const [left] = await query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
      `"${index}"`,
    ])
    if (left !== undefined) await query(`drop index concurrently if exists "${index}"`)
    await query(text.replace(BUILDS_INDEX, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS '))
  }
}

/** A statement of a migration that does nothing where `buildIndexes` has done it. */
export function repeatable(text: string): string {
  return text
    .replace(BUILDS_INDEX, 'CREATE INDEX IF NOT EXISTS ')
    .replace(ADDS_COLUMN, (match) => `${match}IF NOT EXISTS `)
}

/** Without those that have partitions: PostgreSQL builds no index concurrently for them. */
async function tablesWithRows(query: Query): Promise<ReadonlySet<string>> {
  const rows = await query(
    `select relname as name from pg_class
     where relnamespace = current_schema()::regnamespace and relkind = 'r' and not relispartition`,
  )
  return new Set(rows.map(({ name }) => String(name)))
}
