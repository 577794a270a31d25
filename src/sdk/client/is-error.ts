import type {
  AuthorizationFailed,
  AuthorizationRequired,
  AuthorizationTimeout,
  ConnectionError,
  DeniedByPolicy,
  ErrorCode,
  Forbidden,
  GatepassError,
  InvalidRequest,
  NotFound,
  ProviderUnavailable,
  RateLimited,
  TimeoutError,
  Unauthenticated,
  UserMismatch,
} from './errors.ts'
import { BRAND } from './errors.ts'
import type { ToolError } from './tool-error.ts'

/** The class of the errors with a code, where that code has one. */
interface Classes {
  readonly tool_error: ToolError
  readonly authorization_required: AuthorizationRequired
  readonly authorization_failed: AuthorizationFailed
  readonly authorization_timeout: AuthorizationTimeout
  readonly connection_error: ConnectionError
  readonly timeout: TimeoutError
  readonly invalid_request: InvalidRequest
  readonly invalid_input: InvalidRequest
  readonly invalid_authorization: Unauthenticated
  readonly insufficient_role: Forbidden
  readonly denied_by_policy: DeniedByPolicy
  readonly not_found: NotFound
  readonly rate_limited: RateLimited
  readonly too_many_pending: RateLimited
  readonly provider_unavailable: ProviderUnavailable
  readonly user_mismatch: UserMismatch
}

/** The errors with this code. */
export type ErrorOf<Code extends ErrorCode> = Code extends keyof Classes
  ? Classes[Code]
  : GatepassError & { readonly code: Code }

/** Recognises the errors of every copy of this package in the process. */
export function isGatepassError(error: unknown): error is GatepassError {
  return typeof error === 'object' && error !== null && BRAND in error
}
