import { readdirSync, readFileSync } from 'node:fs'
import { runSql } from '../postgres.ts'

// What databases with partitions or shards have in common.

/** Columns, constraints and indexes of the two tables of owners, without the column `owner_bits` itself. */
export async function shapeOf(url: string): Promise<readonly string[]> {
  const { rows } = await runSql(
    url,
    `select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
        pg_get_expr(adbin, adrelid)) as line
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid in ('connections'::regclass, 'authorizations'::regclass)
        and attnum > 0 and attname <> 'owner_bits'
    union all
    select concat_ws(' ', pg_get_constraintdef(oid), conrelid::regclass, conname) from pg_constraint
      where conrelid in ('connections'::regclass, 'authorizations'::regclass) and contype in ('p', 'u', 'f')
    union all
    select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') from pg_index
      where indrelid in ('connections'::regclass, 'authorizations'::regclass)`,
  )
  return rows.map(({ line }) => String(line)).sort()
}

export function isUnique(line: string): boolean {
  return /^CREATE UNIQUE|^PRIMARY KEY|^UNIQUE/.test(line)
}

/** The statements of migrations that came after the first form with `owner_bits`, as far as they name one of its tables. */
export function laterStatements(): readonly string[] {
  const folder = new URL('../../drizzle/postgres/', import.meta.url)
  const later = readdirSync(folder).filter((name) => name.endsWith('.sql') && name > '0012_lists_by_uid.sql')
  return later
    .flatMap((name) => readFileSync(new URL(name, folder), 'utf8').split('--> statement-breakpoint'))
    .filter((text) => /"(connections|authorizations)"/.test(text))
}
