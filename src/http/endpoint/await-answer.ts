import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { KeyUse } from '../../store/idempotency-keys.ts'

/**
 * How long a repeated request waits for the answer of the first. Then it tries to claim the key, because the claim of
 * the first may have lapsed. If it has not, the repeated request is refused.
 */
export const LONGEST_WAIT_MS = 5 * 60_000
/** The interval at which a repeated request checks whether the process of the first is alive. */
const LIVENESS_CHECK_MS = 1_000
/**
 * The pauses between reads of the answer. They grow, so that a fast answer is found soon. No change signal announces an
 * answer: every one of them would then be stored by a transaction instead of a single statement.
 */
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 500
/** Repeated requests that may wait at the same time in one process. Each of them polls the database. */
const MAX_WAITING = 1_000

/** The claim of the first request, whose process has died. */
export interface Abandoned {
  readonly abandoned: KeyUse
}

/** The name of the key in messages. */
export type KeyKind = 'Idempotency-Key' | 'call_id'

interface Waiting {
  readonly kind: KeyKind
  readonly signal: AbortSignal
  /** When the repeated request arrived, by `performance.now()`. */
  readonly began: number
}

/**
 * Waits for the answer of the first request with the key. Returns `undefined` if the first request has released its
 * claim, and `Abandoned` if its process has died. `LONGEST_WAIT_MS` after `began`, or when the caller has
 * disconnected, returns the claim, which has no answer. Throws `rate_limited` when too many requests wait.
 */
export type AwaitAnswer = (
  keyHash: string,
  kept: KeyUse,
  waiting: Waiting,
) => Promise<KeyUse | Abandoned | undefined>

export function createAwaitAnswer({ store: { idempotencyKeys: keys }, liveness }: Broker): AwaitAnswer {
  let waiting = 0

  /** The current claim, if its process is dead. */
  async function findAbandoned(keyHash: string, { owner, claimedBy }: KeyUse): Promise<KeyUse | undefined> {
    if (claimedBy === undefined || (await liveness.isAlive(claimedBy))) return undefined
    const current = await keys.find(keyHash) // the process may have answered right before it ended
    return current?.owner === owner && current.answer === undefined ? current : undefined
  }

  return async (keyHash, kept, { kind, signal, began }) => {
    let current: KeyUse | undefined = kept
    let nextLivenessCheck = performance.now()
    if (kept.answer === undefined && waiting >= MAX_WAITING) throw stillUnderWay(kind)
    waiting++
    try {
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.2, LONGEST_PAUSE_MS)) {
        if (current === undefined || current.answer !== undefined || signal.aborted) return current
        if (performance.now() >= nextLivenessCheck) {
          nextLivenessCheck = performance.now() + LIVENESS_CHECK_MS
          const abandoned = await findAbandoned(keyHash, current)
          if (abandoned !== undefined) return { abandoned }
        }
        if (performance.now() - began >= LONGEST_WAIT_MS) return current
        await sleep(pause)
        current = await keys.find(keyHash)
      }
    } finally {
      waiting--
    }
  }
}

/** The refusal of a repeated request that may not wait for the first request, or has waited too long. */
export function stillUnderWay(kind: KeyKind): BrokerError {
  const message = `The first request with this ${kind} is still in progress. Ask again later.`
  return new BrokerError('rate_limited', message, { retryAfter: 2 })
}
