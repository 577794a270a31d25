import type { Jwt } from '../jwt.ts'
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

/** The least time between two reads for tokens with unknown keys, because anyone can send such a token. */
const MIN_REFRESH_MS = 30_000
/** Older keys are read again, because an issuer withdraws a key by no longer publishing it. */
const MAX_AGE_MS = 600_000
/** The least time between two reads while none has succeeded, because anyone can send a token. */
const RETRY_MS = 1_000
const REQUEST_TIMEOUT_MS = 10_000

/**
 * Returns a function that checks tokens by the issuer's published keys. The keys are read at the first token, for a
 * token with an unknown key, and when they are ten minutes old. While the issuer cannot be reached, the last keys stay
 * in use; before the first successful read, the function rejects, and the keys are read at most once a second.
 */
export function issuerVerifier(
  { url, audience, fetch = globalThis.fetch }: IssuerOptions,
  now: () => number,
): (jwt: Jwt) => Promise<boolean> {
  let keys: Promise<readonly JsonWebKey[]> | undefined
  /** The keys of the last successful read. */
  let lastKeys: readonly JsonWebKey[] | undefined
  let readAt = Number.NEGATIVE_INFINITY
  let readAgainAt = Number.NEGATIVE_INFINITY

  function readKeys(): Promise<readonly JsonWebKey[]> {
    readAt = now()
    readAgainAt = readAt + MAX_AGE_MS
    keys = keysOf(url, fetch).then(
      (found) => {
        lastKeys = found
        return found
      },
      (error: unknown) => {
        if (lastKeys !== undefined) return lastKeys
        readAgainAt = now() + RETRY_MS
        throw error
      },
    )
    return keys
  }

  function currentKeys(): Promise<readonly JsonWebKey[]> {
    const at = now() // before `readAt` if the clock was set back
    return keys !== undefined && at >= readAt && at < readAgainAt ? keys : readKeys()
  }

  return async (jwt) => {
    const { claims } = jwt
    if (claims.iss !== url || !hasAudience(claims, audience)) return false
    if (claims.exp === undefined || !isCurrent(claims, now())) return false
    const used = currentKeys()
    if (await isSignedByKey(jwt, await used)) return true
    // another token has begun to read the keys again
    if (keys !== undefined && keys !== used) return isSignedByKey(jwt, await keys)
    return now() - readAt >= MIN_REFRESH_MS && isSignedByKey(jwt, await readKeys())
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
