import type {
  AuthorizationFailed,
  AuthorizationRequired,
  AuthorizationTimeout,
  ConnectionError,
  ErrorCode,
  GatepassError,
  InvalidRequest,
  TimeoutError,
} from './errors.ts'
import { BRAND } from './errors.ts'
import type { REFUSAL_CLASSES } from './refusal.ts'
import type { ToolError } from './tool-error.ts'

type RefusalErrors = {
  readonly [Code in keyof typeof REFUSAL_CLASSES]: InstanceType<(typeof REFUSAL_CLASSES)[Code]>
}

/** The error class of each code that has a class of its own. */
interface Classes extends RefusalErrors {
  readonly tool_error: ToolError
  readonly authorization_required: AuthorizationRequired
  readonly authorization_failed: AuthorizationFailed
  readonly authorization_timeout: AuthorizationTimeout
  readonly connection_error: ConnectionError
  readonly timeout: TimeoutError
  readonly invalid_request: InvalidRequest
  readonly invalid_input: InvalidRequest
}

/** The errors with this code. */
export type ErrorOf<Code extends ErrorCode> = Code extends keyof Classes
  ? Classes[Code]
  : GatepassError & { readonly code: Code }

/** Recognises the errors of every copy of this package in the process. */
export function isGatepassError(error: unknown): error is GatepassError {
  return typeof error === 'object' && error !== null && BRAND in error
}
