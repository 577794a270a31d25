import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingResponse,
} from '../egress/outgoing.ts'
import { parseRetryAfter } from '../egress/retry-after.ts'
import { NOT_JSON } from './read-json.ts'
import { badOutputError, type ErrorKind, type ToolError } from './tool-error.ts'
import { WorkerFault } from './worker-fault.ts'

// One request to a worker, limited in time and size. It is retried only when the worker has certainly done nothing or the
// request is safe to repeat. A failure is reported as a `ToolError`. Content outside of the worker's protocol (an error
// page, a redirect) never reaches a caller.

/** The limit for one answer. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** The time limit for a health check of a worker, if the worker's own limit is longer. */
export const MAX_HEALTH_SECONDS = 10
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000

/** The pause before the retry that follows this attempt, counted from 0. */
export function retryPauseMs(attempt: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS)
}

export interface WorkerRequest
  extends Pick<
    OutgoingRequest,
    'url' | 'path' | 'method' | 'headers' | 'body' | 'maxBytes' | 'signal' | 'continuesTrace' | 'redirects'
  > {
  /** The limit for all attempts together. */
  readonly timeoutSeconds: number
  /** The number of retries. */
  readonly retry: number
  /** Safe to repeat: the request is retried even after it was sent, and after the statuses 502, 503 and 504. */
  readonly isRepeatable?: boolean
  /** Headers that are made for each attempt, such as short-lived tokens and proofs. */
  readonly authorize?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
}

/** Statuses of a gateway that could not reach the worker. */
export const GATEWAY_STATUSES = [502, 503, 504]

/**
 * Sends the request and returns the answer, of any status. Throws `WorkerFault` if no answer came, and for a
 * redirect unless `redirects` says otherwise.
 */
export async function askWorker(
  outgoing: Outgoing,
  {
    timeoutSeconds,
    retry,
    isRepeatable = false,
    authorize,
    headers,
    maxBytes = MAX_ANSWER_BYTES,
    ...request
  }: WorkerRequest,
): Promise<OutgoingResponse> {
  const endsAt = performance.now() + timeoutSeconds * 1000
  const { signal } = request
  for (let attempt = 0; ; attempt++) {
    const pauseMs = retryPauseMs(attempt)
    const mayTryAgain = () => attempt < retry && performance.now() + pauseMs < endsAt && !signal?.aborted
    try {
      const response = await outgoing.send({
        ...request,
        purpose: 'worker',
        headers: { ...headers, ...(await authorize?.()) },
        deadlineMs: Math.max(1, endsAt - performance.now()),
        maxBytes,
      })
      if (!isRepeatable || !GATEWAY_STATUSES.includes(response.status) || !mayTryAgain()) return response
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      if (signal?.aborted === true) throw new WorkerFault(CANCELLED)
      const isSafe = isRepeatable || !error.requestSent
      if (!isSafe || error.kind !== 'unreachable' || !mayTryAgain())
        throw new WorkerFault(toolErrorOf(error), { isTooLarge: error.kind === 'too_large' })
    }
    await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined) // the next attempt reports the cancellation
  }
}

/** Not retryable, because the tool may have done something before the call was cancelled. */
export const CANCELLED: ToolError = {
  kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
  message: 'The caller cancelled the call.',
  canRetry: false,
}

/** The body of a 2xx answer. Throws `WorkerFault` for any other status. */
export function bodyOf({ status, headers, body }: OutgoingResponse): Uint8Array {
  if (status >= 200 && status <= 299) return body
  throw new WorkerFault(refusalOf(status, headers['retry-after']))
}

const UTF_8 = new TextDecoder()

/** The JSON of a 2xx answer. Throws `WorkerFault` for anything else. */
export function jsonOf(response: OutgoingResponse): unknown {
  const body = bodyOf(response)
  try {
    return JSON.parse(UTF_8.decode(body))
  } catch {
    throw new WorkerFault(badOutputError(NOT_JSON)) // the parser's own message would quote the answer
  }
}

/** The error for a request without a complete answer. `canRetry` is true only when the tool certainly did not run. */
export function toolErrorOf({ kind, message, requestSent }: OutgoingError): ToolError {
  const error = (kind: ErrorKind, text: string, canRetry: boolean): ToolError => ({
    kind,
    message: text,
    canRetry,
    developerMessage: message,
  })
  switch (kind) {
    case 'timeout':
      return error('NETWORK_TRANSPORT_RUNTIME_TIMEOUT', 'The tool did not answer in time.', !requestSent)
    case 'host_not_allowed':
      return error(
        'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
        'The worker of the tool is at an address to which requests are not allowed.',
        false,
      )
    case 'busy':
    case 'given_up':
      return error(
        'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
        'The worker of the tool has too much to do.',
        true,
      )
    case 'unreachable':
      return requestSent
        ? error('NETWORK_TRANSPORT_RUNTIME_UNMAPPED', 'The connection to the tool broke off.', false)
        : error('NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', 'The worker of the tool could not be reached.', true)
    case 'redirected':
      return error(
        'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
        'The worker of the tool answered with a redirect.',
        false,
      )
    case 'too_large':
      return error('TOOL_RUNTIME_BAD_OUTPUT_VALUE', 'The tool gave an answer that is too large.', false)
  }
}

/** The error for an answer that is not 2xx. Its body is not read, because it may contain parts of the request. */
export function refusalOf(status: number, retryAfter: string | undefined): ToolError {
  const wait = retryAfterMs(retryAfter)
  const error = (kind: ErrorKind, message: string, canRetry: boolean, why = ''): ToolError => ({
    kind,
    message,
    canRetry,
    developerMessage: `The worker answered ${status}.${why}`,
    statusCode: status,
    ...(canRetry && wait !== undefined && { retryAfterMs: wait }),
  })
  switch (status) {
    case 401:
    case 403:
      return error(
        'UPSTREAM_RUNTIME_AUTH_ERROR',
        'The worker of the tool refused the request.',
        false,
        ' It did not accept the token of this broker: the two have different secrets, or their clocks differ.',
      )
    case 404:
      return error('UPSTREAM_RUNTIME_NOT_FOUND', 'The worker of the tool does not know the tool.', false)
    case 422:
      return error(
        'UPSTREAM_RUNTIME_VALIDATION_ERROR',
        'The worker of the tool could not read the request.',
        false,
      )
    case 429:
      return error('UPSTREAM_RUNTIME_RATE_LIMIT', 'The worker of the tool gets too many requests.', true)
    case 503:
      return error('UPSTREAM_RUNTIME_SERVER_ERROR', 'The worker of the tool is not available for now.', true)
    default:
      return status >= 500
        ? error('UPSTREAM_RUNTIME_SERVER_ERROR', 'The worker of the tool has failed.', false)
        : error('UPSTREAM_RUNTIME_BAD_REQUEST', 'The worker of the tool refused the request.', false)
  }
}

const LONGEST_WAIT_SECONDS = 24 * 60 * 60

/** Reads a Retry-After header (RFC 9110 section 10.2.3) as milliseconds, at most a day; `undefined` if it is invalid. */
export function retryAfterMs(value: string | undefined): number | undefined {
  const seconds = parseRetryAfter(value, Date.now() / 1000, LONGEST_WAIT_SECONDS)
  return seconds === undefined ? undefined : Math.ceil(seconds * 1000)
}
