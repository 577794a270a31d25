import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker.ts'
import type { PausedChain } from '../../domain/chain.ts'
import { BrokerError, type ErrorCode, invalidMember } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { UnsealError } from '../../store/seal.ts'
import { chainPlace } from '../../store/sealed-columns.ts'
import { findTool } from '../catalogue/find-tool.ts'
import { LargeJson } from '../large-json.ts'
import type { ErrorKind } from '../tool-error.ts'
import {
  isRunCompleted,
  type RequiredAuthorizationWire,
  type Run,
  type RunError,
  type RunResult,
  runTool,
} from './run-tool.ts'
import { accountsFor, toolNeeds } from './tool-needs.ts'

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
  /** Goes on where it stopped, once, within a day; absent where it could not be kept: it is too long, or too many are. */
  readonly resume?: string
}

export type ChainRun = Omit<Run, 'toolId' | 'args' | 'entryPoint'>

/** What a paused chain goes on with: what it was called with too, so that no step takes another account than was said. */
interface ChainState {
  readonly call: Omit<ChainRun, 'projectId'>
  readonly steps: readonly ChainStep[]
  /** Of those that are finished. */
  readonly results: readonly ChainStepResult[]
}

type Progress = Pick<ChainState, 'steps' | 'results'>

const PAUSED_SECONDS = 24 * 3600
/** Of one that is kept, sealed. */
const MAX_PAUSED_CHARACTERS = 8 * 1024 * 1024
export const MAX_CHAIN_STEPS = 50

/**
 * Runs tools one after the other; the first that fails, or needs consent, ends it. Throws `invalid_request` for a first
 * step that wants what was before it, and for an account at a provider that none of the tools needs.
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
  return goOn(broker, run, { steps, results: [] }, signal)
}

/**
 * Goes on with a chain that waited for consent; no finished step is run again. What it was called with counts on, but for
 * what `run` says anew. Throws `not_found` for a handle that was used, has expired, or is another user's;
 * `invalid_request` when other steps are given than it has.
 */
export async function resumeChain(
  broker: Broker,
  run: ChainRun,
  { resume, steps }: { readonly resume: string; readonly steps?: readonly ChainStep[] | undefined },
  signal?: AbortSignal,
): Promise<ChainResult> {
  const taken = await broker.store.chains.take(run.projectId, resume, broker.now())
  if (taken === undefined) throw noSuchChain()
  let state: ChainState
  try {
    state = openState(broker, taken)
    if (state.call.userId !== run.userId) throw noSuchChain()
    if (steps !== undefined && !isDeepStrictEqual(steps, state.steps))
      throw invalidMember(
        'steps',
        'conflict',
        'steps differ from those of the chain that is resumed. Leave them out, or run a new chain.',
      )
    await checkAccounts(broker, run, state.steps)
  } catch (error) {
    await broker.store.chains.add(taken) // a refusal does not use it up
    throw error
  }
  return goOn(broker, { ...state.call, ...run }, state, signal)
}

function noSuchChain(): BrokerError {
  return new BrokerError(
    'not_found',
    'There is no chain to resume by that handle for this user: it was resumed already, or it has expired. Run the chain anew.',
  )
}

