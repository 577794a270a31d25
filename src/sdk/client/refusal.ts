import type { ErrorBody } from '../generated/wire.ts'
import { isRecord } from '../is-record.ts'
import { parseRetryAfter } from '../retry-after.ts'
import {
  DeniedByPolicy,
  type ErrorCode,
  type ErrorDetails,
  Forbidden,
  GatepassError,
  InvalidRequest,
  NotFound,
  ProviderUnavailable,
  RateLimited,
  Unauthenticated,
  UserMismatch,
} from './errors.ts'

/** The error class of each refusal code that has a class of its own. */
export const REFUSAL_CLASSES = {
  invalid_authorization: Unauthenticated,
  insufficient_role: Forbidden,
  insufficient_scope: Forbidden,
  user_not_allowed: Forbidden,
  denied_by_policy: DeniedByPolicy,
  not_found: NotFound,
  rate_limited: RateLimited,
  too_many_pending: RateLimited,
  provider_unavailable: ProviderUnavailable,
  user_mismatch: UserMismatch,
} as const satisfies Partial<Record<ErrorCode, typeof GatepassError>>

/** Reads the body of a response with an error status and returns the error. */
export async function toRefusal(response: Response): Promise<GatepassError> {
  return refusalOf(response, await readBody(response))
}

/** Returns the error for a response with an error status, whose body the caller has read. */
export function refusalOf({ status, headers, url }: Response, body: unknown): GatepassError {
  const details: ErrorDetails = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: parseRetryAfter(headers.get('retry-after') ?? ''),
  }
  if (!isRefusal(body)) {
    const where = url === '' ? 'The base URL' : new URL(url).origin
    return new GatepassError(
      'unexpected_answer',
      `${where} answered ${status} without an error of Gatepass. Check that baseUrl is the URL of a Gatepass.`,
      details,
    )
  }
  return toError(body, details)
}

/** Returns the error for a refusal, in a response or in a stream. */
export function toError(
  { name, message, errors, cause, requires_authorization: required }: ErrorBody,
  { why = cause, ...rest }: ErrorDetails,
): GatepassError {
  const details: ErrorDetails = { ...rest, ...(why && { why }), ...(required && { required }) }
  if (Object.hasOwn(REFUSAL_CLASSES, name))
    return new REFUSAL_CLASSES[name as keyof typeof REFUSAL_CLASSES](name, message, details)
  return details.status === 400 || details.status === 422
    ? new InvalidRequest(name, message, { ...details, ...(errors && { faults: errors }) })
    : new GatepassError(name, message, details)
}

function isRefusal(body: unknown): body is ErrorBody {
  return isRecord(body) && typeof body.name === 'string' && typeof body.message === 'string'
}

/** Returns `undefined` if the body is not JSON. */
async function readBody(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}
