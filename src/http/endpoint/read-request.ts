import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError, type Fault } from '../../domain/errors.ts'
import type { Log } from '../../domain/log.ts'
import { type Checked, checked, invalidRequest, parse } from '../../parsing/parse.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { withUserOfKey } from './key-of-user.ts'
import { parseJson } from './parse-json.ts'
import { headersOf, requestHeader } from './request-header.ts'
import { requestId } from './request-id.ts'

// How an endpoint reads a request. A request with a member or parameter that the schema does not have is refused. From
// Arcade's SDKs such a member is ignored, and named in a `warning` header.

/** Arcade's SDKs send this header with every request. They are answered in Arcade's dialect. */
export const STAINLESS = 'x-stainless-lang'

/** The schema of a query or a body for an endpoint that has none. */
export const NOTHING = z.object({})
const NO_BODY: Checked = checked(NOTHING, 'the body')

/** Receives the faults of members that the schema does not have. If `undefined`, the request is refused. */
export type OnUnknown = ((faults: readonly Fault[]) => void) | undefined

interface ReadBy {
  /** The key. If it acts for one user, the id of that user is put into `user_id`. */
  readonly caller: ApiKey
  readonly onUnknown: OnUnknown
}

/** Arcade's SDKs may be newer than this release, so members that they add are accepted with a warning. */
export function unknownBy(c: Context, log: Log): OnUnknown {
  return requestHeader(c, STAINLESS) === undefined ? undefined : (faults) => warn(c, faults, log)
}

/** Adds a `warning` header with the code 299, miscellaneous (RFC 7234 section 5.5.7). */
function warn(c: Context, faults: readonly Fault[], log: Log): void {
  for (const { message } of faults)
    c.header('warning', `299 gatepass "Ignored: ${message.replaceAll(/[^\x20-\x7e]/g, '?')}"`, {
      append: true,
    })
  log.warn(
    { path: c.req.path, ignored: faults.map(({ path }) => path), requestId: requestId(c) },
    'a request had members that are not known here; they were ignored',
  )
}

/**
 * Parses and checks the query. Throws `invalid_request`, also for a parameter that is given twice, because one of its
 * values would be ignored.
 */
export function readQuery<Schema extends z.ZodType>(
  c: Context,
  query: Checked<Schema>,
  { caller, onUnknown }: ReadBy,
): z.output<Schema> {
  const given = c.req.url.includes('?') ? c.req.queries() : {}
  const values: Record<string, string> = Object.create(null)
  const repeated: Fault[] = []
  for (const [name, all] of Object.entries(given)) {
    const [first = ''] = all
    // Arcade's clients write `null` as an empty value
    if (first !== '' || onUnknown === undefined) values[name] = first
    if (all.length > 1)
      repeated.push({
        path: name.slice(0, 100),
        code: 'repeated_parameter',
        message: `${name.slice(0, 100).replaceAll(/\p{C}/gu, '?')} is given ${all.length} times.`,
      })
  }
  if (repeated.length > 0) {
    if (onUnknown === undefined) throw invalidRequest(repeated)
    onUnknown(repeated.slice(0, 10))
  }
  return parse(query, withUserOfKey(values, query.known, caller), onUnknown)
}

/** Parses and checks `text`, the whole body. Throws `unsupported_media_type` and `invalid_request`. */
export function readBody<Schema extends z.ZodType>(
  c: Context,
  text: string,
  body: Checked<Schema>,
  { caller, isOptional, onUnknown }: ReadBy & { readonly isOptional: boolean },
): z.output<Schema> {
  return parse(body, withUserOfKey(readJson(c, text, isOptional), body.known, caller), onUnknown)
}

/** Whether the request has a body, by its headers. */
export function hasBody(c: Context): boolean {
  const length = requestHeader(c, 'content-length')
  return length === undefined ? requestHeader(c, 'transfer-encoding') !== undefined : Number(length) > 0
}

/** For an endpoint without a body: refuses a body with members, because its sender expects them to have an effect. */
export async function refuseBody(c: Context, onUnknown: OnUnknown): Promise<void> {
  await limitBody(c, MAX_API_BODY_BYTES)
  parse(NO_BODY, readJson(c, await c.req.text(), true), onUnknown)
}

/**
 * Refuses `X-Gatepass-…` headers, because only the proxy reads them: elsewhere their sender would expect an effect.
 */
export function checkHeaders(c: Context, onUnknown: OnUnknown): void {
  for (const name in headersOf(c))
    if (name.startsWith('x-gatepass-')) {
      const path = name.slice(0, 100)
      const message = `${path} is for /proxy/{provider}/{path}; here it has no effect.`
      const faults = [{ path, code: 'unknown_member' as const, message }]
      if (onUnknown === undefined) throw invalidRequest(faults)
      onUnknown(faults)
    }
}

/** Whether a `content-type` is that of JSON. */
export function isJson(type: string): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(type)
}

function readJson(c: Context, text: string, isOptional: boolean): unknown {
  if (isOptional && text === '') return {}
  const type = requestHeader(c, 'content-type') ?? ''
  if (!isJson(type))
    throw new BrokerError(
      'unsupported_media_type',
      'Send the body as JSON, with `content-type: application/json`.',
    )
  return parseJson(text)
}
