import type { Broker } from '../../broker.ts'
import { BrokerError, type ErrorCode } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { ToolEvent } from '../backend.ts'
import { getTool } from '../catalogue/get-tool.ts'
import { isStructured, valueWithMedia } from '../mcp/media-content.ts'
import { type AuthorizationRequired, artifactToJson } from '../tool-answer.ts'
import type { ErrorKind, ToolError } from '../tool-error.ts'
import { executeTool } from './execute-tool.ts'
import { type Execution, mayBeRepeated, type ToolCall } from './execution.ts'
import { checkInput } from './preconditions.ts'

// Running a tool by its id with a plain result, which `run`, `run_stream`, `run_chain` and code have in common.

/** Which tool to run, and with which arguments. */
export interface Run extends Omit<ToolCall, 'tool' | 'input'> {
  readonly projectId: string
  /** A tool by any of its names. */
  readonly toolId: string
  readonly args: Readonly<Record<string, unknown>>
}

/** A run that has ended. */
export type RunResult = RunOutcome & {
  readonly executionId: string
  readonly durationMs: number
  /** Absent where no worker runs the tool. */
  readonly backend?: RunBackend | undefined
}

export type RunOutcome =
  | {
      readonly outcome: 'value'
      /** `undefined` where the tool answered nothing. */
      readonly structured?: unknown | undefined
      readonly mcpResult?: Readonly<Record<string, unknown>> | undefined
    }
  | {
      readonly outcome: 'error'
      readonly error: RunError
      readonly mcpResult?: Readonly<Record<string, unknown>> | undefined
    }
  | AuthorizationRequired

/** The kind of worker that ran the tool: an MCP server, another remote worker, or a module of this process. */
export type RunBackend =
  | { readonly kind: 'mcp'; readonly mcp: { readonly serverName: string } }
  | { readonly kind: 'provider'; readonly provider: { readonly providerId: string; readonly toolId: string } }
  | { readonly kind: 'local'; readonly local: { readonly name: string } }

export const RUN_OPERATIONS = [
  'resolve',
  'select_backend',
  'validate_input',
  'execute',
  'validate_output',
] as const

/** How the run failed, and in which of its steps (`op`). */
export interface RunError extends Omit<ToolError, 'stacktrace'> {
  readonly op: (typeof RUN_OPERATIONS)[number]
  readonly toolId: string
}

/**
 * Runs the tool, and validates its input before and its output after the run. Throws `not_found` and `ambiguous_tool`
 * for the tool, `invalid_input` for arguments that its schema refuses.
 */
export async function runTool(
  broker: Broker,
  run: Run,
  signal?: AbortSignal,
): Promise<{ readonly tool: Tool; readonly result: RunResult; readonly mayBeRepeated: boolean }> {
  const { projectId, toolId: named, args, ...call } = run
  const tool = await getTool(broker, projectId, named)
  const checked = await checkInput(broker, { ...call, tool, input: args })
  const execution = await executeTool(broker, checked, signal)
  return { tool, result: toRunResult(tool, execution), mayBeRepeated: mayBeRepeated(execution) }
}

/** Converts an execution to the plain result of a run. */
export function toRunResult(tool: Tool, execution: Execution): RunResult {
  const { id, durationMs, worker } = execution
  return {
    executionId: id,
    durationMs,
    ...(worker && { backend: toBackend(worker, tool) }),
    ...toOutcome(tool, execution),
  }
}

function toOutcome(tool: Tool, { outcome, worker }: Execution): RunOutcome {
  switch (outcome.outcome) {
    case 'value': {
      const { value, mcpResult } = outcome
      // The value of an MCP result is made of its texts. Of a result without texts, the other content is the value.
      const other = mcpResult && !isStructured(mcpResult) ? valueWithMedia(outcome) : undefined
      const structured = value ?? other ?? undefined
      return { outcome: 'value', structured, mcpResult }
    }
    case 'artifact':
      return { outcome: 'value', structured: artifactToJson(outcome.artifact) }
    case 'error': {
      const { mcpResult } = outcome
      const { stacktrace: _, ...error } = outcome.error
      return {
        outcome: 'error',
        error: { op: operationOf(outcome, worker), toolId: toolId(tool), ...error },
        mcpResult,
      }
    }
    case 'authorization_required':
      return outcome
  }
}

