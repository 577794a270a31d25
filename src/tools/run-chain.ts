import type { Broker } from '../broker.ts'
import type { PausedChain } from '../domain/chain.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { chainPlace } from '../store/sealed-columns.ts'
import {
  isRunCompleted,
  type RequiredAuthorizationWire,
  type Run,
  type RunError,
  type RunResult,
  runTool,
} from './run-tool.ts'

/** seeds/002's ChainStep. */
export interface ChainStep {
  readonly toolId: string
  readonly args?: Readonly<Record<string, unknown>>
  /** Puts what the step before answered into `args.previous`, over whatever is there. */
  readonly usePrevious?: boolean
}

/** What became of a step. The one that waits for consent has not run yet, so it is `skipped` like those after it. */
export interface ChainStepResult extends Partial<Omit<RunResult, 'tool'>> {
  readonly toolId: string
  readonly status: 'completed' | 'failed' | 'skipped'
}

export interface ChainResult {
  readonly status: 'completed' | 'failed' | 'requires_authorization'
  /** What the last step answered; absent where the chain did not get there. */
  readonly structured?: unknown
  readonly steps: readonly ChainStepResult[]
  /** What the user must approve first, and the step (from 0) that needs it. */
  readonly requires_authorization?: RequiredAuthorizationWire & {
    readonly step: number
    readonly toolId: string
  }
  /** Goes on where it stopped, once, within a day. */
  readonly resume?: string
}

export type ChainRun = Omit<Run, 'toolId' | 'args' | 'entryPoint'>

/** What a paused chain goes on with. */
interface ChainState {
  readonly userId?: string
  readonly steps: readonly ChainStep[]
  /** Of those that are finished. */
  readonly results: readonly ChainStepResult[]
}

const PAUSED_SECONDS = 24 * 3600
export const MAX_CHAIN_STEPS = 50

/**
 * Runs tools one after the other; the first that fails, or needs consent, ends it. Throws `invalid_request` for a first
 * step that wants what was before it.
 */
export async function runChain(
  broker: Broker,
  run: ChainRun,
  steps: readonly ChainStep[],
  signal?: AbortSignal,
): Promise<ChainResult> {
  if (steps[0]?.usePrevious === true)
    throw new BrokerError(
      'invalid_request',
      'steps[0].usePrevious: nothing was run before the first step. Leave it out there.',
    )
  return goOn(broker, run, { steps, results: [] }, signal)
}

/**
 * Goes on with a chain that waited for consent; no finished step is run again. Throws `not_found` for a handle that was
 * used, has expired, or is another user's; `invalid_request` when other steps are given than it has.
 */
export async function resumeChain(
  broker: Broker,
  run: ChainRun,
  { resume, steps }: { readonly resume: string; readonly steps?: readonly ChainStep[] | undefined },
  signal?: AbortSignal,
): Promise<ChainResult> {
  const taken = await broker.store.chains.take(run.projectId, resume, broker.now())
  const state = taken && openState(broker, taken)
  const putBack = async () => void (taken && (await broker.store.chains.add(taken)))
  if (state === undefined || state.userId !== run.userId) {
    await putBack()
    throw new BrokerError(
      'not_found',
      'There is no chain to resume by that handle for this user: it was resumed already, or it has expired. Run the chain anew.',
    )
  }
  if (steps !== undefined && JSON.stringify(steps) !== JSON.stringify(state.steps)) {
    await putBack()
    throw new BrokerError(
      'invalid_request',
      'steps differ from those of the chain that is resumed. Leave them out, or run a new chain.',
    )
  }
  return goOn(broker, run, state, signal)
}

async function goOn(
  broker: Broker,
  run: ChainRun,
  { steps, results: finished }: ChainState,
  signal: AbortSignal | undefined,
): Promise<ChainResult> {
  const results = [...finished]
  const skipped = () =>
    steps.slice(results.length).map((step): ChainStepResult => ({ toolId: step.toolId, status: 'skipped' }))
  for (const step of steps.slice(finished.length)) {
    if (signal?.aborted === true) {
      results.push({ toolId: step.toolId, status: 'failed', error: cancelled(step.toolId) })
      return { status: 'failed', steps: [...results, ...skipped()] }
    }
    const result = await runStep(broker, run, step, results.at(-1)?.structured, signal)
    const { requires_authorization: required } = result
    if (required !== undefined) {
      const resume = await pause(broker, run, { steps, results })
      const { toolId } = step
      return {
        status: 'requires_authorization',
        steps: [...results, ...skipped()],
        requires_authorization: { step: results.length, toolId, ...required },
        resume,
      }
    }
    results.push(result)
    if (result.status === 'failed') return { status: 'failed', steps: [...results, ...skipped()] }
  }
  const structured = results.at(-1)?.structured
  return { status: 'completed', ...(structured !== undefined && { structured }), steps: results }
}

async function runStep(
  broker: Broker,
  run: ChainRun,
  { toolId, args = {}, usePrevious = false }: ChainStep,
  previous: unknown,
  signal: AbortSignal | undefined,
): Promise<ChainStepResult> {
  const given = usePrevious ? { ...args, previous: previous ?? null } : args
  try {
    const { tool: _, ...result } = await runTool(
      broker,
      { ...run, toolId, args: given, entryPoint: 'run_chain' },
      signal,
    )
    return { toolId, status: isRunCompleted({ tool: {}, ...result }) ? 'completed' : 'failed', ...result }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { toolId, status: 'failed', error: toRunError(error, toolId) }
  }
}

/** A refusal of the broker's own, such as a tool that is not there, in the words of a run. */
function toRunError({ code, message, retryAfter }: BrokerError, toolId: string): RunError {
  const isInput = code === 'invalid_input'
  return {
    op: isInput ? 'validate_input' : code === 'not_found' ? 'resolve' : 'execute',
    toolId,
    kind: isInput ? 'TOOL_RUNTIME_BAD_INPUT_VALUE' : 'TOOL_REQUIREMENTS_NOT_MET',
    message,
    can_retry: retryAfter !== undefined,
    ...(retryAfter !== undefined && { retry_after_ms: Math.ceil(retryAfter * 1000) }),
  }
}

function cancelled(toolId: string): RunError {
  return {
    op: 'execute',
    toolId,
    kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
    message: 'The chain was cancelled before this step.',
    can_retry: true,
  }
}

async function pause(
  broker: Broker,
  { projectId, userId }: ChainRun,
  { steps, results }: Pick<ChainState, 'steps' | 'results'>,
): Promise<string> {
  const id = newId('chain')
  const expiresAt = broker.now() + PAUSED_SECONDS
  const state: ChainState = { ...(userId !== undefined && { userId }), steps, results }
  const sealed = broker.sealer.seal(JSON.stringify(state), chainPlace(id, projectId))
  await broker.store.chains.add({ id, projectId, state: sealed, expiresAt })
  return id
}

function openState(broker: Broker, { id, projectId, state }: PausedChain): ChainState {
  return JSON.parse(broker.sealer.open(state, chainPlace(id, projectId))) as ChainState // as `pause` sealed it
}
