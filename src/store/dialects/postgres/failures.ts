import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'

/** How long a call is tried again while the database restarts or hands over, or while others write the same. */
export const PATIENCE_MS = 2_000

/** Nothing was done, and the same may go well in a moment. */
export class NotDone extends Error {}

/** SQLSTATEs after which nothing was done: serialization, deadlock, a server that goes, comes, is full or is a replica. */
const PASSING = ['40001', '40P01', '57P01', '57P02', '57P03', '53300', '25006', '25P03']

/** What two writers may both try to be first at: the second tries again and finds what the first has written. */
const RACED_CONSTRAINTS = ['connections_default', 'audit_heads_pkey']

/** SQLSTATEs of values that PostgreSQL cannot keep: U+0000, a number out of range, a text too long for its index. */
const UNKEEPABLE = ['22021', '22P05', '22003', '54000']

function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** The connection was lost, or never came to be: the server has said nothing of the statement. */
export function isConnectionFailure(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P')
  return error instanceof Unreachable
}

/** The driver's own errors are of no class: this marks those of a statement that was sent, or could not be. */
class Unreachable extends Error {}

/** Runs what the driver does, so that its failures can be told from faults of this program. */
export async function asked<T>(query: Promise<T>): Promise<T> {
  try {
    return await query
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw error
    throw new Unreachable(messageOf(error), { cause: error })
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof NotDone || isConnectionFailure(error)) return true
  if (!(error instanceof pg.DatabaseError)) return false
  return (
    PASSING.includes(error.code ?? '') ||
    (error.code === '23505' && RACED_CONSTRAINTS.includes(error.constraint ?? ''))
  )
}

/**
 * The same noun, whose methods are tried again for a moment when nothing was done, and which answers
 * `store_unavailable` when the database cannot be used at all. Every write goes through `write`, which throws only
 * when nothing was written or when that cannot be known; the latter is not tried again.
 */
export function retrying<Noun extends object>(noun: Noun): Noun {
  const wrapped = Object.entries(noun).map(([name, method]) => [
    name,
    (...args: unknown[]) => patiently(() => method(...args)),
  ])
  return Object.fromEntries(wrapped) as Noun // the same names with the same signatures
}

export async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (isPassing(error) && performance.now() < end) {
        await sleep(Math.min(100, 5 * tries) * (0.5 + Math.random()))
        continue
      }
      throw toBrokerError(error)
    }
  }
}

/** Other errors are faults of this program and stay as they are. */
function toBrokerError(error: unknown): unknown {
  const state = sqlStateOf(error)
  if (state === undefined && !isPassing(error)) return error
  const cause = plain(error)
  if (state?.startsWith('23'))
    return new BrokerError('already_exists', 'Somebody else has just added the same. Try again.', { cause })
  if (state !== undefined && UNKEEPABLE.includes(state))
    return new BrokerError(
      'invalid_request',
      'A value cannot be kept by the database: it is too long, too large or has the character U+0000 in it.',
      { cause },
    )
  return new BrokerError('store_unavailable', 'The database cannot be used right now. Try again shortly.', {
    cause,
    retryAfter: 5,
  })
}

/** For the log: what failed and its SQLSTATE, none of the values. */
export function plain(error: unknown): Error {
  const state = sqlStateOf(error)
  const message = messageOf(error)
  return new Error(state === undefined ? message : `${message} (SQLSTATE ${state})`)
}

function messageOf(error: unknown): string {
  // both addresses of "localhost" refused: Node tells no more than the code of each
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : 'unknown'
}
