import { type ErrorDetails, GatepassError } from './errors.ts'

/** How a tool failed. `TOOL_…` and `CONTEXT_…`: in Gatepass or the tool; `UPSTREAM_…`: in the API that the tool calls. */
export type ToolErrorKind =
  | 'TOOLKIT_LOAD_FAILED'
  | 'TOOL_DEFINITION_BAD_DEFINITION'
  | 'TOOL_DEFINITION_BAD_INPUT_SCHEMA'
  | 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA'
  | 'TOOL_REQUIREMENTS_NOT_MET'
  | 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  | 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'
  | 'TOOL_RUNTIME_RETRY'
  | 'TOOL_RUNTIME_CONTEXT_REQUIRED'
  | 'TOOL_RUNTIME_FATAL'
  | 'CONTEXT_CHECK_FAILED'
  | 'CONTEXT_DENIED'
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
  | 'UNKNOWN'

export interface ToolErrorDetails extends ErrorDetails {
  readonly kind: ToolErrorKind
  readonly canRetry: boolean
  readonly developerMessage?: string | undefined
  readonly additionalPromptContent?: string | undefined
  readonly executionId?: string | undefined
}

/** The tool failed. The message is for users and models. */
export class ToolError extends GatepassError {
  protected static override readonly label: string = 'ToolError'
  declare readonly code: 'tool_error'
  readonly kind: ToolErrorKind
  /** Whether the same call may be repeated without doing anything twice. */
  readonly canRetry: boolean
  /** For developers: do not show it to a model. */
  readonly developerMessage: string | undefined
  /** Text to add to the model's prompt before it tries again. */
  readonly additionalPromptContent: string | undefined
  /** The run in the history: `gatepass.executions.get(executionId)`. */
  readonly executionId: string | undefined

  constructor(message: string, details: ToolErrorDetails) {
    super('tool_error', message, details)
    this.kind = details.kind
    this.canRetry = details.canRetry
    this.developerMessage = details.developerMessage
    this.additionalPromptContent = details.additionalPromptContent
    this.executionId = details.executionId
  }
}
