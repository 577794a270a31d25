import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newId, sha256 } from '../../domain/ids.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { UnsealError } from '../../store/seal.ts'
import { fromJsonText, jsonText } from '../../tools/large-json.ts'
import type { EndedCall, JournalEntries, JournalRequest } from './call-journal.ts'
import type { PausedCode } from './domain.ts'
import type { CodeLimits } from './limits.ts'
import type { CodeRun } from './run-of-code.ts'
import { codeContext } from './store.ts'

// Stores a run of code that waits for its user, as sealed JSON. The code itself is not stored: its caller sends it again.

/** All that makes the code take the same path again. */
export interface PausedState {
  /** Only this key resumes the run. */
  readonly apiKeyId: string
  /** `digestOf` the code. */
  readonly code: string
  /** The options of the first request, which apply to the calls that are still to come. */
  readonly call: CodeRun['call']
  readonly limits: CodeLimits
  /** The time that the code sees. */
  readonly now: EpochSeconds
  /** Of the random numbers; base64url. */
  readonly seed: string
  readonly journal: JournalEntries
}

const PAUSED_SECONDS = 24 * 3600
/** Characters of one sealed state. */
const MAX_STATE_CHARACTERS = 8 * 1024 * 1024

/** Limits the runs of a project that wait for their users. */
const pausedRunsOf = perBroker(({ store, settings, now }) =>
  createPendingLimit(store.pausedCode.count, settings.maxPending, now),
)

export function digestOf({ language, code }: Pick<CodeRun, 'language' | 'code'>): string {
  return sha256(`${language} ${code}`)
}

/** Stores the run and returns the id that resumes it; `undefined` if it is too large or too many are stored. */
export async function pauseCode(
  broker: Broker,
  projectId: string,
  state: PausedState,
): Promise<string | undefined> {
  const limit = pausedRunsOf(broker)
  if (await limit.isFull(projectId)) return undefined
  const row = rowOf(broker, { id: newId('code'), projectId }, state)
  if (row === undefined) return undefined
  await broker.store.pausedCode.add(row)
  limit.added(projectId)
  return row.id
}

/** Stores the later state of a run that was resumed; returns its id, or `undefined` if it is too large or was deleted. */
export async function pauseAgain(
  broker: Broker,
  of: Pick<PausedCode, 'id' | 'projectId'>,
  state: PausedState,
): Promise<string | undefined> {
  const row = rowOf(broker, of, state)
  if (row !== undefined && (await broker.store.pausedCode.pauseAgain(row))) return row.id
  await broker.store.pausedCode.remove(of.projectId, of.id)
  return undefined
}

function rowOf(
  { sealer, now }: Broker,
  { id, projectId }: Pick<PausedCode, 'id' | 'projectId'>,
  { journal, ...rest }: PausedState,
): PausedCode | undefined {
  const stored: StoredState = {
    ...rest,
    journal: { ...journal, requests: journal.requests.map(toStored) },
  }
  const state = sealer.seal(JSON.stringify(stored), codeContext('pausedCode', 'state', { id, projectId }))
  if (state.length > MAX_STATE_CHARACTERS) return undefined
  return { id, projectId, userId: rest.call.userId, state, expiresAt: now() + PAUSED_SECONDS }
}

/** Decrypts the state of a run. Throws `store_unavailable` if the state was altered in the database. */
export function openPausedCode({ sealer }: Broker, { id, projectId, state }: PausedCode): PausedState {
  try {
    const { journal, ...rest } = JSON.parse(
      sealer.open(state, codeContext('pausedCode', 'state', { id, projectId })),
    ) as StoredState // `rowOf` wrote it
    return { ...rest, journal: { ...journal, requests: journal.requests.map(fromStored) } }
  } catch (cause) {
    if (!(cause instanceof UnsealError)) throw cause
    throw new BrokerError(
      'store_unavailable',
      'The state of this run was altered in the database, so it is not resumed. Run the code again without resume.',
      { cause },
    )
  }
}

type StoredState = Omit<PausedState, 'journal'> & {
  readonly journal: Omit<JournalEntries, 'requests'> & { readonly requests: readonly StoredRequest[] }
}

/** Values are strings that hold JSON, so that large ones are not parsed when the state is read. */
type StoredRequest = Omit<JournalRequest, 'calls' | 'list'> & {
  readonly calls: readonly StoredCall[]
  readonly list?: string
}
type StoredCall =
  | Extract<EndedCall, { outcome: 'error' }>
  | (Omit<Extract<EndedCall, { outcome: 'value' }>, 'structured' | 'value'> & {
      readonly structured: string
      /** Absent where it is the same. */
      readonly value?: string
    })

function toStored({ calls, list, ...request }: JournalRequest): StoredRequest {
  const stored = calls.map((call): StoredCall => {
    if (call.outcome === 'error') return call
    const { structured, value, ...rest } = call
    return {
      ...rest,
      structured: jsonText(structured),
      ...(value !== structured && { value: jsonText(value) }),
    }
  })
  return { ...request, calls: stored, ...(list !== undefined && { list: jsonText(list) }) }
}

function fromStored({ calls, list, ...request }: StoredRequest): JournalRequest {
  const read = calls.map((call): EndedCall => {
    if (call.outcome === 'error') return call
    const structured = fromJsonText(call.structured)
    return { ...call, structured, value: call.value === undefined ? structured : fromJsonText(call.value) }
  })
  return { ...request, calls: read, ...(list !== undefined && { list: fromJsonText(list) }) }
}
