import { and, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import { ownerBitsOf } from '../domain/ids.ts'
import type { Database } from './database.ts'
import { bitsOfIds, inPartitions, ownerColumn, type SeveralOwners } from './partitions.ts'

/** Writes when each row was last used, by id. A later time that is already stored stays. */
export type WriteLastUse = (uses: ReadonlyMap<string, EpochSeconds>) => Promise<void>

/** `member`: the column of the table that holds the time of the last use. */
export function createLastUse<Member extends string>(
  { query, statement, write, dialect }: Database,
  table: SQLiteTable & Readonly<Record<'id' | Member, AnySQLiteColumn>>,
  member: Member,
): WriteLastUse {
  const rows: SQLiteTable = table
  const { id, [member]: column } = table
  const at = sql`cast(used.value as bigint)`
  const useWhere = (owners?: (p: SeveralOwners) => SQL | undefined) =>
    statement((p: Partial<SeveralOwners> & { uses: Readonly<Record<string, EpochSeconds>> }) =>
      query
        .update(rows)
        .set({ [member]: sql`case when ${column} > ${at} then ${column} else ${at} end` })
        .from(sql`${dialect.membersOf(p.uses)} as used`)
        .where(and(sql`${id} = used.key`, owners?.(p as SeveralOwners)))
        .returning({ id }),
    )
  const use = useWhere()
  const owner = ownerColumn(table)
  if (owner === undefined)
    return async (uses) => {
      await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
    }

  // a database with partitions looks for ids of older releases in all of them, and for others in their own
  const useInPartitions = useWhere((p) => and(sql`${owner} = right(used.key, 4)`, inPartitions(table, p)))
  return async (uses) => {
    const byKind = Map.groupBy(uses, ([key]) => (ownerBitsOf(key) === undefined ? use : useInPartitions))
    await write(undefined, function* () {
      for (const [kind, those] of byKind)
        yield* kind({ uses: Object.fromEntries(those), ...bitsOfIds(those.map(([key]) => key)) })
    })
  }
}
