import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { toolId } from '../../domain/tool.ts'
import { currentContext } from '../../services/request-context.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { UnsealError } from '../../store/seal.ts'
import { jsonText, LARGE_BYTES, LargeJson } from '../large-json.ts'
import { type Execution, isSuccess, type ToolCall } from './execution.ts'
import { type StoredOutput, toStoredOutput } from './stored-output.ts'

// Writes and reads what history stores of a run. Only this file and stored-output.ts know the stored form.

/** The request of a run, as history keeps it. */
export type StoredRequest = Pick<ToolCall, 'input' | 'account' | 'accounts' | 'metadata' | 'keepContent'>

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

/** The columns of a run's row that say how the run ended. */
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

type Row = Pick<ExecutionRecord, 'id' | 'projectId'>

/** Encrypts the request of a run for its row, with `more` members. */
export function sealRequest(broker: Broker, row: Row, call: StoredRequest, more: object = {}): Sealed {
  const { input, account, accounts, metadata, keepContent } = call
  const kept = { input, account, accounts, metadata, keepContent, ...more }
  return broker.sealer.seal(JSON.stringify(kept), sealingContext('executions', 'request', row))
}

/** Decrypts the request of a run; `undefined` if none was kept. Throws `UnsealError`. */
export function openRequest(broker: Broker, record: ExecutionRecord): StoredRequest | undefined {
  const { id, projectId, request } = record
  if (request === undefined) {
    const kept = openResult(broker, record)?.request
    if (kept === UNREADABLE)
      throw new UnsealError(
        'the request could not be read when the run ended',
        sealingContext('executions', 'request', { id, projectId }),
      )
    return kept
  }
  return JSON.parse(
    broker.sealer.open(request, sealingContext('executions', 'request', { id, projectId })),
  ) as StoredRequest // `sealRequest` wrote it
}

/** In the stored JSON a large output is a string that holds JSON. */
type StoredAttempt = Omit<Attempt, 'output'> & {
  readonly output?: StoredOutput
  readonly outputText?: string
}

/** The content of `result`. */
interface StoredResult {
  readonly attempts: readonly StoredAttempt[]
  /** The request of a scheduled run that has ended. Its own column is empty then, so that the row cannot run again. */
  readonly request?: StoredRequest | typeof UNREADABLE
}

/** In place of a request that could not be decrypted when the run ended. */
export const UNREADABLE = 'unreadable'

/** Encrypts the attempts of a run for its row. `request`: that of a scheduled run that has ended. */
export function sealAttempts(
  broker: Broker,
  row: Row,
  attempts: readonly Attempt[],
  request?: StoredResult['request'],
): Sealed {
  const stored = attempts.map(({ output, ...attempt }): unknown => {
    if (output === undefined) return attempt
    const text = jsonText(output)
    return { ...attempt, ...(text.length > LARGE_BYTES ? { outputText: text } : { output }) }
  })
  const result = { attempts: stored, request }
  return broker.sealer.seal(JSON.stringify(result), sealingContext('executions', 'result', row))
}

/** Decrypts the attempts of a run; empty if none were kept. Throws `UnsealError`. */
export function openAttempts(broker: Broker, record: ExecutionRecord): readonly Attempt[] {
  return (openResult(broker, record)?.attempts ?? []).map(({ outputText, ...attempt }) =>
    outputText === undefined ? attempt : { ...attempt, output: new LargeJson(Buffer.from(outputText)) },
  )
}

function openResult(broker: Broker, { id, projectId, result }: ExecutionRecord): StoredResult | undefined {
  if (result === undefined) return undefined
  const text = broker.sealer.open(result, sealingContext('executions', 'result', { id, projectId }))
  const stored = JSON.parse(text) as StoredResult | readonly StoredAttempt[] // `sealAttempts` wrote it, or 0.1.0 a list
  return 'attempts' in stored ? stored : { attempts: stored }
}
