import { BrokerError } from '../../../domain/errors.ts'

/** Runs a statement on a connection of its own. */
export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<readonly { readonly [column: string]: unknown }[]>

/** The tables whose rows belong to an owner (`src/store/partitions.ts`). No other table refers to them. */
export const OWNER_TABLES = ['connections', 'authorizations'] as const

/**
 * The form of these tables, which a database gets when it is created. PostgreSQL cannot change it in place.
 *
 * - `partitions`: `count` partitions on the same server (`partitioning.ts`).
 * - `distributed`: `count` shards on the machines of a distributed engine (`distribution.ts`).
 */
export interface OwnerForm {
  readonly kind: 'partitions' | 'distributed'
  readonly count: number
}

/**
 * The entry in `schema_migrations` of a database with such a form, such as `partitions 64`. Releases that do not know the
 * form refuse the database.
 */
export function markOf({ kind, count }: OwnerForm): string {
  return `${kind} ${count}`
}

export function isFormMark(hash: string): boolean {
  return /^(partitions|distributed) /.test(hash)
}

/** The form by the entries of `schema_migrations`; `undefined`: plain tables without `owner_bits`. */
export function formIn(done: Iterable<string>): OwnerForm | undefined {
  const [kind, count] = [...done].find(isFormMark)?.split(' ') ?? []
  return kind === 'partitions' || kind === 'distributed' ? { kind, count: Number(count) } : undefined
}

/** The error for a database that was created in another form than `wanted`. */
export function alreadyInUse(name: string, existing: OwnerForm | undefined, wanted: OwnerForm): BrokerError {
  const has =
    existing === undefined
      ? `has no ${wanted.kind === 'partitions' ? 'partitions' : 'distributed tables'}`
      : existing.kind === 'partitions'
        ? `has ${existing.count} partitions`
        : `is distributed over ${existing.count} shards`
  const [what, command] =
    wanted.kind === 'partitions'
      ? ['Partitions are', 'gatepass migrate --from <url> --to <url> --partitions <number>']
      : ['The distributed form is', 'gatepass migrate --from <url> --to <url> --distribute <shards>']
  return new BrokerError(
    'already_exists',
    `${name} is in use and ${has}. ${what} chosen when a database is created. Copy it into an empty one: ${command}.`,
  )
}

/**
 * Replaces an empty table by one with the same columns, keys and indexes and the column `owner_bits`. PostgreSQL requires
 * this column in the primary key and each unique index of a table that is divided by it. It comes last there, so that they
 * still serve statements that have only an id.
 */
export async function addOwnerBits(
  query: Query,
  table: string,
  { partitioned }: { readonly partitioned: boolean },
): Promise<void> {
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
      ${partitioned ? 'partition by hash (owner_bits)' : ''}`,
  )
  await query(`drop table ${table}_plain`)
  for (const { name, kind, definition } of constraints) {
    if (kind === 'f' && !partitioned) continue // the other table is on another machine
    await query(
      `alter table ${table} add constraint "${name}" ${kind === 'f' ? definition : withOwnerBits(definition)}`,
    )
  }
  for (const { definition } of indexes) await query(withOwnerBitsIfUnique(definition))
}

function withOwnerBits(definition: unknown): string {
  return String(definition).replace(/\(([^()]+)\)/, '($1, owner_bits)')
}

function withOwnerBitsIfUnique(definition: unknown): string {
  const text = String(definition)
  return text.startsWith('CREATE UNIQUE') ? withOwnerBits(text) : text
}
