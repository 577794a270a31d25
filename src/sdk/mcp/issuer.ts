import type { Jwt } from '../jwt.ts'
import { createIssuerKeys } from './issuer-keys.ts'
import { hasAudience, isCurrent, isSignedByKey } from './verify-jwt.ts'

/** An authorization server whose access tokens are JWTs (RFC 9068). */
export interface IssuerOptions {
  /** The issuer's URL, exactly as `iss` of its tokens has it. */
  readonly url: string
  /**
   * The value that `aud` of a token must contain. Usually the URL of this MCP server as its clients know it; this
   * server's metadata (RFC 9728) then has it as `resource`. Some issuers write another value there, which is not an
   * http or https URL.
   */
  readonly audience: string
  /** For tests and proxies. Default: the global one. */
  readonly fetch?: typeof globalThis.fetch
}

const RETRY_MS = 1_000
const REQUEST_TIMEOUT_MS = 10_000

/** Returns a function that checks tokens by the issuer's published keys. It rejects while there are none. */
export function issuerVerifier(
  { url, audience, fetch = globalThis.fetch }: IssuerOptions,
  now: () => number,
): (jwt: Jwt) => Promise<boolean> {
  const keys = createIssuerKeys({ read: () => keysOf(url, fetch), now, retryMs: RETRY_MS })
  return async (jwt) => {
    const { claims } = jwt
    if (claims.iss !== url || !hasAudience(claims, audience)) return false
    if (claims.exp === undefined || !isCurrent(claims, now())) return false
    const known = await keys.current()
    if (await isSignedByKey(jwt, known)) return true
    const newer = await keys.newerThan(known)
    return newer !== undefined && isSignedByKey(jwt, newer)
  }
}

/** Reads the metadata (RFC 8414, else OpenID Connect Discovery) and the keys. */
async function keysOf(issuer: string, fetch: typeof globalThis.fetch): Promise<readonly JsonWebKey[]> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const place of places) {
    const metadata = await readJson(place, fetch)
    if (metadata?.issuer !== issuer || typeof metadata.jwks_uri !== 'string') continue
    const found = await readJson(metadata.jwks_uri, fetch)
    if (Array.isArray(found?.keys)) return found.keys
  }
  throw new Error(`The issuer ${issuer} publishes no keys at ${places.join(' or ')}.`)
}

async function readJson(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  // redirects are refused: Cloudflare Workers do not support 'error', and with 'manual' a redirect is not `ok` either
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })
  if (!response.ok) return undefined
  const body: unknown = await response.json().catch(() => undefined)
  return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : undefined // an object has members
}
