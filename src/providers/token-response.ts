import type { EpochSeconds } from '../domain/clock.ts'
import type { ContentType, ErrorResponse, ExpirationFormat, RequestBlock } from './provider.ts'
import { type Members, membersOf, readJsonItems, readJsonMembers, readMembers } from './response-body.ts'
import { applyResponseMap, evaluateText, nestedOwner, selectByMap } from './response-map.ts'

// Repairs faulty token responses before openid-client sees them (RFC 6749 sections 5.1 and 5.2). The functions are pure:
// they turn bytes into clean members. No error message quotes the response.

/** How one provider's token responses are read: its entry's settings, and the current time. */
export interface TokenResponseRules {
  readonly responseContentType: ContentType
  readonly responseMap?: Readonly<Record<string, string>>
  readonly errorResponse?: ErrorResponse
  /** As in `Provider`: accepted besides `bearer`, in lower case. */
  readonly tokenTypes: readonly string[]
  readonly expirationFormat?: ExpirationFormat
  /** Set only if the ID token can be checked against an issuer. */
  readonly keepIdToken: boolean
  /** The ID token is ignored. */
  readonly ignoreIdToken?: boolean
  readonly now: EpochSeconds
}

export interface RepairedTokenResponse {
  /** 200 for every success; 400 for a refusal that came with a success status (RFC 6749 section 5.2). */
  readonly status: number
  /** Only the RFC's members, in the RFC's types. */
  readonly body: Record<string, unknown>
  /** Seconds until the refresh token expires, if the response tells it. */
  readonly refreshExpiresIn?: number
  /** The other members, for tools (`instance_url`, `team`), without tokens and members that are named like secrets. */
  readonly extra: Record<string, unknown>
  /** Claims of a dropped ID token, unverified: it came from the token endpoint over TLS (OpenID Connect Core 3.1.3.7). */
  readonly idTokenClaims?: Record<string, unknown>
  /** The response has no `token_type` and was read as a bearer token. */
  readonly tokenTypeMissing?: true
}

/** The response is unusable. The reason is a short text of this file, never of the response. */
export class TokenResponseFault extends Error {
  readonly reason: string
  /** The HTTP status, if the response tells nothing else. */
  readonly status: number | undefined

  constructor(reason: string, status?: number) {
    super(status === undefined ? reason : `${reason} (HTTP status ${status})`)
    this.name = 'TokenResponseFault'
    this.reason = reason
    this.status = status
  }
}

/** Throws `TokenResponseFault`. A refusal is returned as `{error, error_description?}`. */
export function repairTokenResponse(
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
  rules: TokenResponseRules,
): RepairedTokenResponse {
  const succeeded = status >= 200 && status < 300
  const answer = readMembers(body, contentType, rules.responseContentType)
  if (!answer) throw new TokenResponseFault('not readable', status)
  const refusal = readRefusal(answer, status, rules.errorResponse)
  if (refusal) return { status: succeeded ? 400 : status, body: refusal, extra: {} }
  if (!succeeded) throw new TokenResponseFault('no error code', status)
  const map = rules.responseMap
  return readTokens(map ? mappedAnswer(map, answer) : answer, rules)
}

/** A token in a nested object has that object's `token_type`, not that of another token at the top level. */
function mappedAnswer(map: Readonly<Record<string, string>>, answer: Members): Members {
  const mapped = applyResponseMap(map, answer)
  const owner = map.access_token === undefined ? undefined : nestedOwner(map.access_token, answer)
  if (owner !== undefined && map.token_type === undefined) mapped.token_type = owner.token_type
  return mapped
}

/** Whether a response of a success status tells an error (`error`, `ok: false`). One without a readable body tells none. */
export function tellsRefusal(
  contentType: string | undefined,
  body: Uint8Array,
  { errorResponse }: Pick<RequestBlock, 'errorResponse'>,
): boolean {
  const answer = readMembers(body, contentType, 'application/json')
  return answer !== undefined && readRefusal(answer, 200, errorResponse) !== undefined
}

/**
 * Reads JSON that was requested with a token, such as the user info. A list `[…]` is read as `{"items": […]}`. Throws
 * `TokenResponseFault`.
 */
