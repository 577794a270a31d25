import { matchingText } from '../../providers/matching-text.ts'
import type { SimulatedBlock, SimulatedOAuth2, SimulatedResponse } from './definition.ts'
import { place, unsignedJwt } from './place-members.ts'

// The simulated responses. Each value is where the definition tells the broker to read it.

/** An access token that the server has issued, with what belongs to it. Times are in seconds since 1970. */
export interface Issued {
  readonly accessToken: string
  readonly refreshToken?: string
  readonly scopes: readonly string[]
  readonly expiresAt: number
  /** Issued for a code, so not replaced by `exchange_request` yet. */
  readonly isFirst: boolean
  /** Issued by a refresh or a renewal. */
  readonly isRefreshed: boolean
}

/** The account that approves. */
export const ACCOUNT = { id: 'simulated-account-1', name: 'ada@simulated.example' } as const
/** Where the account is if the definition does not say where to read it. */
const DEFAULT_ACCOUNT_PLACES = { id: '$.sub', name: '$.email' } as const

/** The token response and its access token, which is a JWT if the definition reads the expiry from the token. */
export function tokenAnswer(
  oauth2: SimulatedOAuth2,
  block: SimulatedBlock,
  grant: Issued,
  about: {
    readonly now: number
    readonly clientId: string
    /** The answer has an ID token. */
    readonly idToken?: { readonly nonce?: string } | undefined
  },
): { readonly response: SimulatedResponse; readonly accessToken: string } {
  const isJwt = block.expiration_format === 'access_token_jwt'
  const accessToken = isJwt
    ? unsignedJwt({ exp: grant.expiresAt, jti: grant.accessToken })
    : grant.accessToken
  const [type = 'Bearer'] = oauth2.dpop === undefined ? (oauth2.token_types ?? []) : ['DPoP']
  // a server sends no `expires_in` if the definition has a default lifetime or reads the expiry by introspection
  const sendsExpiry =
    oauth2.default_expires_in === undefined && oauth2.token_introspection_request === undefined && !isJwt
  const members: Record<string, unknown> = {
    access_token: accessToken,
    token_type: type,
    refresh_token: grant.refreshToken,
    ...(sendsExpiry && { expires_in: expiryOf(block, grant, about.now) }),
    ...(oauth2.callback_tells_scopes !== true &&
      grant.scopes.length > 0 && { scope: listed(oauth2, grant.scopes).join(oauth2.scope_delimiter) }),
    ...(about.idToken && { id_token: idToken(oauth2, { ...about, ...about.idToken }) }),
  }
  const body: Record<string, unknown> = {}
  const { response_map: map = {} } = block
  // a nested access token has its token_type beside it
  const parent = map.access_token === undefined ? undefined : /^(.*)[.[]/.exec(map.access_token)?.[1]
  for (const [name, value] of Object.entries(members)) {
    const at =
      map[name] ??
      (name === 'token_type' && parent !== undefined && parent !== '$' ? `${parent}.token_type` : undefined)
    place(body, at ?? `$['${name}']`, value)
  }
  for (const [at, value] of Object.entries(keptIn(oauth2, 'token_response'))) place(body, at, value)
  if (oauth2.user_info_request === undefined) placeAccount(oauth2, body)
  return { response: bodyOf(block, body), accessToken }
}

/** Values for the `kept_values` that the definition reads from the document `from`, by their places or names. */
export function keptIn(
  { kept_values: all = {} }: SimulatedOAuth2,
  from: string,
  by: 'place' | 'names' = 'place',
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, { from: where, at, pattern, one_of: options }]) => {
      const text = options?.[0] ?? (pattern === undefined ? undefined : matchingText(pattern))
      return where !== from || text === undefined ? [] : [[by === 'names' ? name : at, text] as const]
    }),
  )
}

export function userInfoAnswer(oauth2: SimulatedOAuth2, { response_map: map }: SimulatedBlock): object {
  // `account` and `kept_values` are read from the result of the response map, if there is one
  const mapped: Record<string, unknown> = {}
  placeAccount(oauth2, mapped)
  for (const [at, value] of Object.entries(keptIn(oauth2, 'user_info'))) place(mapped, at, value)
  if (map === undefined) return mapped
  const body: Record<string, unknown> = {}
  for (const [name, expression] of Object.entries(map)) place(body, expression, mapped[name] ?? 'simulated')
  return body
}

