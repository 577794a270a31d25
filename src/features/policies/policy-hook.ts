import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { type Outgoing, OutgoingError, type OutgoingResponse } from '../../egress/outgoing.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'
import { callingAgent } from '../../services/request-context.ts'
import type { Policy, PolicyHook } from './domain.ts'
import type { AccessEvaluation } from './domain-access-request.ts'
import type { HookResult } from './hook-answer.ts'
import { arcadeQuestion, readArcadeAnswer } from './hook-arcade.ts'
import { EVALUATION_PATH, evaluationsOf, readDecision } from './hook-authzen.ts'

const MAX_ANSWER_BYTES = 16 * 1024
/** A denial may come with a signed copy of the request. */
const MAX_DECISION_BYTES = 64 * 1024

/** Asks the hook's URL about a use, in the format that the hook has. It never gets a token. */
export async function askHook(
  outgoing: Outgoing,
  { id, hook }: Pick<Policy, 'id'> & { readonly hook: PolicyHook },
  secret: string | undefined,
  use: RequestedUse,
  now: EpochSeconds,
): Promise<HookResult> {
  if (hook.format !== 'authzen')
    return send(
      outgoing,
      { hook, url: hook.url, secret, maxBytes: MAX_ANSWER_BYTES },
      arcadeQuestion(id, use),
      ({ status, body }) =>
        status < 200 || status > 299 ? failedWith(status) : readArcadeAnswer(textOf(body), secret),
    )
  const evaluations = evaluationsOf(use, callingAgent())
  if (evaluations === undefined) return WITHOUT_USER
  const to = { hook, secret, requestId: use.executionId, now }
  let answer: HookResult = { outcome: 'failed', message: 'The use has no provider to ask about.' }
  for (const evaluation of evaluations) {
    answer = await askDecisionPoint(outgoing, to, evaluation)
    if (answer.outcome !== 'agreed') return answer
  }
  return answer
}

/** `approval`: what an access request got, in a new evaluation of the same request. */
export function askDecisionPoint(
  outgoing: Outgoing,
  to: {
    readonly hook: PolicyHook
    readonly secret: string | undefined
    readonly requestId?: string | undefined
    readonly now: EpochSeconds
    readonly approval?: JsonRecord
  },
  evaluation: AccessEvaluation,
): Promise<HookResult> {
  const { hook, secret, requestId, now, approval } = to
  const { url } = hook
  const question = approval ? { ...evaluation, context: { ...evaluation.context, approval } } : evaluation
  return send(
    outgoing,
    { hook, url: evaluationUrl(url), secret, requestId, maxBytes: MAX_DECISION_BYTES },
    question,
    ({ status, body }) =>
      status === 200 ? readDecision(textOf(body), evaluation, { url, secret, now }) : failedWith(status),
  )
}

async function send(
  outgoing: Outgoing,
  to: {
    readonly hook: PolicyHook
    readonly url: string
    readonly secret: string | undefined
    readonly requestId?: string | undefined
    readonly maxBytes: number
  },
  question: object,
  read: (response: OutgoingResponse) => HookResult,
): Promise<HookResult> {
  const { hook, url, secret, requestId, maxBytes } = to
  try {
    const response = await outgoing.send({
      url,
      purpose: 'policy',
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
      },
      body: JSON.stringify(question),
      deadlineMs: hook.timeoutMs,
      maxBytes,
    })
    return read(response)
  } catch (error) {
    if (error instanceof OutgoingError) return { outcome: 'failed', message: error.message }
    throw error
  }
}

/** Refused, even if failures permit: nothing could be asked. */
const WITHOUT_USER: HookResult = {
  outcome: 'refused',
  message: 'It decides about users, and this call names none: say which in user_id.',
}

function evaluationUrl(url: string): string {
  return `${url.replace(/\/+$/, '')}${EVALUATION_PATH}`
}

function textOf(body: Uint8Array): string {
  return Buffer.from(body).toString('utf8')
}

function failedWith(status: number): HookResult {
  return { outcome: 'failed', message: `It answered ${status}.` }
}
