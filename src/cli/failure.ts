import { ConfigError } from '../config-error.ts'
import { BrokerError, type ErrorCode } from '../domain/errors.ts'
import { type Fault, type GatepassError, InvalidRequest } from '../sdk/client/errors.ts'

/** Exit codes, for scripts to switch on; docs/reference/settings.md lists them. */
export const EXIT = {
  done: 0,
  /** The command failed, or one of its checks did. */
  failed: 1,
  /** The command line, the input or the settings are wrong; nothing was done. */
  usage: 2,
  notFound: 3,
  /** The API key is not valid, or its role or a policy does not permit the request. */
  refused: 4,
  /** The user must approve first. */
  consentNeeded: 5,
  /** The server, the database or a provider does not answer; the command may be tried again. */
  unreachable: 6,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command failed. Its message is the one line on standard error. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  /** The refusal of the API that made the command fail. */
  readonly refusal: GatepassError | undefined

  constructor(message: string, exitCode: ExitCode = EXIT.failed, refusal?: GatepassError) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
    this.refusal = refusal
  }
}

/** The refusal of the API, if it made the command fail. */
export function refusalOf(error: unknown): GatepassError | undefined {
  return error instanceof CommandFailure ? error.refusal : undefined
}

/** What is wrong with the request, if the API refused it for that. */
export function faultsOf(error: unknown): readonly Fault[] {
  const refusal = refusalOf(error)
  return refusal instanceof InvalidRequest ? refusal.faults : []
}

const EXIT_CODES: Partial<Record<ErrorCode, ExitCode>> = {
  invalid_request: EXIT.usage,
  ambiguous_tool: EXIT.usage,
  not_found: EXIT.notFound,
  provider_not_found: EXIT.notFound,
  invalid_authorization: EXIT.refused,
  insufficient_role: EXIT.refused,
  user_not_allowed: EXIT.refused,
  denied_by_policy: EXIT.refused,
  authorization_required: EXIT.consentNeeded,
  provider_unavailable: EXIT.unreachable,
  store_unavailable: EXIT.unreachable,
  rate_limited: EXIT.unreachable,
  too_many_pending: EXIT.unreachable,
}

/** The exit code for an error response of the API: by its error code, else by its status. */
export function exitCodeOf(name: unknown, status: number): ExitCode {
  const known =
    typeof name === 'string' && Object.hasOwn(EXIT_CODES, name) ? EXIT_CODES[name as ErrorCode] : undefined
  if (known !== undefined) return known
  if (status === 401 || status === 403) return EXIT.refused
  if (status === 404) return EXIT.notFound
  return status >= 502 && status <= 504 ? EXIT.unreachable : EXIT.failed
}

/** The exit code for an error that a command threw. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof CommandFailure) return error.exitCode
  if (error instanceof ConfigError) return EXIT.usage
  // a master key that does not open the database is a wrong setting, although the store reports itself unavailable
  if (
    error instanceof BrokerError &&
    error.cause instanceof Error &&
    /^(?:Unseal|UnknownKey)Error$/.test(error.cause.name)
  )
    return EXIT.usage
  if (error instanceof BrokerError) return EXIT_CODES[error.code] ?? EXIT.failed
  return EXIT.failed
}

/** The code of a system error in brackets, for the end of a message, such as ` (ENOENT)`; otherwise an empty text. */
export function bracketedCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? ` (${error.code})` : ''
}
