import type { EpochSeconds } from '../../domain/clock.ts'
import { type Outgoing, OutgoingError, type OutgoingResponse } from '../../egress/outgoing.ts'
import { parseRetryAfter } from '../../egress/retry-after.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { isOfOrigin, parseTime } from './access-request.ts'
import type { AccessTask, TaskOutcome } from './domain-access-request.ts'
import { parsedAnswer } from './hook-answer.ts'

const MAX_BYTES = 64 * 1024
const MAX_RETRY_SECONDS = 3600
const WELL_KNOWN = '/.well-known/authzen-configuration'

/** Where a decision point is, and what authenticates Gatepass to it. */
export interface DecisionPoint {
  readonly url: string
  readonly timeoutMs: number
  readonly secret: string | undefined
}

export type TaskAnswer =
  | (TaskOutcome & { readonly id?: string })
  | {
      readonly outcome: 'pending'
      readonly id: string
      readonly statusEndpoint: string
      readonly until?: EpochSeconds | undefined
      readonly retryIn?: number | undefined
    }
  /** `isFinal`: the request itself was refused, so that sending it again changes nothing. */
  | {
      readonly outcome: 'failed'
      readonly message: string
      readonly isFinal: boolean
      readonly retryIn?: number | undefined
    }

/** Submits the access request, always with the same key, so that a repetition gets the same task. */
export async function submitAccessRequest(
  outgoing: Outgoing,
  point: DecisionPoint,
  { evaluation, endpoint, denial }: AccessTask,
  { key, now }: { readonly key: string; readonly now: EpochSeconds },
): Promise<TaskAnswer> {
  const to = endpoint ?? (await advertisedEndpoint(outgoing, point))
  if (to === undefined) return failed('Its metadata name no access_request_endpoint of its own origin.')
  const response = await send(outgoing, point, to, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ ...evaluation, denial }),
  })
  if ('outcome' in response) return response
  const { status } = response
  const isTransient = status >= 500 || status === 408 || status === 429
  if (status !== 201 && status !== 202)
    return { ...failed(`It answered ${status}.`, response, now), isFinal: !isTransient }
  return readTask(response, point, {}, now)
}

/** Reads the state of the task. */
export async function pollTask(
  outgoing: Outgoing,
  point: DecisionPoint,
  task: AccessTask,
  now: EpochSeconds,
): Promise<TaskAnswer> {
  const { statusEndpoint = '' } = task
  // the policy may lead to another decision point by now
  if (!isOfOrigin(statusEndpoint, point.url)) return { outcome: 'cancelled' }
  const response = await send(outgoing, point, statusEndpoint, { method: 'GET', headers: {} })
  if ('outcome' in response) return response
  if (response.status !== 200) return failed(`It answered ${response.status}.`, response, now)
  return readTask(response, point, task, now)
}

/** Unknown states are not approved: the task is asked for again until it ends or its time is over. */
function readTask(
  response: OutgoingResponse,
  { url }: DecisionPoint,
  known: Pick<AccessTask, 'id' | 'statusEndpoint'>,
  now: EpochSeconds,
): TaskAnswer {
  const { task, result } = parsedAnswer(textOf(response)) ?? {}
  if (!isRecord(task) || typeof task.id !== 'string' || task.id === '' || typeof task.status !== 'string')
    return failed('It answered something else than {"task": {"id": …, "status": …}}.')
  const { id, status, items } = task
  if (known.id !== undefined && known.id !== id) return failed('It answered about another task.')
  switch (status) {
    case 'approved':
      return items === undefined ? { ...enforceable(result, now), id } : { outcome: 'cancelled', id }
    case 'denied':
    case 'expired':
    case 'cancelled':
      return { outcome: status, id }
    case 'failed':
    case 'partial':
      return { outcome: 'cancelled', id }
    default: {
      const statusEndpoint = task.status_endpoint ?? known.statusEndpoint
      if (!isOfOrigin(statusEndpoint, url)) return failed('Its status_endpoint is of another origin.')
      const until = parseTime(task.expires_at)
      return { outcome: 'pending', id, statusEndpoint, until, retryIn: retryInOf(response, now) }
    }
  }
}

/** An approval counts only in a new evaluation, and only with an end. Unknown modes are not approved. */
function enforceable(result: unknown, now: EpochSeconds): TaskOutcome {
  const approval = isRecord(result) && result.mode === 'reevaluate' ? result.approval : undefined
  const until = isRecord(approval) ? parseTime(approval.approved_until) : undefined
  const isUsable =
    isRecord(approval) && typeof approval.id === 'string' && approval.id !== '' && until !== undefined
  return isUsable && until > now ? { outcome: 'approved', approval, until } : { outcome: 'cancelled' }
}

/** The endpoint in the metadata of the decision point (AuthZEN 1.0 section 9), if they are its own. */
async function advertisedEndpoint(outgoing: Outgoing, point: DecisionPoint): Promise<string | undefined> {
  const { origin, pathname } = new URL(point.url)
  const path = pathname.replace(/\/+$/, '')
  const response = await send(outgoing, point, `${origin}${WELL_KNOWN}${path}`, {
    method: 'GET',
    headers: {},
  })
  if ('outcome' in response || response.status !== 200) return undefined
  const { policy_decision_point: pdp, access_request_endpoint: endpoint } =
    parsedAnswer(textOf(response)) ?? {}
  const isOwn = typeof pdp === 'string' && pdp.replace(/\/+$/, '') === `${origin}${path}`
  return isOwn && isOfOrigin(endpoint, point.url) ? endpoint : undefined
}

type Failed = Extract<TaskAnswer, { readonly outcome: 'failed' }>

async function send(
  outgoing: Outgoing,
  { secret, timeoutMs }: DecisionPoint,
  url: string,
  {
    headers,
    ...request
  }: { readonly method: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string },
): Promise<OutgoingResponse | Failed> {
  try {
    return await outgoing.send({
      ...request,
      url,
      purpose: 'policy',
      headers: {
        ...headers,
        accept: 'application/json',
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      deadlineMs: timeoutMs,
      maxBytes: MAX_BYTES,
    })
  } catch (error) {
    if (error instanceof OutgoingError) return failed(error.message)
    throw error
  }
}

function failed(message: string, response?: OutgoingResponse, now: EpochSeconds = 0): Failed {
  const retryIn = response && retryInOf(response, now)
  return { outcome: 'failed', message, isFinal: false, retryIn }
}

function retryInOf({ headers }: OutgoingResponse, now: EpochSeconds): number | undefined {
  return parseRetryAfter(headers['retry-after'], now, MAX_RETRY_SECONDS)
}

function textOf({ body }: OutgoingResponse): string {
  return Buffer.from(body).toString('utf8')
}
