import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { Log } from '../domain/log.ts'
import type { Store } from '../store/store.ts'
import { createProviderBreaker, type ProviderBreaker } from './provider-breaker.ts'
import type { RefreshOutcome } from './refresh-outcome.ts'

/** What this process knows of refreshes: those under way, those that failed lately, and how providers do. */
export interface Refreshes {
  /** By connection, until all is stored. */
  readonly running: Map<string, Promise<RefreshOutcome>>
  /** By connection, for those who wait: the same, but for one whose tokens cannot be stored soon. */
  readonly answers: Map<string, Promise<RefreshOutcome>>
  readonly breaker: ProviderBreaker
  /** Until when a refresh that has failed is not tried again; nothing once the tokens are others. */
  coolingDown(connection: Pick<Connection, 'id' | 'generation'>): CoolDown | undefined
  coolDown(connection: Pick<Connection, 'id' | 'generation'>, coolDown: CoolDown): void
  /** Resolves when the connection has been written by anybody, at the latest after `ms`. */
  changed(connectionId: string, ms: number): Promise<void>
  /** A little more than the seconds, so that not all come back at once. */
  jittered(seconds: number): number
  /** Whether no more are to be begun in the background. */
  readonly stopped: boolean
  /** Whether what is under way may still be brought to its end: for a while after `stop`. */
  readonly mayFinish: boolean
  stop(): void
}

export interface CoolDown {
  readonly until: EpochSeconds
  readonly failure: Error
}

const MAX_COOLING_DOWN = 10_000
/** How often, while somebody waits, it is looked what other processes have written. */
const CATCH_UP_MS = 20
const JITTER = 0.2
/** Less than a server takes to end. */
const FAREWELL_MS = 20_000

export function createRefreshes(
  store: Store,
  { now, log, random = Math.random }: { now: Clock; log: Log; random?: () => number },
): Refreshes {
  const coolDowns = new Map<string, CoolDown & { readonly generation: number }>()
  const waiting = new Map<string, Set<() => void>>()
  let poll: NodeJS.Timeout | undefined
  let missed = store.catchUp()
  let stoppedAt: number | undefined

  store.onChange((change) => {
    if (change.noun === 'connection') wake(change.id)
  })

  function wake(id: string): void {
    for (const leave of waiting.get(id) ?? []) leave()
  }

  function catchUp(): void {
    const answer = store.catchUp()
    if (answer === missed) return
    missed = answer
    for (const id of [...waiting.keys()]) wake(id)
  }

  return {
    running: new Map(),
    answers: new Map(),
    breaker: createProviderBreaker({ now, log }),
    coolingDown({ id, generation }) {
      const known = coolDowns.get(id)
      return known?.generation === generation && now() < known.until ? known : undefined
    },
    coolDown({ id, generation }, coolDown) {
      coolDowns.delete(id)
      if (coolDowns.size >= MAX_COOLING_DOWN) coolDowns.delete(coolDowns.keys().next().value ?? id)
      coolDowns.set(id, { ...coolDown, generation })
    },
    changed(id, ms) {
      return new Promise((resolve) => {
        const leave = () => {
          clearTimeout(timer)
          leavers.delete(leave)
          if (leavers.size === 0) waiting.delete(id)
          if (waiting.size === 0) {
            clearInterval(poll)
            poll = undefined
          }
          resolve()
        }
        const timer = setTimeout(leave, ms)
        const leavers = waiting.get(id) ?? new Set()
        leavers.add(leave)
        waiting.set(id, leavers)
        poll ??= setInterval(catchUp, CATCH_UP_MS)
      })
    },
    jittered: (seconds) => seconds + Math.floor(seconds * JITTER * random()),
    get stopped() {
      return stoppedAt !== undefined
    },
    get mayFinish() {
      return stoppedAt === undefined || performance.now() - stoppedAt < FAREWELL_MS
    },
    stop() {
      stoppedAt ??= performance.now()
    },
  }
}
