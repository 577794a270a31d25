import { toTimestamp } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Worker } from '../../domain/worker.ts'
import { isList } from '../large-json.ts'
import { withMedia } from '../mcp/kept-content.ts'
import type { AuthorizationStatus, ToolAnswer } from '../tool-answer.ts'
import type { ToolError } from '../tool-error.ts'

// How one run of a tool is written: as seeds/000 has it, and as Arcade's SDKs know it.

/** One run of a tool that has ended. */
export interface Execution {
  readonly id: string
  readonly durationMs: number
  /** RFC 3339. */
  readonly finishedAt: string
  /** Scrubbed already. */
  readonly outcome:
    | ToolAnswer
    | { readonly outcome: 'requires_authorization'; readonly authorization: RequiredAuthorization }
  /** Whether the tool was reached: what came of it stands. Otherwise the same call may be made again as if never made. */
  readonly wasCalled: boolean
  /** What ran it, or would have. */
  readonly worker?: Pick<Worker, 'id' | 'type'>
}

/** Whether the same call may be made again as if it had never been: the tool was not reached, or surely did nothing. */
export function mayBeMadeAgain({ wasCalled, outcome }: Execution): boolean {
  const didNothing = outcome.outcome === 'error' && outcome.isOwn === true && outcome.error.can_retry
  return !wasCalled || didNothing
}

/** This broker's own authorization that the user must go through first. */
export interface RequiredAuthorization {
  readonly id: string
  readonly url?: string
  readonly scopes: readonly string[]
  readonly status: AuthorizationStatus
  readonly userId?: string
  readonly providerId?: string
}

/** seeds/000: nothing but these members, `output` with exactly one of its four or, for a tool that answers null, absent. */
export interface ExecuteResponse {
  readonly execution_id: string
  /** Milliseconds. */
  readonly duration: number
  readonly finished_at: string
  readonly success: boolean
  readonly output?: Readonly<Record<string, unknown>>
}

export function toExecuteResponse(execution: Execution): ExecuteResponse {
  const output = toOutput(withMedia(execution.outcome))
  return {
    execution_id: execution.id,
    duration: execution.durationMs,
    finished_at: execution.finishedAt,
    success: isSuccess(execution),
    ...(output && { output }),
  }
}

/** A run that was put off, in the same words: it has no output yet. */
export function toScheduled({ id, updatedAt }: ExecutionRecord): ExecuteResponse {
  return { execution_id: id, duration: 0, finished_at: toTimestamp(updatedAt), success: true }
}

/** And as Arcade's SDKs know it. */
export function toArcadeScheduled(record: ExecutionRecord): Readonly<Record<string, unknown>> {
  return {
    id: record.id,
    execution_id: record.id,
    execution_type: 'scheduled',
    status: record.status,
    success: true,
    ...(record.runAt !== undefined && { run_at: toTimestamp(record.runAt) }),
  }
}

type ShownOutcome = ReturnType<typeof withMedia<Execution['outcome']>>

function toOutput(outcome: ShownOutcome): Record<string, unknown> | undefined {
  switch (outcome.outcome) {
    case 'value': {
      const { value } = outcome
      if (value === null || value === undefined) return undefined
      return { value: isList(value) ? { items: value } : value } // that schema knows no list as a value
    }
    case 'error':
      return { error: toError(outcome.error) }
    case 'requires_authorization': {
      const { id, url, scopes, status } = authorizationOf(outcome)
      return {
        requires_authorization: {
          id,
          ...(url !== undefined && { url }),
          ...(scopes && { scopes: [...scopes] }),
          status,
        },
      }
    }
    case 'artifact':
      return { artifact: outcome.artifact }
  }
}

/** That schema knows no `kind`, so it begins the developer's message. */
function toError(error: ToolError) {
  const { kind, message, developer_message, can_retry, additional_prompt_content, retry_after_ms } = error
  return {
    message,
    developer_message: `${kind}: ${developer_message ?? message}`,
    can_retry,
    ...(additional_prompt_content !== undefined && { additional_prompt_content }),
    ...(retry_after_ms !== undefined && { retry_after_ms }),
  }
}

/** A worker that asks for consent by itself has no authorization here, so there is no link to follow. */
function authorizationOf(
  outcome: Extract<Execution['outcome'], { readonly outcome: 'requires_authorization' }>,
): Partial<RequiredAuthorization> & Pick<RequiredAuthorization, 'id' | 'status'> {
  if ('authorization' in outcome) return outcome.authorization
  const { id = '', status = 'pending', scopes } = outcome.requirement
  return { id, status, ...(scopes && { scopes }) }
}

function isSuccess({ outcome: { outcome } }: Execution): boolean {
  return outcome === 'value' || outcome === 'artifact'
}

/** Arcade's ExecuteToolResponse (reference/arcade.md section 1.4). */
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
  const logs = 'logs' in outcome && outcome.logs.length > 0 ? { logs: outcome.logs } : {}
  return {
    id,
    execution_id: id,
    execution_type: 'immediate',
    status: success ? 'completed' : 'failed',
    success,
    finished_at: finishedAt,
    duration: durationMs,
    output: { ...toArcadeOutput(withMedia(outcome), options.includeStacktrace === true), ...logs },
  }
}

function toArcadeOutput(outcome: ShownOutcome, withStacktrace: boolean): Record<string, unknown> {
  switch (outcome.outcome) {
    case 'value':
      return { value: outcome.value ?? null }
    case 'error': {
      const { stacktrace, ...error } = outcome.error
      return { error: { ...error, ...(withStacktrace && stacktrace !== undefined && { stacktrace }) } }
    }
    case 'requires_authorization': {
      const { id, url, scopes, status, userId, providerId } = authorizationOf(outcome)
      return {
        authorization: {
          id,
          status,
          ...(url !== undefined && { url }),
          ...(scopes && { scopes: [...scopes] }),
          ...(userId !== undefined && { user_id: userId }),
          ...(providerId !== undefined && { provider_id: providerId }),
          context: {},
        },
      }
    }
    case 'artifact':
      return { artifact: outcome.artifact }
  }
}