export function introspectionAnswer(
  oauth2: SimulatedOAuth2,
  block: SimulatedBlock,
  grant: Issued,
  now: number,
): object {
  const body: Record<string, unknown> = { active: true }
  const { response_map: map = { expires_in: '$.exp', scope: '$.scope' } } = block
  if (map.expires_in !== undefined) place(body, map.expires_in, expiryOf(block, grant, now))
  if (map.scope !== undefined)
    place(body, map.scope, listed(oauth2, grant.scopes).join(oauth2.scope_delimiter))
  return body
}

export function expiryOf(
  { expiration_format: format }: SimulatedBlock,
  { expiresAt }: Issued,
  now: number,
): number | string {
  switch (format) {
    case 'absolute_unix_timestamp':
      return expiresAt
    case 'relative_milliseconds':
      return (expiresAt - now) * 1000
    case 'iso_8601':
      return new Date(expiresAt * 1000).toISOString()
    default:
      return expiresAt - now
  }
}

/** Scopes as the server lists them: under its own names, and without those that another of the scopes includes. */
export function listed(
  { scope_aliases: aliases = {}, scope_implies: implies = {} }: SimulatedOAuth2,
  scopes: readonly string[],
): string[] {
  const included = new Set(
    scopes.flatMap((scope) => (Object.hasOwn(implies, scope) ? (implies[scope] ?? []) : [])),
  )
  return scopes
    .filter((scope) => !included.has(scope))
    .map((scope) => (Object.hasOwn(aliases, scope) ? (aliases[scope] ?? scope) : scope))
}

function idToken(
  { issuer }: SimulatedOAuth2,
  { now, clientId, nonce }: { readonly now: number; readonly clientId: string; readonly nonce?: string },
): string {
  return unsignedJwt({
    iss: issuer ?? 'https://simulated.example',
    aud: clientId,
    sub: ACCOUNT.id,
    email: ACCOUNT.name,
    iat: now,
    exp: now + 3600,
    nonce,
  })
}

/**
 * The account id that the broker must read: a kept value, if the definition reads both from the same place. Empty, if it reads
 * none.
 */
export function accountIdOf(oauth2: SimulatedOAuth2): string {
  if (oauth2.account?.id?.length === 0) return ''
  const [at = DEFAULT_ACCOUNT_PLACES.id] = oauth2.account?.id ?? []
  return (
    keptIn(oauth2, oauth2.user_info_request === undefined ? 'token_response' : 'user_info')[at] ?? ACCOUNT.id
  )
}

function placeAccount(oauth2: SimulatedOAuth2, document: Record<string, unknown>): void {
  const { account = {} } = oauth2
  if (account.name?.length !== 0)
    place(document, account.name?.[0] ?? DEFAULT_ACCOUNT_PLACES.name, ACCOUNT.name)
  if (account.id?.length !== 0)
    place(document, account.id?.[0] ?? DEFAULT_ACCOUNT_PLACES.id, accountIdOf(oauth2))
}

function bodyOf(
  { response_content_type: type }: SimulatedBlock,
  body: Record<string, unknown>,
): SimulatedResponse {
  if (type === 'application/x-www-form-urlencoded')
    return {
      status: 200,
      headers: { 'content-type': type },
      body: new URLSearchParams(
        Object.entries(body).map(([name, value]) => [name, String(value)]),
      ).toString(),
    }
  return json(200, body)
}

/** The response to a refused grant: in the form of the definition's `error_response`, else of RFC 6749 section 5.2. */
export function refusal(
  { error_response: declared }: SimulatedBlock,
  error = 'invalid_grant',
): SimulatedResponse {
  const [code] = Object.entries(declared?.codes ?? {}).find(([, standard]) => standard === error) ?? []
  if (declared === undefined || code === undefined) return json(400, { error })
  const body: Record<string, unknown> = {}
  place(body, declared.at, /^\d+$/.test(code) ? Number(code) : code)
  return json(200, body)
}

export function json(status: number, body: object): SimulatedResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
