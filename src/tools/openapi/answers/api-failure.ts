import type { ErrorKind, ToolError } from '../../tool-error.ts'
import { upstreamKind } from '../../upstream-status.ts'
import { retryAfterMs } from '../../worker-request.ts'
import type { ErrorPlan, FailureKind, WaitPlan } from './answer-plan.ts'
import { holds } from './condition.ts'
import { firstAt, valuesAt } from './member-path.ts'
import type { Answered } from './shape-answer.ts'

interface Failed extends Answered {
  readonly status: number
  /** Whether the request may be repeated (RFC 9110 section 9.2.1). */
  readonly isSafe: boolean
}

/** Whether an answer with status 2xx reports a failure. */
export function isFailure({ failedIf = [] }: ErrorPlan, answered: Answered): boolean {
  return failedIf.some((condition) => holds(condition, answered))
}

/** Reads an error as the API describes its own. `guessed` is the sentence of an error that the plan does not find. */
export function apiFailure(plan: ErrorPlan, failed: Failed, guessed: string | undefined): ToolError {
  const { status, isSafe, value, headers } = failed
  const code = textOf(firstAt(value, plan.code ?? [])) ?? codeOfSentence(plan, failed, guessed)
  const kind = byCode(plan.kinds ?? {}, code, status)
  const isLimited = kind === 'rate_limit' || (kind === undefined && isLimit(status, headers))
  const canRetry =
    kind !== 'quota' && (isLimited || status === 503 || ((kind === 'server' || status >= 500) && isSafe))
  // some APIs tell in every answer when their limit begins again
  const wait = canRetry ? waitMs(isLimited ? (plan.wait ?? []) : [], failed) : undefined
  return {
    kind: isLimited ? 'UPSTREAM_RUNTIME_RATE_LIMIT' : kind === undefined ? kindOfStatus(status) : KINDS[kind],
    message: messageOf(plan, failed, { code, guessed }),
    canRetry,
    statusCode:
      kind === undefined || (status >= 400 && !isNoBadToken(kind, status)) ? status : STATUSES[kind],
    ...(wait !== undefined && { retryAfterMs: wait }),
  }
}

const KINDS = {
  bad_token: 'UPSTREAM_RUNTIME_AUTH_ERROR',
  forbidden: 'UPSTREAM_RUNTIME_AUTH_ERROR',
  not_found: 'UPSTREAM_RUNTIME_NOT_FOUND',
  invalid_input: 'UPSTREAM_RUNTIME_VALIDATION_ERROR',
  rate_limit: 'UPSTREAM_RUNTIME_RATE_LIMIT',
  quota: 'UPSTREAM_RUNTIME_RATE_LIMIT',
  server: 'UPSTREAM_RUNTIME_SERVER_ERROR',
} as const satisfies Record<FailureKind, ErrorKind>

/** The status that a failure within 200 is reported with. After 401 the token is refreshed (`tool-tokens.ts`). */
const STATUSES = {
  bad_token: 401,
  forbidden: 403,
  not_found: 404,
  invalid_input: 422,
  rate_limit: 429,
  quota: 429,
  server: 502,
} as const satisfies Record<FailureKind, number>

/** After a 401 the token would be refreshed, and the connection doubted. Some APIs answer it to a user who lacks a right. */
function isNoBadToken(kind: FailureKind, status: number): boolean {
  return status === 401 && kind !== 'bad_token'
}

/** The code that the plan gives to an answer whose message holds a sentence. */
function codeOfSentence(
  { sentences = {}, message = [] }: ErrorPlan,
  { value }: Failed,
  guessed: string | undefined,
): string | undefined {
  const told = (textOf(firstAt(value, message)) ?? guessed ?? '').toLowerCase()
  return Object.entries(sentences).find(([part]) => told.includes(part.toLowerCase()))?.[1]
}

/** A failure within an answer of status 2xx whose code is not known is one of the request. */
function kindOfStatus(status: number): ErrorKind {
  return status < 300 ? 'UPSTREAM_RUNTIME_BAD_REQUEST' : upstreamKind(status)
}

/** GitHub and others answer 403 with `Retry-After`, or with no request left, when a rate limit is exceeded. */
function isLimit(status: number, headers: Readonly<Record<string, string>>): boolean {
  if (status === 429) return true
  return status === 403 && (headers['retry-after'] !== undefined || headers['x-ratelimit-remaining'] === '0')
}

/** The entry of the code, of its beginning, or of the status. */
function byCode<T>(
  table: Readonly<Record<string, T>>,
  code: string | undefined,
  status: number,
): T | undefined {
  if (code !== undefined && Object.hasOwn(table, code)) return table[code]
  const beginning = Object.keys(table).find((key) => key.endsWith('*') && code?.startsWith(key.slice(0, -1)))
  const key = beginning ?? String(status)
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function messageOf(
  plan: ErrorPlan,
  { status, value }: Failed,
  { code, guessed }: { readonly code: string | undefined; readonly guessed: string | undefined },
): string {
  const sentence = textOf(firstAt(value, plan.message ?? [])) ?? guessed
  const details = (plan.details ?? [])
    .flatMap((path) => valuesAt(value, path))
    .flatMap((detail) => textOf(detail) ?? [])
    .filter((detail) => detail !== sentence)
    .slice(0, 5)
  const named = code !== undefined && code !== sentence && !sentence?.includes(code) ? ` (${code})` : ''
  const advice = byCode(plan.advice ?? {}, code, status)
  const said = status < 300 ? 'The API refused the request' : `The API answered ${status}`
  const parts = [
    `${said}${named}${sentence === undefined ? '.' : `: ${sentence}`}`,
    ...(details.length > 0 ? [`Details: ${details.join('; ')}`] : []),
    ...(advice === undefined ? [] : [advice]),
  ]
  return parts.map((part) => (/[.!?…]$/.test(part) ? part : `${part}.`)).join(' ')
}

/** One line; `undefined` for what is no text and no number. */
function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return text === '' ? undefined : text
}

/** A longer wait is not told: the caller would not wait for it. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000

function waitMs(plans: readonly WaitPlan[], { headers, value }: Failed): number | undefined {
  const standard = retryAfterMs(headers['retry-after'])
  if (standard !== undefined) return standard
  for (const plan of plans) {
    const found =
      'amount' in plan ? plan.amount : 'header' in plan ? headers[plan.header] : firstAt(value, [plan.at])
    const wait = Math.ceil(toMs(found ?? Number.NaN, plan.unit))
    if (wait > 0 && wait <= LONGEST_WAIT_MS) return wait
  }
  return undefined
}

function toMs(told: unknown, unit: WaitPlan['unit']): number {
  const amount = Number(told)
  switch (unit) {
    case 'time':
      return Date.parse(String(told)) - Date.now()
    case 'seconds':
      return amount * 1000
    case 'milliseconds':
      return amount
    case 'epoch_seconds':
      return amount * 1000 - Date.now()
    case 'epoch_milliseconds':
      return amount - Date.now()
  }
}
