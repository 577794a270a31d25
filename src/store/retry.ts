import { setTimeout as sleep } from 'node:timers/promises'
import { BrokerError } from '../domain/errors.ts'

/** Whether the database was unavailable, so that the same call may succeed later. */
export function isStoreUnavailable(error: unknown): error is BrokerError {
  return error instanceof BrokerError && error.code === 'store_unavailable'
}

/**
 * A server that holds a part of the rows does not answer. Users whose rows it holds, and lists over all users, must wait
 * for it; everything else goes on.
 */
export class PartUnavailable extends BrokerError {
  constructor(cause: unknown) {
    super(
      'store_unavailable',
      'A worker of the database does not answer. Users whose connections it holds, and lists over all users, cannot be served until it does. Try again shortly.',
      { cause, retryAfter: 5 },
    )
  }
}

export interface RetryOptions {
  /** Whether the call may succeed later, although it threw this error. By default `isStoreUnavailable`. */
  readonly isTransient?: (error: unknown) => boolean
  /** Whether to retry after this error, by the milliseconds since the first attempt began and the number of attempts made. */
  readonly mayRetry: (elapsedMs: number, attempts: number, error: unknown) => boolean
  /** The pause before the next attempt, in milliseconds, by the number of attempts made. */
  readonly pauseMs: (attempts: number) => number
  /** Called before each retry, with the error of the last attempt. */
  readonly onRetry?: (error: unknown) => void
  /** Translates the error of the last attempt into the one that is thrown. By default it is thrown itself. */
  readonly toFailure?: (error: unknown) => unknown
  /** Whether the process may end during a pause. By default a pause keeps it running. */
  readonly mayProcessEnd?: boolean
}

/**
 * Retries a call, after a pause, while it throws a transient error and `mayRetry` allows it; then throws the last error.
 * Throws any other error at once.
 */
export async function retry<T>(attempt: (attempts: number) => Promise<T>, options: RetryOptions): Promise<T> {
  const { isTransient = isStoreUnavailable, mayRetry, pauseMs, onRetry, toFailure = unchanged } = options
  const began = performance.now()
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(attempts)
    } catch (error) {
      if (!isTransient(error) || !mayRetry(performance.now() - began, attempts, error)) throw toFailure(error)
      onRetry?.(error)
      await sleep(pauseMs(attempts), undefined, { ref: options.mayProcessEnd !== true })
    }
  }
}

/** A copy of the noun whose methods retry as the options say. */
export function retrying<Noun extends object>(noun: Noun, options: RetryOptions): Noun {
  const methods = Object.entries(noun).map(([name, method]) => [
    name,
    (...args: unknown[]) => retry(() => method(...args), options),
  ])
  return Object.fromEntries(methods) as Noun // the same names with the same signatures
}

/** Returns the error for a database that is unavailable. */
export function unavailable(cause: unknown): BrokerError {
  return new BrokerError('store_unavailable', 'The database cannot be used right now. Try again shortly.', {
    cause,
    retryAfter: 5,
  })
}

/** Returns the error for a write that lost a race for the same key, or against a deletion. */
export function alreadyAdded(cause: unknown): BrokerError {
  return new BrokerError(
    'already_exists',
    'Another request has just added or deleted the same record. Try again.',
    {
      cause,
    },
  )
}

/**
 * Retries a conditional write during an outage of the database. An interrupted attempt may have been committed. The next
 * attempt then finds its condition no longer met and returns `undefined`, so `findWritten` reads the row again, to tell
 * whether the write happened.
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
