import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { UnsealError } from '../../store/seal.ts'
import { LargeJson } from '../../tools/large-json.ts'
import type { Run, RunBackend, RunResult } from '../../tools/run/run-tool.ts'
import type { PausedChain } from './domain.ts'
import { chainContext } from './store.ts'

// Stores a chain that waits for its user's consent. It is sealed JSON in the form of the first release, so that nodes of
// an older release can resume the chain while an installation is upgraded node by node.

/** The options that apply to every step of a chain. */
export type ChainRun = Omit<Run, 'toolId' | 'args' | 'entryPoint'>

export interface ChainStep {
  readonly toolId: string
  readonly args?: Readonly<Record<string, unknown>>
  /** Puts the result of the previous step into `args.previous`, which replaces a value that is already there. */
  readonly usePrevious?: boolean
}

export interface CompletedStep {
  readonly status: 'completed'
  readonly toolId: string
  readonly result: Extract<RunResult, { readonly outcome: 'value' }>
}

/** All that a chain needs to continue. */
export interface ChainState {
  /** The options of the first call, so that the remaining steps use the accounts that it chose. */
  readonly call: Omit<ChainRun, 'projectId'>
  readonly steps: readonly ChainStep[]
  /** The results of the steps that have run. */
  readonly results: readonly CompletedStep[]
  /** The sources of the tools, by their names in the steps (`tool-source.ts`). Absent in the first release. */
  readonly sources?: Readonly<Record<string, string>>
}

const PAUSED_SECONDS = 24 * 3600
/** Characters of one sealed state. */
const MAX_STATE_CHARACTERS = 8 * 1024 * 1024

/** Limits the chains of a project that wait for consent. */
const pausedChainsOf = perBroker(({ store, settings, now }) =>
  createPendingLimit(store.chains.count, settings.maxPending, now),
)

/** Stores the chain and returns the handle that resumes it; `undefined` if it is too large or too many are stored. */
export async function pauseChain(
  broker: Broker,
  { projectId, ...call }: ChainRun,
  { steps, results, sources = {} }: Pick<ChainState, 'steps' | 'results' | 'sources'>,
): Promise<string | undefined> {
  if (largeBytes(results) > MAX_STATE_CHARACTERS || (await pausedChainsOf(broker).isFull(projectId)))
    return undefined
  const id = newId('chain')
  const expiresAt = broker.now() + PAUSED_SECONDS
  const stored: StoredState = { call, steps, sources, results: results.map(toStored) }
  const state = broker.sealer.seal(JSON.stringify(stored), chainContext('chains', 'state', { id, projectId }))
  if (state.length > MAX_STATE_CHARACTERS) return undefined
  await broker.store.chains.add({ id, projectId, state, expiresAt })
  pausedChainsOf(broker).added(projectId)
  return id
}

/** The length of the large results. It is checked first, so that a state that is too large is not serialized. */
function largeBytes(results: readonly CompletedStep[]): number {
  const values: readonly unknown[] = results.flatMap(({ result }) => [result.structured, result.mcpResult])
  return values.reduce<number>((sum, value) => sum + (value instanceof LargeJson ? value.bytes.length : 0), 0)
}

/** Decrypts the state of a chain. Throws `store_unavailable` if the state was altered in the database. */
export function openChainState(broker: Broker, { id, projectId, state }: PausedChain): ChainState {
  try {
    const stored = JSON.parse(
      broker.sealer.open(state, chainContext('chains', 'state', { id, projectId })),
    ) as StoredState // `pauseChain` wrote it
    return { ...stored, results: stored.results.map(fromStored) }
  } catch (cause) {
    if (!(cause instanceof UnsealError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'The state of this chain was altered in the database, so it is not resumed. Run the chain again.',
      { cause },
    )
  }
}

type StoredState = Omit<ChainState, 'results'> & { readonly results: readonly StoredStep[] }

interface StoredStep {
  readonly toolId: string
  readonly status: 'completed'
  readonly backend?: RunBackend | undefined
  readonly executionId: string
  /** Milliseconds. */
  readonly duration: number
  readonly structured?: unknown
  readonly mcpResult?: Readonly<Record<string, unknown>>
  /** Large values as strings that hold JSON, so that resuming the chain does not parse them. */
  readonly texts?: { readonly structured?: string | undefined; readonly mcpResult?: string | undefined }
}

function toStored({ toolId, status, result }: CompletedStep): StoredStep {
  const { backend, executionId, durationMs, structured, mcpResult } = result
  const text = (value: unknown) => (value instanceof LargeJson ? value.text() : undefined)
  const [largeStructured, largeMcpResult] = [text(structured), text(mcpResult)]
  return {
    toolId,
    status,
    backend,
    executionId,
    duration: durationMs,
    ...(structured !== undefined && largeStructured === undefined && { structured }),
    ...(mcpResult !== undefined && largeMcpResult === undefined && { mcpResult }),
    texts: { structured: largeStructured, mcpResult: largeMcpResult },
  }
}

function fromStored({ toolId, status, texts = {}, ...stored }: StoredStep): CompletedStep {
  const { backend, executionId, duration } = stored
  const structured = texts.structured === undefined ? stored.structured : largeJson(texts.structured)
  const mcpResult = texts.mcpResult === undefined ? stored.mcpResult : largeJson(texts.mcpResult)
  return {
    toolId,
    status,
    result: { outcome: 'value', executionId, durationMs: duration, backend, structured, mcpResult },
  }
}

/** Returns a `LargeJson` that is also typed as the JSON object that it holds. */
function largeJson(text: string): LargeJson & Readonly<Record<string, unknown>> {
  return new LargeJson(Buffer.from(text)) as LargeJson & Readonly<Record<string, unknown>>
}
