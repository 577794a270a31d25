import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import { overAllOwners } from './all-owners.ts'
import type { Database } from './database.ts'
import type { ById } from './statement.ts'

/** A process that has not sent a heartbeat for this long counts as dead. */
export const LAPSE_MS = 3_000

/**
 * The processes that may hold claims: on redeeming a code, or on a request with an idempotency key. A process whose
 * heartbeat stops is declared dead, and is never alive again under the same id. A process that was only suspended
 * (SIGSTOP, a paused machine) may be declared dead too. Therefore every claim is fenced: a write of its holder takes
 * effect only while the claim's row still names the holder, and the holder reads that row again before it does something
 * that must not be done twice.
 *
 * All times are by the clock of leases (`Dialect.leaseNow`), so that the clocks of nodes need not agree.
 */
export interface Processes {
  /** Adds the process, which may hold claims from then on. */
  enter(id: string): Promise<void>
  /**
   * Writes a heartbeat. Returns the milliseconds since the last one, or `undefined` when the process was declared dead and
   * has lost its claims.
   */
  beat(id: string): Promise<number | undefined>
  /** Removes the process, which must hold no claim. */
  leave(id: string): Promise<void>
  /** Whether the process is alive. A process whose last heartbeat is older than `lapseMs` is declared dead. */
  isAlive(id: string, lapseMs: number): Promise<boolean>
  /**
   * Declares dead every process whose last heartbeat is older than `lapseMs`, and ends the claims of dead processes on
   * redeeming codes, so that their users may start again. Returns the number of these authorizations.
   */
  declareDead(lapseMs: number): Promise<number>
}

export function createProcesses(database: Database): Processes {
  const { tables, query, statement, read, write, dialect } = database
  const { processes, authorizations } = tables
  const { leaseNowMs: nowMs } = dialect
  const id = { id: processes.id }
  // absolute: a heartbeat in the future was written before the database's clock was set back
  const sinceBeat = sql`abs(${nowMs} - ${processes.beatAt})`
  const hasLapsed = (lapseMs: number): SQL => sql`${sinceBeat} > ${lapseMs}`
  const isClaimOfDeadProcess = and(
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
  // locks the row, so that no other heartbeat is written between this query and the update
  const age = statement((p: ById) =>
    dialect.lock(
      query
        .select({ ms: sinceBeat.mapWith(Number) })
        .from(processes)
        .where(eq(processes.id, p.id)),
      'for update',
    ),
  )
  const beat = statement((p: ById) =>
    query.update(processes).set({ beatAt: nowMs }).where(eq(processes.id, p.id)).returning(id),
  )
  const leave = statement((p: ById) => query.delete(processes).where(eq(processes.id, p.id)).returning(id))
  const alive = statement((p: ById & { lapseMs: number }) =>
    query
      .select(id)
      .from(processes)
      .where(and(eq(processes.id, p.id), sql`not (${hasLapsed(p.lapseMs)})`)),
  )
  const known = statement((p: ById) => query.select(id).from(processes).where(eq(processes.id, p.id)))
  const removeIfLapsed = statement((p: ById & { lapseMs: number }) =>
    query
      .delete(processes)
      .where(and(eq(processes.id, p.id), hasLapsed(p.lapseMs)))
      .returning(id),
  )
  const anyLapsed = statement((p: { lapseMs: number }) =>
    query.select(id).from(processes).where(hasLapsed(p.lapseMs)).limit(1),
  )
  const anyClaimOfDead = overAllOwners(database, authorizations, (_: object, part) =>
    query
      .select({ id: authorizations.id })
      .from(authorizations)
      .where(and(isClaimOfDeadProcess, part))
      .limit(1),
  )
  const removeLapsed = statement((p: { lapseMs: number }) =>
    query.delete(processes).where(hasLapsed(p.lapseMs)).returning(id),
  )
  const freeClaims = overAllOwners(database, authorizations, (_: object, part) =>
    query
      .update(authorizations)
      .set({ deadline: 0, claimedBy: null })
      .where(and(isClaimOfDeadProcess, part))
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
      await write(undefined, () => removeIfLapsed({ id: process, lapseMs }))
      return (await read(known({ id: process }))).length > 0
    },
    async declareDead(lapseMs) {
      // reads first: usually there is nothing to write, and a write would wait for other writers
      const [lapsed, claims] = await Promise.all([read(anyLapsed({ lapseMs })), anyClaimOfDead({}, read)])
      if (lapsed.length === 0 && claims.length === 0) return 0
      await write(undefined, () => removeLapsed({ lapseMs }))
      // in transactions of their own, so that a server that does not answer holds up only the claims in its rows
      const freed = await freeClaims({}, (some) =>
        write(undefined, function* (announce) {
          const rows = yield* some
          for (const { id } of rows) announce({ noun: 'authorization', id })
          return rows
        }),
      )
      return freed.length
    },
  }
}
