import { and, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database, DatabaseParts } from './database.ts'
import { inPartitions, ownerColumn, type SeveralOwners, severalOwners } from './partitions.ts'

/** Writes when each row was last used, by its id. A later time that is already stored stays. */
export type WriteLastUse = (uses: Uses) => Promise<void>

type Uses = ReadonlyMap<string, EpochSeconds>

/** `member`: the table's column with the time. `keeps`: whether the latest or the first time stays stored. */
export function createLastUse<Member extends string>(
  { query, statement, write, writeRepeatable, dialect, owners, parts }: Database,
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
  /** One statement for the rows of each part that `partOf` names, and one for all rows whose owner is not known. */
  const statementsFor = async (uses: Uses, partOf: DatabaseParts['findPart']) => {
    const groups = new Map<string | undefined, { bits: Set<string>; uses: Record<string, EpochSeconds> }>()
    const others: Record<string, EpochSeconds> = {}
    for (const [rowId, at] of uses) {
      const bits = owners.findBits({ id: rowId })
      if (bits === undefined) {
        others[rowId] = at
        continue
      }
      const part = await partOf(bits)
      const group = groups.get(part) ?? { bits: new Set(), uses: {} }
      groups.set(part, group)
      group.bits.add(bits)
      group.uses[bits + rowId] = at
    }
    const ofGroups = [...groups.values()].map(({ bits, uses }) =>
      useInPartitions({ uses, ...severalOwners(bits) }),
    )
    return Object.keys(others).length > 0 ? [...ofGroups, use({ uses: others })] : ofGroups
  }

  if (parts === undefined)
    return async (uses) => {
      const statements = await statementsFor(uses, async () => 'all')
      await write(undefined, function* () {
        for (const one of statements) yield* one
      })
    }

  // each statement alone, so that it locks its rows for a moment only. A time that cannot be written is lost, as in a crash
  return async (uses) => {
    for (const one of await statementsFor(uses, parts.findPart))
      await writeRepeatable(one).catch((error: unknown) => {
        if (!parts.isUnavailable(error)) throw error
      })
  }
}
