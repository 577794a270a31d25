import { randomUUID } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import { LAPSE_MS } from '../store/processes.ts'
import type { Store } from '../store/store.ts'
import { elapsedClock } from './elapsed-clock.ts'
import { outsideTraces } from './tracing.ts'

/**
 * Sends heartbeats of this process while it holds claims, and ends the claims of processes whose heartbeat stopped. An
 * idle process writes nothing.
 */
export interface Liveness {
  /** Runs the work with the process id for its claims. The process sends heartbeats until the work has ended. */
  whileAlive<T>(work: (processId: string) => Promise<T>): Promise<T>
  /** Whether the process that a claim names is alive. An id that was declared dead is never alive again. */
  isAlive(processId: string): Promise<boolean>
  /** Ends the claims of dead processes on authorizations. To be called about every second. */
  endDeadClaims(): Promise<void>
  /** Ends the heartbeats. Called at the end of the process, when it holds no claim. */
  close(): Promise<void>
}

/** The interval of heartbeats: a third of the time after which a process counts as dead. */
export const BEAT_MS = 1_000
/** How long heartbeats continue after the last claim, so that successive requests need not add and delete the row each time. */
const IDLE_MS = 5_000

export function createLiveness(
  { processes }: Pick<Store, 'processes'>,
  {
    log,
    lapseMs = LAPSE_MS,
    beatMs = BEAT_MS,
    startClock = elapsedClock,
  }: { log: Log; lapseMs?: number; beatMs?: number; startClock?: typeof elapsedClock },
): Liveness {
  let id = randomUUID()
  let claims = 0
  let idleSince = 0
  let timer: NodeJS.Timeout | undefined
  /** The milliseconds since the last written heartbeat was begun. */
  let sinceBeat = () => Number.POSITIVE_INFINITY
  let entering: Promise<void> | undefined
  let beating = false
  /** The milliseconds since the last call of `endDeadClaims`. */
  let sinceSweep: (() => number) | undefined

  function isFresh(): boolean {
    return timer !== undefined && sinceBeat() < beatMs
  }

  /** Writes one heartbeat for all callers that come at once, and none if the last one is recent. */
  function ensureEntered(): Promise<void> {
    if (isFresh()) return Promise.resolve()
    entering ??= enter().finally(() => {
      entering = undefined
    })
    return entering
  }

  async function enter(): Promise<void> {
    const sinceBegun = startClock()
    // after a pause this process may have been declared dead; it then never uses that id again
    if (timer !== undefined && (await processes.beat(id)) === undefined) id = randomUUID()
    await processes.enter(id)
    sinceBeat = sinceBegun
    // outside of the trace of the request that starts the heartbeats, because they outlive it
    timer ??= outsideTraces(() => setInterval(() => void tick(), beatMs).unref())
  }

  async function tick(): Promise<void> {
    if (beating) return
    beating = true
    try {
      if (claims > 0 || performance.now() - idleSince < IDLE_MS) {
        const sinceBegun = startClock()
        const age = await processes.beat(id)
        if (age === undefined) {
          log.warn({}, 'this process was suspended for so long that others declared it dead')
          id = randomUUID()
          await processes.enter(id)
        }
        sinceBeat = sinceBegun
      } else await leave()
    } catch (error) {
      log.debug({ error }, 'a heartbeat of this process could not be written')
    } finally {
      beating = false
    }
  }

  async function leave(): Promise<void> {
    clearInterval(timer)
    timer = undefined
    const left = id
    // the deleted id is not used again: a claim that was made under it meanwhile would count as that of a dead process
    id = randomUUID()
    await processes.leave(left)
  }

  return {
    async whileAlive(work) {
      claims++
      try {
        await ensureEntered()
        return await work(id)
      } finally {
        claims--
        idleSince = performance.now()
      }
    },
    isAlive: (processId) => processes.isAlive(processId, lapseMs),
    async endDeadClaims() {
      // the whole machine may have been asleep: the other processes first get time to send a heartbeat
      const wasSuspended = sinceSweep !== undefined && sinceSweep() > lapseMs
      sinceSweep = startClock()
      if (wasSuspended) return
      const freed = await processes.declareDead(lapseMs)
      sinceSweep = startClock()
      if (freed > 0)
        log.warn(
          { authorizations: freed },
          'a process died or lost the database while it redeemed codes: their users may start again',
        )
    },
    async close() {
      if (timer !== undefined) await leave().catch(() => {}) // if that fails, its row expires
    },
  }
}
