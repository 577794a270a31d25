import type { Query } from './partitioning.ts'

// CREATE INDEX blocks writes to its table until it has read all rows. That takes minutes for millions of rows, while nodes
// of the former release still serve. So the indexes that migrations add to existing tables are built CONCURRENTLY, before
// the migrations' transaction, since a transaction may not contain it. After a crash at any step it can be repeated.

const ADDS_COLUMN = /^ALTER TABLE "(\w+)" ADD COLUMN (?="(\w+)")/
const BUILDS_INDEX = /^CREATE INDEX (?="(\w+)" ON "(\w+)")/

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
    if (tables.has(table) && isOptional) await query(repeatable(text))
    else if (column !== '') missing.add(column)
  }
  for (const text of statements) {
    const [, index = '', table = ''] = BUILDS_INDEX.exec(text) ?? []
    if (!tables.has(table) || text.match(/\w+/g)?.some((word) => missing.has(word))) continue
    // an interrupted build leaves an invalid index of the same name
    const [invalid] = await query(
      'select from pg_index where indexrelid = to_regclass($1) and not indisvalid',
      [`"${index}"`],
    )
    if (invalid !== undefined) await query(`drop index concurrently if exists "${index}"`)
    await query(text.replace(BUILDS_INDEX, 'CREATE INDEX CONCURRENTLY IF NOT EXISTS '))
  }
}

/** The statement of a migration, changed so that it does nothing where `buildIndexes` has run it already. */
export function repeatable(text: string): string {
  return text
    .replace(BUILDS_INDEX, 'CREATE INDEX IF NOT EXISTS ')
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
