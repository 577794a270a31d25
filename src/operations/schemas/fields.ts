import { z } from '@hono/zod-openapi'
import { LONGEST_VALUE } from '../../providers/credentials.ts'

// Schemas of members that many requests have, and what each may hold.

export const MAX_IDEMPOTENCY_KEY = 255

/**
 * Text of 1 to `max` characters that is stored and shown unchanged. It has no control characters, which would reach logs
 * and terminals, and no unpaired surrogates, which are not Unicode text.
 */
export function plainText(max: number) {
  return z.string().min(1).max(max).refine(isPlain, 'has control characters or unpaired surrogates')
}

const CONTROL = /\p{Cc}/u

/** Whether the text has no control characters and no unpaired surrogates. */
export function isPlain(text: string): boolean {
  return text.isWellFormed() && !CONTROL.test(text)
}

/** The most characters of an id, of a user's id, of a scope and of a `next_uri`, and the most scopes of a request. */
export const MAX_ID = 200
export const MAX_USER_ID = 500
export const MAX_SCOPE = 1000
export const MAX_SCOPES = 200
export const MAX_NEXT_URI = 2000

/** An id in a path, a query or a body. */
export const idText = plainText(MAX_ID)
/**
 * The id of a resource, as its creator chooses it. `.` and `..` are refused, because clients remove such segments from
 * a path (RFC 3986 section 5.2.4): the resource could not be read, changed or deleted.
 */
export const newIdText = z
  .string()
  .regex(/^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}$/, 'letters, digits, _ . - only, not `.` or `..`')
/** The caller's own id of a user. */
export const userIdText = plainText(MAX_USER_ID).refine(
  (text) => text === '' || text.trim() !== '',
  'must not be blank',
)
/**
 * One visible line of 1 to `max` characters for pages. It has no characters that change the direction of the text around
 * it, with which one user's text could disguise the rest of the page.
 */
export function visibleLine(max: number) {
  return plainText(max)
    .refine(
      (value) => !BIDI_CONTROL.test(value),
      'has characters that change the direction of text or begin a line',
    )
    .refine((value) => value.replaceAll(INVISIBLE, '').trim() !== '', 'must not be blank')
}
/** Includes the separators of lines and paragraphs, which are not control characters. */
const BIDI_CONTROL = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|\u2800/gu
/** What people type for a provider of the type `credentials`, by the fields' names. */
export const fieldsText = z
  .record(z.string().max(100), z.string().max(LONGEST_VALUE))
  .refine((fields) => Object.keys(fields).length <= 20, 'at most 20 fields')
/** The display name of a user, for pages. */
export const userDisplayText = visibleLine(80)
/** One scope (RFC 6749 section 3.3). Several in one text would be requested as one scope and never be granted. */
export const scopeText = plainText(MAX_SCOPE).refine(
  (text) => !/\s/.test(text),
  'has spaces: write each scope as an item of its own',
)
/** Any name of a tool. */
export const toolNameText = plainText(400)

/** A whole number in a query. Unlike `z.coerce` it refuses ` `, `0x10` and `1e3`. */
export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }) {
  return z
    .string()
    .regex(/^[+-]?\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
    .meta({ type: 'integer', minimum: min, ...(max < Number.MAX_SAFE_INTEGER && { maximum: max }) })
}

/** The language of pages for users, as browsers write it. */
export const languageTag = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/, 'must be a language tag such as `de` or `pt-BR`')

/** The name and the language for the pages that a user sees. Each endpoint that may begin an authorization has them. */
export const pageMembers = {
  user_display: userDisplayText.nullish().meta({
    description: 'The display name of the user, 1 to 80 characters: the connect page says *You are …*',
    example: 'Ada L.',
  }),
  lang: languageTag.nullish().meta({
    description: 'The language of the connect page; absent: that of the browser. en, de, fr, es, pt, ja, zh',
    example: 'de',
  }),
}

/** The number of items of a page; a larger number counts as `max`. */
export function limitQuery(max: number) {
  return z
    .string()
    .regex(/^[+-]?\d+$/, 'must be a whole number')
    .transform((text) => Math.min(Number(text), max))
    .pipe(z.number().int().min(1))
    .meta({ type: 'integer', minimum: 1, description: `A larger number counts as ${max}` })
}

/** Values that the caller gives for the variables of a provider entry. */
export const variablesSchema = z.record(z.string().max(40), z.string().max(255))
