import type { z } from 'zod'
import type { authorizeSchema } from '../../operations/authorizations/authorizations.ts'
import {
  isPlain,
  MAX_ID,
  MAX_NEXT_URI,
  MAX_SCOPE,
  MAX_SCOPES,
  MAX_USER_ID,
} from '../../operations/schemas/fields.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'

// The bodies that the hot fetch takes: JSON without a fault, of the members that callers usually send. For every other
// body, also a valid one, these functions return `undefined`, and the usual route reads it by its schema.

type AuthorizeBody = z.output<typeof authorizeSchema>
type Need = AuthorizeBody['auth_requirement']

const AUTHORIZE_MEMBERS = new Set(['auth_requirement', 'user_id', 'account', 'next_uri'])
const NEED_MEMBERS = new Set(['provider_id', 'id', 'provider_type', 'oauth2'])
const OAUTH2_MEMBERS = new Set(['scopes'])
const TOKEN_MEMBERS = new Set(['force_refresh'])

/** Reads the body of `POST /v1/auth/authorize`. */
export function plainAuthorize(text: string): AuthorizeBody | undefined {
  const body = objectOf(parsed(text), AUTHORIZE_MEMBERS)
  if (body === undefined) return undefined
  const { user_id: userId, account, next_uri: nextUri } = body
  const need = needOf(body.auth_requirement)
  if (need === undefined || !isUserId(userId)) return undefined
  if (account !== undefined && !isUserId(account)) return undefined
  if (nextUri !== undefined && !(typeof nextUri === 'string' && nextUri.length <= MAX_NEXT_URI))
    return undefined
  return { auth_requirement: need, user_id: userId, account, next_uri: nextUri }
}

/** Reads the body of `POST /v1/connections/{id}/token`, which may be empty. */
export function plainTokenRequest(text: string): { readonly force_refresh?: boolean } | undefined {
  if (text === '') return {}
  const body = objectOf(parsed(text), TOKEN_MEMBERS)
  if (body === undefined) return undefined
  const { force_refresh: forceRefresh } = body
  if (forceRefresh === undefined) return {}
  return typeof forceRefresh === 'boolean' ? { force_refresh: forceRefresh } : undefined
}

function needOf(value: unknown): Need | undefined {
  const need = objectOf(value, NEED_MEMBERS)
  if (need === undefined) return undefined
  const { provider_id: providerId, id, provider_type: type } = need
  if (providerId === undefined && id === undefined) return undefined
  if (providerId !== undefined && !isText(providerId, MAX_ID)) return undefined
  if (id !== undefined && !isText(id, MAX_ID)) return undefined
  if (type !== undefined && type !== 'oauth2') return undefined
  if (need.oauth2 === undefined) return { provider_id: providerId, id }
  const scopes = objectOf(need.oauth2, OAUTH2_MEMBERS)?.scopes
  if (!Array.isArray(scopes) || scopes.length > MAX_SCOPES || !scopes.every(isScope)) return undefined
  return { provider_id: providerId, id, oauth2: { scopes } }
}

function parsed(text: string): unknown {
  // bytes that are not UTF-8, and a mark of byte order, are left to the decoder of the usual route
  if (text.includes('\ufffd') || text.startsWith('\ufeff')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The value if it is an object with no other members than these. */
function objectOf(value: unknown, members: ReadonlySet<string>): JsonRecord | undefined {
  if (!isRecord(value)) return undefined
  for (const name in value) if (!members.has(name)) return undefined
  return value
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max && isPlain(value)
}

function isUserId(value: unknown): value is string {
  return isText(value, MAX_USER_ID) && value.trim() !== ''
}

function isScope(value: unknown): value is string {
  return isText(value, MAX_SCOPE) && !/\s/.test(value)
}