export function readUserInfo(
  body: Uint8Array,
  { responseMap, errorResponse }: Pick<RequestBlock, 'responseMap' | 'errorResponse'>,
): Record<string, unknown> {
  const answer = readJsonMembers(body) ?? readJsonItems(body)
  if (!answer) throw new TokenResponseFault('not readable')
  if (readRefusal(answer, 200, errorResponse)) throw new TokenResponseFault('an error in the answer')
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
  // RFC 6749 section 5.1 requires it; servers that omit it mean bearer, and other clients read it so
  const isMissing = type === ''
  const isBearer = isMissing || type.toLowerCase() === 'bearer'
  if (!isBearer && !rules.tokenTypes.includes(type.toLowerCase()))
    throw new TokenResponseFault('token_type is not bearer')
  const scope = readScope(answer.scope)
  const expiresIn = readExpiry(answer, rules)
  const refreshExpiresIn = readRefreshExpiry(answer, rules.now)
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
    ...(refreshExpiresIn !== undefined && { refreshExpiresIn }),
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

/** Commas separate scopes if there are no spaces, or if a space follows every comma. */
function readScope(value: unknown): string | undefined {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(' ') : value
  if (typeof text !== 'string') return undefined
  const spaced = /\s/.test(text.trim()) ? text.replace(/,(?=\s)/g, ' ') : text.replaceAll(',', ' ')
  const scopes = spaced.split(/\s+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope))
  return scopes.length > 0 ? scopes.join(' ') : undefined
}

const TEN_YEARS = 10 * 365 * 86_400

/** The access token's remaining seconds, from 1 to ten years; `undefined` for any other value. */
function readExpiry(answer: Members, { expirationFormat, now }: TokenResponseRules): number | undefined {
  return plausible(secondsLeft(answer, expirationFormat, now)) ?? plausible(toMoment(answer.expires_at, now))
}

/** Servers' names of the refresh token's lifetime: TikTok's and others', Keycloak's, QuickBooks'. */
const REFRESH_LIVES = ['refresh_token_expires_in', 'refresh_expires_in', 'x_refresh_token_expires_in']

/** The refresh token's remaining seconds; `undefined` where the response has none, or 0 (it does not expire). */
function readRefreshExpiry(answer: Members, now: EpochSeconds): number | undefined {
  const lives = REFRESH_LIVES.map((name) => plausible(toNumber(answer[name])))
  return lives.find((one) => one !== undefined) ?? plausible(toMoment(answer.refresh_token_expires_at, now))
}

function secondsLeft(
  { expires_in, access_token }: Members,
  format: ExpirationFormat | undefined,
  now: EpochSeconds,
): number | undefined {
  const given = toNumber(expires_in)
  switch (format) {
    case 'relative_milliseconds':
      return given === undefined ? undefined : given / 1000
    case 'absolute_unix_timestamp':
      // a small number is a lifetime, even if the entry announces a date
      return given !== undefined && given > TEN_YEARS ? toEpochSeconds(given) - now : given
    case 'iso_8601':
      return toMoment(expires_in, now)
    case 'access_token_jwt':
      return toMoment(readClaims(access_token)?.exp, now)
    default:
      return given
  }
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

/** The whole text must be a number: `parseFloat` would read "3600abc" as 3600. */
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
 * The members that tools may see, without those that are named like a secret, are a JWT or contain one of the tokens.
 * Numbers and booleans are kept, such as `x_refresh_token_expires_in`.
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

/** Servers' own codes for those of RFC 6749 section 5.2. Only a refusal of the grant requires a new consent. */
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

/** The refusal in the RFC's form, from anywhere in the response; `undefined` when there is none. */
function readRefusal(
  answer: Members,
  status: number,
  declared: ErrorResponse | undefined,
): Members | undefined {
  const own = declared && declaredRefusal(answer, declared)
  if (own !== undefined) return own
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

/** The error that the entry says how to find; its code is put into words where it is no standard one. */
function declaredRefusal(answer: Members, { at, success, ...rules }: ErrorResponse): Members | undefined {
  const told = toText(evaluateText(at, answer))
  if (told === undefined || success.includes(told)) return undefined
  const said = (rules.code === undefined ? undefined : toText(evaluateText(rules.code, answer))) ?? told
  const standard =
    rules.codes !== undefined && Object.hasOwn(rules.codes, said) ? rules.codes[said] : undefined
  const usual = STANDARD_CODES.get(said.toLowerCase()) ?? (isCode(said) ? said : 'unknown_error')
  const described = rules.description === undefined ? undefined : evaluateText(rules.description, answer)
  const description = sanitize([said, toText(described)].filter((one) => one !== undefined).join(': '))
  return { error: standard ?? usual, ...(description !== undefined && { error_description: description }) }
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The code from `error` as text or object, from `ok: false`, or with an error status from a member of another name. */
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

/** A plain name, too short to be an echoed secret. */
function isCode(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z][\w.:-]{0,63}$/.test(value) && sanitize(value) === value
}

/**
 * At most 200 printable ASCII characters of the server's text, without long words that contain a digit: they may be an
 * echoed code, token or secret.
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
