import { type ApiCredentials, apiHeaders } from './api-host.ts'
import { readSecrets } from './credentials.ts'
import { renderHeaders } from './headers.ts'
import type { Provider } from './provider.ts'
import { renderTemplate, type TemplateValues } from './template.ts'

/** What the credential adds to a request: headers, and where the entry allows it, parts of the URL. */
export interface PlacedCredential {
  readonly headers: Readonly<Record<string, string>>
  /** Put before the path of the request; empty, or begins with a slash. */
  readonly path?: string
  readonly query: readonly (readonly [name: string, value: string])[]
}

/** Puts the credential of a connection where the API reads it. It is for the hosts of `isApiHost` alone. */
export function placeCredential(provider: Provider, known: ApiCredentials): PlacedCredential {
  const { credentials, api } = provider
  if (credentials === undefined) return { headers: apiHeaders(provider, known), query: [] }
  const { place } = credentials
  const values = valuesOf(provider, known)
  const fixed = renderHeaders(api?.headers, { kept: known.kept })
  const render = (template: string) => renderTemplate(template, values)
  if ('query' in place)
    return {
      headers: fixed,
      query: Object.entries(place.query).map(([name, template]) => [name, render(template)] as const),
    }
  if ('path' in place) return { headers: fixed, path: render(place.path), query: [] }
  if ('headers' in place) return { headers: { ...fixed, ...renderHeaders(place.headers, values) }, query: [] }
  const authorization =
    'basic' in place
      ? `Basic ${basicOf(render(place.basic.username), render(place.basic.password))}`
      : `Bearer ${render(place.bearer)}`
  return { headers: { ...fixed, authorization }, query: [] }
}

/**
 * A path and query with the credential: its path comes before the other, and its parameters are in place of those of
 * their names that the caller wrote.
 */
export function pathWithCredential(
  asked: string,
  { path: own = '', query }: Pick<PlacedCredential, 'path' | 'query'>,
): string {
  // the base URL of such an API has no path of its own: `/` alone was not asked for
  if (own !== '') return `${own}${asked.replace(/^\/(?=\?|$)/, '')}`
  if (query.length === 0) return asked
  const [before = '', ...rest] = asked.split('?')
  const names = new Set(query.map(([name]) => name))
  const others = rest
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !names.has(decodedName(pair)))
  const added = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  return `${before}?${[...others, ...added].join('&')}`
}

/** The texts of a connection's credential that no answer, log or page may show, in all forms in which they are sent. */
export function secretTexts(
  provider: Provider,
  known: Pick<ApiCredentials, 'accessToken' | 'kept'>,
): string[] {
  const { credentials } = provider
  if (credentials === undefined) return [known.accessToken]
  if (provider.tokenRequest !== undefined) return [known.accessToken, ...sentForms(provider, known)]
  const secrets = Object.values(readSecrets(known.accessToken)).filter((text) => text !== '')
  return [...new Set([...secrets, ...secrets.flatMap(longLines), ...sentForms(provider, known)])]
}

const LONG_LINE = 16

/** The lines of a text with several, which a service may answer apart, or with other line breaks. */
function longLines(text: string): string[] {
  const lines = text.split('\n')
  return lines.length === 1 ? [] : lines.filter((line) => line.length >= LONG_LINE && !/^-{5}/.test(line))
}

function sentForms(provider: Provider, known: Pick<ApiCredentials, 'accessToken' | 'kept'>): string[] {
  const { headers, query } = placeCredential(provider, known)
  const basic = /^Basic (\S+)$/.exec(headers.authorization ?? '')?.[1]
  return [...(basic === undefined ? [] : [basic]), ...query.map(([, value]) => encodeURIComponent(value))]
}

/** A credential as a worker gets it in its context. */
export interface HandedCredential {
  readonly token: string
  readonly tokenType: 'api_key' | 'basic'
  /** The fields that are not secret. */
  readonly fields: Readonly<Record<string, string>>
}

/**
 * The credential for a worker; `undefined` for the entry of an authorization server. The token is what follows `Basic`,
 * the one secret, or with several secret fields a JSON object of them.
 */
export function handedCredential(
  provider: Provider,
  { accessToken, kept = {} }: Pick<ApiCredentials, 'accessToken' | 'kept'>,
): HandedCredential | undefined {
  const { credentials } = provider
  if (credentials === undefined) return undefined
  const names = new Set(Object.keys(credentials.fields))
  const fields = Object.fromEntries(Object.entries(kept).filter(([name]) => names.has(name)))
  if (provider.tokenRequest !== undefined) return { token: accessToken, tokenType: 'api_key', fields }
  const { place } = credentials
  if ('basic' in place) {
    const { headers } = placeCredential(provider, { accessToken, kept })
    return { token: headers.authorization?.replace('Basic ', '') ?? '', tokenType: 'basic', fields }
  }
  const secrets = Object.values(readSecrets(accessToken))
  const token = secrets.length === 1 ? (secrets[0] ?? '') : accessToken
  return { token, tokenType: 'api_key', fields }
}

/** With a token request, the stored token is one that the service gave; else it is the typed values. */
function valuesOf({ tokenRequest }: Provider, { accessToken, kept }: ApiCredentials): TemplateValues {
  return tokenRequest === undefined
    ? { kept: { ...kept, ...readSecrets(accessToken) } }
    : { access_token: accessToken, kept }
}

/** RFC 7617 section 2.1: UTF-8. */
function basicOf(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function decodedName(pair: string): string {
  const [name = ''] = pair.split('=')
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
