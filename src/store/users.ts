import { and, desc, eq, lt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import type { OfProject } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

export interface SeenUser {
  readonly userId: string
  readonly lastSeenAt: EpochSeconds
}

/** The users of each project, by when Gatepass last acted for them. */
export interface Users {
  /** Writes when each user was last seen, by user id. A later time that is already stored stays. */
  seen(projectId: string, users: ReadonlyMap<string, EpochSeconds>): Promise<void>
  find(projectId: string, userId: string): Promise<SeenUser | undefined>
  /** The latest seen first; `after`: those that follow this one. */
  list(projectId: string, limit: number, after?: SeenUser): Promise<readonly SeenUser[]>
  /** Deletes the row of a user whose data are erased. */
  forget(projectId: string, userId: string): Promise<void>
  /** Deletes those who were last seen before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

interface OfUser extends OfProject {
  readonly userId: string
}

export function createUsers(database: Database): Users {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
  const { users, projects } = tables
  const ofUser = (p: OfUser) => and(eq(users.projectId, p.projectId), eq(users.userId, p.userId))
  const columns = { userId: users.userId, lastSeenAt: users.lastSeenAt }

  const seen = statement((p: OfProject & { uses: Readonly<Record<string, EpochSeconds>> }) =>
    query
      .insert(users)
      // ordered, so that two nodes lock the rows in one order; `where true` parts the SELECT from ON CONFLICT in SQLite
      .select(
        sql`select cast(${p.projectId} as text), used.key, cast(used.value as bigint) from ${dialect.membersOf(p.uses)} as used where true order by used.key`,
      )
      .onConflictDoUpdate({
        target: [users.projectId, users.userId],
        set: {
          lastSeenAt: sql`case when ${users.lastSeenAt} > excluded.last_seen_at then ${users.lastSeenAt} else excluded.last_seen_at end`,
        },
      })
      .returning({ userId: users.userId }),
  )
  const one = statement((p: OfUser) => query.select(columns).from(users).where(ofUser(p)))
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
    query.delete(users).where(ofUser(p)).returning({ userId: users.userId }),
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
      await write(undefined, () => seen({ projectId, uses: Object.fromEntries(seenUsers) }))
    },
    async find(projectId, userId) {
      return (await read(one({ projectId, userId })))[0]
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
      // project by project, since the index of the times begins with it
      for (const { id: projectId } of await read(projectIds({}))) swept += await sweep({ projectId, before })
      return swept
    },
  }
}
