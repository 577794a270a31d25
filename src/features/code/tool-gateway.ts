import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { withoutTwins } from '../../tools/catalogue/listed-names.ts'
import { LargeJson, parsedValue } from '../../tools/large-json.ts'
import { valueWithMedia } from '../../tools/mcp/media-content.ts'
import { executeTool } from '../../tools/run/execute-tool.ts'
import { toRunResult } from '../../tools/run/run-tool.ts'
import { accountsFor } from '../../tools/run/tool-tokens.ts'
import type { EndedCall, Journal } from './call-journal.ts'
import type { CallTrace, Operation, Ran } from './call-trace.ts'
import { type CallError, type CodeError, tooManyCalls } from './code-error.ts'
import type { CodeLimits } from './limits.ts'
import type { CodeRun, ConsentNeeded } from './run-of-code.ts'
import type { Reply, SandboxRequest } from './sandbox.ts'

/** What ends the run before the code does. */
export type Stop = { readonly error: CodeError } | { readonly authorization: ConsentNeeded }

export interface Gateway {
  serve(request: SandboxRequest, signal: AbortSignal): Promise<Reply<Stop>>
  /** The first consent that a call needs, from the time at which it is known. */
  readonly consent: ConsentNeeded | undefined
}

/**
 * Serves requests of the code: tool calls, which are counted, and the list of tools. Every payload is validated. When a
 * call needs its user, no further one begins, and the run ends when those that have begun have ended: their results are
 * kept with it.
 */
