import { setTimeout as sleep } from 'node:timers/promises'
import { BrokerError } from '../domain/errors.ts'

/** Whether the database could not be used, so that the same call may succeed later. */
export function isStoreUnavailable(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_unavailable'
}

export interface RetryOptions {
  /** Whether the call may succeed later although it threw this error. By default `isStoreUnavailable`. */
  readonly isTransient?: (error: unknown) => boolean
  /** Whether the call is made again, by the milliseconds since the first attempt began and the number of attempts made. */
  readonly mayRetry: (elapsedMs: number, attempts: number) => boolean
  /** The pause before the next attempt, in milliseconds, by the number of attempts made. */
  readonly pauseMs: (attempts: number) => number
  /** Called with each transient error after which the call is made again. */
  readonly onRetry?: (error: unknown) => void
  /** What is thrown in the end for the error of the last attempt. By default the error itself. */
  readonly toFailure?: (error: unknown) => unknown
  /** Whether the pauses let the process end meanwhile. By default they keep it running. */
  readonly mayProcessEnd?: boolean
}

/**
 * Waits for a database that cannot be used at the moment: makes the call again, after a pause, while it throws a
 * transient error and `mayRetry` allows it. Throws the last error otherwise, and any other error at once.
 */
export async function retry<T>(attempt: (attempts: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { isTransient = isStoreUnavailable, mayRetry, pauseMs, onRetry, toFailure = unchanged } = options
  const began = performance.now()
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(attempts)
    } catch (error) {
      if (!isTransient(error) || !mayRetry(performance.now() - began, attempts)) throw toFailure(error)
      onRetry?.(error)
      await sleep(pauseMs(attempts), undefined, { ref: options.mayProcessEnd !== true })
    }
  }
}

/** The same noun, whose methods are made again and fail as the options say. */
export function retrying<Noun extends object>(noun: Noun, options: RetryOptions): Noun {
  const methods = Object.entries(noun).map(([name, method]) => [
    name,
    (...args: unknown[]) => retry(() => method(...args), options),
  ])
  return Object.fromEntries(methods) as Noun // the same names with the same signatures
}

/** The refusal while the database cannot be used. */
export function unavailable(cause: unknown): BrokerError {
  return new BrokerError('store_unavailable', 'The database cannot be used right now. Try again shortly.', {
    cause,
    retryAfter: 5,
  })
}

/** The refusal of a write that lost a race for the same key, or with a deletion. */
export function alreadyAdded(cause: unknown): BrokerError {
  return new BrokerError('already_exists', 'Somebody else has just added the same. Try again.', { cause })
}

/**
 * Makes a conditional write through an outage of the database. An attempt that was interrupted may have been committed
 * all the same; the next attempt then finds its condition no longer met and gives `undefined`. So after a repeated
 * attempt `findWritten` reads whether the database holds what was to be written.
 */
export function retryWrite<Written>(
  write: () => Promise<Written | undefined>,
  findWritten: () => Promise<Written | undefined>,
  options: RetryOptions,
): Promise<Written | undefined> {
  return retry(async (attempts) => (await write()) ?? (attempts > 1 ? findWritten() : undefined), options)
}

/** Pauses that double after each attempt, up to the longest one. */
export function doublingPause(firstMs: number, longestMs: number): (attempts: number) => number {
  return (attempts) => Math.min(firstMs * 2 ** (attempts - 1), longestMs)
}

function unchanged(error: unknown): unknown {
  return error
}
