import type { EpochSeconds } from '../domain/clock.ts'
import type { ContentType } from './provider.ts'
import { type Members, membersOf, readJsonMembers, readMembers } from './response-body.ts'
import { applyResponseMap, nestedOwner, selectByMap } from './response-map.ts'

// The one place where what a server gets wrong in a token response is put right before openid-client sees it
// (RFC 6749 sections 5.1 and 5.2). Pure: bytes in, clean members out. No fault quotes the answer.

/** How one provider's token responses are read; all of it from its entry, but for the time. */
export interface TokenResponseRules {
  readonly responseContentType: ContentType
  readonly responseMap?: Readonly<Record<string, string>>
  /** As in `Provider`: accepted besides `bearer`, in lower case. */
  readonly tokenTypes: readonly string[]
  readonly expirationFormat?: 'absolute_unix_timestamp' | 'relative_seconds'
  /** Only where the ID token can be checked against an issuer. */
  readonly keepIdToken: boolean
  /** It is not looked at, whatever stands in it. */
  readonly ignoreIdToken?: boolean
  readonly now: EpochSeconds
}

export interface RepairedTokenResponse {
  /** 200 for every success; a refusal that came with one has 400, as RFC 6749 section 5.2 asks. */
  readonly status: number
  /** What the RFC names, in the RFC's types, and nothing else. */
  readonly body: Record<string, unknown>
  /** The other members, for tools (`instance_url`, `team`): no token, nothing that is named like a secret. */
  readonly extra: Record<string, unknown>
  /** Of an ID token that was not kept. Its signature is unchecked: it came from the token endpoint over TLS (OpenID Connect Core 3.1.3.7). */
  readonly idTokenClaims?: Record<string, unknown>
  /** The answer named no `token_type` and was read as a bearer token. */
  readonly tokenTypeMissing?: true
}

/** The answer can't be used. The reason is short and of this file's own words. */
export class TokenResponseFault extends Error {
  readonly reason: string
  /** The HTTP status, where that is all there is to go by. */
  readonly status: number | undefined

  constructor(reason: string, status?: number) {
    super(status === undefined ? reason : `${reason} (HTTP status ${status})`)
    this.name = 'TokenResponseFault'
    this.reason = reason
    this.status = status
  }
}

/** Throws `TokenResponseFault`. A refusal is no fault: it comes back as `{error, error_description?}`. */
export function repairTokenResponse(
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
  rules: TokenResponseRules,
): RepairedTokenResponse {
  const succeeded = status >= 200 && status < 300
  const answer = readMembers(body, contentType, rules.responseContentType)
  if (!answer) throw new TokenResponseFault('not readable', status)
  const refusal = readRefusal(answer, status)
  if (refusal) return { status: succeeded ? 400 : status, body: refusal, extra: {} }
  if (!succeeded) throw new TokenResponseFault('no error code', status)
  const map = rules.responseMap
  return readTokens(map ? mappedAnswer(map, answer) : answer, rules)
}

/** A token out of a nested object has that object's `token_type`: another token's type beside it says nothing of it. */
function mappedAnswer(map: Readonly<Record<string, string>>, answer: Members): Members {
  const mapped = applyResponseMap(map, answer)
  const owner = map.access_token === undefined ? undefined : nestedOwner(map.access_token, answer)
  if (owner !== undefined && map.token_type === undefined) mapped.token_type = owner.token_type
  return mapped
}

/** Whoever the token belongs to, and any other JSON object got with a token. Throws `TokenResponseFault`. */
export function readUserInfo(
  body: Uint8Array,
  responseMap?: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const answer = readJsonMembers(body)
  if (!answer) throw new TokenResponseFault('not readable')
  if (readRefusal(answer, 200)) throw new TokenResponseFault('an error in the answer')
  return responseMap ? selectByMap(responseMap, answer) : answer
}

