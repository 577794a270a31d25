import type { IncomingMessage } from 'node:http'
import type { Broker } from '../../broker.ts'
import { hostNameOf } from '../connect/site.ts'
import { SMALL_BODY_BYTES } from '../endpoint/endpoint.ts'
import { isJson } from '../endpoint/read-request.ts'

/**
 * Headers with which the usual route, or Node, reads the request or its body in another way. `x-gatepass-…` are left to it
 * as well. Of the other headers the usual route reads `authorization`, `traceparent`, `x-forwarded-for` and `x-request-id`,
 * by functions that the hot fetch calls too. `x-stainless-lang` matters only to members that no plain body has, and
 * `idempotency-key` has no effect on these operations, so Arcade's SDKs, which send both, are answered here.
 */
const CHANGES_MEANING: ReadonlySet<string> = new Set([
  'content-encoding',
  'expect',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The hosts that node-server takes without parsing them; others it may refuse. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/

/** Returns a test of the headers: whether the hot fetch may read the body of the request. */
export function createIsPlainHead({
  sites,
  settings: { publicUrl },
}: Pick<Broker, 'sites' | 'settings'>): (incoming: IncomingMessage) => boolean {
  return ({ headers, httpVersionMinor }) => {
    const { host, 'content-length': length, 'content-type': type } = headers
    if (httpVersionMinor !== 1 || host === undefined || !PLAIN_HOST.test(host)) return false
    // at its own domain a project has no API (`Feature.serve`)
    if (sites.size > 0 && hostNameOf(host) !== publicUrl.hostname) return false
    if (length !== undefined && length !== '0') {
      if (Number(length) > SMALL_BODY_BYTES) return false
      if (type !== 'application/json' && (type === undefined || !isJson(type))) return false
    }
    for (const name in headers) if (CHANGES_MEANING.has(name) || name.startsWith('x-gatepass-')) return false
    return true
  }
}
