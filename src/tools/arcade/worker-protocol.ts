import { setTimeout as sleep } from 'node:timers/promises'
import { SignJWT } from 'jose'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../../providers/outgoing.ts'
import { membersOf } from '../../providers/response-body.ts'
import { WorkerFault } from '../backend.ts'
import { scrub } from '../scrub.ts'
import type { ToolAnswer } from '../tool-answer.ts'
import { badOutputError, type ErrorKind, type ToolError } from '../tool-error.ts'
import { readWorkerAnswer } from './read-worker-answer.ts'

// The broker's side of Arcade's HTTP worker protocol (reference/arcade.md section 3): signs the request, bounds
// its time and size, and says in the contract's error kinds what went wrong. What a worker wrote beside the
// protocol (an error page, a redirect, a consent link) is never passed on.

export interface WorkerEndpoint {
  /** The base URL; `/worker/...` is appended. */
  readonly uri: string
  /** The HS256 key that both sides know. */
  readonly secret: string
  /** For one request in all, repeated attempts included. */
  readonly timeoutSeconds: number
  /** How often to try again when surely nothing was sent. */
  readonly retry: number
}

export interface WorkerCall {
  readonly runId: string
  readonly executionId: string
  /** RFC 3339. */
  readonly createdAt: string
  /** As the worker spells it. */
  readonly tool: { readonly name: string; readonly toolkit: string; readonly version?: string }
  readonly inputs: Readonly<Record<string, unknown>>
  readonly context: WorkerCallContext
}

export interface ToolAuthorization {
  readonly token: string
  readonly user_info: Readonly<Record<string, unknown>>
}

/** What the tool is given besides its inputs, as the wire has it. */
export interface WorkerCallContext {
  readonly authorization?: ToolAuthorization
  /** Beyond the protocol: all of them, in the order declared, when the tool needs several providers. */
  readonly authorizations?: readonly ToolAuthorization[]
  readonly secrets?: readonly { readonly key: string; readonly value: string }[]
  readonly metadata?: readonly { readonly key: string; readonly value: string }[]
  readonly user_id?: string
}

const TOKEN_SECONDS = 60
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_HEALTH_MS = 10_000
/** One worker that hangs must not hold up the others' upkeep. */
const MAX_CATALOGUE_SECONDS = 10
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000

/** Whether the worker says that it is well. `message` says why not, for the operator. */
export async function workerHealth(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
): Promise<{ healthy: boolean; message?: string }> {
  try {
    const health = membersOf((await ask(outgoing, worker, { path: 'health' })).said)
    if (health?.status === 'ok') return { healthy: true }
    return { healthy: false, message: 'The worker does not say that its status is "ok".' }
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { healthy: false, message: error.message }
  }
}

/** The worker's tool definitions, not yet looked into. Throws `WorkerFault`. */
export async function workerCatalogue(outgoing: Outgoing, worker: WorkerEndpoint): Promise<unknown[]> {
  const timeoutSeconds = Math.min(worker.timeoutSeconds, MAX_CATALOGUE_SECONDS)
  const { said, credentials } = await ask(
    outgoing,
    { ...worker, timeoutSeconds },
    { path: 'tools', signed: true },
  )
  if (Array.isArray(said)) return said.map((definition) => scrub(definition, credentials))
  throw new WorkerFault(badOutputError('The worker lists its tools in something that is not a JSON array.'))
}

/** Runs a tool. Whatever the worker does wrong is an answer of the outcome `error`; nothing is thrown for it. */
export async function invokeWorker(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { runId, executionId, createdAt, tool, inputs, context }: WorkerCall,
  signal?: AbortSignal,
): Promise<ToolAnswer> {
  const call = { run_id: runId, execution_id: executionId, created_at: createdAt, tool, inputs, context }
  try {
    const body = JSON.stringify(call)
    const question = { path: 'tools/invoke', signed: true, body, ...(signal && { signal }) } as const
    const { said, credentials } = await ask(outgoing, worker, question)
    return scrub(readWorkerAnswer(said), credentials) as ToolAnswer // the same shape, with the values taken out
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { outcome: 'error', error: error.error, isOwn: true, logs: [] }
  }
}

interface Question {
  readonly path: 'health' | 'tools' | 'tools/invoke'
  readonly signed?: boolean
  /** JSON; with it the method is POST. */
  readonly body?: string
  readonly signal?: AbortSignal
}

interface Answer {
  /** The JSON of a 2xx answer. */
  readonly said: unknown
  /** What the request was signed with: a worker that echoes it must not hand it on. */
  readonly credentials: readonly string[]
}