function readTokens(answer: Members, rules: TokenResponseRules): RepairedTokenResponse {
  const { access_token, refresh_token } = answer
  const id_token = rules.ignoreIdToken === true ? undefined : answer.id_token
  if (access_token === undefined || access_token === null || access_token === '') {
    throw new TokenResponseFault('no access_token')
  }
  if (!isToken(access_token)) throw new TokenResponseFault('access_token is not visible ASCII')
  const { token_type } = answer
  const type = typeof token_type === 'string' ? token_type.trim() : (token_type ?? '')
  if (typeof type !== 'string') throw new TokenResponseFault('token_type is no text')
  // RFC 6749 section 5.1 requires it; servers that leave it out mean bearer, and every other client reads it so
  const isMissing = type === ''
  const isBearer = isMissing || type.toLowerCase() === 'bearer'
  if (!isBearer && !rules.tokenTypes.includes(type.toLowerCase()))
    throw new TokenResponseFault('token_type is not bearer')
  const scope = readScope(answer.scope)
  const expiresIn = readExpiry(answer, rules)
  const tokens = [access_token, refresh_token, id_token].filter((token) => isToken(token))
  const claims = rules.keepIdToken ? undefined : readClaims(id_token)
  return {
    status: 200,
    body: {
      access_token,
      token_type: 'bearer',
      ...(isToken(refresh_token) && { refresh_token }),
      ...(scope !== undefined && { scope }),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(rules.keepIdToken && isToken(id_token) && { id_token }),
    },
    extra: {
      ...membersForTools(answer, tokens, 0),
      ...(!isBearer && isPrintable(type) && type.length <= 64 && { token_type: type }),
    },
    ...(claims && { idTokenClaims: claims }),
    ...(isMissing && { tokenTypeMissing: true }),
  }
}

/** RFC 6749 appendix A.12: one or more visible ASCII characters, so that none can end a header line. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && isPrintable(value)
}

function isPrintable(value: string): boolean {
  return /^[\x20-\x7e]+$/.test(value)
}

/** Commas separate scopes where no space does, or where each is followed by one. */
function readScope(value: unknown): string | undefined {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(' ') : value
  if (typeof text !== 'string') return undefined
  const spaced = /\s/.test(text.trim()) ? text.replace(/,(?=\s)/g, ' ') : text.replaceAll(',', ' ')
  const scopes = spaced.split(/\s+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope))
  return scopes.length > 0 ? scopes.join(' ') : undefined
}

const TEN_YEARS = 10 * 365 * 86_400

/** Seconds that the access token has left, 1 to ten years; anything else is unknown. */
function readExpiry(answer: Members, { expirationFormat, now }: TokenResponseRules): number | undefined {
  const given = toNumber(answer.expires_in)
  // a small number is no date, whatever the entry says
  const isDate = expirationFormat === 'absolute_unix_timestamp' && given !== undefined && given > TEN_YEARS
  return (
    plausible(isDate ? toEpochSeconds(given) - now : given) ?? plausible(toMoment(answer.expires_at, now))
  )
}

function toMoment(value: unknown, now: EpochSeconds): number | undefined {
  const number = toNumber(value)
  if (number !== undefined) return toEpochSeconds(number) - now
  const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(value)
  return isDate ? Date.parse(value) / 1000 - now : undefined
}

/** Seconds reach this number in the year 5138, milliseconds did in 1973. */
function toEpochSeconds(value: number): number {
  return value > 1e11 ? value / 1000 : value
}

function plausible(seconds: number | undefined): number | undefined {
  const whole = Math.floor(seconds ?? 0)
  return whole >= 1 && whole <= TEN_YEARS ? whole : undefined
}

/** Whole text only: `parseFloat` would take "3600abc" for 3600. */
function toNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\s*\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}

function readClaims(idToken: unknown): Members | undefined {
  const [, claims, signature, ...rest] = typeof idToken === 'string' ? idToken.split('.') : []
  if (claims === undefined || signature === undefined || rest.length > 0) return undefined
  return readJsonMembers(Buffer.from(claims, 'base64url'))
}

const SECRET_NAME =
  /token|secret|passw|assertion|credential|api_?-?key|private_?-?key|signature|cookie|session/i
const STANDARD = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'token_type',
  'expires_in',
  'expires_at',
  'scope',
])
const DEEPEST = 4
const MOST_MEMBERS = 64
const LONGEST_TEXT = 2048

