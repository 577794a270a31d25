import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import { newId } from '../../domain/ids.ts'
import { toolId } from '../../domain/tool.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { createPendingLimit } from '../../services/pending-limit.ts'
import { currentContext } from '../../services/request-context.ts'
import { aboutToRun } from '../../services/run-once.ts'
import { recordedTrace } from '../../services/tracing.ts'
import { sourceOf } from '../../tools/catalogue/tool-source.ts'
import type { ToolCall } from '../../tools/run/execution.ts'
import { sealRequest } from '../../tools/run/execution-history.ts'
import { checkInput } from '../../tools/run/preconditions.ts'
import type { LaterRun } from '../../tools/run/run-later.ts'
import { authorizationRequired, authorizeTool, isGranted, toolNeeds } from '../../tools/run/tool-tokens.ts'
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
 * Schedules a run for a time. The database keeps it, so that it outlives this process and any node can run
 * it. Throws what `executeTool` throws, `invalid_input`, `request_too_large`, and `too_many_pending` when the project has
 * too many scheduled runs.
 */
export async function scheduleTool(broker: Broker, call: ToolCall, time: string): Promise<LaterRun> {
  const { tool, userId, entryPoint } = call
  const runAt = readRunAt(time)
  const now = broker.now()
  await checkInput(broker, call)
  const needs = await toolNeeds(broker, tool, call)
  if (needs.length > 0 && (userId === undefined || !(await isGranted(broker, tool, userId)))) {
    const begun = await authorizeTool(broker, call, needs)
    if (begun.outcome === 'authorization_required') {
      const outcome = await authorizationRequired(broker, begun.authorization)
      const finishedAt = toTimestamp(now)
      return {
        outcome: 'authorization_required',
        execution: { id: newId('exec'), durationMs: 0, finishedAt, outcome, wasCalled: false },
      }
    }
  }
  const { apiKey } = currentContext()
  const row = { id: newId('exec'), projectId: tool.projectId }
  const scheduled: ScheduledRun = {
    toolId: toolId(tool),
    entryPoint,
    ...(userId !== undefined && { userId }),
    ...(apiKey !== undefined && { apiKeyId: apiKey.id }),
    runAt,
    createdAt: now,
  }
  const more = { scheduled, traceparent: recordedTrace(), source: await sourceOf(broker, tool) }
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
    status: 'scheduled',
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
  await broker.store.executions.add([record], audit)
  scheduledOf(broker).added(tool.projectId)
  return { outcome: 'scheduled', record }
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
    'run_at is no time: write it as 2026-12-24T18:00:00 (UTC) or with an offset, as 2026-12-24T18:00:00+01:00.',
  )
}

function toDay(milliseconds: number): string {
  return Number.isNaN(milliseconds) ? '' : new Date(milliseconds).toISOString().slice(0, 10)
}
