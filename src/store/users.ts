import { and, count, desc, eq, exists, lt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { MOST_COUNTED } from './page.ts'
import { greaterOf, isOfUser } from './row-conditions.ts'
import type { OfProject, OfUser } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

export interface SeenUser {
  readonly userId: string
  readonly lastSeenAt: EpochSeconds
}

/** The users of each project, and when Gatepass last acted for each. */
export interface Users {
  /**
   * Writes when each user was last seen, by user id. A later time that is already stored stays. Returns how many of the
   * users were new.
   */
  seen(projectId: string, users: ReadonlyMap<string, EpochSeconds>): Promise<number>
  /** The number of users, at most `MOST_COUNTED` + 1. */
  count(projectId: string): Promise<number>
  find(projectId: string, userId: string): Promise<SeenUser | undefined>
  /** The latest seen first; `after`: the last user of the previous page. */
  list(projectId: string, limit: number, after?: SeenUser): Promise<readonly SeenUser[]>
  /** Deletes the row of a user whose data are erased. */
  forget(projectId: string, userId: string): Promise<void>
  /** Deletes the rows of users who were last seen before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createUsers(database: Database): Users {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
  const { users, projects } = tables
  const columns = { userId: users.userId, lastSeenAt: users.lastSeenAt }

  const seen = statement((p: OfProject & { uses: Readonly<Record<string, EpochSeconds>> }) =>
    query
      .insert(users)
      // sorted, so that two nodes lock the rows in the same order; SQLite cannot parse ON CONFLICT without `where true`
      .select(
        sql`select cast(${p.projectId} as text), used.key, cast(used.value as bigint) from ${dialect.membersOf(p.uses)} as used where true order by used.key`,
      )
      .onConflictDoUpdate({
        target: [users.projectId, users.userId],
        set: { lastSeenAt: greaterOf(users.lastSeenAt, sql`excluded.last_seen_at`) },
      })
      .returning({ userId: users.userId }),
  )
  const known = statement((p: OfProject & { uses: Readonly<Record<string, EpochSeconds>> }) =>
    query
      .select({ userId: sql<string>`used.key` })
      .from(sql`${dialect.membersOf(p.uses)} as used`)
      .where(
        exists(
          query
            .select({ one: sql`1`.as('one') })
            .from(users)
            .where(and(eq(users.projectId, p.projectId), eq(users.userId, sql`used.key`))),
        ),
      ),
  )
  const counted = statement((p: OfProject & { most: number }) =>
    query.select({ total: count() }).from(
      query
        .select({ one: sql`1`.as('one') })
        .from(users)
        .where(eq(users.projectId, p.projectId))
        .limit(p.most)
        .as('counted'),
    ),
  )
  const single = statement((p: OfUser) => query.select(columns).from(users).where(isOfUser(users, p)))
  const latest = statement((p: OfProject & { limit: number }) =>
    query
      .select(columns)
      .from(users)
      .where(eq(users.projectId, p.projectId))
      .orderBy(desc(users.lastSeenAt), desc(users.userId))
      .limit(p.limit),
  )
  const following = statement((p: OfUser & { lastSeenAt: EpochSeconds; limit: number }) =>
    query
      .select(columns)
      .from(users)
      .where(
        and(
          eq(users.projectId, p.projectId),
          sql`(${users.lastSeenAt}, ${users.userId}) < (${p.lastSeenAt}, ${p.userId})`,
        ),
      )
      .orderBy(desc(users.lastSeenAt), desc(users.userId))
      .limit(p.limit),
  )
  const forget = statement((p: OfUser) =>
    query.delete(users).where(isOfUser(users, p)).returning({ userId: users.userId }),
  )
  const projectIds = statement((_: object) => query.select({ id: projects.id }).from(projects))
  const sweep = deleteInSlices(
    database,
    users,
    { userId: users.userId },
    (p: OfProject & { before: EpochSeconds }) =>
      and(eq(users.projectId, p.projectId), lt(users.lastSeenAt, p.before)),
  )

  return {
    async seen(projectId, seenUsers) {
      const uses = Object.fromEntries(seenUsers)
      return write(undefined, function* () {
        const before = yield* known({ projectId, uses })
        yield* seen({ projectId, uses })
        return seenUsers.size - before.length
      })
    },
    async count(projectId) {
      return (await read(counted({ projectId, most: MOST_COUNTED + 1 })))[0]?.total ?? 0
    },
    async find(projectId, userId) {
      return (await read(single({ projectId, userId })))[0]
    },
    async list(projectId, limit, after) {
      return after === undefined
        ? read(latest({ projectId, limit }))
        : read(following({ projectId, limit, ...after }))
    },
    async forget(projectId, userId) {
      await writeRepeatable(forget({ projectId, userId }))
    },
    async sweep(before) {
      let swept = 0
      // one project at a time, since the index of the times begins with the project
      for (const { id: projectId } of await read(projectIds({}))) swept += await sweep({ projectId, before })
      return swept
    },
  }
}
