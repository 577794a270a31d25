import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'
import { alreadyAdded, PartUnavailable, type RetryOptions, unavailable } from '../../retry.ts'

/** For how long a call is retried while the database restarts or fails over, or while other writers conflict. */
export const RETRY_MS = 2_000

/**
 * For how long a call is retried while a worker of Citus does not answer. Each connection to the coordinator may still
 * have one to the worker from before it was started again, which fails once.
 */
const WORKER_RETRY_MS = 100

/** Nothing was written, and the same call may succeed shortly. */
export class RetryableError extends Error {}

/** The SQLSTATE of a write on a server that takes none: a standby, or a primary that was demoted. */
const READ_ONLY = '25006'

/**
 * SQLSTATEs after which nothing was written and a retry may succeed: serialization failure, deadlock, a server that stops,
 * starts, has no free connection or is a replica.
 */
const TRANSIENT_STATES = ['40001', '40P01', '57P01', '57P02', '57P03', '53300', READ_ONLY, '25P03']

/** Constraints that the second of two racing writers violates: its retry finds what the first has written. */
const RACED_CONSTRAINTS = ['connections_default', 'audit_heads_pkey']
/** The index `connections_default` of a partition: PostgreSQL names it after the partition and its columns. */
const RACED_IN_PARTITION = /^connections_\d+_project_id_provider_uid_user_id_owner_bits_idx$/
/** The same index of a shard. Citus gives its name in the message only. */
const RACED_IN_SHARD = /\bconnections_default_\d+\b/

/** SQLSTATEs of values that PostgreSQL cannot store: U+0000, a number out of range, a text too long for its index. */
const UNSTORABLE_STATES = ['22021', '22P05', '22003', '54000']

function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** A worker of Citus is not asked, since it has failed the statements before. */
export class WorkerDown extends Error {
  constructor() {
    super('the worker has not answered')
  }
}

/**
 * Whether the coordinator of Citus says that a worker does not answer. The connection to the coordinator is intact, and
 * the transaction was rolled back.
 */
export function isWorkerFailure(error: unknown): boolean {
  return error instanceof WorkerDown || (error instanceof pg.DatabaseError && OF_WORKER.test(error.message))
}

const OF_WORKER = /^(connection to the remote node|could not establish any connections to the node) /

/** Whether the connection was lost or never established, so that the outcome of the statement is unknown. */
export function isConnectionFailure(error: unknown): boolean {
  if (isWorkerFailure(error)) return false
  const state = sqlStateOf(error)
  if (state !== undefined) return state.startsWith('08') || state.startsWith('57P')
  return error instanceof DriverError
}

/** The SQLSTATE of a notice; the name of its severity depends on the server's language. */
const SUCCESSFUL = '00000'

/** Whether the connection must be closed. A body's own error, such as a refusal, leaves it intact. */
export function isUnusable(error: unknown): boolean {
  return isConnectionFailure(error) || sqlStateOf(error) === READ_ONLY
}

/** Wraps the driver's own errors, which have no class. The statement may have been sent or not. */
class DriverError extends Error {}

/** Awaits a call of the driver, and wraps its errors, to tell them from faults of this program. */
export async function fromDriver<T>(query: Promise<T>): Promise<T> {
  try {
    return await query
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw error
    throw new DriverError(messageOf(error), { cause: error })
  }
}

/**
 * `fromDriver` for a statement that ends a transaction. A warning of the server counts as a lost connection: it warns when
 * the wait for a synchronous standby was cancelled (`pg_cancel_backend`). The commit is then only on this server, which
 * answers it as any other. Its notices are not warnings: what Citus sends to its workers, if an operator asked to see it.
 */
export async function confirmed<T>(client: pg.ClientBase, run: () => Promise<T>): Promise<T> {
  let warning: string | undefined
  const onNotice = ({ code, message }: Readonly<Record<'code' | 'message', string | undefined>>) => {
    if (code !== SUCCESSFUL) warning = message ?? ''
  }
  client.on('notice', onNotice)
  try {
    const result = await fromDriver(run())
    if (warning !== undefined) throw new DriverError(`the server warned at a commit: ${warning}`)
    return result
  } finally {
    client.off('notice', onNotice)
  }
}

/** Whether the server has ended a statement that took too long. */
export function isTimeout(error: unknown): boolean {
  return sqlStateOf(error) === '57014'
}

function isTransient(error: unknown): boolean {
  if (error instanceof RetryableError || isConnectionFailure(error) || isWorkerFailure(error)) return true
  if (!(error instanceof pg.DatabaseError)) return false
  return TRANSIENT_STATES.includes(error.code ?? '') || (error.code === '23505' && isRaced(error))
}

function isRaced({ constraint, message }: pg.DatabaseError): boolean {
  if (constraint === undefined) return RACED_IN_SHARD.test(message)
  return RACED_CONSTRAINTS.includes(constraint) || RACED_IN_PARTITION.test(constraint)
}

/** Calls are retried for `RETRY_MS` when nothing was written. A write whose outcome is unknown is not retried. */
export const POSTGRES_RETRIES: RetryOptions = {
  isTransient,
  mayRetry: (elapsedMs, _, error) => elapsedMs < (isWorkerFailure(error) ? WORKER_RETRY_MS : RETRY_MS),
  pauseMs: (attempts) => Math.min(100, 5 * attempts) * (0.5 + Math.random()),
  toFailure: toBrokerError,
}

/** Translates errors of the database. All others are faults of this program, and are returned unchanged. */
function toBrokerError(error: unknown): unknown {
  const state = sqlStateOf(error)
  if (state === undefined && !isTransient(error)) return error
  const cause = forLog(error)
  if (isWorkerFailure(error)) return new PartUnavailable(cause)
  if (state?.startsWith('23')) return alreadyAdded(cause)
  if (state !== undefined && UNSTORABLE_STATES.includes(state))
    return new BrokerError(
      'invalid_request',
      'The database cannot store a value: it is too long, too large or contains the character U+0000.',
      { cause },
    )
  return unavailable(cause)
}

/** The error with its message and SQLSTATE, without the values of the statement. */
export function forLog(error: unknown): Error {
  const state = sqlStateOf(error)
  const message = messageOf(error)
  return new Error(state === undefined ? message : `${message} (SQLSTATE ${state})`)
}

function messageOf(error: unknown): string {
  // such as when both addresses of "localhost" refuse: the error has no message of its own
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : 'unknown'
}
