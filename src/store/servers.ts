import { eq, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import type { ById } from './statement.ts'

/** A server process that runs. */
export interface LiveServer {
  readonly id: string
  /** Names the process to operators: its host and its process id. */
  readonly name: string
  /** The ids of its master keys; it seals with the first. */
  readonly keyIds: readonly [string, ...string[]]
}

/**
 * The server processes that run, with the master keys that each has. Each writes its row at intervals and deletes it when
 * it ends. The row of a process that was killed counts until it lapses. All times are by the clock of leases
 * (`Dialect.leaseNow`), so that a server still counts when the time of day is set.
 */
export interface Servers {
  /** Writes that the server runs, and with which keys. */
  beat(server: LiveServer): Promise<void>
  leave(id: string): Promise<void>
  /** The servers that have written their row within `lapseMs`, by their names. */
  live(lapseMs: number): Promise<readonly LiveServer[]>
  /** Deletes the rows of servers that have not written them within `lapseMs`. */
  sweep(lapseMs: number): Promise<void>
}

export function createServers({ tables, query, statement, read, write, dialect }: Database): Servers {
  const { servers } = tables
  const { leaseNowMs: nowMs } = dialect
  // absolute: a row with a time in the future was written before the database's clock was set back
  const sinceBeat = sql`abs(${nowMs} - ${servers.beatAt})`
  const { id, name, keyIds } = servers

  const beat = statement((p: LiveServer) =>
    query
      .insert(servers)
      .values({ id: p.id, name: p.name, keyIds: p.keyIds, beatAt: nowMs })
      .onConflictDoUpdate({ target: servers.id, set: { beatAt: nowMs } })
      .returning({ id }),
  )
  const leave = statement((p: ById) => query.delete(servers).where(eq(servers.id, p.id)).returning({ id }))
  const live = statement((p: { lapseMs: number }) =>
    query.select({ id, name, keyIds }).from(servers).where(sql`${sinceBeat} <= ${p.lapseMs}`).orderBy(name),
  )
  const sweep = statement((p: { lapseMs: number }) =>
    query.delete(servers).where(sql`${sinceBeat} > ${p.lapseMs}`).returning({ id }),
  )

  return {
    async beat(server) {
      await write(undefined, () => beat(server))
    },
    async leave(server) {
      await write(undefined, () => leave({ id: server }))
    },
    live: (lapseMs) => read(live({ lapseMs })),
    async sweep(lapseMs) {
      await write(undefined, () => sweep({ lapseMs }))
    },
  }
}
