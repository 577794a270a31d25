import { isIPv4 } from 'node:net'
import type { ProofKey } from '../domain/connection.ts'
import { bareHostname, withBareHost } from '../egress/public-address.ts'
import { BOUND_TOKEN } from './dpop.ts'
import type { ProofUse } from './dpop-proofs.ts'
import { renderHeaders } from './headers.ts'
import type { Provider } from './provider.ts'
import { hasPlaceholder, renderTemplate } from './template.ts'
import { baseUrlOf, hasOwnBaseUrls } from './variables.ts'

/**
 * Whether the user's token may be sent to the URL: the entry must name its host, with the port unless it is the scheme's
 * default. Whether the host may be reached at all is decided by the guarded client.
 */
export function isApiHost({ api }: Pick<Provider, 'api'>, url: URL): boolean {
  const { protocol, username, password, host } = withBareHost(url)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  if (username !== '' || password !== '') return false
  return api?.hosts.some((pattern) => isCoveredHost(pattern, host)) === true
}

/**
 * Whether the credential of the connection may be sent to the URL. Where a typed value chooses the host
 * (`https://{{domain}}.example.com`), hosts of that form belong to others: a key goes to the one that its user typed it
 * for, and to those that the entry names in full.
 */
export function isHostOfConnection(
  provider: Provider,
  url: URL,
  kept: Readonly<Record<string, string>>,
): boolean {
  if (!isApiHost(provider, url)) return false
  const { api, credentials } = provider
  if (credentials === undefined || !hasOwnBaseUrls(provider)) return true
  const base = baseUrlOf(provider, kept)
  const own = base === undefined ? undefined : withBareHost(new URL(base)).host
  const { host } = withBareHost(url)
  if (host === own) return true
  return (
    api?.hosts.some(
      (pattern) =>
        isCoveredHost(pattern, host) &&
        (pattern === host || (own !== undefined && !isCoveredHost(pattern, own))),
    ) === true
  )
}

/** What the headers of requests to an API are made of. */
export interface ApiCredentials {
  readonly accessToken: string
  readonly clientId?: string | undefined
  /** The connection's kept values, by name. */
  readonly kept?: Readonly<Record<string, string>>
  /** The key that the token is bound to. */
  readonly dpopKey?: ProofKey | undefined
}

/**
 * The headers of a request to the provider's API: the token, in `Authorization` (RFC 6750 section 2.1) unless the entry
 * says otherwise, and what the entry has besides. They are for the hosts of `isApiHost` alone. A token that is bound to a
 * key needs the header `DPoP` too, which `proofOfUse` is for.
 */
export function apiHeaders(
  { api, oauth1 }: Pick<Provider, 'api' | 'oauth1'>,
  { accessToken, clientId, kept, dpopKey }: ApiCredentials,
): Record<string, string> {
  const values = { access_token: accessToken, client_id: clientId, kept }
  const headers = renderHeaders(api?.headers, values)
  const carriesToken = Object.values(api?.headers ?? {}).some((template) =>
    hasPlaceholder(template, 'access_token'),
  )
  // the signature of each request takes the token's place (`signature.ts`)
  if (carriesToken || oauth1 !== undefined) return headers
  const template = dpopKey === undefined ? (api?.authorization ?? 'Bearer {{access_token}}') : BOUND_TOKEN
  return { ...headers, authorization: renderTemplate(template, values) }
}

/** The proof that each request to an API needs with a token that is bound to a key; `undefined` for other tokens. */
export function proofOfUse({
  accessToken,
  clientId,
  dpopKey: key,
}: Omit<ApiCredentials, 'kept'>): ProofUse | undefined {
  return key && { key, clientId, accessToken }
}

/**
 * `host`, `host:port` or `*.example.com` (any labels before at least two fixed ones) in the normal form of
 * URLs; `undefined` for anything else.
 */
export function parseApiHost(text: string): string | undefined {
  const wildcard = text.startsWith('*.')
  const rest = wildcard ? text.slice(2) : text
  if (!/^(?:\[[\da-fA-F:.]+\]|[^\s:/?#@\\[\]*%]+)(?::\d{1,5})?$/.test(rest)) return undefined
  if (!URL.canParse(`https://${rest}`)) return undefined
  const url = withBareHost(new URL(`https://${rest}`))
  if (url.hostname === '' || url.hostname.endsWith('.') || url.port === '0') return undefined
  if (!wildcard) return url.host
  const hasEnough = /^[^.]+(?:\.[^.]+)+$/.test(url.hostname)
  return hasEnough && !isIPv4(bareHostname(url.hostname)) ? `*.${url.host}` : undefined
}

/** Whether a pattern of `parseApiHost` is for the host. */
export function isCoveredHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host
  const suffix = pattern.slice(1)
  return host.length > suffix.length && host.endsWith(suffix)
}
