import { BrokerError } from '../../../domain/errors.ts'

/** Runs a statement on a connection of its own. */
export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<readonly { readonly [column: string]: unknown }[]>

/** The tables whose rows belong to an owner (`src/store/partitions.ts`). No other table refers to them. */
const PARTITIONED = ['connections', 'authorizations'] as const

/**
 * Replaces the plain tables, which are empty, by tables that are partitioned by a hash of `owner_bits`, with the same
 * columns, foreign keys and indexes. PostgreSQL requires `owner_bits` in primary keys and unique indexes. It comes last
 * there, so that they still serve statements that have only an id.
 */
export async function partitionTables(query: Query, partitions: number): Promise<void> {
  for (const table of PARTITIONED) {
    const constraints = await query(
      `select conname::text as name, contype::text as kind, pg_get_constraintdef(oid) as definition
        from pg_constraint where conrelid = $1::regclass and contype in ('p', 'u', 'f') order by contype desc, conname`,
      [table],
    )
    const indexes = await query(
      `select pg_get_indexdef(indexrelid) as definition from pg_index
        where indrelid = $1::regclass
          and not exists (select 1 from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))
        order by indexrelid`,
      [table],
    )
    await query(`alter table ${table} rename to ${table}_plain`)
    await query(
      `create table ${table} (like ${table}_plain including defaults, owner_bits text not null)
        partition by hash (owner_bits)`,
    )
    await query(`drop table ${table}_plain`)
    for (const { name, kind, definition } of constraints)
      await query(
        `alter table ${table} add constraint "${name}" ${kind === 'f' ? definition : withOwnerBits(definition)}`,
      )
    for (const { definition } of indexes) await query(withOwnerBitsIfUnique(definition))
    for (let i = 0; i < partitions; i++)
      await query(
        `create table ${table}_${i} partition of ${table} for values with (modulus ${partitions}, remainder ${i})`,
      )
  }
  await query('insert into schema_migrations values ($1, 0)', [`${MARK}${partitions}`])
}

/** The entry in `schema_migrations` of a database with partitions. Releases that do not know partitions refuse it. */
const MARK = 'partitions '

/** How many partitions the tables have, by the entries of `schema_migrations`; `undefined`: they are not partitioned. */
export function partitionsIn(done: Iterable<string>): number | undefined {
  const [mark] = [...done].filter(isPartitionsMark)
  return mark === undefined ? undefined : Number(mark.slice(MARK.length))
}

export function isPartitionsMark(hash: string): boolean {
  return hash.startsWith(MARK)
}

/** The error for tables that have another number of partitions, or none: PostgreSQL cannot change this in place. */
export function alreadyInUse(name: string, existing: number | undefined): BrokerError {
  const has = existing === undefined ? 'has no partitions' : `has ${existing} partitions`
  return new BrokerError(
    'already_exists',
    `${name} is in use and ${has}. Partitions are chosen when a database is created. Copy it into an empty one: gatepass migrate --from <url> --to <url> --partitions <number>.`,
  )
}

function withOwnerBits(definition: unknown): string {
  return String(definition).replace(/\(([^()]+)\)/, '($1, owner_bits)')
}

function withOwnerBitsIfUnique(definition: unknown): string {
  const text = String(definition)
  return text.startsWith('CREATE UNIQUE') ? withOwnerBits(text) : text
}
