import type { Cause } from './causes.ts'

/**
 * Every error code a caller may receive: a closed list they can switch on. Everyday outcomes (`ready`,
 * `authorization_required`, `provider_unavailable`) are return values, not errors.
 */
export const ERROR_CODES = [
  'invalid_request',
  'unsupported_media_type',
  'request_too_large',
  'method_not_allowed',
  'rate_limited',
  'too_many_pending',
  'invalid_authorization',
  'insufficient_role',
  'insufficient_scope',
  'user_not_allowed',
  'not_found',
  'already_exists',
  'already_decided',
  'digest_mismatch',
  'set_by_operator',
  'ambiguous_tool',
  'tool_source_changed',
  'provider_not_found',
  'provider_incomplete',
  'provider_inactive',
  'provider_unavailable',
  'token_request_refused',
  'scopes_not_granted',
  'not_accepted',
  'proxy_only',
  'host_not_allowed',
  'user_mismatch',
  'authorization_failed',
  'authorization_required',
  'authorization_expired',
  'denied_by_policy',
  'policy_check_failed',
  'invalid_tool',
  'invalid_input',
  'answer_not_kept',
  'entries_archived',
  'outcome_unknown',
  'store_unavailable',
  'not_implemented',
  'internal_error',
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

/** What may be wrong with one member of a request. */
export const FAULT_CODES = [
  'missing',
  'wrong_type',
  'not_one_of',
  'too_short',
  'too_long',
  'too_small',
  'too_large',
  'unknown_member',
  'unknown_parameter',
  'repeated_parameter',
  'invalid_json',
  'not_allowed',
  'conflict',
  'unknown',
  'invalid',
] as const

export type FaultCode = (typeof FAULT_CODES)[number]

/** One thing that is wrong with a request. */
export interface Fault {
  /** The member, with dots between the levels: `auth_requirement.oauth2.scopes.0`. Empty for the whole request. */
  readonly path: string
  readonly code: FaultCode
  readonly message: string
  /** The position of a syntax error in JSON, counted from 1. */
  readonly line?: number
  readonly column?: number
  /** What a missing value is, with an example, for the person who is asked for it. */
  readonly label?: string
  /** The id of the definition in the catalogue that was probably meant by an unknown provider. */
  readonly catalogued?: string
}

/** What an error may carry besides its message. `retryAfter` is in seconds (RFC 9110 section 10.2.3). */
export interface BrokerErrorOptions {
  readonly cause?: unknown
  readonly retryAfter?: number
  readonly faults?: readonly Fault[]
  /** Why a token or a consent cannot be obtained, if that is known. */
  readonly why?: Cause | undefined
  /** What a person must approve first. */
  readonly required?: RequiredConsent
}

/** What a person must approve before the same request can succeed. */
export interface RequiredConsent {
  readonly id: string
  /** The link for the person. */
  readonly url: string
  readonly scopes: readonly string[]
  readonly status: 'pending'
}

/**
 * The one class of errors for callers. The message says what happened and what to do, and holds no token, code or
 * secret. The upstream error goes into `cause`, for the log.
 */
export class BrokerError extends Error {
  readonly code: ErrorCode
  readonly retryAfter: number | undefined
  readonly faults: readonly Fault[] | undefined
  readonly why: Cause | undefined
  readonly required: RequiredConsent | undefined

  constructor(code: ErrorCode, message: string, options: BrokerErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'BrokerError'
    this.code = code
    this.retryAfter = options.retryAfter
    this.faults = options.faults
    this.why = options.why
    this.required = options.required
  }
}

/** Makes the error for one invalid member of a request; `path` and `code` are those of `Fault`. */
export function invalidMember(
  path: string,
  code: FaultCode,
  message: string,
  more: Pick<Fault, 'label'> = {},
): BrokerError {
  return new BrokerError('invalid_request', message, { faults: [{ path, code, message, ...more }] })
}
