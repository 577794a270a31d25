import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import { newId } from '../../domain/ids.ts'
import { isSafeToRepeat } from '../../domain/tool.ts'
import type { ApprovalFailure } from '../../services/call-approvals.ts'
import { inContext } from '../../services/request-context.ts'
import { inTrace } from '../../services/tracing.ts'
import { waitAtMost } from '../../services/wait-at-most.ts'
import type { Lease } from '../../store/lease.ts'
import { retry } from '../../store/retry.ts'
import { UnsealError } from '../../store/seal.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { checkSource } from '../../tools/catalogue/tool-source.ts'
import { executeTool } from '../../tools/run/execute-tool.ts'
import type { ExecutionOutcome } from '../../tools/run/execution.ts'
import {
  type Attempt,
  endOf,
  openAttempts,
  resultOf,
  sealAttempts,
  UNREADABLE,
} from '../../tools/run/execution-history.ts'
import { toStoredOutput } from '../../tools/run/stored-output.ts'
import { ownError } from '../../tools/tool-answer.ts'
import type { FeatureJobs } from '../feature.ts'
import { isAsScheduled, openScheduled, type ScheduledRequest } from './scheduled-run.ts'

/** The interval at which the scheduler looks for due runs. */
const SCHEDULE_MS = 1_000
const LEASE_SECONDS = 60
const PROLONG_MS = 20_000
const MAX_RUNNING = 8
/** The limit for one project, so that its runs do not delay those of other projects. */
const MAX_RUNNING_OF_PROJECT = MAX_RUNNING / 2
const MAX_ATTEMPTS = 8
/** The pause before the first retry. It doubles each time, so that the last attempt is 20 minutes after the first. */
const FIRST_PAUSE_SECONDS = 10
/** The pause before the result of a run is written again, while the database is unavailable. */
const SETTLE_PAUSE_MS = 1_000

export const scheduledRunJobs: FeatureJobs = {
  begin(broker) {
    const scheduler = createScheduler(broker)
    return {
      jobs: [{ intervalMs: SCHEDULE_MS, run: () => scheduler.runDue() }],
      async close(ms) {
        const cutOff = await scheduler.close(ms)
        if (cutOff > 0) broker.log.error({ runs: cutOff }, 'scheduled runs were cut off at shutdown')
      },
    }
  },
}

/** Executes scheduled runs when they are due. A lease ensures that only one process at a time executes a run. */
export interface Scheduler {
  /** Begins the runs that are due. */
  runDue(): Promise<void>
  /**
   * Begins no more runs and waits at most `ms` for those that are running. A run that has not ended by then is left to the
   * process that takes over its lease, and its result here is ignored. Returns the number of such runs.
   */
  close(ms: number): Promise<number>
}

