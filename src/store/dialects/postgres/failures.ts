import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import { alreadyAdded, type RetryOptions, unavailable } from '../../retry.ts'

/** How long a call is tried again while the database restarts or fails over, or while other writers conflict. */
export const RETRY_MS = 2_000

/** Nothing was written, and the same call may succeed in a moment. */
export class RetryableError extends Error {}

/** SQLSTATEs after which nothing was written: serialization failure, deadlock, a server that stops, starts, has no free
 * connection or is a replica. */
const PASSING_STATES = ['40001', '40P01', '57P01', '57P02', '57P03', '53300', '25006', '25P03']

/** Constraints at which the second of two racing writers tries again, and finds what the first has written. */
const RACED_CONSTRAINTS = ['connections_default', 'audit_heads_pkey']

/** SQLSTATEs of values that PostgreSQL cannot store: U+0000, a number out of range, a text too long for its index. */
const UNKEEPABLE = ['22021', '22P05', '22003', '54000']

function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether the connection was lost or never established, so that the outcome of the statement is unknown. */
export function isConnectionFailure(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P')
  return error instanceof Unreachable
}

/** Marks the driver's own errors, which have no class, of a statement that was sent or could not be sent. */
class Unreachable extends Error {}

/** Awaits a call of the driver, and marks its failures, so that they can be told apart from faults of this program. */
export async function fromDriver<T>(query: Promise<T>): Promise<T> {
  try {
    return await query
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw error
    throw new Unreachable(messageOf(error), { cause: error })
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof RetryableError || isConnectionFailure(error)) return true
  if (!(error instanceof pg.DatabaseError)) return false
  return (
    PASSING_STATES.includes(error.code ?? '') ||
    (error.code === '23505' && RACED_CONSTRAINTS.includes(error.constraint ?? ''))
  )
}

/**
 * Calls are made again for `RETRY_MS` when nothing was written. A write whose outcome is unknown is not tried again.
 */
export const PASSING: RetryOptions = {
  isTransient: isPassing,
  mayRetry: (elapsedMs) => elapsedMs < RETRY_MS,
  pauseMs: (attempts) => Math.min(100, 5 * attempts) * (0.5 + Math.random()),
  toFailure: toBrokerError,
}

/** Translates failures of the database; other errors are faults of this program and are returned unchanged. */
function toBrokerError(error: unknown): unknown {
  const state = sqlStateOf(error)
  if (state === undefined && !isPassing(error)) return error
  const cause = forLog(error)
  if (state?.startsWith('23')) return alreadyAdded(cause)
  if (state !== undefined && UNKEEPABLE.includes(state))
    return new BrokerError(
      'invalid_request',
      'A value cannot be kept by the database: it is too long, too large or has the character U+0000 in it.',
      { cause },
    )
  return unavailable(cause)
}

/** The message and the SQLSTATE, without the values of the statement. */
export function forLog(error: unknown): Error {
  const state = sqlStateOf(error)
  const message = messageOf(error)
  return new Error(state === undefined ? message : `${message} (SQLSTATE ${state})`)
}

function messageOf(error: unknown): string {
  // both addresses of "localhost" refused: Node tells no more than the code of each
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : 'unknown'
}
