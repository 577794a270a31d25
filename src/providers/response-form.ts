import type { OutgoingResponse } from '../egress/outgoing.ts'
import { type Members, membersOf, readMembers } from './response-body.ts'

// What a response looked like, for `explain` and `providers test --live`: the names of its members and the form of their
// values, such as `scope: commas`. The words are those of this file, so no value of the response is among them. The one
// exception is `token_type`, a name of letters alone, which no token of the response contains.

/** Members that decide how a token response is read. They come first, and are found in nested objects too. */
const TOKEN_MEMBERS = ['access_token', 'refresh_token', 'token_type', 'expires_in', 'expires_at', 'scope']
const MAX_MEMBERS = 16
const EXPIRY = /expires|expiry|expiration/i
/** Names that are shown. A long name with a digit is left out, since some servers use values as names. */
const NAME = /^(?=\D*$|.{1,19}$)[A-Za-z_][\w-]{0,39}$/

/** The names and forms of the response's members. `undefined`: the body is neither a JSON object nor a form. */
export function formOfResponse({ headers, body }: OutgoingResponse): readonly string[] | undefined {
  const answer = readMembers(body, headers['content-type'], 'application/json')
  if (answer === undefined) return undefined
  const nested = Object.entries(answer).flatMap(([outer, value]) => {
    const inner = NAME.test(outer) ? membersOf(value) : undefined
    return inner === undefined ? [] : named(inner, TOKEN_MEMBERS).map((form) => `${outer}.${form}`)
  })
  const others = Object.keys(answer).filter((name) => !TOKEN_MEMBERS.includes(name))
  return [...named(answer, TOKEN_MEMBERS), ...nested, ...named(answer, others)].slice(0, MAX_MEMBERS)
}

function named(members: Members, names: readonly string[]): readonly string[] {
  return names
    .filter((name) => Object.hasOwn(members, name) && NAME.test(name))
    .map((name) => `${name}: ${formOf(name, members)}`)
}

function formOf(name: string, members: Members): string {
  const value = members[name]
  if (value === '') return 'empty'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  if (name === 'scope' && typeof value === 'string') return separatorOf(value)
  if (name === 'token_type' && isTypeName(value, members)) return value.toLowerCase()
  if (EXPIRY.test(name)) return formOfExpiry(value)
  return typeof value === 'string' ? 'text' : typeof value
}

function separatorOf(scope: string): string {
  if (/\s/.test(scope.trim())) return 'spaces'
  return scope.includes(',') ? 'commas' : 'text'
}

/** Whether a `token_type` is a name of letters alone, and not a part of a token. */
export function isTypeName(value: unknown, { access_token, refresh_token }: Members): value is string {
  if (typeof value !== 'string' || !/^[A-Za-z]{1,20}$/.test(value)) return false
  return ![access_token, refresh_token].some((token) => String(token).includes(value))
}

/** A number that would be a lifetime of 47 years or more is a time. A smaller one may be seconds or milliseconds. */
function formOfExpiry(value: unknown): string {
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]/.test(value)) return 'date'
  const isNumber =
    typeof value === 'number' || (typeof value === 'string' && /^\d{1,15}(\.\d+)?$/.test(value))
  if (!isNumber) return typeof value === 'string' ? 'text' : typeof value
  const number = Number(value)
  if (number === 0) return 'zero'
  if (number >= 1.5e9 && number < 3e9) return 'unix_seconds'
  return number >= 1.5e12 && number < 3e12 ? 'unix_milliseconds' : 'number'
}