/** Makes the scheduler of this process. */
export function createScheduler(broker: Broker): Scheduler {
  /** The running runs and the project of each. */
  const running = new Map<Promise<void>, string>()
  /** The leases of running runs, by the ids of the runs. */
  const leases = new Map<string, Lease>()
  let lastClaimAt = broker.now()
  let claiming: Promise<void> | undefined
  let isClosed = false
  let ignoresResults = false

  async function run(record: ExecutionRecord, lease: Lease): Promise<void> {
    leases.set(record.id, lease)
    const heartbeat = setInterval(() => void prolong(record.id, lease), PROLONG_MS).unref()
    try {
      const settled = await attempt(broker, record)
      if (ignoresResults) return // another process may run it now, so this result is not stored
      if (!(await settle(settled, lease.owner)))
        broker.log.warn({ execution: record.id }, 'another process has taken over a scheduled run')
    } catch (error) {
      // the run is not settled, so its lease expires and another attempt decides what can be done
      broker.log.error({ execution: record.id, error }, 'a scheduled run could not be settled')
    } finally {
      clearInterval(heartbeat)
      if (leases.get(record.id) === lease) leases.delete(record.id)
    }
  }

  async function prolong(id: string, lease: Lease): Promise<void> {
    await broker.store.scheduledRuns.prolong(id, lease, broker.now()).catch((error: unknown) => {
      broker.log.warn({ execution: id, error }, 'the lease of a scheduled run could not be prolonged')
    })
  }

  /** Retries while the database is unavailable, so that a known result is not lost. */
  function settle(record: ExecutionRecord, owner: string): Promise<boolean> {
    return retry(() => broker.store.scheduledRuns.settle(record, owner), {
      mayRetry: () => !ignoresResults,
      pauseMs: () => SETTLE_PAUSE_MS,
    })
  }

  /** The projects that have as many running runs as they may have. */
  function projectsAtLimit(): string[] {
    const projects = [...running.values()]
    const isAtLimit = (project: string) =>
      projects.filter((busy) => busy === project).length >= MAX_RUNNING_OF_PROJECT
    return [...new Set(projects)].filter(isAtLimit)
  }

  /** Claims runs one by one, because each claim may bring another project to its limit. */
  async function begin(): Promise<void> {
    // a new owner for each round of claims, so that a run that lost its lease cannot settle a later attempt
    const lease = { owner: randomUUID(), seconds: LEASE_SECONDS }
    const now = broker.now()
    // after a jump of the clock or a suspended machine this process must not take over its own runs
    if (now - lastClaimAt >= LEASE_SECONDS / 2)
      await Promise.all([...leases].map(([id, held]) => prolong(id, held)))
    lastClaimAt = now
    for (let i = 0; i < MAX_RUNNING && running.size < MAX_RUNNING && !isClosed; i++) {
      const [record] = await broker.store.scheduledRuns.claimDue(lease, now, 1, projectsAtLimit())
      if (record === undefined) return
      const promise = run(record, lease).finally(() => running.delete(promise))
      running.set(promise, record.projectId)
    }
  }

  return {
    async runDue() {
      claiming ??= begin().finally(() => {
        claiming = undefined
      })
      await claiming
    },
    async close(ms) {
      isClosed = true
      const allDone = Promise.resolve(claiming)
        .catch(() => {}) // a failed claim, which `runDue` reports, must not end the wait for the runs claimed before
        .then(async () => {
          while (running.size > 0) await Promise.all(running.keys())
        })
      await waitAtMost(ms, allDone)
      ignoresResults = true
      return running.size
    },
  }
}