type Failed = Extract<Execution['outcome'], { readonly outcome: 'error' }>

/** The step that failed. An error that the tool itself reports is always one of `execute`, because the tool ran. */
function operationOf({ error: { kind }, isOwn }: Failed, worker: Execution['worker']): RunError['op'] {
  if (isOwn !== true) return 'execute'
  if (kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE' || kind === 'TOOL_DEFINITION_BAD_INPUT_SCHEMA')
    return 'validate_input'
  if (kind === 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' || kind === 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA')
    return 'validate_output'
  return worker === undefined && kind === 'TOOL_REQUIREMENTS_NOT_MET' ? 'select_backend' : 'execute'
}

export function toBackend({ id, type }: Pick<Worker, 'id' | 'type'>, tool: Tool): RunBackend {
  const name = tool.binding?.name ?? tool.name
  if (type === 'mcp') return { kind: 'mcp', mcp: { serverName: id } }
  if (type === 'module') return { kind: 'local', local: { name } }
  return { kind: 'provider', provider: { providerId: id, toolId: name } }
}

/** An event of a streamed run: any number of `progress` and `chunk`, then exactly one `done` or `error`. */
export type StreamEvent = { readonly toolId: string } & (
  | ToolEvent
  | { readonly kind: 'done'; readonly result: RunResult }
  /** `cancelled`: the caller cancelled the run, which ended with this result all the same. */
  | { readonly kind: 'error'; readonly result: RunResult; readonly cancelled?: RunError }
  | { readonly kind: 'error'; readonly refusal: BrokerError }
)

/**
 * Runs the tool and passes its events to `onEvent` as they occur. A run that was cancelled ends with `error`. An error
 * that `runTool` would throw is thrown before the first event; after the first event it becomes the last one.
 */
export async function streamTool(
  broker: Broker,
  run: Run,
  onEvent: (event: StreamEvent) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { projectId, toolId: named, args, ...call } = run
  const tool = await getTool(broker, projectId, named)
  const id = toolId(tool)
  let hasBegun = false
  let hasEnded = false
  const send = (event: StreamEvent) => {
    if (hasEnded) return
    hasBegun = true
    hasEnded = event.kind === 'done' || event.kind === 'error'
    onEvent(event)
  }
  const checked = await checkInput(broker, {
    ...call,
    tool,
    input: args,
    onEvent: (event) => send({ toolId: id, ...event }),
  })
  try {
    const result = toRunResult(tool, await executeTool(broker, checked, signal))
    if (result.outcome !== 'value') send({ toolId: id, kind: 'error', result })
    else if (signal?.aborted === true)
      send({ toolId: id, kind: 'error', result, cancelled: cancelledRun(id) })
    else send({ toolId: id, kind: 'done', result })
  } catch (error) {
    if (!hasBegun || !(error instanceof BrokerError)) throw error
    send({ toolId: id, kind: 'error', refusal: error })
  }
}

function cancelledRun(toolId: string): RunError {
  return {
    op: 'execute',
    toolId,
    kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
    message: 'The run was canceled before its end.',
    canRetry: false,
  }
}

/** Converts a refusal by the broker, such as an unknown tool, to the error of a run. */
export function toRunError({ code, message, retryAfter }: BrokerError, toolId: string): RunError {
  const [op, kind] = REFUSALS[code] ?? (['execute', 'TOOL_REQUIREMENTS_NOT_MET'] as const)
  return {
    op,
    toolId,
    kind,
    message,
    canRetry: retryAfter !== undefined,
    ...(retryAfter !== undefined && { retryAfterMs: Math.ceil(retryAfter * 1000) }),
  }
}

const REFUSALS: Readonly<Partial<Record<ErrorCode, readonly [RunError['op'], ErrorKind]>>> = {
  not_found: ['resolve', 'TOOL_REQUIREMENTS_NOT_MET'],
  ambiguous_tool: ['resolve', 'TOOL_REQUIREMENTS_NOT_MET'],
  tool_source_changed: ['resolve', 'TOOL_REQUIREMENTS_NOT_MET'],
  invalid_input: ['validate_input', 'TOOL_RUNTIME_BAD_INPUT_VALUE'],
  invalid_tool: ['validate_input', 'TOOL_DEFINITION_BAD_INPUT_SCHEMA'],
  provider_unavailable: ['execute', 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'],
  store_unavailable: ['execute', 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'],
}
