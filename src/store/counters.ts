import { and, asc, eq, gte, lt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import type { OfProject } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** `users`: those that were seen for the first time. */
export type CounterName = 'consents' | 'fetches' | 'refreshes' | 'runs' | 'latency' | 'users'

export interface HourCount {
  /** The start of the hour. */
  readonly hour: EpochSeconds
  readonly name: CounterName
  readonly label: string
  readonly count: number
}

/** The counts of one hour that have one name, by their labels. */
export interface HourCounts {
  readonly projectId: string
  readonly name: CounterName
  readonly byLabel: ReadonlyMap<string, number>
}

/** How often something happened in each hour of a project, for the console's charts. */
export interface Counters {
  /** Adds to the counts of an hour, in one transaction. */
  add(hour: EpochSeconds, counts: readonly HourCounts[]): Promise<void>
  /** All counts of the hours from `hour` on, the oldest first. */
  since(projectId: string, hour: EpochSeconds): Promise<readonly HourCount[]>
  /** The sum of the counts with this name, or with this name and label, from the hour `from` to before `to`. */
  total(
    projectId: string,
    of: { readonly name: CounterName; readonly label?: string },
    from: EpochSeconds,
    to: EpochSeconds,
  ): Promise<number>
  /** Deletes the counts of hours before `hour`; returns how many. */
  sweep(hour: EpochSeconds): Promise<number>
}

interface OfHour extends OfProject {
  readonly hour: EpochSeconds
}

export function createCounters(database: Database): Counters {
  const { tables, query, statement, read, write, dialect } = database
  const { counters } = tables

  const add = statement((p: OfHour & { name: CounterName; counts: Readonly<Record<string, number>> }) =>
    query
      .insert(counters)
      // sorted, so that two nodes lock the rows in the same order; SQLite cannot parse ON CONFLICT without `where true`
      .select(
        sql`select cast(${p.projectId} as text), cast(${p.hour} as bigint), cast(${p.name} as text), used.key, cast(used.value as bigint) from ${dialect.membersOf(p.counts)} as used where true order by used.key`,
      )
      .onConflictDoUpdate({
        target: [counters.projectId, counters.hour, counters.name, counters.label],
        set: { count: sql`${counters.count} + excluded.count` },
      })
      .returning({ label: counters.label }),
  )
  const since = statement((p: OfHour) =>
    query
      .select({ hour: counters.hour, name: counters.name, label: counters.label, count: counters.count })
      .from(counters)
      .where(and(eq(counters.projectId, p.projectId), gte(counters.hour, p.hour)))
      .orderBy(asc(counters.hour)),
  )
  const total = (by: 'name' | 'label') =>
    statement((p: OfProject & { name: CounterName; label: string; from: EpochSeconds; to: EpochSeconds }) =>
      query
        .select({ total: sql`coalesce(sum(${counters.count}), 0)`.mapWith(Number) })
        .from(counters)
        .where(
          and(
            eq(counters.projectId, p.projectId),
            gte(counters.hour, p.from),
            lt(counters.hour, p.to),
            eq(counters.name, p.name),
            by === 'label' ? eq(counters.label, p.label) : undefined,
          ),
        ),
    )
  const [totalOfName, totalOfLabel] = [total('name'), total('label')]
  const { projectId, hour, name, label } = counters
  const sweep = deleteInSlices(
    database,
    counters,
    { projectId, hour, name, label },
    (p: { hour: EpochSeconds }) => lt(hour, p.hour),
  )

  return {
    async add(hour, counts) {
      await write(undefined, function* () {
        for (const { projectId, name, byLabel } of counts)
          yield* add({ projectId, hour, name, counts: Object.fromEntries(byLabel) })
      })
    },
    async since(projectId, hour) {
      return (await read(since({ projectId, hour }))) as readonly HourCount[] // only `add` writes names
    },
    async total(projectId, { name, label }, from, to) {
      const sum = label === undefined ? totalOfName : totalOfLabel
      return (await read(sum({ projectId, name, label: label ?? '', from, to })))[0]?.total ?? 0
    },
    async sweep(hour) {
      return sweep({ hour })
    },
  }
}
