import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { isStoreUnavailable } from '../../store/retry.ts'
import { findToolsNamed, getTool } from '../../tools/catalogue/get-tool.ts'
import { checkSource, sourceOf } from '../../tools/catalogue/tool-source.ts'
import { LargeJson } from '../../tools/large-json.ts'
import { type RunError, type RunResult, runTool, toRunError } from '../../tools/run/run-tool.ts'
import { accountsFor, toolNeeds } from '../../tools/run/tool-tokens.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'
import {
  type ChainRun,
  type ChainState,
  type ChainStep,
  type CompletedStep,
  openChainState,
  pauseChain,
} from './paused-chain.ts'

// Runs several tools in a row. A chain whose next step needs a consent is kept (paused-chain.ts) and resumed later.

/** The outcome of a step. A step that waits for a consent has not run, so it is `skipped` like the steps after it. */
export type ChainStepResult =
  | CompletedStep
  | { readonly status: 'failed'; readonly toolId: string; readonly result: RunResult }
  /** The tool was not called. */
  | { readonly status: 'failed'; readonly toolId: string; readonly error: RunError }
  | { readonly status: 'skipped'; readonly toolId: string }

export type ChainResult =
  | {
      readonly status: 'completed'
      readonly steps: readonly ChainStepResult[]
      /** The result of the last step; `undefined` where its tool answered nothing. */
      readonly structured?: unknown | undefined
    }
  | { readonly status: 'failed'; readonly steps: readonly ChainStepResult[] }
  | {
      readonly status: 'authorization_required'
      readonly steps: readonly ChainStepResult[]
      readonly authorization: RequiredAuthorization
      /** The step that needs the consent, counted from 0, and its tool. */
      readonly step: number
      readonly toolId: string
      /** Resumes the chain once, within a day. Absent if the chain is too long to be stored, or too many are stored. */
      readonly resume?: string | undefined
    }

export const MAX_CHAIN_STEPS = 50

/**
 * Runs tools one after the other; the first step that fails or needs a consent ends the chain. Throws `invalid_request`
 * for a first step with `usePrevious`, and for an account at a provider that none of the tools needs.
 */
export async function runChain(
  broker: Broker,
  run: ChainRun,
  steps: readonly ChainStep[],
  signal?: AbortSignal,
): Promise<ChainResult> {
  if (steps[0]?.usePrevious === true)
    throw invalidMember(
      'steps.0.usePrevious',
      'not_allowed',
      'steps[0].usePrevious: nothing was run before the first step. Leave it out there.',
    )
  await checkAccounts(broker, run, steps)
  return runSteps(broker, run, { steps, results: [] }, signal)
}

/**
 * Resumes a chain that waited for a consent; no finished step is run again. The options of the first call apply, except
 * those that `run` gives again. Throws `not_found` for a handle that was used, has expired or is another user's, and
 * `invalid_request` when `steps` differ from those of the chain.
 */
export async function resumeChain(
  broker: Broker,
  run: ChainRun,
  { resume, steps }: { readonly resume: string; readonly steps?: readonly ChainStep[] | undefined },
  signal?: AbortSignal,
): Promise<ChainResult> {
  const { chains } = broker.store
  const found = await chains.find(run.projectId, resume, broker.now())
  if (found === undefined) throw noSuchChain()
  const state = openChainState(broker, found)
  if (state.call.userId !== run.userId) throw noSuchChain()
  if (steps !== undefined && !isDeepStrictEqual(steps, state.steps))
    throw invalidMember(
      'steps',
      'conflict',
      'steps differ from those of the chain that is resumed. Leave them out, or run a new chain.',
    )
  await checkAccounts(broker, run, state.steps)
  // after all checks, so that a refused request does not use the handle up; a chain deleted meanwhile is not run
  if ((await chains.take(run.projectId, resume, broker.now())) === undefined) throw noSuchChain()
  return runSteps(broker, { ...state.call, ...withoutUndefined(run) }, state, signal)
}

function noSuchChain(): BrokerError {
  return new BrokerError(
    'not_found',
    'There is no chain to resume by that handle for this user: it was resumed already, or it has expired. Run the chain again.',
  )
}

