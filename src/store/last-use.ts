import { sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'

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
  const use = statement((p: { uses: Readonly<Record<string, EpochSeconds>> }) =>
    query
      .update(rows)
      .set({ [member]: sql`case when ${column} > ${at} then ${column} else ${at} end` })
      .from(sql`${dialect.membersOf(p.uses)} as used`)
      .where(sql`${id} = used.key`)
      .returning({ id }),
  )
  return async (uses) => {
    await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
  }
}
