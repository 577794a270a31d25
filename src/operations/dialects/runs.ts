import type { Tool } from '../../domain/tool.ts'
import { toModelTool } from '../../tools/catalogue/tool-formats.ts'
import type { LaterRun } from '../../tools/run/run-later.ts'
import type { RunError, RunResult, StreamEvent } from '../../tools/run/run-tool.ts'
import { toStoredError } from '../../tools/run/stored-output.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'

// Results of `/v1/tools/run` and `run_stream` on the wire: toolexec's names in camelCase,
// with `error` and `requires_authorization` in Arcade's spelling.

export type WireObject = Readonly<Record<string, unknown>>

/** RunResult: `structured`, or in its place `error` or `requires_authorization`. */
export function toRunResponse(tool: Tool, result: RunResult): WireObject {
  return { tool: toModelTool(tool), ...resultToWire(result) }
}

/** A run that waits for an approval, or that has got it meanwhile. */
export function toHeldRun(
  tool: Tool,
  result: RunResult,
  { record, question }: Extract<LaterRun, { outcome: 'scheduled' }>,
): WireObject {
  const { backend } = result
  return {
    tool: toModelTool(tool),
    ...(backend && { backend }),
    executionId: record.id,
    duration: 0,
    status: record.status,
    ...(question && { requires_authorization: authorizationToWire(question) }),
  }
}

export function resultToWire(result: RunResult): WireObject {
  const { backend, executionId, durationMs } = result
  return { ...(backend && { backend }), executionId, duration: durationMs, ...outcomeToWire(result) }
}

function outcomeToWire(result: RunResult): WireObject {
  switch (result.outcome) {
    case 'value': {
      const { structured, mcpResult } = result
      return { structured, ...(mcpResult && { mcpResult }) }
    }
    case 'error': {
      const { error, mcpResult } = result
      return { error: runErrorToWire(error), ...(mcpResult && { mcpResult }) }
    }
    case 'authorization_required':
      return { requires_authorization: authorizationToWire(result.authorization) }
  }
}

export function runErrorToWire({ op, toolId, ...error }: RunError): WireObject {
  return { op, toolId, ...toStoredError(error) }
}

export function authorizationToWire({ id, url, scopes, status }: RequiredAuthorization) {
  return { id, url, scopes, status }
}

/** One server-sent event of `run_stream`. */
export interface StreamEventWire {
  readonly kind: StreamEvent['kind']
  readonly toolId: string
  readonly data: unknown
}

export function toStreamEvent(event: StreamEvent): StreamEventWire {
  const { kind, toolId } = event
  return { kind, toolId, data: dataOf(event) }
}

function dataOf(event: StreamEvent): unknown {
  if ('data' in event) return event.data
  if ('refusal' in event) return { name: event.refusal.code, message: event.refusal.message }
  const cancelled = 'cancelled' in event ? event.cancelled : undefined
  return { ...resultToWire(event.result), ...(cancelled && { error: runErrorToWire(cancelled) }) }
}
