import type { ToolErrorKind } from '../generated/wire.ts'
import { type ErrorDetails, GatepassError } from './errors.ts'

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
  /** How it failed. `TOOL_…`, `CONTEXT_…`: in the tool or Gatepass; `UPSTREAM_…`: in the API that the tool calls. */
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
