import type { Cause, ErrorBody, ErrorCode as RefusalCode, RequiredAuthorization } from '../generated/wire.ts'
import type { FailedAuthorization, PendingAuthorization } from './authorization.ts'

/** The error codes that this library adds to those of Gatepass' refusals. */
export type ClientErrorCode =
  /** The tool ran and failed: `ToolError`. */
  | 'tool_error'
  /** `wait()` has reached its deadline: `AuthorizationTimeout`. */
  | 'authorization_timeout'
  /** No answer was received: `ConnectionError`. */
  | 'connection_error'
  /** No answer was received in time: `TimeoutError`. */
  | 'timeout'
  /** The answer does not come from Gatepass: a proxy is in between, or another server has this address. */
  | 'unexpected_answer'
  /** An option of the client is missing or malformed. */
  | 'invalid_options'

/** Every value of `GatepassError.code`. */
export type ErrorCode = RefusalCode | ClientErrorCode

/** One thing that is wrong with a request. */
export type Fault = NonNullable<ErrorBody['errors']>[number]

/** What an error may carry besides its message. */
export interface ErrorDetails {
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly why?: Cause | undefined
  readonly required?: RequiredAuthorization | undefined
  readonly cause?: unknown
}

/** Marks the errors of this library. `Symbol.for` returns the same symbol in two copies of this package. */
export const BRAND: unique symbol = Symbol.for('gatepass.error')

/**
 * The base class of every error of this library. Switch on `code`. `Gatepass.isError` recognises these errors also when
 * they come from another copy of the package, which `instanceof` does not.
 */
export class GatepassError extends Error {
  /** Stable, for programs. */
  readonly code: ErrorCode
  /** The HTTP status; `undefined` where no answer was received. */
  readonly status: number | undefined
  /** The id of the request in Gatepass' log. */
  readonly requestId: string | undefined
  /** How long Gatepass or the tool asks to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** Why there is no token or consent, where that is known: what to change, and who can. */
  declare readonly why?: Cause
  /** What a person must approve before the same request can succeed: of the code `authorization_required`. */
  declare readonly required?: RequiredAuthorization

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined)
    this.name = new.target.label
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
    if (details.why !== undefined) this.why = details.why
    if (details.required !== undefined) this.required = details.required
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** The name of the class. A property of its own, because minifiers rename classes. */
  protected static readonly label: string = 'GatepassError'

  /** Returns the message and all other members, for logs. */
  toJSON(): object {
    return { ...this, message: this.message }
  }
}

/** The request is malformed, or refers to something that does not fit. `faults` lists each thing that is wrong. */
export class InvalidRequest extends GatepassError {
  protected static override readonly label: string = 'InvalidRequest'
  readonly faults: readonly Fault[]

  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & { readonly faults?: readonly Fault[] },
  ) {
    super(code, message, details)
    this.faults = details.faults ?? []
  }
}

/** Gatepass does not know the API key, or it has expired or was revoked. */
export class Unauthenticated extends GatepassError {
  protected static override readonly label: string = 'Unauthenticated'
}

/** The API key may not do this: its role does not suffice, or it acts for another user only. */
export class Forbidden extends GatepassError {
  protected static override readonly label: string = 'Forbidden'
}

/** A policy of the project refuses this use. */
export class DeniedByPolicy extends GatepassError {
  protected static override readonly label: string = 'DeniedByPolicy'
}

/** What the request names does not exist in the project of the API key. The message has the nearest name. */
export class NotFound extends GatepassError {
  protected static override readonly label: string = 'NotFound'
}

/** Too many requests, or too many pending authorizations. `retryAfterMs` says how long to wait. */
export class RateLimited extends GatepassError {
  protected static override readonly label: string = 'RateLimited'
}

/** The provider gives no answer, so a token that has expired cannot be refreshed now. The connection is not lost. */
export class ProviderUnavailable extends GatepassError {
  protected static override readonly label: string = 'ProviderUnavailable'
}

/** The user who came back is not the one for whom the link was made. The authorization has failed. */
export class UserMismatch extends GatepassError {
  protected static override readonly label: string = 'UserMismatch'
}

/** No answer was received: the network failed, or nothing listens at the base URL. */
export class ConnectionError extends GatepassError {
  protected static override readonly label: string = 'ConnectionError'
}

/** No answer was received within `timeoutMs`. What was requested may still be carried out. */
export class TimeoutError extends GatepassError {
  protected static override readonly label: string = 'TimeoutError'
}

/** The user has to approve first: show `authorization.url`, then `await authorization.wait()` and try again. */
export class AuthorizationRequired extends GatepassError {
  protected static override readonly label: string = 'AuthorizationRequired'
  declare readonly code: 'authorization_required'
  readonly authorization: PendingAuthorization

  constructor(authorization: PendingAuthorization, details: ErrorDetails = {}) {
    super('authorization_required', `The user must approve this first, at ${authorization.url}`, details)
    this.authorization = authorization
  }
}

/** The authorization has failed for good. `reason` is stable, the message says what to do. */
export class AuthorizationFailed extends GatepassError {
  protected static override readonly label: string = 'AuthorizationFailed'
  declare readonly code: 'authorization_failed'
  readonly reason: FailedAuthorization['reason']
  readonly authorization: FailedAuthorization

  constructor(authorization: FailedAuthorization) {
    const { kind, reason, message, why } = authorization
    const text = kind === 'approval' ? message : `The authorization failed (${reason}). ${message}`
    super('authorization_failed', text, { why })
    this.reason = reason
    this.authorization = authorization
  }
}

/** The user has not approved within the `timeoutMs` of `wait()`. The authorization may still be pending. */
export class AuthorizationTimeout extends GatepassError {
  protected static override readonly label: string = 'AuthorizationTimeout'
  declare readonly code: 'authorization_timeout'
}