/** Makes one attempt and returns the record with its result. */
async function attempt(broker: Broker, record: ExecutionRecord): Promise<ExecutionRecord> {
  const startedAt = broker.now()
  let kept: ScheduledRequest | typeof UNREADABLE | undefined = UNREADABLE
  const settle = (
    end: Pick<ExecutionRecord, 'status'> & Partial<ExecutionRecord>,
    tried: Omit<Attempt, 'id' | 'startedAt' | 'finishedAt'>,
  ): ExecutionRecord => {
    const finishedAt = broker.now()
    const attempts = [
      ...readAttempts(broker, record),
      { ...tried, id: newId('exec'), startedAt: record.startedAt ?? startedAt, finishedAt },
    ]
    const settled = { ...record, ...end, updatedAt: finishedAt }
    if (end.status === 'scheduled') return { ...settled, result: sealAttempts(broker, record, attempts) }
    return {
      ...settled,
      finishedAt,
      result: sealAttempts(broker, record, attempts, kept),
    }
  }
  const fail = (systemErrorMessage: string) =>
    settle({ status: 'failed', outcome: 'error' }, { success: false, systemErrorMessage })
  const tryAgain = (seconds: number, tried: Omit<Attempt, 'id' | 'startedAt' | 'finishedAt'>) => {
    const pause = Math.max(seconds, FIRST_PAUSE_SECONDS * 2 ** (record.attempts - 1))
    return settle({ status: 'scheduled', runAt: broker.now() + Math.ceil(pause) }, tried)
  }
  const isLast = record.attempts >= MAX_ATTEMPTS

  try {
    const { projectId, userId, entryPoint, id } = record
    kept = openScheduled(broker, record)
    if (kept === undefined) return fail('The request of this run is no longer stored.')
    // such a run ends before its time
    const refused = await refusedApproval(broker, projectId, kept.later?.approvalId)
    if (refused !== undefined) {
      const { runAt = record.createdAt } = kept.scheduled ?? {}
      return settle(
        { status: 'failed', outcome: 'error', errorKind: 'CONTEXT_DENIED', runAt },
        { success: false, output: toStoredOutput(refused) },
      )
    }
    if (record.request === undefined || !isAsScheduled(record, kept)) {
      broker.altered.found({ table: 'executions', id, projectId })
      return fail(
        'The row of this run was changed in the database by a program other than Gatepass, so it was not run.',
      )
    }
    const { traceparent, scheduled: _, source, ...request } = kept
    const tool = await getTool(broker, projectId, record.toolId)
    await checkSource(broker, tool, source)
    const wasBegun = record.attempts > readAttempts(broker, record).length + 1
    if (wasBegun && !isSafeToRepeat(tool))
      return fail(
        'The process that ran the tool ended before it could store the result. The tool may have run or not, and it does not declare that running it twice is safe, so it is not run again.',
      )
    if (record.attempts > MAX_ATTEMPTS)
      return fail(`The run was begun ${MAX_ATTEMPTS} times and never ended.`)
    const apiKey = await findSchedulingKey(broker, record)
    if (record.apiKeyId !== undefined && apiKey === undefined)
      return fail('The API key that scheduled this run was revoked or has expired.')

    const actor =
      apiKey === undefined ? ({ kind: 'system' } as const) : ({ kind: 'api_key', id: apiKey.id } as const)
    const context = { actor, ...(apiKey && { apiKey }), purpose: 'scheduled run', requestId: id }
    const execute = () =>
      executeTool(broker, { ...request, tool, entryPoint, executionId: id, callId: id, userId })
    const { tracing } = broker
    const span = { name: 'scheduled run', links: [traceparent] }
    const execution = await inContext(context, () =>
      tracing === undefined ? execute() : inTrace(tracing, span, execute),
    )
    const { outcome } = execution
    // the tool was not called, or a policy refused it: nothing was done yet
    if (outcome.outcome === 'error' && outcome.isOwn === true && outcome.error.canRetry && !isLast)
      return tryAgain((outcome.error.retryAfterMs ?? 0) / 1000, resultOf(execution))
    return settle({ ...endOf(execution), durationMs: execution.durationMs }, resultOf(execution))
  } catch (error) {
    if (error instanceof UnsealError)
      return fail(
        `Data that this run needs was altered in the database (${error.context.table}.${error.context.column}), so it was not run.`,
      )
    if (!(error instanceof BrokerError)) {
      broker.log.error({ execution: record.id, error }, 'a scheduled run ended with an unexpected error')
      return fail('Something went wrong in Gatepass; its log says what.')
    }
    if (error.retryAfter === undefined || isLast) return fail(error.message)
    return tryAgain(error.retryAfter, { success: false, systemErrorMessage: error.message })
  }
}

/** The outcome of a run that people have not approved, or whose approval no longer counts. */
async function refusedApproval(
  { approvals }: Broker,
  projectId: string,
  approvalId: string | undefined,
): Promise<ExecutionOutcome | undefined> {
  if (approvalId === undefined) return undefined
  try {
    const view = await approvals?.get(projectId, approvalId)
    if (view?.status === 'completed') return undefined
    return notApproved(view?.message, view?.reason)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.code !== 'not_found') throw error
    return notApproved()
  }
}

function notApproved(
  message = 'What was to be approved has changed since.',
  reason: ApprovalFailure = 'approval_superseded',
): ExecutionOutcome {
  return ownError({ kind: 'CONTEXT_DENIED', message: `${message} (${reason})`, canRetry: false })
}

function readAttempts(broker: Broker, record: ExecutionRecord): readonly Attempt[] {
  try {
    return openAttempts(broker, record)
  } catch (error) {
    if (error instanceof UnsealError) return []
    throw error
  }
}

/**
 * The API key that scheduled the run, or the key that replaced it; `undefined` when it has expired. Also when it was revoked,
 * although it had been replaced: a key that leaked is rotated, and revoking it ends what a thief has scheduled with it.
 */
async function findSchedulingKey(
  broker: Broker,
  { projectId, apiKeyId }: ExecutionRecord,
): Promise<ApiKey | undefined> {
  const find = async (id: string | undefined) =>
    id === undefined ? undefined : broker.store.apiKeys.find(projectId, id)
  const hasEnded = ({ revokedAt, expiresAt }: ApiKey) =>
    revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= broker.now())
  let key = await find(apiKeyId)
  if (key?.revokedAt !== undefined) return undefined
  while (key !== undefined && hasEnded(key)) key = await find(key.replacedBy)
  return key
}
