import { isIPv4 } from 'node:net'
import { bareHostname, withBareHost } from '../egress/public-address.ts'
import { renderHeaders } from './headers.ts'
import type { Provider } from './provider.ts'
import { hasPlaceholder, renderTemplate, type TemplateValues } from './template.ts'

/**
 * Whether the user's token may be sent to the URL: the entry must name its host, with the port unless it is the scheme's
 * default. Whether the host may be reached at all is decided by the guarded client.
 */
export function isApiHost({ api }: Pick<Provider, 'api'>, url: URL): boolean {
  const { protocol, username, password, host } = withBareHost(url)
  if (protocol !== 'https:' && protocol !== 'http:') return false
  if (username !== '' || password !== '') return false
  return api?.hosts.some((pattern) => covers(pattern, host)) === true
}

/** What the headers of requests to an API are made of. */
export interface ApiCredentials {
  readonly accessToken: string
  readonly clientId?: string | undefined
  /** The connection's kept values, by name. */
  readonly kept?: Readonly<Record<string, string>>
}

/**
 * The headers of a request to the provider's API: the token, in `Authorization` (RFC 6750 section 2.1) unless the entry
 * says otherwise, and what the entry has besides. They are for the hosts of `isApiHost` alone.
 */
export function apiHeaders(
  { api }: Pick<Provider, 'api'>,
  { accessToken, clientId, kept }: ApiCredentials,
): Record<string, string> {
  const values = { access_token: accessToken, client_id: clientId, kept }
  const headers = renderHeaders(api?.headers, values)
  const carriesToken = Object.values(api?.headers ?? {}).some((template) =>
    hasPlaceholder(template, 'access_token'),
  )
  return carriesToken ? headers : { ...headers, authorization: apiAuthorization(api, values) }
}

function apiAuthorization(api: Provider['api'], values: TemplateValues): string {
  return renderTemplate(api?.authorization ?? 'Bearer {{access_token}}', values)
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

function covers(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host
  const suffix = pattern.slice(1)
  return host.length > suffix.length && host.endsWith(suffix)
}
