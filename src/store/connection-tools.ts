import { lt, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { greaterOf, hasId, isOfUser } from './row-conditions.ts'
import { type ById, type OfUser, placeholdersOf, withoutRows } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** A tool that got a token of a connection. */
export interface ConnectionTool {
  readonly connectionId: string
  /** The tool's id. */
  readonly tool: string
  readonly lastUsedAt: EpochSeconds
}

/** Which tools got tokens of which connection, and when last. */
export interface ConnectionTools {
  /** Writes when tools last used connections, by `connectionToolKey`. A later time that is already stored stays. */
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  /** The tools of all connections of a user, in no particular order. */
  ofUser(projectId: string, userId: string, limit: number): Promise<readonly ConnectionTool[]>
  /** Deletes all rows of a user. */
  forgetUser(projectId: string, userId: string): Promise<void>
  /** Deletes those whose last use was before `before`; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

/** The key of one tool's use of one connection: both ids, separated by a space, since a connection's id has none. */
export function connectionToolKey(connectionId: string, tool: string): string {
  return `${connectionId} ${tool}`
}

export function createConnectionTools(database: Database): ConnectionTools {
  const { tables, query, statement, read, write, writeRepeatable } = database
  const { connectionTools, connections } = tables
  const { connectionId, tool, lastUsedAt } = connectionTools

  const owner = statement((p: ById) =>
    query
      .select({ projectId: connections.projectId, userId: connections.userId })
      .from(connections)
      .where(hasId(connections, p)),
  )
  const put = statement((_: ConnectionTool & OfUser) =>
    withoutRows(
      query
        .insert(connectionTools)
        .values(placeholdersOf(connectionTools))
        .onConflictDoUpdate({
          target: [connectionTools.projectId, connectionTools.userId, connectionId, tool],
          set: {
            lastUsedAt: greaterOf(lastUsedAt, sql`excluded.last_used_at`),
          },
        }),
    ),
  )
  const listed = statement((p: OfUser & { limit: number }) =>
    query
      .select({ connectionId, tool, lastUsedAt })
      .from(connectionTools)
      .where(isOfUser(connectionTools, p))
      .limit(p.limit),
  )
  const forget = statement((p: OfUser) =>
    query.delete(connectionTools).where(isOfUser(connectionTools, p)).returning({ tool }),
  )
  const sweep = deleteInSlices(database, connectionTools, { lastUsedAt }, (p: { before: EpochSeconds }) =>
    lt(lastUsedAt, p.before),
  )

  return {
    async used(uses) {
      await write(undefined, function* () {
        for (const [key, at] of uses) {
          const space = key.indexOf(' ')
          const id = key.slice(0, space)
          // nothing is written for a connection that was deleted meanwhile
          const [owned] = yield* owner({ id })
          if (owned !== undefined)
            yield* put({ ...owned, connectionId: id, tool: key.slice(space + 1), lastUsedAt: at })
        }
        return true
      })
    },
    async ofUser(projectId, userId, limit) {
      return read(listed({ projectId, userId, limit }))
    },
    async forgetUser(projectId, userId) {
      await writeRepeatable(forget({ projectId, userId }))
    },
    async sweep(before) {
      return sweep({ before })
    },
  }
}
