import { looksRandom } from './provider-words.ts'
import type { ErrorResponse } from './request-block.ts'
import { type Members, membersOf } from './response-body.ts'
import { evaluateText } from './response-map.ts'

// What servers say when they refuse a request, in the form of RFC 6749 section 5.2. Nothing is quoted unless sanitized.

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
  ['authorization_declined', 'access_denied'], // Microsoft's device grant
])

/** The refusal in the RFC's form, from anywhere in the response; `undefined` when there is none. */
export function readRefusal(
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

/** The error at the place that the entry declares. The description begins with the server's own code. */
function declaredRefusal(answer: Members, { at, success, ...rules }: ErrorResponse): Members | undefined {
  const told = toText(evaluateText(at, answer))
  if (told === undefined || success.includes(told)) return undefined
  const said = (rules.code === undefined ? undefined : toText(evaluateText(rules.code, answer))) ?? told
  const standard =
    rules.codes !== undefined && Object.hasOwn(rules.codes, said) ? rules.codes[said] : undefined
  const usual = STANDARD_CODES.get(said.toLowerCase()) ?? (isCode(said) ? said : 'unknown_error')
  const described = rules.description === undefined ? undefined : evaluateText(rules.description, answer)
  const description = sanitize([said, toText(described)].filter((part) => part !== undefined).join(': '))
  return { error: standard ?? usual, ...(description !== undefined && { error_description: description }) }
}

function toText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The error code: `error` as text or object, or at an error status another member. Empty: a refusal without a code. */
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
 * At most 200 printable ASCII characters of the server's text, without long words that look random: they may be an
 * echoed code, token or secret.
 */
function sanitize(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const clean = text
    .slice(0, 4096)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/[\w.~+=-]{20,}/g, (word) => (looksRandom(word) ? '[removed]' : word))
    .replace(/ {2,}/g, ' ')
    .trim()
    .slice(0, 200)
  return clean === '' ? undefined : clean
}