/**
 * What of an answer tools may see: nothing that is named like a secret, is a JWT or holds one of these tokens. Numbers and
 * booleans are no secrets, so `x_refresh_token_expires_in` stays.
 */
export function membersForTools(answer: Members, tokens: readonly string[], depth: number): Members {
  const kept = Object.entries(answer)
    .filter(([name]) => depth > 0 || !STANDARD.has(name))
    .map(([name, value]) => [name, forTools(value, tokens, depth)] as const)
    .filter(([name, value]) => value !== undefined && (isCount(value) || !SECRET_NAME.test(name)))
  return Object.fromEntries(kept.slice(0, MOST_MEMBERS))
}

function forTools(value: unknown, tokens: readonly string[], depth: number): unknown {
  if (isCount(value)) return value
  if (typeof value === 'string') {
    const isSecret =
      value.startsWith('eyJ') ||
      tokens.some((token) => value === token || (token.length >= 8 && value.includes(token)))
    return isSecret || value.length > LONGEST_TEXT ? undefined : value
  }
  if (depth >= DEEPEST) return undefined
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_MEMBERS).map((item) => forTools(item, tokens, depth + 1))
    return items.filter((item) => item !== undefined)
  }
  const members = membersOf(value)
  return members && membersForTools(members, tokens, depth + 1)
}

function isCount(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}

/** What servers say where RFC 6749 section 5.2 has a code of its own; only a refusal of the grant costs a new consent. */
const STANDARD_CODES = new Map([
  ['bad_refresh_token', 'invalid_grant'], // GitHub, HubSpot
  ['bad_verification_code', 'invalid_grant'],
  ['incorrect_client_credentials', 'invalid_client'],
  ['bad_auth_code', 'invalid_grant'], // HubSpot
  ['bad_client_id', 'invalid_client'],
  ['invalid_refresh_token', 'invalid_grant'], // Slack
  ['code_already_used', 'invalid_grant'],
  ['token_revoked', 'invalid_grant'],
  ['token_expired', 'invalid_grant'],
  ['invalid_code', 'invalid_grant'], // Slack, Zoho
  ['bad_client_secret', 'invalid_client'],
  ['invalid_client_id', 'invalid_client'],
  ['invalid_client_secret', 'invalid_client'], // Zoho
])

/** A refusal in the RFC's form, wherever the answer has it; `undefined` when it has none. */
function readRefusal(answer: Members, status: number): Members | undefined {
  const details = membersOf(answer.error)
  const said = errorOf(answer, details, status)
  if (said === undefined) return undefined
  const code = isCode(said) ? said : 'unknown_error'
  const standard = STANDARD_CODES.get(code.toLowerCase())
  const description =
    sanitize(answer.error_description) ??
    sanitize(details?.message ?? answer.message) ??
    (standard || code !== said ? sanitize(said) : undefined)
  return { error: standard ?? code, ...(description !== undefined && { error_description: description }) }
}

/** `error` as text or as an object, `ok: false`, and where the status says so already, a code of another name. */
function errorOf(answer: Members, details: Members | undefined, status: number): string | undefined {
  const { error } = answer
  if (typeof error === 'string' && error !== '') return error
  if (details && Object.keys(details).length > 0 && details.code !== 'ok' && details.code !== 0) {
    return [details.error, details.code, details.type, details.status].find(isCode) ?? ''
  }
  if (answer.ok === false) return ''
  return status >= 400 && status < 500
    ? [answer.error_code, answer.code, answer.status].find(isCode)
    : undefined
}

/** A name, too short and plain to be a secret that was echoed. */
function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value) && sanitize(value) === value
}

/**
 * At most 200 printable ASCII characters of what the server says. Long words with a digit go: they may be a
 * code, a token or a secret that it echoes.
 */
function sanitize(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const clean = text
    .slice(0, 4096)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/[\w.~+=-]{20,}/g, (word) => (/\d/.test(word) ? '[removed]' : word))
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, 200)
  return clean === '' ? undefined : clean
}
