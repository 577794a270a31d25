import type { EpochSeconds } from '../../domain/clock.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { RequestableDenial } from './domain-access-request.ts'

/** Clocks may differ by this (section "Time and Clock Skew"). */
const SKEW_SECONDS = 30
const MAX_TEXT = 64 * 1024

/**
 * Reads a denial's `context`. `undefined` if it is not requestable: without a binding that is still fresh, with an
 * endpoint of another origin than the decision point's, or if it wants further information, which Gatepass does not have.
 */
export function requestableDenial(
  context: unknown,
  pointUrl: string,
  now: EpochSeconds,
): RequestableDenial | undefined {
  const request = isRecord(context) ? context.access_request : undefined
  if (!isRecord(context) || !isRecord(request)) return undefined
  const { endpoint, expires_at: expiresAt } = request
  if (endpoint !== undefined && !isOfOrigin(endpoint, pointUrl)) return undefined
  if (request.request_schema_url !== undefined || request.request_catalogs_url !== undefined) return undefined
  const until = parseTime(expiresAt)
  if (until === undefined || until + SKEW_SECONDS <= now) return undefined
  const denial = textsOf({
    expires_at: expiresAt,
    evaluation_id: context.evaluation_id,
    evaluated_at: context.evaluated_at,
    reason: context.reason,
    binding_token: request.binding_token,
    template: request.template,
  })
  if (denial.binding_token === undefined && denial.evaluation_id === undefined) return undefined
  return { denial, ...(typeof endpoint === 'string' && { endpoint }) }
}

function textsOf(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(
      (member): member is [string, string] => typeof member[1] === 'string' && member[1].length <= MAX_TEXT,
    ),
  )
}

/** Whether it is a URL at the origin of the decision point: no other server is sent anything, nor its secret. */
export function isOfOrigin(url: unknown, pointUrl: string): url is string {
  return typeof url === 'string' && URL.canParse(url) && new URL(url).origin === new URL(pointUrl).origin
}

/** An RFC 3339 timestamp in epoch seconds. */
export function parseTime(value: unknown): EpochSeconds | undefined {
  if (
    typeof value !== 'string' ||
    !/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/.test(value)
  )
    return undefined
  const ms = Date.parse(value.toUpperCase())
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000)
}
