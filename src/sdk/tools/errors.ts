/** How a handler may fail: Arcade's kinds of error, without those that only Gatepass reports. */
export type ErrorKind =
  | 'TOOL_REQUIREMENTS_NOT_MET'
  | 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  | 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'
  | 'TOOL_RUNTIME_RETRY'
  | 'TOOL_RUNTIME_CONTEXT_REQUIRED'
  | 'TOOL_RUNTIME_FATAL'
  | 'UPSTREAM_RUNTIME_BAD_REQUEST'
  | 'UPSTREAM_RUNTIME_AUTH_ERROR'
  | 'UPSTREAM_RUNTIME_NOT_FOUND'
  | 'UPSTREAM_RUNTIME_VALIDATION_ERROR'
  | 'UPSTREAM_RUNTIME_RATE_LIMIT'
  | 'UPSTREAM_RUNTIME_SERVER_ERROR'
  | 'UPSTREAM_RUNTIME_UNMAPPED'
  | 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'
  | 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'
  | 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED'

export interface ToolErrorOptions {
  readonly cause?: unknown
  /** Whether the same call may be repeated without doing anything twice. */
  readonly canRetry?: boolean
  /**
   * The HTTP status that the API answered. 401 means that the API rejected the token: the tool is run again with a
   * fresh token if that is safe.
   */
  readonly statusCode?: number
  /** For the operator of the tool, not for the model or the user. */
  readonly developerMessage?: string
  readonly retryAfterMs?: number
  /** Advice to the model for its next attempt. */
  readonly additionalPromptContent?: string
}

/** The same symbol in every copy of this package, so a module of tools may bring its own copy. */
const BRAND = Symbol.for('gatepass.tool-error')

/**
 * An intended failure of a tool. Its `message` may be shown to a model and a user; the messages of other errors are
 * not.
 */
export class ToolError extends Error {
  readonly kind: ErrorKind
  readonly canRetry: boolean
  readonly statusCode?: number
  readonly developerMessage?: string
  readonly retryAfterMs?: number
  readonly additionalPromptContent?: string
  readonly [BRAND] = true

  /** `kind` absent: `TOOL_RUNTIME_RETRY` with `canRetry`, else `TOOL_RUNTIME_FATAL`. */
  constructor(message: string, options: ToolErrorOptions = {}, kind?: ErrorKind) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    const { canRetry = false, statusCode, developerMessage, retryAfterMs, additionalPromptContent } = options
    this.name = 'ToolError'
    this.kind = kind ?? (canRetry ? 'TOOL_RUNTIME_RETRY' : 'TOOL_RUNTIME_FATAL')
    this.canRetry = canRetry
    if (statusCode !== undefined) this.statusCode = statusCode
    if (developerMessage !== undefined) this.developerMessage = developerMessage
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
    if (additionalPromptContent !== undefined) this.additionalPromptContent = additionalPromptContent
  }
}

/** The call may be repeated: nothing was done. */
export class RetryableToolError extends ToolError {
  constructor(message: string, options: Omit<ToolErrorOptions, 'canRetry'> = {}) {
    super(message, { ...options, canRetry: true })
    this.name = 'RetryableToolError'
  }
}

/** Repeating the call would fail again. */
export class FatalToolError extends ToolError {
  constructor(message: string, options: Omit<ToolErrorOptions, 'canRetry'> = {}) {
    super(message, { ...options, canRetry: false })
    this.name = 'FatalToolError'
  }
}

export interface UpstreamErrorOptions extends ToolErrorOptions {
  /** The API could not be reached, or did not answer in time. */
  readonly network?: 'unreachable' | 'timeout'
}

/** An API used by the tool refused the request or failed. Its kind follows from `statusCode`. */
export class UpstreamError extends ToolError {
  constructor(message: string, options: UpstreamErrorOptions = {}) {
    // a request that was refused for its rate was not carried out
    const { canRetry = options.statusCode === 429 } = options
    super(message, { ...options, canRetry }, upstreamKind(options))
    this.name = 'UpstreamError'
  }
}

/** The tool wants something that the way it is run cannot offer, such as a form for the user. */
export class ContextRequiredError extends ToolError {
  constructor(message: string, options: ToolErrorOptions = {}) {
    super(message, options, 'TOOL_RUNTIME_CONTEXT_REQUIRED')
    this.name = 'ContextRequiredError'
  }
}

/** Whether a value is a `ToolError`, also one of another copy of this package. */
export function isToolError(error: unknown): error is ToolError {
  return error instanceof Error && BRAND in error
}

function upstreamKind({ network, statusCode = 0 }: UpstreamErrorOptions): ErrorKind {
  if (network === 'timeout') return 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'
  if (network === 'unreachable') return 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'
  if (statusCode === 401 || statusCode === 403) return 'UPSTREAM_RUNTIME_AUTH_ERROR'
  if (statusCode === 404 || statusCode === 410) return 'UPSTREAM_RUNTIME_NOT_FOUND'
  if (statusCode === 422) return 'UPSTREAM_RUNTIME_VALIDATION_ERROR'
  if (statusCode === 429) return 'UPSTREAM_RUNTIME_RATE_LIMIT'
  if (statusCode >= 400 && statusCode <= 499) return 'UPSTREAM_RUNTIME_BAD_REQUEST'
  return statusCode >= 500 && statusCode <= 599
    ? 'UPSTREAM_RUNTIME_SERVER_ERROR'
    : 'UPSTREAM_RUNTIME_UNMAPPED'
}
