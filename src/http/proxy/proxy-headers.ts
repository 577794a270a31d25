import { isApiHost } from '../../providers/api-host.ts'
import type { Provider } from '../../providers/provider.ts'
import { scrub } from '../../tools/scrub.ts'

// What of a request's headers goes on to a provider's API, and what of its answer's comes back.

type Fields = Readonly<Record<string, string>>

/** Between two hops only (RFC 9110 section 7.6.1), with what HTTP/1.1 adds to those. */
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

/** The caller's key and cookies, who stands before this server, and what the way out sets itself. */
const NOT_SENT = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'cookie',
  'cookie2',
  'host',
  'expect',
  'accept-encoding',
  'forwarded',
  'via',
  // CGI gives it to programs as HTTP_PROXY, which some take for the proxy to use (httpoxy)
  'proxy',
  // a key of this server's callers
  'oxp-api-key',
  'x-real-ip',
  'true-client-ip',
  // some servers take these for the path or the host that was asked for
  'x-original-url',
  'x-rewrite-url',
  'x-original-host',
  'x-host',
])
const NOT_SENT_PREFIXES = ['x-gatepass-', 'x-stainless-', 'x-forwarded-']

/** What a browser would take for this server's own word, and what this server says of each answer itself. */
const NOT_ANSWERED = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'set-cookie2',
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
/** They say something to the caller, and would say something else to a browser or of this server. */
const RENAMED: Readonly<Record<string, string>> = {
  'www-authenticate': 'x-gatepass-upstream-www-authenticate',
  'x-request-id': 'x-gatepass-upstream-request-id',
}

/** A page of the other side's runs nothing here, and nothing keeps an answer that is one user's. */
const OWN: Fields = {
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
}

export function headersToSend(given: Fields): Record<string, string> {
  return filtered(given, NOT_SENT, NOT_SENT_PREFIXES)
}

/**
 * Without the tokens in any of them. A redirect's `location` leads to a host of the API, and says so in full: what is
 * relative there would lead the caller, with its key, somewhere in this server. One to anywhere else is told under a
 * name that no client follows. `from`: what was asked for.
 */
export function headersToAnswer(
  given: Fields,
  {
    from,
    provider,
    tokens,
  }: { readonly from: URL; readonly provider: Provider; readonly tokens: readonly string[] },
): Record<string, string> {
  const { location, ...kept } = filtered(given, NOT_ANSWERED, NOT_ANSWERED_PREFIXES)
  const named = Object.entries(kept).map(([name, value]) => [RENAMED[name] ?? name, value])
  if (location !== undefined) {
    const url = URL.parse(location, from.href)
    if (url === null || !isApiHost(provider, url)) named.push(['x-gatepass-location', location])
    else named.push(['location', location.startsWith(`${url.origin}/`) ? location : url.href])
  }
  const clean = scrub(Object.fromEntries(named), tokens) as Record<string, string> // the same shape
  return { ...clean, ...OWN }
}

function filtered(
  given: Fields,
  names: ReadonlySet<string>,
  prefixes: readonly string[],
): Record<string, string> {
  const listed = (given.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => {
      // many servers read `_` as `-`
      const read = name.toLowerCase().replaceAll('_', '-')
      return !names.has(read) && !listed.includes(name) && !prefixes.some((prefix) => read.startsWith(prefix))
    }),
  )
}
