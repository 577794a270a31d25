import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import { toolId } from '../../domain/tool.ts'
import { currentContext } from '../../services/request-context.ts'
import { type Execution, toArcadeExecuteResponse } from './execute-response.ts'
import type { ToolCall } from './execute-tool.ts'
import { type Attempt, sealAttempts, sealRequest } from './execution-content.ts'

/** How a run ended, as history has it. */
export function endOf(execution: Execution): Pick<ExecutionRecord, 'status' | 'outcome' | 'errorKind'> {
  const { outcome } = execution
  const isCompleted = outcome.outcome === 'value' || outcome.outcome === 'artifact'
  return {
    status: isCompleted ? 'completed' : 'failed',
    outcome: outcome.outcome,
    ...(outcome.outcome === 'error' && { errorKind: outcome.error.kind }),
  }
}

/** Puts a run that has ended into history: what went in and came out only where its caller asked for that. */
export function rememberExecution(
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
        { ...outputOf(execution), id: execution.id, startedAt, finishedAt },
      ]),
    }),
  })
}

/** What came of it, as an attempt has it. */
export function outputOf(execution: Execution): Pick<Attempt, 'success' | 'output'> {
  const { success, output } = toArcadeExecuteResponse(execution)
  return { success, output }
}
