import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { isList } from '../../tools/large-json.ts'
import { withMedia } from '../../tools/mcp/media-content.ts'
import { type Execution, type ExecutionOutcome, isSuccess } from '../../tools/run/execution.ts'
import type { LaterRun } from '../../tools/run/run-later.ts'
import { type StoredOutput, toStoredError, toStoredOutput } from '../../tools/run/stored-output.ts'
import { artifactToJson } from '../../tools/tool-answer.ts'
import type { ToolError } from '../../tools/tool-error.ts'
import type { AuthorizationWire } from '../authorizations/authorization-wire.ts'

// Executions on the wire of `/v1/tools/execute`, in two forms: that of the endpoint's contract (openapi.json), and that of
// Arcade's SDKs, which the history stores too (stored-output.ts). arcade-tools.ts has Arcade's tool definitions.

/**
 * The contract's answer, which has no other members. `output` has exactly one of `value`, `error`,
 * `requires_authorization` and `artifact`; it is absent when the tool answered null.
 */
export interface ExecuteResponse {
  readonly execution_id: string
  /** Milliseconds. */
  readonly duration: number
  /** RFC 3339. */
  readonly finished_at: string
  readonly success: boolean
  readonly output?: Readonly<Record<string, unknown>> | undefined
}

export function toExecuteResponse(execution: Execution): ExecuteResponse {
  const output = toOutput(withMedia(execution.outcome))
  return {
    execution_id: execution.id,
    duration: execution.durationMs,
    finished_at: execution.finishedAt,
    success: isSuccess(execution),
    output,
  }
}

/** Whether the value is a list: `toExecuteResponse` puts it into an object, which looks like the answer of another tool. */
export function answersList({ outcome }: Execution): boolean {
  const shown = withMedia(outcome)
  return shown.outcome === 'value' && isList(shown.value)
}

/** A scheduled run, which has no output yet, but the link while people must approve it. */
export function toScheduled({ record: { id, updatedAt }, question }: Scheduled): ExecuteResponse {
  const scheduled = { execution_id: id, duration: 0, finished_at: toTimestamp(updatedAt) }
  if (question === undefined) return { ...scheduled, success: true }
  const output = toOutput({ outcome: 'authorization_required', authorization: question })
  return { ...scheduled, success: false, output }
}

type Scheduled = Extract<LaterRun, { outcome: 'scheduled' }>

/** An outcome whose value holds the images and other media of an MCP result. */
type ShownOutcome = ReturnType<typeof withMedia<ExecutionOutcome>>

function toOutput(shown: ShownOutcome): Record<string, unknown> | undefined {
  switch (shown.outcome) {
    case 'value': {
      const { value } = shown
      if (value === null || value === undefined) return undefined
      return { value: isList(value) ? { items: value } : value } // the contract's schema allows no list as a value
    }
    case 'error':
      return { error: toContractError(shown.error) }
    case 'authorization_required': {
      const { id, url, scopes, status } = shown.authorization
      return { requires_authorization: { id, url, scopes: [...scopes], status } }
    }
    case 'artifact':
      return { artifact: artifactToJson(shown.artifact) }
  }
}

/** The contract's schema has no `kind`, so the developer's message begins with it. */
export function toContractError(error: ToolError) {
  const { kind, message, developerMessage, canRetry, additionalPromptContent, retryAfterMs } = error
  return {
    message,
    developer_message: `${kind}: ${developerMessage ?? message}`,
    can_retry: canRetry,
    additional_prompt_content: additionalPromptContent,
    retry_after_ms: retryAfterMs,
  }
}

/** The ExecuteToolResponse of Arcade's SDKs. */
export interface ArcadeExecuteResponse extends Omit<ExecuteResponse, 'output'> {
  readonly id: string
  readonly execution_type: 'immediate'
  readonly status: 'completed' | 'failed'
  readonly output: Readonly<Record<string, unknown>>
}

export function toArcadeExecuteResponse(
  execution: Execution,
  options: { readonly includeStacktrace?: boolean } = {},
): ArcadeExecuteResponse {
  const { id, durationMs, finishedAt, outcome } = execution
  const success = isSuccess(execution)
  return {
    id,
    execution_id: id,
    execution_type: 'immediate',
    status: success ? 'completed' : 'failed',
    success,
    finished_at: finishedAt,
    duration: durationMs,
    output: toArcadeOutput(outcome, options.includeStacktrace === true),
  }
}

/** A scheduled run, for Arcade's SDKs. */
export function toArcadeScheduled({ record, question }: Scheduled): Readonly<Record<string, unknown>> {
  return {
    id: record.id,
    execution_id: record.id,
    execution_type: 'scheduled',
    status: record.status,
    success: true,
    run_at: toTimestamp(record.runAt),
    ...(question && {
      output: toStoredOutput({ outcome: 'authorization_required', authorization: question }),
    }),
  }
}

function toArcadeOutput(outcome: ExecutionOutcome, includeStacktrace: boolean): StoredOutput {
  const output = toStoredOutput(outcome)
  if (outcome.outcome !== 'error' || outcome.error.stacktrace === undefined || !includeStacktrace)
    return output
  const { stacktrace } = outcome.error
  return { ...output, error: { ...toStoredError(outcome.error), stacktrace } }
}

/**
 * Throws `authorization_failed` for a failed authorization: Arcade's SDKs repeat a waiting request until the status is
 * `completed` or the request is refused.
 */
export function refuseFailed({ status, reason, message }: AuthorizationWire): void {
  if (status !== 'failed') return
  const why = reason === undefined ? '' : ` (${reason})`
  throw new BrokerError('authorization_failed', `The authorization failed${why}. ${message}`)
}