/** What is no JSON of a 2xx answer is a `WorkerFault`. */
async function ask(outgoing: Outgoing, worker: WorkerEndpoint, question: Question): Promise<Answer> {
  const { response, token } = await send(outgoing, worker, question)
  const { status, headers, body } = response
  if (status < 200 || status > 299) throw new WorkerFault(refusal(status, headers['retry-after']))
  try {
    const said: unknown = JSON.parse(new TextDecoder().decode(body))
    return { said, credentials: token === undefined ? [] : [token, worker.secret] }
  } catch {
    throw new WorkerFault(badOutputError('The worker answered with something that is not JSON.')) // the parser quotes the text
  }
}

async function send(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  question: Question,
): Promise<{ readonly response: OutgoingResponse; readonly token: string | undefined }> {
  const { path, signed = false, body, signal } = question
  const timeoutMs = worker.timeoutSeconds * 1000
  const endsAt = performance.now() + (path === 'health' ? Math.min(timeoutMs, MAX_HEALTH_MS) : timeoutMs)
  for (let attempt = 0; ; attempt++) {
    const token = signed ? await workerToken(worker.secret) : undefined
    const request: OutgoingRequest = {
      purpose: 'worker',
      url: `${worker.uri.replace(/\/+$/, '')}/worker/${path}`,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      deadlineMs: Math.max(1, endsAt - performance.now()),
      maxBytes: MAX_ANSWER_BYTES,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    }
    try {
      return { response: await outgoing.send(request), token }
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
      const again = attempt < worker.retry && performance.now() + pauseMs < endsAt && !signal?.aborted
      if (!again || error.requestSent || error.kind !== 'unreachable') throw new WorkerFault(failure(error))
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined) // given up: the next attempt says so
    }
  }
}

function workerToken(secret: string): Promise<string> {
  return new SignJWT({ ver: '1' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setAudience('worker')
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_SECONDS} seconds`)
    .sign(new TextEncoder().encode(secret))
}

/** A request that got no whole answer. It may be made again by itself only when the tool surely did not run. */
function failure({ kind, message, requestSent }: OutgoingError): ToolError {
  const error = (kind: ErrorKind, said: string, can_retry: boolean): ToolError => ({
    kind,
    message: said,
    can_retry,
    developer_message: message,
  })
  switch (kind) {
    case 'timeout':
      return error('NETWORK_TRANSPORT_RUNTIME_TIMEOUT', 'The tool did not answer in time.', !requestSent)
    case 'host_not_allowed':
      return error('NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', 'What runs the tool may not be reached.', false)
    case 'busy':
      return error('NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', 'What runs the tool has too much to do.', true)
    case 'unreachable':
      return requestSent
        ? error('NETWORK_TRANSPORT_RUNTIME_UNMAPPED', 'The connection to the tool broke off.', false)
        : error('NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', 'What runs the tool could not be reached.', true)
    case 'redirected':
      return error(
        'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
        'What runs the tool sent the request elsewhere.',
        false,
      )
    case 'too_large':
      return error('TOOL_RUNTIME_BAD_OUTPUT_VALUE', 'The tool gave an answer that is too large.', false)
  }
}

/** An answer that is no 2xx. Its body is not read: it is the worker's own page, and may repeat the request. */
function refusal(status: number, retryAfter: string | undefined): ToolError {
  const wait = readRetryAfter(retryAfter)
  const error = (kind: ErrorKind, message: string, can_retry: boolean, why = ''): ToolError => ({
    kind,
    message,
    can_retry,
    developer_message: `The worker answered ${status}.${why}`,
    status_code: status,
    ...(can_retry && wait !== undefined && { retry_after_ms: wait }),
  })
  switch (status) {
    case 401:
    case 403:
      return error(
        'UPSTREAM_RUNTIME_AUTH_ERROR',
        'What runs the tool refused the request.',
        false,
        ' It does not take this broker’s token: its secret differs, or its clock does.',
      )
    case 404:
      return error('UPSTREAM_RUNTIME_NOT_FOUND', 'What runs the tool does not know it.', false)
    case 422:
      return error(
        'UPSTREAM_RUNTIME_VALIDATION_ERROR',
        'What runs the tool could not read the request.',
        false,
      )
    case 429:
      return error('UPSTREAM_RUNTIME_RATE_LIMIT', 'What runs the tool is asked too often.', true)
    case 503:
      return error('UPSTREAM_RUNTIME_SERVER_ERROR', 'What runs the tool is not available for now.', true)
    default:
      return status >= 500
        ? error('UPSTREAM_RUNTIME_SERVER_ERROR', 'What runs the tool has failed.', false)
        : error('UPSTREAM_RUNTIME_BAD_REQUEST', 'What runs the tool refused the request.', false)
  }
}

const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000

/** RFC 9110 section 10.2.3, in milliseconds. */
function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, Math.ceil(ms)), LONGEST_WAIT_MS)
}