export function createGateway(
  broker: Broker,
  run: Pick<CodeRun, 'projectId' | 'call'> & { readonly limits: CodeLimits },
  trace: CallTrace,
  journal: Journal,
): Gateway {
  const { projectId, limits } = run
  /** Calls that have begun, and those that are reserved for the steps of running chains. */
  let calls = 0
  let isListed = false
  /** Requests that are being served. */
  let underWay = 0
  let consent: ConsentNeeded | undefined
  const { promise: ended, resolve: end } = Promise.withResolvers<Reply<Stop>>()
  const hasRoom = (more: number) => calls + more <= limits.toolCalls

  async function call(
    request: SandboxRequest,
    step: number,
    wanted: RequestedCall,
    operation: Operation,
    signal: AbortSignal,
  ): Promise<Reply<Stop>> {
    const kept = journal.endOf(request.id, step)
    const replayed = kept !== undefined
    const traced = trace.begin(wanted.toolId, wanted.args, operation, { replayed })
    if (!replayed) await journal.caughtUp()
    const outcome = kept ?? (await makeCall(wanted, signal))
    traced.named(outcome.toolId)
    if (outcome.outcome === 'authorization_required') {
      traced.failed(CONSENT, outcome.ran)
      consent ??= outcome.authorization
      return { reply: 'stop', stop: { authorization: outcome.authorization } }
    }
    if (!replayed) journal.addCall(request.id, outcome)
    if (outcome.outcome === 'error') {
      traced.failed(outcome.error, outcome.ran)
      return { reply: 'error', error: outcome.error }
    }
    traced.succeeded(outcome.structured, outcome.ran)
    return { reply: 'value', value: outcome.value ?? null }
  }

  async function makeCall(
    { toolId: requestedId, args }: RequestedCall,
    signal: AbortSignal,
  ): Promise<
    EndedCall | { outcome: 'authorization_required'; authorization: ConsentNeeded; toolId: string; ran: Ran }
  > {
    let id = requestedId
    try {
      const tool = await getTool(broker, projectId, requestedId)
      id = toolId(tool)
      const { accounts: _, ...rest } = run.call
      const accounts = run.call.accounts && (await accountsFor(broker, tool, run.call))
      const execution = await executeTool(
        broker,
        { ...rest, accounts, tool, input: args, entryPoint: 'code' },
        signal,
      )
      const result = toRunResult(tool, execution)
      const { executionId, durationMs, backend } = result
      const about = { toolId: id, ran: { executionId, durationMs, backend } }
      switch (result.outcome) {
        case 'authorization_required':
          return { ...about, outcome: result.outcome, authorization: { ...result.authorization, toolId: id } }
        case 'error': {
          const { kind, message, canRetry } = result.error
          return { ...about, outcome: 'error', error: { kind, message, canRetry } }
        }
        case 'value': {
          const { structured, mcpResult } = result
          const value = mcpResult ? valueWithMedia({ value: structured, mcpResult }) : structured
          return { ...about, outcome: 'value', structured, value }
        }
      }
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error
      const { code: kind, message, retryAfter } = error
      return { outcome: 'error', toolId: id, error: { kind, message, canRetry: retryAfter !== undefined } }
    }
  }

  async function single(request: SandboxRequest, signal: AbortSignal): Promise<Reply<Stop>> {
    const wanted = readRequestedCall(request.payload)
    if (wanted === undefined) return refused('tools.call takes a tool id and an object of arguments.')
    if (!hasRoom(1)) return stop(tooManyCalls(limits.toolCalls))
    calls++
    return call(request, 0, wanted, 'run', signal)
  }

  /** Runs the steps in order. Returns the result of the last step, or the error of the step that failed. */
  async function chain(request: SandboxRequest, signal: AbortSignal): Promise<Reply<Stop>> {
    const { payload } = request
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
    for (const [i, step] of steps.entries()) {
      if (last.reply !== 'value' || signal.aborted) break
      if (consent !== undefined) {
        last = { reply: 'stop', stop: { authorization: consent } }
        break
      }
      const { value } = last
      if (step.usePrevious && value instanceof LargeJson && !value.isQuickToParse()) {
        last = refused('The previous step returned too many values for args.previous.')
        break
      }
      left--
      const previous = () => parsedValue(value)
      const args = step.usePrevious ? { ...step.args, previous: previous() } : step.args
      last = await call(request, i, { ...step, args }, 'chain', signal)
    }
    calls -= left // only steps that ran count
    return last
  }

  async function list(request: SandboxRequest): Promise<Reply<Stop>> {
    // a list costs a read of the whole catalogue; the prelude keeps the first one, so only hostile code asks again
    if (isListed) return refused('The tools were listed already.')
    isListed = true
    const kept = journal.listOf(request.id)
    if (kept !== undefined) return { reply: 'value', value: kept }
    await journal.caughtUp()
    const tools = withoutTwins((await broker.cache.catalogue.of(projectId)).filter(hasOwnName))
    const value = tools.map((tool) => ({
      id: toolId(tool),
      description: tool.description,
      inputSchema: tool.inputSchema,
    }))
    journal.addList(request.id, value)
    return { reply: 'value', value }
  }

  function answer(request: SandboxRequest, signal: AbortSignal): Promise<Reply<Stop>> {
    if (request.what === 'list') return list(request)
    return request.what === 'chain' ? chain(request, signal) : single(request, signal)
  }

  return {
    get consent() {
      return consent
    },
    async serve(request, signal) {
      if (consent !== undefined) return ended
      if (!journal.begin(request)) return stop(DIVERGED)
      underWay++
      const reply = await answer(request, signal)
      underWay--
      if (consent === undefined || (reply.reply === 'stop' && 'error' in reply.stop)) return reply
      if (reply.reply !== 'stop') journal.addAnswer(request.id)
      if (underWay === 0) end({ reply: 'stop', stop: { authorization: consent } })
      return ended
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

const stop = (error: CodeError): Reply<Stop> => ({ reply: 'stop', stop: { error } })

const refused = (message: string): Reply<Stop> => ({
  reply: 'error',
  error: { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message, canRetry: false },
})

/** The code took another path than the run that it resumes. Nothing new was run. */
export const DIVERGED: CodeError = {
  kind: 'replay_diverged',
  message:
    'The code did not make the calls of the run that it resumes, so nothing was run. Run it again without resume.',
}

const CONSENT: CallError = {
  kind: 'requires_authorization',
  message: 'The user must approve first; the run ended here.',
  canRetry: true,
}

const tooManySteps = (steps: number, limit: number): CodeError => ({
  kind: 'chain_step_limit',
  message: `The code runs a chain of ${steps} steps; at most ${limit} are allowed (limits.chain_steps).`,
})
