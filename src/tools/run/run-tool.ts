import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { ToolEvent } from '../backend.ts'
import { findTool } from '../catalogue/find-tool.ts'
import { toModelTool } from '../catalogue/tool-formats.ts'
import { isStructured, valueWithMedia } from '../mcp/kept-content.ts'
import type { ToolError } from '../tool-error.ts'
import { checkInput } from './check-values.ts'
import { type Execution, mayBeMadeAgain, type RequiredAuthorization } from './execute-response.ts'
import { executeTool, type ToolCall } from './execute-tool.ts'

// Running a tool by its id with a plain result (reference/toolexec.md B2, seeds/002): what `run`, `run_stream` and
// `run_chain` have in common.

/** What is to be run. */
export interface Run extends Omit<ToolCall, 'tool' | 'input'> {
  readonly projectId: string
  /** A tool by any of its names. */
  readonly toolId: string
  readonly args: Readonly<Record<string, unknown>>
}

/** seeds/002's RunResult, and besides it what a caller needs to go on. */
export interface RunResult {
  readonly tool: Readonly<Record<string, unknown>>
  readonly backend?: RunBackend
  /** Absent where the tool answered nothing. */
  readonly structured?: unknown
  readonly mcpResult?: Readonly<Record<string, unknown>>
  readonly executionId: string
  /** Milliseconds. */
  readonly duration: number
  /** In place of a result. */
  readonly error?: RunError
  readonly requires_authorization?: RequiredAuthorizationWire
}

/** toolexec's ToolBackend. */
export type RunBackend =
  | { readonly kind: 'mcp'; readonly mcp: { readonly serverName: string } }
  | { readonly kind: 'provider'; readonly provider: { readonly providerId: string; readonly toolId: string } }
  | { readonly kind: 'local'; readonly local: { readonly name: string } }

/** Where a run failed, and how. */
export interface RunError extends ToolError {
  readonly op: 'resolve' | 'select_backend' | 'validate_input' | 'execute' | 'validate_output'
  readonly toolId: string
}

export interface RequiredAuthorizationWire {
  readonly id: string
  readonly url?: string
  readonly scopes: readonly string[]
  readonly status: string
}

/** Whether what ran gave what was asked of it. */
export function isRunCompleted(result: Pick<RunResult, 'error' | 'requires_authorization'>): boolean {
  return result.error === undefined && result.requires_authorization === undefined
}

/**
 * Runs the tool, its input validated before and its output after. Throws `not_found` and `ambiguous_tool` for the
 * tool, `invalid_input` for what its schema refuses.
 */
export async function runTool(
  broker: Broker,
  run: Run,
  signal?: AbortSignal,
): Promise<{ readonly result: RunResult; readonly mayBeMadeAgain: boolean }> {
  const { projectId, toolId: named, args, ...call } = run
  const tool = await findTool(broker, projectId, named)
  await checkInput(broker, tool, args)
  const execution = await executeTool(broker, { ...call, tool, input: args }, signal)
  return { result: toRunResult(tool, execution), mayBeMadeAgain: mayBeMadeAgain(execution) }
}

export function toRunResult(tool: Tool, { id, durationMs, outcome, worker }: Execution): RunResult {
  const backend = worker && toBackend(worker, tool)
  const common = {
    tool: toModelTool(tool),
    ...(backend && { backend }),
    executionId: id,
    duration: durationMs,
  }
  switch (outcome.outcome) {
    case 'value': {
      const { value, mcpResult } = outcome
      // texts alone make it; what else there is stands in `mcpResult`, and here only where there would be nothing
      const other = mcpResult && !isStructured(mcpResult) ? valueWithMedia(outcome) : undefined
      const structured = value ?? other ?? undefined
      return { ...common, ...(structured !== undefined && { structured }), ...(mcpResult && { mcpResult }) }
    }
    case 'artifact':
      return { ...common, structured: outcome.artifact }
    case 'error': {
      const { error, mcpResult } = outcome
      return {
        ...common,
        error: { op: operationOf(outcome, worker), toolId: toolId(tool), ...withoutStack(error) },
        ...(mcpResult && { mcpResult }),
      }
    }
    case 'requires_authorization':
      return { ...common, requires_authorization: toRequired(outcome) }
  }
}

function toRequired(
  outcome: Extract<Execution['outcome'], { outcome: 'requires_authorization' }>,
): RequiredAuthorizationWire {
  const asked: Partial<RequiredAuthorization> =
    'authorization' in outcome ? outcome.authorization : outcome.requirement
  const { id = '', url, scopes = [], status = 'pending' } = asked
  return { id, ...(url !== undefined && { url }), scopes, status }
}

function withoutStack({ stacktrace: _, ...error }: ToolError): ToolError {
  return error
}

/** What the tool itself says of its input or output, it says because it ran. */
function operationOf({ error: { kind }, isOwn }: Failed, worker: Execution['worker']): RunError['op'] {
  if (isOwn !== true) return 'execute'
  if (kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE' || kind === 'TOOL_DEFINITION_BAD_INPUT_SCHEMA')
    return 'validate_input'
  if (kind === 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' || kind === 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA')
    return 'validate_output'
  return worker === undefined && kind === 'TOOL_REQUIREMENTS_NOT_MET' ? 'select_backend' : 'execute'
}

type Failed = Extract<Execution['outcome'], { readonly outcome: 'error' }>

export function toBackend({ id, type }: Pick<Worker, 'id' | 'type'>, tool: Tool): RunBackend {
  const name = tool.binding?.name ?? tool.name
  if (type === 'mcp') return { kind: 'mcp', mcp: { serverName: id } }
  if (type === 'module') return { kind: 'local', local: { name } }
  return { kind: 'provider', provider: { providerId: id, toolId: name } }
}

/** seeds/002's StreamEvent. */
export interface StreamEvent {
  readonly kind: ToolEvent['kind'] | 'done' | 'error'
  readonly toolId: string
  readonly data: unknown
}

/**
 * Runs the tool and tells what it says meanwhile: `progress` and `chunk` in any number, then exactly one `done` or
 * `error`, and nothing after it; one that was cancelled ends with `error`. What `runTool` throws is thrown here too, as
 * long as nothing was told.
 */
export async function streamTool(
  broker: Broker,
  run: Run,
  tell: (event: StreamEvent) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { projectId, toolId: named, args, ...call } = run
  const tool = await findTool(broker, projectId, named)
  await checkInput(broker, tool, args)
  const id = toolId(tool)
  let state: 'before' | 'told' | 'over' = 'before'
  const send = (kind: StreamEvent['kind'], data: unknown) => {
    if (state === 'over') return
    state = kind === 'done' || kind === 'error' ? 'over' : 'told'
    tell({ kind, toolId: id, data })
  }
  try {
    const onEvent = ({ kind, data }: ToolEvent) => send(kind, data)
    const execution = await executeTool(broker, { ...call, tool, input: args, onEvent }, signal)
    const { tool: _, ...result } = toRunResult(tool, execution)
    if (isRunCompleted(result) && signal?.aborted !== true) send('done', result)
    else send('error', isRunCompleted(result) ? { ...result, error: cancelled(id) } : result)
  } catch (error) {
    if (state === 'before' || !(error instanceof BrokerError)) throw error
    send('error', { name: error.code, message: error.message })
  }
}

function cancelled(toolId: string): RunError {
  return {
    op: 'execute',
    toolId,
    kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
    message: 'It was cancelled before its end.',
    can_retry: false,
  }
}
