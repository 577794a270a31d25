import { addOwnerBits, OWNER_TABLES, type Query } from './owner-tables.ts'

/** Replaces the plain tables, which are empty, by tables that are partitioned by a hash of `owner_bits`. */
export async function partitionTables(query: Query, partitions: number): Promise<void> {
  for (const table of OWNER_TABLES) {
    await addOwnerBits(query, table, { partitioned: true })
    for (let i = 0; i < partitions; i++)
      await query(
        `create table ${table}_${i} partition of ${table} for values with (modulus ${partitions}, remainder ${i})`,
      )
  }
}
