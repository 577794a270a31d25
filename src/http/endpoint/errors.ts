import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { BrokerError, type ErrorCode, type Fault, type RequiredConsent } from '../../domain/errors.ts'
import type { Log } from '../../domain/log.ts'
import { formatRetryAfter } from '../../egress/retry-after.ts'
import { causeToWire } from '../../operations/schemas/cause-schema.ts'
import { alteredValue, UnsealError } from '../../store/seal.ts'
import type { Received } from './request-header.ts'
import { requestId } from './request-id.ts'

/** The HTTP status of every code; a code without one does not compile. */
export const STATUS = {
  invalid_request: 400,
  unsupported_media_type: 415,
  request_too_large: 413,
  method_not_allowed: 405,
  rate_limited: 429,
  too_many_pending: 429,
  invalid_authorization: 401,
  insufficient_role: 403,
  insufficient_scope: 403,
  user_not_allowed: 403,
  not_found: 404,
  already_exists: 409,
  already_decided: 409,
  digest_mismatch: 409,
  set_by_operator: 409,
  ambiguous_tool: 400,
  tool_source_changed: 409,
  provider_not_found: 400,
  provider_incomplete: 400,
  provider_inactive: 400,
  provider_unavailable: 503,
  token_request_refused: 502,
  scopes_not_granted: 409,
  not_accepted: 409,
  host_not_allowed: 400,
  user_mismatch: 400,
  authorization_failed: 400,
  authorization_required: 403,
  authorization_expired: 400,
  proxy_only: 409,
  denied_by_policy: 403,
  policy_check_failed: 503,
  invalid_tool: 400,
  invalid_input: 400,
  answer_not_kept: 410,
  entries_archived: 410,
  outcome_unknown: 409,
  store_unavailable: 503,
  not_implemented: 501,
  internal_error: 500,
} as const satisfies Record<ErrorCode, ContentfulStatusCode>

/** The body of every error. It never holds a token, a code or a secret. */
export interface WireError {
  readonly name: ErrorCode
  readonly message: string
  /** Each thing that is wrong with the request. */
  readonly errors?: readonly Fault[]
  /** Why a token or a consent cannot be obtained. */
  readonly cause?: ReturnType<typeof causeToWire>
  /** What a person must approve before the same request can succeed. */
  readonly requires_authorization?: RequiredConsent
}

/** Makes the response of every refusal. An error that is not a `BrokerError` is a bug: its response gives no details. */
export function errorResponse(c: Context, error: unknown, log: Log): Response {
  if (isCutOff(c, error)) return clientClosed()
  if (error instanceof HTTPException && error.status < 500)
    return c.json(toWire(ofStatus(error.status)), error.status)
  const { status, headers, body } = refusalOf(c, error, log)
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  return c.json(body, status)
}

/** The parts of the response that `errorResponse` makes of an error, unless the client has closed the connection. */
export function refusalOf(c: Received, error: unknown, log: Log) {
  const refusal = toRefusal(error, withoutProxiedPath(c.req.path), log, requestId(c))
  const status = STATUS[refusal.code]
  const { retryAfter } = refusal
  const headers: Readonly<Record<string, string>> = {
    ...(retryAfter !== undefined && { 'retry-after': formatRetryAfter(retryAfter) }),
    ...(status === 401 && { 'www-authenticate': 'Bearer realm="gatepass"' }),
  }
  return { status, headers, body: toWire(refusal) }
}

/**
 * Cuts off the part of a proxied path that is sent to the provider's API: it may hold personal data, which must not be
 * logged.
 */
export function withoutProxiedPath(path: string): string {
  return path.replace(/^(\/proxy\/[^/]+)\/.*$/s, '$1/…')
}

/** The status, in logs and metrics only, of a request whose client has closed the connection. */
const CLIENT_CLOSED = 499

/** The response to a request whose client has closed the connection. */
export function clientClosed(): Response {
  return new Response(null, { status: CLIENT_CLOSED })
}

/** Whether the error occurred because the client closed the connection before it had sent the whole body. */
export function isCutOff(c: Received, error: unknown): boolean {
  const incoming = c.env?.incoming as IncomingMessage | undefined // absent where the app is called without a server
  return !(error instanceof BrokerError) && incoming?.destroyed === true && !incoming.complete
}

/** The HTTP status of the response that `errorResponse` makes of the error. */
export function statusOf(c: Received, error: unknown): number {
  if (isCutOff(c, error)) return CLIENT_CLOSED
  if (error instanceof HTTPException && error.status < 500) return error.status
  return STATUS[asRefusal(error).code]
}

/** The refusal that the caller sees. Failures of the server are logged for the operator. */
export function toRefusal(error: unknown, path: string, log: Log, requestId?: string): BrokerError {
  const refusal = asRefusal(error)
  if (STATUS[refusal.code] >= 500)
    log.error({ path, reason: refusal.code, error: describe(error), requestId }, 'a request failed')
  return refusal
}

function asRefusal(error: unknown): BrokerError {
  if (error instanceof BrokerError) return error
  return error instanceof UnsealError ? alteredValue(error) : INTERNAL
}

const INTERNAL = new BrokerError(
  'internal_error',
  'Something went wrong in Gatepass itself. The log says more; the request may be tried again.',
)

function ofStatus(status: number): BrokerError {
  if (status === 413) return new BrokerError('request_too_large', 'The request body is too large.')
  return new BrokerError('invalid_request', 'The request cannot be read.')
}

export function toWire({ code, message, faults, why, required }: BrokerError): WireError {
  // a fault of the whole request is listed too, so that callers find every fault in `errors`
  const errors = faults ?? (code === 'invalid_request' ? [{ path: '', code: 'invalid', message }] : undefined)
  return {
    name: code,
    message,
    ...(errors && { errors }),
    ...(why && { cause: causeToWire(why) }),
    ...(required && { requires_authorization: required }),
  }
}

/** Describes the error for the log. The message of a refusal is safe; a bug's may hold a secret and is left out. */
function describe(error: unknown): object {
  if (error instanceof BrokerError)
    return { message: error.message, ...(error.cause instanceof Error && { cause: error.cause.name }) }
  if (!(error instanceof Error)) return { type: typeof error }
  return {
    name: error.name,
    at: (error.stack ?? '')
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 8),
  }
}
