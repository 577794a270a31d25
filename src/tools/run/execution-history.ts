import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { toolId } from '../../domain/tool.ts'
import { currentContext } from '../../services/request-context.ts'
import { executionPlace } from '../../store/sealed-columns.ts'
import { hasItems, jsonText, LARGE_BYTES, LargeJson } from '../large-json.ts'
import { withMedia } from '../mcp/media-content.ts'
import { artifactToJson } from '../tool-answer.ts'
import type { ToolError } from '../tool-error.ts'
import { type Execution, type ExecutionOutcome, isSuccess, type ToolCall } from './execution.ts'

// What history keeps of a run, and the only file that knows how its content is stored: `StoredOutput` has the spellings
// that the first release stored. New rows are written in the same form, so that nodes of an older release read them
// while an installation is upgraded node by node.

/** The request of a run, as history keeps it. */
export interface KeptRequest
  extends Pick<ToolCall, 'input' | 'account' | 'accounts' | 'metadata' | 'keepContent'> {
  /** `traceparent` of the request that scheduled the run, if its trace is recorded. */
  readonly traceparent?: string
}

/** One attempt to run the tool, and its result. */
export interface Attempt {
  readonly id: string
  readonly startedAt: EpochSeconds
  readonly finishedAt: EpochSeconds
  readonly success: boolean
  /** Absent when the tool was not run. A large output stays text, so that no reader parses it. */
  readonly output?: StoredOutput | LargeJson
  /** Why the broker could not run the tool, or does not know how the run ended. */
  readonly systemErrorMessage?: string
}

/** The stored form of an outcome: one of `value`, `error`, `authorization` and `artifact`, and `logs` where there are any. */
export type StoredOutput = Readonly<Record<string, unknown>>

/** Adds a run that has ended to history, with input and output only if its caller asked for that (`keepContent`). */
export function recordExecution(
  broker: Broker,
  call: ToolCall,
  execution: Execution,
  startedAt: EpochSeconds,
): void {
  const { tool, userId, entryPoint, keepContent = false } = call
  const { apiKey } = currentContext()
  const finishedAt = broker.now()
  const row = { id: execution.id, projectId: tool.projectId }
  broker.history.record({
    ...row,
    toolId: toolId(tool),
    type: 'immediate',
    entryPoint,
    ...endOf(execution),
    ...(userId !== undefined && { userId }),
    ...(apiKey !== undefined && { apiKeyId: apiKey.id }),
    createdAt: startedAt,
    updatedAt: finishedAt,
    startedAt,
    finishedAt,
    durationMs: execution.durationMs,
    attempts: 1,
    ...(keepContent && {
      request: sealRequest(broker, row, call),
      result: sealAttempts(broker, row, [
        { ...resultOf(execution), id: execution.id, startedAt, finishedAt },
      ]),
    }),
  })
}

/** How a run ended, in the columns of its row. */
export function endOf(
  execution: Execution,
): Pick<ExecutionRecord, 'status' | 'outcome' | 'errorKind' | 'retryable'> {
  const { outcome } = execution
  return {
    status: isSuccess(execution) ? 'completed' : 'failed',
    outcome: outcome.outcome === 'authorization_required' ? 'requires_authorization' : outcome.outcome,
    ...(outcome.outcome === 'error' && {
      errorKind: outcome.error.kind,
      retryable: outcome.error.canRetry,
    }),
  }
}

/** The result of a run, as an attempt has it. */
export function resultOf(execution: Execution): Pick<Attempt, 'success' | 'output'> {
  return { success: isSuccess(execution), output: toStoredOutput(execution.outcome) }
}

function toStoredOutput(outcome: ExecutionOutcome): StoredOutput {
  const logs = 'logs' in outcome && hasItems(outcome.logs) ? { logs: outcome.logs } : {}
  const shown = withMedia(outcome)
  switch (shown.outcome) {
    case 'value':
      return { value: shown.value ?? null, ...logs }
    case 'error':
      return { error: toStoredError(shown.error), ...logs }
    case 'artifact':
      return { artifact: artifactToJson(shown.artifact), ...logs }
    case 'authorization_required': {
      const { id, url, scopes, status, userId, providerId } = shown.authorization
      return {
        authorization: {
          id,
          status,
          url,
          scopes: [...scopes],
          user_id: userId,
          ...(providerId !== undefined && { provider_id: providerId }),
          context: {},
        },
      }
    }
  }
}

/** The stored name of each member of an error; a stack trace is not stored. */
const STORED_NAMES = {
  kind: 'kind',
  message: 'message',
  canRetry: 'can_retry',
  developerMessage: 'developer_message',
  additionalPromptContent: 'additional_prompt_content',
  retryAfterMs: 'retry_after_ms',
  statusCode: 'status_code',
  extra: 'extra',
} as const satisfies Record<Exclude<keyof ToolError, 'stacktrace' | 'parameterErrors'>, string>

function toStoredError({ stacktrace: _, parameterErrors, ...error }: ToolError): StoredOutput {
  const members = Object.entries(error).map(([name, value]) => [
    STORED_NAMES[name as keyof typeof STORED_NAMES], // the type of `Object.entries` loses the names
    value,
  ])
  const extra = parameterErrors && { extra: { parameter_errors: parameterErrors } }
  return { ...Object.fromEntries(members), ...extra }
}

type Row = Pick<ExecutionRecord, 'id' | 'projectId'>

export function sealRequest(broker: Broker, row: Row, call: KeptRequest): Sealed {
  const { input, account, accounts, metadata, keepContent, traceparent } = call
  const kept: KeptRequest = {
    input,
    ...(account !== undefined && { account }),
    ...(accounts !== undefined && { accounts }),
    ...(metadata !== undefined && { metadata }),
    ...(keepContent !== undefined && { keepContent }),
    ...(traceparent !== undefined && { traceparent }),
  }
  return broker.sealer.seal(JSON.stringify(kept), executionPlace(row.id, row.projectId, 'request'))
}

/** `undefined` where no request was kept. Throws `UnsealError`. */
export function openRequest(
  broker: Broker,
  { id, projectId, request }: ExecutionRecord,
): KeptRequest | undefined {
  if (request === undefined) return undefined
  return JSON.parse(broker.sealer.open(request, executionPlace(id, projectId, 'request'))) as KeptRequest // `sealRequest` wrote it
}

/** In the stored JSON a large output is a string that holds JSON. */
type StoredAttempt = Omit<Attempt, 'output'> & {
  readonly output?: StoredOutput
  readonly outputText?: string
}

export function sealAttempts(broker: Broker, row: Row, attempts: readonly Attempt[]): Sealed {
  const stored = attempts.map(({ output, ...attempt }): unknown => {
    if (output === undefined) return attempt
    const text = jsonText(output)
    return { ...attempt, ...(text.length > LARGE_BYTES ? { outputText: text } : { output }) }
  })
  return broker.sealer.seal(JSON.stringify(stored), executionPlace(row.id, row.projectId, 'result'))
}

/** Empty where no result was kept. Throws `UnsealError`. */
export function openAttempts(broker: Broker, { id, projectId, result }: ExecutionRecord): readonly Attempt[] {
  if (result === undefined) return []
  const text = broker.sealer.open(result, executionPlace(id, projectId, 'result'))
  const stored = JSON.parse(text) as StoredAttempt[] // `sealAttempts` wrote it
  return stored.map(({ outputText, ...attempt }) =>
    outputText === undefined ? attempt : { ...attempt, output: new LargeJson(Buffer.from(outputText)) },
  )
}
