import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import { newId } from '../../domain/ids.ts'
import { toolId } from '../../domain/tool.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { isApprovalId } from '../../services/call-approvals.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { currentContext } from '../../services/request-context.ts'
import { aboutToRun } from '../../services/run-once.ts'
import { recordedTrace } from '../../services/tracing.ts'
import { sourceOf } from '../../tools/catalogue/tool-source.ts'
import { askAhead } from '../../tools/run/approve-call.ts'
import type { ExecutionOutcome, PlannedRun, ToolCall } from '../../tools/run/execution.ts'
import { sealRequest } from '../../tools/run/execution-history.ts'
import { checkInput } from '../../tools/run/preconditions.ts'
import type { LaterRun, RunTime } from '../../tools/run/run-later.ts'
import { authorizationRequired, authorizeTool, isGranted, toolNeeds } from '../../tools/run/tool-tokens.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'
import type { ScheduledRequest, ScheduledRun } from './scheduled-run.ts'

/** The limit of a sealed request, which may be stored for months. */
const MAX_REQUEST_CHARACTERS = 2 * 1024 * 1024
/** Limits the scheduled runs of a project. */
const scheduledOf = perBroker(({ store, settings, now }) =>
  createPendingLimit(store.scheduledRuns.count, settings.maxPending, now),
)
/** When the caller may try again after `too_many_pending`. */
const RETRY_AFTER_SECONDS = 60

/**
 * Schedules a run for a time, or for the moment when people have approved it. The database keeps it, so that it outlives
 * this process and any node can run it. Throws what `executeTool` throws, `invalid_input`, `request_too_large`, and
 * `too_many_pending` when the project has too many scheduled runs.
 */
export async function scheduleTool(broker: Broker, call: ToolCall, when: RunTime): Promise<LaterRun> {
  if ('approval' in when) {
    const { approval } = when
    return store(broker, call, {
      runAt: broker.now(),
      later: { approvalId: approval.id },
      question: approval,
    })
  }
  const runAt = readRunAt(when.runAt)
  const checked = await checkInput(broker, call)
  const { tool, userId } = call
  const needs = await toolNeeds(broker, tool, call)
  if (needs.length > 0 && (userId === undefined || !(await isGranted(broker, tool, userId)))) {
    const begun = await authorizeTool(broker, call, needs)
    if (begun.outcome === 'authorization_required')
      return notScheduled(broker, await authorizationRequired(broker, begun.authorization))
  }
  const asked = await askAhead(broker, { ...checked, later: { runAt } }, needs)
  if (asked?.outcome === 'authorization_required' && isApprovalId(asked.authorization.id)) {
    const { authorization } = asked
    return store(broker, call, {
      runAt,
      later: { runAt, approvalId: authorization.id },
      question: authorization,
    })
  }
  if (asked !== undefined && asked.outcome !== 'approved') return notScheduled(broker, asked)
  // a remembered approval is looked for again when the run begins
  const approvalId = asked?.id !== undefined && isApprovalId(asked.id) ? asked.id : undefined
  return store(broker, call, { runAt, later: { runAt, approvalId } })
}

function notScheduled(broker: Broker, outcome: ExecutionOutcome): LaterRun {
  const finishedAt = toTimestamp(broker.now())
  const execution = { id: newId('exec'), durationMs: 0, finishedAt, outcome, wasCalled: false }
  return { outcome: 'not_scheduled', execution }
}

interface Planned {
  readonly runAt: number
  readonly later: PlannedRun
  readonly question?: RequiredAuthorization
}

async function store(broker: Broker, call: ToolCall, { runAt, later, question }: Planned): Promise<LaterRun> {
  const { tool, userId, entryPoint } = call
  const now = broker.now()
  const { apiKey } = currentContext()
  const { approvalId } = later
  const row = { id: newId('exec'), projectId: tool.projectId }
  const scheduled: ScheduledRun = {
    toolId: toolId(tool),
    entryPoint,
    ...(userId !== undefined && { userId }),
    ...(apiKey !== undefined && { apiKeyId: apiKey.id }),
    ...(approvalId !== undefined && { approvalId }),
    runAt,
    createdAt: now,
  }
  const more = { scheduled, later, traceparent: recordedTrace(), source: await sourceOf(broker, tool) }
  const request = sealRequest(broker, row, call, more satisfies Partial<ScheduledRequest>)
  if (request.length > MAX_REQUEST_CHARACTERS)
    throw new BrokerError(
      'request_too_large',
      'The input of a scheduled run may be about 1.5 MB. Send less of it, or a reference.',
    )
  if (await scheduledOf(broker).isFull(tool.projectId))
    throw new BrokerError(
      'too_many_pending',
      'This project has as many scheduled runs as it may have (GATEPASS_MAX_PENDING). Cancel some by DELETE /v1/scheduled_tools/{id}, or wait until some have run.',
      { retryAfter: RETRY_AFTER_SECONDS },
    )
  const record: ExecutionRecord = {
    ...row,
    ...scheduled,
    type: 'scheduled',
    status: approvalId === undefined ? 'scheduled' : 'waiting_for_approval',
    updatedAt: now,
    attempts: 0,
    request,
  }
  const audit = broker.audit.of(tool.projectId, {
    action: 'tool.scheduled',
    tool: toolId(tool),
    subject: record.id,
    userId,
  })
  await aboutToRun({ executionId: record.id, toolId: record.toolId })
  const { executions, waitingRuns } = broker.store
  if (approvalId === undefined) await executions.add([record], audit)
  const held = approvalId === undefined ? record : await waitingRuns.hold(record, audit)
  if (held.id === record.id) scheduledOf(broker).added(tool.projectId)
  if (approvalId === undefined) return { outcome: 'scheduled', record }
  // the answer may have come before the run was stored
  const current = await broker.approvals?.getSettled(tool.projectId, approvalId)
  if (current?.status === 'pending') return { outcome: 'scheduled', record: held, question }
  const isApproved = current?.status === 'completed'
  await waitingRuns.release({ projectId: tool.projectId, approvalId, isApproved })
  const settled = await executions.find(tool.projectId, held.id)
  return { outcome: 'scheduled', record: settled ?? held }
}

/**
 * Parses `run_at` to epoch seconds. `YYYY-MM-DDTHH:MM:SS` is UTC unless it has an offset (RFC 3339). Throws
 * `invalid_request`.
 */
function readRunAt(text: string): number {
  const [, moment, offset = 'Z'] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?$/i.exec(text.trim()) ?? []
  const at = moment === undefined ? Number.NaN : Date.parse(`${moment}${offset}`)
  // `Date.parse` takes 31 February as a day in March
  const isDay = moment !== undefined && toDay(Date.parse(`${moment}Z`)) === moment.slice(0, 10)
  if (!Number.isNaN(at) && isDay) return Math.ceil(at / 1000)
  throw invalidMember(
    'run_at',
    'invalid',
    'run_at is not a time: write it as 2026-12-24T18:00:00 (UTC) or with an offset, as 2026-12-24T18:00:00+01:00.',
  )
}

function toDay(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? '' : new Date(milliseconds).toISOString().slice(0, 10)
}
