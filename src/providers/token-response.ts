import type { EpochSeconds } from '../domain/clock.ts'
import { isRecord } from '../parsing/json-record.ts'
import { membersForTools } from './extra-members.ts'
import type { ContentType, ErrorResponse, ExpirationFormat, RequestBlock } from './request-block.ts'
import { type Members, readClaims, readJsonItems, readJsonMembers, readMembers } from './response-body.ts'
import { isTypeName } from './response-form.ts'
import { applyResponseMap, nestedOwner, selectByMap } from './response-map.ts'
import { readRefusal } from './response-refusal.ts'
import { readExpiry, readRefreshExpiry } from './token-lifetime.ts'

// Repairs faulty token responses before openid-client sees them (RFC 6749 sections 5.1 and 5.2). The functions are pure:
// they turn bytes into clean members. Error messages quote nothing of the response but a `token_type` that is a plain name.

/** How one provider's token responses are read: its entry's settings, and the current time. */
export interface TokenResponseRules {
  readonly responseContentType: ContentType
  readonly responseMap?: Readonly<Record<string, string>> | undefined
  readonly errorResponse?: ErrorResponse | undefined
  /** As in `Provider`: accepted besides `bearer`, in lower case. */
  readonly tokenTypes: readonly string[]
  readonly expirationFormat?: ExpirationFormat | undefined
  /** Set only if the ID token can be checked against an issuer. */
  readonly keepIdToken: boolean
  /** The request had a proof (RFC 9449): tokens may be bound to its key. `required`: bearer tokens are refused. */
  readonly dpop?: 'required' | 'optional' | undefined
  /** The type of token that an exchange asked for (RFC 8693 section 2.2.1): a token of another type is refused. */
  readonly issuedTokenType?: string | undefined
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
  readonly refreshExpiresIn?: number | undefined
  /** The other members, for tools (`instance_url`, `team`), without tokens and members that are named like secrets. */
  readonly extra: Record<string, unknown>
  /** Claims of a dropped ID token, unverified: it came from the token endpoint over TLS (OpenID Connect Core 3.1.3.7). */
  readonly idTokenClaims?: Record<string, unknown> | undefined
  /** The response has no `token_type` and was read as a bearer token. */
  readonly tokenTypeMissing?: true
}

/** The response is unusable. The reason is a short text of this file; of the response it has the `token_type` alone. */
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

/** Repairs a response. A refusal is returned as `{error, error_description?}`. Throws `TokenResponseFault`. */
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
export function isRefusal(
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
  if (typeof type !== 'string') throw new TokenResponseFault('token_type is not text')
  // RFC 6749 section 5.1 requires `token_type`; servers that omit it mean bearer, and other clients assume bearer too
  const isMissing = type === ''
  const isBound = rules.dpop !== undefined && type.toLowerCase() === 'dpop'
  if (rules.dpop === 'required' && !isBound)
    throw new TokenResponseFault(
      'the token is not bound to the key of the request: token_type is not DPoP, as dpop of the entry demands',
    )
  if (rules.issuedTokenType !== undefined) checkIssued(answer.issued_token_type, type, rules.issuedTokenType)
  const isBearer = isMissing || type.toLowerCase() === 'bearer'
  if (!isBearer && !isBound && !rules.tokenTypes.includes(type.toLowerCase()))
    throw new TokenResponseFault(
      `token_type is ${isTypeName(type, answer) ? `${type}, ` : ''}not bearer, nor listed in token_types of the entry`,
    )
  const scope = readScope(answer.scope)
  const expiresIn = readExpiry(answer, rules)
  const refreshExpiresIn = readRefreshExpiry(answer, rules.now)
  const tokens = [access_token, refresh_token, id_token].filter((token) => isToken(token))
  const claims = rules.keepIdToken ? undefined : readClaims(id_token)
  return {
    status: 200,
    body: {
      access_token,
      token_type: isBound ? 'dpop' : 'bearer',
      ...(isToken(refresh_token) && { refresh_token }),
      ...(scope !== undefined && { scope }),
      ...(expiresIn !== undefined && { expires_in: expiresIn }),
      ...(rules.keepIdToken && isToken(id_token) && { id_token }),
    },
    extra: {
      ...membersForTools(answer, tokens, 0),
      ...(!isBearer && !isBound && isPrintable(type) && type.length <= 64 && { token_type: type }),
    },
    idTokenClaims: claims,
    refreshExpiresIn,
    ...(isMissing && { tokenTypeMissing: true }),
  }
}

/** Throws `TokenResponseFault` for another type of token than was asked for, and for one that no API takes. */
function checkIssued(issued: unknown, tokenType: string, requested: string): void {
  if (issued !== requested)
    throw new TokenResponseFault(`issued_token_type is not ${requested}, which was requested`)
  if (tokenType.toLowerCase() === 'n_a')
    throw new TokenResponseFault('token_type is N_A: the issued token is not an access token (RFC 8693)')
}

/** RFC 6749 appendix A.12: one or more visible ASCII characters, so that none can end a header line. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && isPrintable(value)
}

function isPrintable(value: string): boolean {
  return /^[\x20-\x7e]+$/.test(value)
}

/**
 * Commas separate scopes if there are no spaces, or if a space follows every comma. An object such as
 * `{"contents": "read"}` means `contents:read` (GitHub).
 */
export function readScope(value: unknown): string | undefined {
  const listed = isRecord(value) ? Object.entries(value).map(([name, level]) => `${name}:${level}`) : value
  const text = Array.isArray(listed) ? listed.filter((item) => typeof item === 'string').join(' ') : listed
  if (typeof text !== 'string') return undefined
  const spaced = /\s/.test(text.trim()) ? text.replace(/,(?=\s)/g, ' ') : text.replaceAll(',', ' ')
  const scopes = spaced.split(/\s+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope))
  return scopes.length > 0 ? scopes.join(' ') : undefined
}
