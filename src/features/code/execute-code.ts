import type { Broker } from '../../broker.ts'
import { wholeMilliseconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { withoutTwins } from '../../tools/catalogue/listed-names.ts'
import { LargeJson, parsedValue } from '../../tools/large-json.ts'
import { valueWithMedia } from '../../tools/mcp/media-content.ts'
import { executeTool } from '../../tools/run/execute-tool.ts'
import type { ToolCall } from '../../tools/run/execution.ts'
import { type RunResult, toRunResult } from '../../tools/run/run-tool.ts'
import { accountsFor } from '../../tools/run/tool-tokens.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'
import { createTrace, type OpenCall, type Operation, type TracedCall } from './call-trace.ts'
import { type CallError, type CodeError, tooManyCalls } from './code-error.ts'
import type { CodeLimits } from './limits.ts'
import type { RunSlots } from './run-slots.ts'
import { type Reply, runInSandbox } from './sandbox.ts'
import type { Language } from './thread-messages.ts'

/** The code to run, and the options of the tool calls that it makes. */
export interface CodeRun {
  readonly projectId: string
  /** A key may use half of all slots at most. */
  readonly apiKeyId: string
  readonly language: Language
  readonly code: string
  readonly limits: CodeLimits
  /** The options of every tool call. */
  readonly call: Omit<ToolCall, 'tool' | 'input' | 'entryPoint' | 'callId' | 'onEvent' | 'executionId'>
}

/** The result of a run of code. */
export interface CodeResult {
  readonly value: unknown
  readonly stdout: string
  readonly stderr: string
  readonly toolCalls: readonly TracedCall[]
  readonly durationMs: number
  readonly language: Language
  readonly limits: CodeLimits
  readonly error?: CodeError
  /** The consent that a called tool needs. It ended the run. */
  readonly authorization?: ConsentNeeded
}

interface ConsentNeeded extends RequiredAuthorization {
  readonly toolId: string
}

type Stop = { readonly error: CodeError } | { readonly authorization: ConsentNeeded }

/**
 * Runs the code in the sandbox. Tools that the code calls run in this process, like any other tool call, so the code
 * never sees their tokens. A failure of the code is part of the result. Throws `rate_limited` when all slots are
 * taken.
 */
export async function executeCode(
  broker: Broker,
  slots: RunSlots,
  run: CodeRun,
  signal?: AbortSignal,
): Promise<CodeResult> {
  const release = slots.take(run.apiKeyId, run.limits.memoryMb)
  try {
    return await runTraced(broker, run, signal)
  } finally {
    release()
  }
}

async function runTraced(broker: Broker, run: CodeRun, signal: AbortSignal | undefined): Promise<CodeResult> {
  const { language, limits, code } = run
  const trace = createTrace()
  const gateway = createGateway(broker, run, trace.begin)
  const { end, stdout, stderr, durationMs } = await runInSandbox<Stop>(code, {
    language,
    limits,
    now: broker.now(),
    signal,
    onRequest(what, payload, signal) {
      if (what === 'list') return gateway.list()
      return what === 'chain' ? gateway.chain(payload, signal) : gateway.call(payload, signal)
    },
  })
  return {
    value: end.outcome === 'value' ? end.value : null,
    stdout,
    stderr,
    toolCalls: trace.list(),
    durationMs: wholeMilliseconds(durationMs),
    language,
    limits,
    ...(end.outcome === 'error' && { error: end.error }),
    ...(end.outcome === 'stopped' && end.stop),
  }
}

/** Serves requests of the code: tool calls, which are counted, and the list of tools. Every payload is validated. */
function createGateway(
  broker: Broker,
  run: CodeRun,
  begin: (toolId: string, args: unknown, operation: Operation) => OpenCall,
) {
  const { projectId, limits } = run
  /** Calls that have begun, and those that are reserved for the steps of running chains. */
  let calls = 0
  let isListed = false
  const hasRoom = (more: number) => calls + more <= limits.toolCalls

  async function call(
    { toolId: requestedId, args }: RequestedCall,
    operation: Operation,
    signal: AbortSignal,
  ): Promise<Reply<Stop>> {
    const traced = begin(requestedId, args, operation)
    try {
      const tool = await getTool(broker, projectId, requestedId)
      const id = toolId(tool)
      traced.named(id)
      const { accounts: _, ...rest } = run.call
      const accounts = run.call.accounts && (await accountsFor(broker, tool, run.call))
      const execution = await executeTool(
        broker,
        { ...rest, accounts, tool, input: args, entryPoint: 'code' },
        signal,
      )
      const result = toRunResult(tool, execution)
      if (result.outcome === 'authorization_required') {
        traced.failed(CONSENT, result)
        return { reply: 'stop', stop: { authorization: { ...result.authorization, toolId: id } } }
      }
      return finish(traced, result)
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      const { code: kind, message, retryAfter } = error
      return failed(traced, { kind, message, canRetry: retryAfter !== undefined })
    }
  }

  return {
    async call(payload: unknown, signal: AbortSignal): Promise<Reply<Stop>> {
      const wanted = readRequestedCall(payload)
      if (wanted === undefined) return refused('tools.call takes a tool id and an object of arguments.')
      if (!hasRoom(1)) return stop(tooManyCalls(limits.toolCalls))
      calls++
      return call(wanted, 'run', signal)
    },

    /** Runs the steps in order. Returns the result of the last step, or the error of the step that failed. */
    async chain(payload: unknown, signal: AbortSignal): Promise<Reply<Stop>> {
      const given = isRecord(payload) && Array.isArray(payload.steps) ? payload.steps : [undefined]
      const steps = given.map(readRequestedCall).filter((wanted) => wanted !== undefined)
      if (steps.length < given.length)
        return refused('tools.chain takes an array of steps {toolId, args?, usePrevious?}.')
      if (steps[0]?.usePrevious === true)
        return refused('steps[0].usePrevious: nothing was run before the first step. Leave it out there.')
      if (steps.length > limits.chainSteps) return stop(tooManySteps(steps.length, limits.chainSteps))
      if (!hasRoom(steps.length)) return stop(tooManyCalls(limits.toolCalls))
      calls += steps.length
      let left = steps.length
      let last: Reply<Stop> = { reply: 'value', value: null }
      for (const step of steps) {
        if (last.reply !== 'value' || signal.aborted) break
        const { value } = last
        if (step.usePrevious && value instanceof LargeJson && !value.isQuickToParse()) {
          last = refused('The previous step returned too many values for args.previous.')
          break
        }
        left--
        const previous = () => parsedValue(value)
        const args = step.usePrevious ? { ...step.args, previous: previous() } : step.args
        last = await call({ ...step, args }, 'chain', signal)
      }
      calls -= left // only steps that ran count
      return last
    },

    async list(): Promise<Reply<Stop>> {
      // a list costs a read of the whole catalogue; the prelude keeps the first one, so only hostile code asks again
      if (isListed) return refused('The tools were listed already.')
      isListed = true
      const tools = withoutTwins((await broker.cache.catalogue.of(projectId)).filter(hasOwnName))
      const value = tools.map((tool) => ({
        id: toolId(tool),
        description: tool.description,
        inputSchema: tool.inputSchema,
      }))
      return { reply: 'value', value }
    },
  }
}

interface RequestedCall {
  readonly toolId: string
  readonly args: Readonly<Record<string, unknown>>
  /** Only for a step of a chain. */
  readonly usePrevious: boolean
}

const MAX_TOOL_NAME = 400

function readRequestedCall(payload: unknown): RequestedCall | undefined {
  if (!isRecord(payload)) return undefined
  const { toolId, args = {} } = payload
  if (typeof toolId !== 'string' || toolId === '' || toolId.length > MAX_TOOL_NAME) return undefined
  return isRecord(args) ? { toolId, args, usePrevious: payload.usePrevious === true } : undefined
}

function finish(
  traced: OpenCall,
  result: Exclude<RunResult, { outcome: 'authorization_required' }>,
): Reply<Stop> {
  if (result.outcome === 'value') {
    traced.succeeded(result)
    const { structured, mcpResult } = result
    const value = mcpResult ? valueWithMedia({ value: structured, mcpResult }) : structured
    return { reply: 'value', value: value ?? null }
  }
  const { kind, message, canRetry } = result.error
  return failed(traced, { kind, message, canRetry }, result)
}

function failed(traced: OpenCall, error: CallError, result?: RunResult): Reply<Stop> {
  traced.failed(error, result)
  return { reply: 'error', error }
}

const stop = (error: CodeError): Reply<Stop> => ({ reply: 'stop', stop: { error } })

const refused = (message: string): Reply<Stop> => ({
  reply: 'error',
  error: { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message, canRetry: false },
})

const CONSENT: CallError = {
  kind: 'requires_authorization',
  message: 'The user must approve first; the run ended here.',
  canRetry: true,
}

const tooManySteps = (steps: number, limit: number): CodeError => ({
  kind: 'chain_step_limit',
  message: `The code runs a chain of ${steps} steps; at most ${limit} are allowed (limits.chain_steps).`,
})
