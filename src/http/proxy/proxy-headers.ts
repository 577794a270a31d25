import { BrokerError } from '../../domain/errors.ts'
import { isApiHost } from '../../providers/api-host.ts'
import type { Provider } from '../../providers/provider.ts'
import { scrubParsed } from '../../tools/scrub/scrub.ts'

// The headers that the proxy forwards to a provider's API, and the headers of the API's answer that it returns.

type Fields = Readonly<Record<string, string>>

/** Hop-by-hop headers (RFC 9110 section 7.6.1). */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]

/** Some servers use the method that these headers name. */
const METHOD_OVERRIDES = new Set(['x-http-method-override', 'x-http-method', 'x-method-override'])

/** The caller's key and cookies, what reverse proxies add, and the headers that the outgoing request sets itself. */
const NOT_SENT = new Set([
  ...HOP_BY_HOP,
  ...METHOD_OVERRIDES,
  'authorization',
  // a proof is for one request and one key, and neither is the caller's (RFC 9449)
  'dpop',
  'cookie',
  'cookie2',
  'host',
  'expect',
  'accept-encoding',
  'forwarded',
  'via',
  // CGI passes it to programs as HTTP_PROXY, which some of them use as their proxy (httpoxy)
  'proxy',
  // may hold an API key of Gatepass
  'oxp-api-key',
  'x-real-ip',
  'true-client-ip',
  // some servers use these as the path or the host of the request
  'x-original-url',
  'x-rewrite-url',
  'x-original-host',
  'x-host',
  // identify the caller's traces, which a provider need not know (W3C Trace Context, W3C Baggage)
  'traceparent',
  'tracestate',
  'baggage',
])
const NOT_SENT_PREFIXES = ['x-gatepass-', 'x-stainless-', 'x-forwarded-']

/** Headers that a browser would apply to this server's origin, and headers that this server sets on every answer. */
const NOT_ANSWERED = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'set-cookie2',
  // for the proofs that Gatepass makes
  'dpop-nonce',
  'strict-transport-security',
  'clear-site-data',
  'refresh',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'content-security-policy',
  'content-security-policy-report-only',
  'x-frame-options',
  'x-xss-protection',
  'permissions-policy',
  'feature-policy',
  'document-policy',
  'origin-agent-cluster',
  'service-worker-allowed',
  'speculation-rules',
  'accept-ch',
  'critical-ch',
  'expect-ct',
  'public-key-pins',
  'timing-allow-origin',
  'sourcemap',
  'x-sourcemap',
  'cache-control',
  'pragma',
  'expires',
  'age',
])
const NOT_ANSWERED_PREFIXES = [
  'x-gatepass-',
  'x-hono-',
  'access-control-',
  'cross-origin-',
  'sec-',
  'surrogate-',
]
/** Headers that the caller may need, but that would have another meaning for a browser or for this server. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['www-authenticate', 'x-gatepass-upstream-www-authenticate'],
  ['x-request-id', 'x-gatepass-upstream-request-id'],
])

/** A page of the API must not run with this server's origin, and no cache may store a user's answer. */
const OWN: Fields = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** Throws `invalid_request` for a header that asks the server to use another method, which no policy has judged. */
export function headersToSend(given: Fields, method: string): Record<string, string> {
  for (const name in given)
    if (
      METHOD_OVERRIDES.has(normalizedName(name)) &&
      given[name]?.trim().toUpperCase() !== method.toUpperCase()
    )
      throw new BrokerError(
        'invalid_request',
        `The header "${name}" asks for another method than ${method}. Send the request with the method that the API shall use, without this header.`,
      )
  return passed(given, NOT_SENT, NOT_SENT_PREFIXES)
}

/**
 * The headers of the answer, without tokens. `location` is made absolute, because a relative URL would lead the
 * caller, with its key, to this server. A `location` outside the API's hosts is renamed to `x-gatepass-location`,
 * which no client follows.
 *
 * @param options.from returns the URL that was requested.
 */
export function headersToAnswer(
  given: Fields,
  {
    from,
    provider,
    tokens,
  }: { readonly from: () => string; readonly provider: Provider; readonly tokens: readonly string[] },
): Record<string, string> {
  const { location, ...kept } = passed(given, NOT_ANSWERED, NOT_ANSWERED_PREFIXES)
  const named: Record<string, string> = {}
  for (const name in kept) named[RENAMED.get(name) ?? name] = kept[name] ?? ''
  if (location !== undefined) {
    const url = URL.parse(location, from())
    if (url === null || !isApiHost(provider, url)) named['x-gatepass-location'] = location
    else named.location = location.startsWith(`${url.origin}/`) ? location : url.href
  }
  const clean = scrubParsed(named, tokens) as Record<string, string> // the same shape
  return { ...clean, ...OWN }
}

/** The headers without hop-by-hop headers and without those of the lists. */
function passed(
  given: Fields,
  names: ReadonlySet<string>,
  prefixes: readonly string[],
): Record<string, string> {
  const hopByHop = given.connection?.split(',').map((name) => name.trim().toLowerCase()) ?? []
  const kept: Record<string, string> = {}
  for (const name in given) {
    const normalized = normalizedName(name)
    const isHeldBack =
      names.has(normalized) ||
      hopByHop.includes(name) ||
      prefixes.some((prefix) => normalized.startsWith(prefix))
    if (!isHeldBack) kept[name] = given[name] ?? ''
  }
  return kept
}

/** Many servers treat `_` as `-`. */
function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll('_', '-')
}
