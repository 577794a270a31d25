import { randomUUID } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import { LAPSE_MS } from '../store/processes.ts'
import type { Store } from '../store/store.ts'
import { outsideTraces } from './tracing.ts'

/**
 * Sends heartbeats of this process while it holds claims, and ends the claims of processes whose heartbeat stopped. An
 * idle process writes nothing.
 */
export interface Liveness {
  /** Runs the work with the id that its claims name; the process says that it is alive until the work has ended. */
  whileAlive<T>(work: (processId: string) => Promise<T>): Promise<T>
  /** Whether the process that a claim names is alive. Once it is not, it never is again. */
  isAlive(processId: string): Promise<boolean>
  /** Ends the claims of dead processes on authorizations. To be called about every second. */
  endDeadClaims(): Promise<void>
  /** Leaves at the end of the process, when no claim is held. */
  close(): Promise<void>
}

/** The interval of heartbeats: three in the time after which a process counts as dead. */
export const BEAT_MS = 1_000
/** How long heartbeats continue after the last claim, so that requests in a row do not enter and leave each time. */
const IDLE_MS = 5_000

export function createLiveness(
  { processes }: Pick<Store, 'processes'>,
  { log, lapseMs = LAPSE_MS, beatMs = BEAT_MS }: { log: Log; lapseMs?: number; beatMs?: number },
): Liveness {
  let id = randomUUID()
  let claims = 0
  let idleSince = 0
  let timer: NodeJS.Timeout | undefined
  /** When the last beat that was written was begun: this process's own monotonic clock. */
  let beatenAt = Number.NEGATIVE_INFINITY
  let entering: Promise<void> | undefined
  let beating = false
  let buriedAt: number | undefined

  function isFresh(): boolean {
    return timer !== undefined && performance.now() - beatenAt < beatMs
  }

  /** One write for all that begin at once; none when the last heartbeat is recent. */
  function ensureEntered(): Promise<void> {
    if (isFresh()) return Promise.resolve()
    entering ??= enter().finally(() => {
      entering = undefined
    })
    return entering
  }

  async function enter(): Promise<void> {
    const begunAt = performance.now()
    // after a pause it may have been declared dead: that id is never used again
    if (timer !== undefined && (await processes.beat(id)) === undefined) id = randomUUID()
    await processes.enter(id)
    beatenAt = begunAt
    // the request that begins the heartbeats has ended when most of them are sent
    timer ??= outsideTraces(() => setInterval(() => void tick(), beatMs).unref())
  }

  async function tick(): Promise<void> {
    if (beating) return
    beating = true
    try {
      if (claims > 0 || performance.now() - idleSince < IDLE_MS) {
        const begunAt = performance.now()
        const age = await processes.beat(id)
        if (age === undefined) {
          log.warn({}, 'this process was suspended for so long that others declared it dead')
          id = randomUUID()
          await processes.enter(id)
        }
        beatenAt = begunAt
      } else await leave()
    } catch (error) {
      log.debug({ error }, 'this process could not say that it is alive')
    } finally {
      beating = false
    }
  }

  async function leave(): Promise<void> {
    clearInterval(timer)
    timer = undefined
    const left = id
    // an id that has left is not entered again, or a claim that was made meanwhile would count as a dead process's
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
      // processes that were suspended together with this one get the time to send a heartbeat first
      const now = performance.now()
      const stoodStill = buriedAt !== undefined && now - buriedAt > lapseMs
      buriedAt = now
      if (stoodStill) return
      const freed = await processes.declareDead(lapseMs)
      buriedAt = performance.now()
      if (freed > 0)
        log.warn(
          { authorizations: freed },
          'a process died while it redeemed codes: their users may start again',
        )
    },
    async close() {
      if (timer !== undefined) await leave().catch(() => {}) // if that fails, its row expires
    },
  }
}
