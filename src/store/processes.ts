import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { Database } from './database.ts'
import type { ById } from './statement.ts'

/** A process that has not sent a heartbeat for this long counts as dead. */
export const LAPSE_MS = 3_000

/**
 * Which processes hold claims: on redeeming a code, on carrying out a request with an idempotency key. A process whose
 * heartbeat stops is declared dead for good: it is never alive again under the same id. A process that was only suspended
 * (SIGSTOP, a paused machine) may be declared dead too. Therefore every claim is fenced: what its holder writes counts
 * only while the claim's row still names it, and the holder reads that row again before it does what must not be done
 * twice.
 *
 * All times are the database's, so that the clocks of nodes need not agree.
 */
export interface Processes {
  /** Adds the process, which may hold claims from then on. */
  enter(id: string): Promise<void>
  /**
   * Writes a heartbeat. Returns how many milliseconds after the last one, or `undefined` when the process was declared
   * dead meanwhile: its claims are gone.
   */
  beat(id: string): Promise<number | undefined>
  /** Removes the process, which holds no claim any more. */
  leave(id: string): Promise<void>
  /** Whether the process is alive; one that has lapsed is declared dead by this call. */
  isAlive(id: string, lapseMs: number): Promise<boolean>
  /**
   * Declares dead every process that has lapsed, and ends the claims of dead processes on redeeming codes: the
   * authorization can be attempted again. Returns how many authorizations that were.
   */
  declareDead(lapseMs: number): Promise<number>
}

export function createProcesses({ tables, query, statement, read, write, dialect }: Database): Processes {
  const { processes, authorizations } = tables
  const { nowMs } = dialect
  const id = { id: processes.id }
  // a heartbeat of the future is from before the clock was set back
  const hasLapsed = (lapseMs: number): SQL => sql`abs(${nowMs} - ${processes.beatAt}) > ${lapseMs}`
  const isClaimOfTheDead = and(
    eq(authorizations.status, 'exchanging'),
    isNotNull(authorizations.claimedBy),
    sql`${authorizations.claimedBy} not in (select ${processes.id} from ${processes})`,
  )

  const enter = statement((p: ById) =>
    query
      .insert(processes)
      .values({ id: p.id, beatAt: nowMs })
      .onConflictDoUpdate({ target: processes.id, set: { beatAt: nowMs } })
      .returning(id),
  )
  // locked, so that the age is that of the heartbeat which this one follows
  const age = statement((p: ById) =>
    dialect.lock(
      query
        .select({ ms: sql`abs(${nowMs} - ${processes.beatAt})`.mapWith(Number) })
        .from(processes)
        .where(eq(processes.id, p.id)),
      'for update',
    ),
  )
  const beat = statement((p: ById) =>
    query.update(processes).set({ beatAt: nowMs }).where(eq(processes.id, p.id)).returning(id),
  )
  const leave = statement((p: ById) => query.delete(processes).where(eq(processes.id, p.id)).returning(id))
  const alive = statement((p: { id: string; lapseMs: number }) =>
    query
      .select(id)
      .from(processes)
      .where(and(eq(processes.id, p.id), sql`not (${hasLapsed(p.lapseMs)})`)),
  )
  const known = statement((p: ById) => query.select(id).from(processes).where(eq(processes.id, p.id)))
  const buryOne = statement((p: { id: string; lapseMs: number }) =>
    query
      .delete(processes)
      .where(and(eq(processes.id, p.id), hasLapsed(p.lapseMs)))
      .returning(id),
  )
  const anyLapsed = statement((p: { lapseMs: number }) =>
    query.select(id).from(processes).where(hasLapsed(p.lapseMs)).limit(1),
  )
  const anyClaim = statement((_: object) =>
    query.select({ id: authorizations.id }).from(authorizations).where(isClaimOfTheDead).limit(1),
  )
  const buryAll = statement((p: { lapseMs: number }) =>
    query.delete(processes).where(hasLapsed(p.lapseMs)).returning(id),
  )
  const freeClaims = statement((_: object) =>
    query
      .update(authorizations)
      .set({ deadline: 0, claimedBy: null })
      .where(isClaimOfTheDead)
      .returning({ id: authorizations.id }),
  )

  return {
    async enter(process) {
      await write(undefined, () => enter({ id: process }))
    },
    async beat(process) {
      return write(undefined, function* () {
        const [last] = yield* age({ id: process })
        if (last === undefined) return undefined
        yield* beat({ id: process })
        return last.ms
      })
    },
    async leave(process) {
      await write(undefined, () => leave({ id: process }))
    },
    async isAlive(process, lapseMs) {
      if ((await read(alive({ id: process, lapseMs }))).length > 0) return true
      await write(undefined, () => buryOne({ id: process, lapseMs }))
      return (await read(known({ id: process }))).length > 0
    },
    async declareDead(lapseMs) {
      // reads first: most often there is nothing to write, and writers wait for each other
      const [lapsed, claims] = await Promise.all([read(anyLapsed({ lapseMs })), read(anyClaim({}))])
      if (lapsed.length === 0 && claims.length === 0) return 0
      return write(undefined, function* (announce) {
        yield* buryAll({ lapseMs })
        const freed = yield* freeClaims({})
        for (const one of freed) announce({ noun: 'authorization', id: one.id })
        return freed.length
      })
    },
  }
}
