import { and, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { inPartitions, ownerColumn, type SeveralOwners, severalOwners } from './partitions.ts'

/** Writes when each row was last used, by its id. A later time that is already stored stays. */
export type WriteLastUse = (uses: ReadonlyMap<string, EpochSeconds>) => Promise<void>

/** `member`: the table's column with the time. `keeps`: whether the latest or the first time stays stored. */
export function createLastUse<Member extends string>(
  { query, statement, write, dialect, owners, parts }: Database,
  table: SQLiteTable & Readonly<Record<'id' | Member, AnySQLiteColumn>>,
  member: Member,
  keeps: 'latest' | 'first' = 'latest',
): WriteLastUse {
  const rows: SQLiteTable = table
  const { id, [member]: column } = table
  const at = sql`cast(used.value as bigint)`
  const stays = keeps === 'latest' ? sql`${column} > ${at}` : sql`${column} <= ${at}`
  const useWhere = (which: (p: SeveralOwners) => SQL | undefined) =>
    statement((p: Partial<SeveralOwners> & { uses: Readonly<Record<string, EpochSeconds>> }) =>
      query
        .update(rows)
        .set({ [member]: sql`case when ${stays} then ${column} else ${at} end` })
        .from(sql`${dialect.membersOf(p.uses)} as used`)
        .where(which(p as SeveralOwners))
        .returning({ id }),
    )
  const use = useWhere(() => sql`${id} = used.key`)
  const owner = ownerColumn(table)
  if (owner === undefined || owners === undefined)
    return async (uses) => {
      await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
    }

  // with partitions, keys are the four characters of the owner's bits and the id; a row without known bits is found in all
  const useInPartitions = useWhere((p) =>
    and(sql`${id} = substr(used.key, 5)`, sql`${owner} = substr(used.key, 1, 4)`, inPartitions(table, p)),
  )
  const writeUses: WriteLastUse = async (uses) => {
    const known: [string, EpochSeconds][] = []
    const others: [string, EpochSeconds][] = []
    const bits = new Set<string>()
    for (const [rowId, at] of uses) {
      const owner = owners.findBits({ id: rowId })
      if (owner === undefined) others.push([rowId, at])
      else {
        known.push([owner + rowId, at])
        bits.add(owner)
      }
    }
    await write(undefined, function* () {
      if (known.length > 0)
        yield* useInPartitions({ uses: Object.fromEntries(known), ...severalOwners(bits) })
      if (others.length > 0) yield* use({ uses: Object.fromEntries(others) })
    })
  }

  return async (uses) => {
    try {
      return await writeUses(uses)
    } catch (error) {
      if (!parts?.isUnavailable(error)) throw error
    }
    // a time that cannot be written is lost, as in a crash
    for (const some of Map.groupBy(uses, ([rowId]) => owners.findBits({ id: rowId })).values())
      await writeUses(new Map(some)).catch((error: unknown) => {
        if (!parts.isUnavailable(error)) throw error
      })
  }
}