async function runSteps(
  broker: Broker,
  run: ChainRun,
  { steps, results: finished, sources: kept }: Pick<ChainState, 'steps' | 'results' | 'sources'>,
  signal: AbortSignal | undefined,
): Promise<ChainResult> {
  const results = [...finished]
  const sources = kept ?? (await sourcesOf(broker, run, steps))
  const withSkipped = (...ended: ChainStepResult[]) => [
    ...results,
    ...ended,
    ...steps
      .slice(results.length + ended.length)
      .map(({ toolId }): ChainStepResult => ({ toolId, status: 'skipped' })),
  ]
  for (const step of steps.slice(finished.length)) {
    const { toolId } = step
    if (signal?.aborted === true)
      return {
        status: 'failed',
        steps: withSkipped({ toolId, status: 'failed', error: cancelledStep(toolId) }),
      }
    const previous = structuredOf(results.at(-1))
    const ended = await runStep(broker, run, { ...step, source: sources[toolId] }, previous, signal)
    if (ended.status === 'completed') results.push(ended)
    else if ('result' in ended && ended.result.outcome === 'authorization_required') {
      const { authorization } = ended.result
      const resume = await pauseChain(broker, run, { steps, results, sources }).catch((error: unknown) => {
        // the caller must learn which steps have run, or it would run them again
        if (results.length > 0 && isStoreUnavailable(error)) return undefined
        throw error
      })
      return {
        status: 'authorization_required',
        steps: withSkipped(),
        step: results.length,
        toolId,
        authorization,
        resume,
      }
    } else return { status: 'failed', steps: withSkipped(ended) }
  }
  const structured = structuredOf(results.at(-1))
  return { status: 'completed', steps: results, structured }
}

function structuredOf(step: CompletedStep | undefined): unknown {
  return step?.result.structured
}

type EndedStep = Exclude<ChainStepResult, { status: 'skipped' }>

async function runStep(
  broker: Broker,
  run: ChainRun,
  { toolId, args = {}, usePrevious = false, source }: ChainStep & { readonly source: string | undefined },
  previous: unknown,
  signal: AbortSignal | undefined,
): Promise<EndedStep> {
  try {
    const given = usePrevious ? { ...args, previous: previousOf(previous) } : args
    const { accounts: all, ...call } = run
    const tool = await getTool(broker, run.projectId, toolId)
    await checkSource(broker, tool, source)
    const accounts = all && (await accountsFor(broker, tool, run))
    const { result } = await runTool(
      broker,
      { ...call, accounts, toolId, args: given, entryPoint: 'run_chain' },
      signal,
    )
    return result.outcome === 'value'
      ? { toolId, status: 'completed', result }
      : { toolId, status: 'failed', result }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { toolId, status: 'failed', error: toRunError(error, toolId) }
  }
}

/** Returns the value of `args.previous`. Throws `invalid_input` for a large result that is slow to parse and check. */
function previousOf(previous: unknown): unknown {
  if (!(previous instanceof LargeJson)) return previous ?? null
  if (previous.isQuickToParse()) return previous.parse()
  throw new BrokerError(
    'invalid_input',
    'The previous step returned too many values for args.previous. Let it return less.',
  )
}

/** The sources of the tools at the beginning of the chain. A tool that does not exist then has none. */
async function sourcesOf(
  broker: Broker,
  { projectId }: ChainRun,
  steps: readonly ChainStep[],
): Promise<Readonly<Record<string, string>>> {
  const found = await Promise.all(
    [...new Set(steps.map(({ toolId }) => toolId))].map(async (name) => {
      const [tool, ...others] = await findToolsNamed(broker, projectId, name)
      return tool === undefined || others.length > 0 ? [] : [[name, await sourceOf(broker, tool)] as const]
    }),
  )
  return Object.fromEntries(found.flat())
}

async function checkAccounts(broker: Broker, run: ChainRun, steps: readonly ChainStep[]): Promise<void> {
  const chosen = Object.keys(run.accounts ?? {})
  if (chosen.length === 0) return
  const tools = [...new Set(steps.map(({ toolId }) => toolId))]
  // a tool that does not exist fails its own step later
  const needed = await Promise.all(tools.map((tool) => providersOf(broker, run, tool).catch(noneIfRefused)))
  const unknown = chosen.filter((id) => !needed.flat().includes(id))
  if (unknown.length > 0)
    throw invalidMember(
      'accounts',
      'not_allowed',
      `accounts names ${unknown.map((id) => `"${id.slice(0, 100)}"`).join(', ')}, which none of the tools needs.`,
    )
}

/** The ids of the provider entries that the tool needs. */
async function providersOf(
  broker: Broker,
  { projectId, userId }: ChainRun,
  named: string,
): Promise<string[]> {
  const tool = await getTool(broker, projectId, named)
  const needs = await toolNeeds(broker, tool, userId === undefined ? {} : { userId })
  return needs.map(({ entry }) => entry.id)
}

function noneIfRefused(error: unknown): [] {
  if (error instanceof BrokerError) return []
  throw error
}

function cancelledStep(toolId: string): RunError {
  return {
    op: 'execute',
    toolId,
    kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
    message: 'The chain was canceled before this step.',
    canRetry: true,
  }
}