async function goOn(
  broker: Broker,
  run: ChainRun,
  { steps, results: finished }: Progress,
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
      const resume = await pause(broker, run, { steps, results }).catch((error: unknown) => {
        // what has run is told all the same: else it would be run once more
        if (results.length > 0 && isStoreAway(error)) return undefined
        throw error
      })
      const { toolId } = step
      return {
        status: 'requires_authorization',
        steps: [...results, ...skipped()],
        requires_authorization: { step: results.length, toolId, ...required },
        ...(resume !== undefined && { resume }),
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
  try {
    const given = usePrevious ? { ...args, previous: previousOf(previous) } : args
    const { accounts, ...call } = run
    const own = accounts && (await accountsFor(broker, await findTool(broker, run.projectId, toolId), run))
    const { result: ran } = await runTool(
      broker,
      { ...call, ...(own && { accounts: own }), toolId, args: given, entryPoint: 'run_chain' },
      signal,
    )
    const { tool: _, ...result } = ran
    return { toolId, status: isRunCompleted(result) ? 'completed' : 'failed', ...result }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return { toolId, status: 'failed', error: toRunError(error, toolId) }
  }
}

async function checkAccounts(broker: Broker, run: ChainRun, steps: readonly ChainStep[]): Promise<void> {
  const named = Object.keys(run.accounts ?? {})
  if (named.length === 0) return
  const tools = [...new Set(steps.map(({ toolId }) => toolId))]
  // a step whose tool cannot be found fails when it is its turn
  const needed = await Promise.all(tools.map((tool) => providersOf(broker, run, tool).catch(noneIfRefused)))
  const unknown = named.filter((id) => !needed.flat().includes(id))
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
  const tool = await findTool(broker, projectId, named)
  const needs = await toolNeeds(broker, tool, userId === undefined ? {} : { userId })
  return needs.map(({ entry }) => entry.id)
}

function noneIfRefused(error: unknown): [] {
  if (error instanceof BrokerError) return []
  throw error
}

/** A large answer is an argument of another tool only where it is parsed soon: it is checked, and taken apart. */
function previousOf(previous: unknown): unknown {
  if (!(previous instanceof LargeJson)) return previous ?? null
  if (previous.isParsedSoon()) return previous.parse()
  throw new BrokerError(
    'invalid_input',
    'The step before answered too many values to be put into args.previous. Let it answer less.',
  )
}

/** A refusal of the broker's own, such as a tool that is not there, in the words of a run. */
function toRunError({ code, message, retryAfter }: BrokerError, toolId: string): RunError {
  const [op, kind] = WORDS_OF_REFUSAL[code] ?? (['execute', 'TOOL_REQUIREMENTS_NOT_MET'] as const)
  return {
    op,
    toolId,
    kind,
    message,
    can_retry: retryAfter !== undefined,
    ...(retryAfter !== undefined && { retry_after_ms: Math.ceil(retryAfter * 1000) }),
  }
}

const WORDS_OF_REFUSAL: Readonly<Partial<Record<ErrorCode, readonly [RunError['op'], ErrorKind]>>> = {
  not_found: ['resolve', 'TOOL_REQUIREMENTS_NOT_MET'],
  ambiguous_tool: ['resolve', 'TOOL_REQUIREMENTS_NOT_MET'],
  invalid_input: ['validate_input', 'TOOL_RUNTIME_BAD_INPUT_VALUE'],
  invalid_tool: ['validate_input', 'TOOL_DEFINITION_BAD_INPUT_SCHEMA'],
  provider_unavailable: ['execute', 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'],
  store_unavailable: ['execute', 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE'],
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

/** The handle to go on by; `undefined` where there is no room for it. */
function isStoreAway(error: unknown): boolean {
  return error instanceof BrokerError && error.code === 'store_unavailable'
}

async function pause(
  broker: Broker,
  { projectId, ...call }: ChainRun,
  { steps, results }: Progress,
): Promise<string | undefined> {
  if (await broker.pausedChains.isFull(projectId)) return undefined
  const id = newId('chain')
  const expiresAt = broker.now() + PAUSED_SECONDS
  const state: KeptState = { call, steps, results: results.map(toKept) }
  const sealed = broker.sealer.seal(JSON.stringify(state), chainPlace(id, projectId))
  if (sealed.length > MAX_PAUSED_CHARACTERS) return undefined
  await broker.store.chains.add({ id, projectId, state: sealed, expiresAt })
  broker.pausedChains.added(projectId)
  return id
}

/** What is large in a result is kept as a text, so that going on does not parse it. */
type KeptResult = ChainStepResult & {
  readonly texts?: { readonly structured?: string; readonly mcpResult?: string }
}
type KeptState = Omit<ChainState, 'results'> & { readonly results: readonly KeptResult[] }

function toKept({ structured, mcpResult, ...result }: ChainStepResult): KeptResult {
  const text = (value: unknown) => (value instanceof LargeJson ? value.text() : undefined)
  const [large, largeMcp] = [text(structured), text(mcpResult)]
  return {
    ...result,
    ...(structured !== undefined && large === undefined && { structured }),
    ...(mcpResult !== undefined && largeMcp === undefined && { mcpResult }),
    texts: {
      ...(large !== undefined && { structured: large }),
      ...(largeMcp !== undefined && { mcpResult: largeMcp }),
    },
  }
}

function fromKept({ texts = {}, ...result }: KeptResult): ChainStepResult {
  const large = Object.entries(texts).map(([name, text]) => [name, new LargeJson(Buffer.from(text))])
  return { ...result, ...Object.fromEntries(large) }
}

function openState(broker: Broker, { id, projectId, state }: PausedChain): ChainState {
  try {
    const kept = JSON.parse(broker.sealer.open(state, chainPlace(id, projectId))) as KeptState // as `pause` sealed it
    return { ...kept, results: kept.results.map(fromKept) }
  } catch (cause) {
    if (!(cause instanceof UnsealError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'What this chain has come to was altered in the database, so it is not resumed. Run the chain anew.',
      { cause },
    )
  }
}
