import { randomBytes } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import { wholeMilliseconds } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { isStoreUnavailable } from '../../store/retry.ts'
import { createJournal } from './call-journal.ts'
import { createTrace } from './call-trace.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { digestOf, openPausedCode, type PausedState, pauseAgain, pauseCode } from './paused-code.ts'
import type { CodeResult, CodeRun } from './run-of-code.ts'
import type { RunSlots } from './run-slots.ts'
import { runInSandbox } from './sandbox.ts'
import { SEED_BYTES } from './seeded-random.ts'
import { createGateway, DIVERGED, type Stop } from './tool-gateway.ts'

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
  const begin: PausedState = {
    apiKeyId: run.apiKeyId,
    code: digestOf(run),
    call: run.call,
    limits: { ...DEFAULT_LIMITS, ...run.limits },
    now: broker.now(),
    seed: randomBytes(SEED_BYTES).toString('base64url'),
    journal: { requests: [], answered: [] },
  }
  const release = slots.take(run.apiKeyId, begin.limits.memoryMb)
  try {
    const { result, paused } = await runFrom(broker, run, begin, signal)
    return { ...result, resume: paused && (await kept(result, pauseCode(broker, run.projectId, paused))) }
  } finally {
    release()
  }
}

/** A request that resumes a run ends so long after its time limit at the latest: a thread may start slowly. */
const SPARE_SECONDS = 120

/**
 * Runs the code of a run that waited for its user, from its beginning: calls that had ended are answered from what was
 * kept. Throws `not_found` for the run of another user or key, `outcome_unknown` while another request resumes it,
 * `invalid_request` for other code, and what `executeCode` throws.
 */
export async function resumeCode(
  broker: Broker,
  slots: RunSlots,
  { resume: id, ...run }: CodeRun & { readonly resume: string },
  signal?: AbortSignal,
): Promise<CodeResult> {
  const { pausedCode } = broker.store
  const { projectId } = run
  const found = await pausedCode.find(projectId, id, broker.now())
  const stored = found && openPausedCode(broker, found)
  if (stored?.apiKeyId !== run.apiKeyId || stored.call.userId !== run.call.userId) throw noSuchRun()
  if (digestOf(run) !== stored.code)
    throw invalidMember(
      'code',
      'conflict',
      'code or language differ from those of the run that is resumed. Send the same, or run the new code without resume.',
    )
  const limits = { ...stored.limits, ...run.limits }
  const state = { ...stored, limits, call: { ...stored.call, ...run.call } }
  const release = slots.take(run.apiKeyId, limits.memoryMb)
  try {
    const now = broker.now()
    const until = now + Math.ceil(limits.timeoutMs / 1000) + SPARE_SECONDS
    if (!(await pausedCode.claim(projectId, id, now, until))) throw await notFree(broker, projectId, id)
    const { result, paused } = await runFrom(broker, run, state, signal).catch(async (error: unknown) => {
      await forget()
      throw error
    })
    if (paused !== undefined)
      return { ...result, resume: await kept(result, pauseAgain(broker, { id, projectId }, paused)) }
    await forget()
    return result
  } finally {
    release()
  }

  /** The run has ended, so it is not resumed again: without the row, or by its claim. */
  async function forget(): Promise<void> {
    await pausedCode.remove(projectId, id).catch((error: unknown) => {
      if (!isStoreUnavailable(error)) throw error
    })
  }
}

/** The id of a run that is being stored. A caller whose calls have run must learn that, also where nothing can be stored. */
async function kept(
  { toolCalls }: CodeResult,
  storing: Promise<string | undefined>,
): Promise<string | undefined> {
  return storing.catch((error: unknown) => {
    if (toolCalls.length > 1 && isStoreUnavailable(error)) return undefined
    throw error
  })
}

function noSuchRun(): BrokerError {
  return new BrokerError(
    'not_found',
    'There is no run to resume by that id for this API key and user: it has ended, or it has expired. Run the code without resume.',
  )
}

async function notFree(broker: Broker, projectId: string, id: string): Promise<BrokerError> {
  const found = await broker.store.pausedCode.find(projectId, id, broker.now())
  if (found === undefined) return noSuchRun()
  const wait = (found.runningUntil ?? 0) - broker.now()
  return wait > 0
    ? new BrokerError('outcome_unknown', 'Another request resumes this run. Wait for its answer.')
    : new BrokerError(
        'outcome_unknown',
        'The process that resumed this run has stopped before it answered, so what the run has done since is not known. Look at GET /v1/executions, then run the code without resume.',
      )
}

/** Runs the code from this state. `paused`: the state from which the run can be resumed. */
async function runFrom(
  broker: Broker,
  { projectId, language, code }: CodeRun,
  state: PausedState,
  signal: AbortSignal | undefined,
): Promise<{ readonly result: CodeResult; readonly paused?: PausedState }> {
  const { call, limits, now, seed } = state
  const trace = createTrace()
  const journal = createJournal(state.journal)
  const gateway = createGateway(broker, { projectId, call, limits }, trace, journal)
  const { end, stdout, stderr, durationMs } = await runInSandbox<Stop>(code, {
    language,
    limits,
    now,
    seed: Buffer.from(seed, 'base64url'),
    signal,
    order: journal,
    onRequest: gateway.serve,
    ...(!journal.hasCaughtUp && { onStuck: (): Stop => ({ error: DIVERGED }) }),
  })
  const common = {
    value: null,
    stdout,
    stderr,
    toolCalls: trace.list(),
    durationMs: wholeMilliseconds(durationMs),
    language,
    limits,
  }
  if (end.outcome === 'value')
    return { result: journal.hasCaughtUp ? { ...common, value: end.value } : { ...common, error: DIVERGED } }
  const stop: Stop = end.outcome === 'error' ? { error: end.error } : end.stop
  if ('authorization' in stop) {
    const entries = journal.entries()
    return {
      result: { ...common, ...stop },
      ...(entries && { paused: { ...state, journal: entries } }),
    }
  }
  const { error } = stop
  // calls beside the one that needs its user took too long: what they have done is not known, so the run is not kept
  if (error.kind === 'timeout' && gateway.consent !== undefined)
    return { result: { ...common, authorization: gateway.consent } }
  return { result: { ...common, error } }
}
