import { ConnectionError, GatepassError, TimeoutError } from './errors.ts'

/** Whether a request may be sent again after a failure that leaves open whether it was carried out. */
export type Repetition =
  /** The request has no effect, or the same effect once or twice. */
  | 'safe'
  /** The request has an `Idempotency-Key`, so Gatepass carries it out once. */
  | 'by_key'
  /** Only after 429, which says that nothing was done. */
  | 'unsafe'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 8_000
/** `setTimeout` runs its callback at once for a longer delay. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1
/** A longer `Retry-After` is left to the caller: the error is thrown at once, with `retryAfterMs`. */
const LONGEST_RETRY_AFTER_MS = 60_000

/**
 * Returns the pause before a failed request is sent again, in milliseconds: `Retry-After`, else a delay that doubles
 * with each attempt, shortened at random by up to half, so that clients that failed together do not return together.
 * Returns `undefined` if the request must not be sent again.
 */
export function retryPauseMs(error: unknown, repetition: Repetition, retries: number): number | undefined {
  if (!(error instanceof GatepassError) || !isTransient(error)) return undefined
  if (repetition === 'unsafe' && error.status !== 429) return undefined
  const { retryAfterMs } = error
  if (retryAfterMs === undefined) return backoffMs(retries)
  return retryAfterMs <= LONGEST_RETRY_AFTER_MS ? retryAfterMs : undefined
}

export function backoffMs(retries: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS)
  return Math.round(longest * (1 - Math.random() / 2))
}

/** Whether the same request may succeed later. */
export function isTransient(error: GatepassError): boolean {
  const { status } = error
  if (status === undefined) return error instanceof ConnectionError || error instanceof TimeoutError
  return status === 408 || status === 429 || (status >= 500 && status !== 501)
}

/** Waits `ms` milliseconds. Rejects with the reason of `signal` when it is aborted. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      },
      Math.min(ms, LONGEST_TIMER_MS),
    )
    signal?.addEventListener('abort', abort, { once: true })
  })
}
