import { type SQL, sql } from 'drizzle-orm'

/** Sets the time of each, unless another node has written a later one. */
export function latest(
  table: 'api_keys' | 'connections' | 'secrets',
  column: 'last_used_at' | 'last_accessed_at',
  uses: ReadonlyMap<string, number>,
): SQL {
  const of = sql.identifier(table)
  const at = sql.identifier(column)
  const ids = sql.param([...uses.keys()])
  const times = sql.param([...uses.values()])
  return sql`update ${of} set ${at} = greatest(${of}.${at}, used.at)
    from unnest(${ids}::text[], ${times}::bigint[]) as used(id, at) where ${of}.id = used.id`
}
