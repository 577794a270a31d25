import { z } from '@hono/zod-openapi'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { findJsonFault } from './json-fault.ts'

// What a request may hold, besides the size of its body (body-limit.ts) and of its headers (server-options.ts).

/** How deep JSON may nest: enough for every tool schema there is, and far from what overflows a stack. */
const MAX_JSON_DEPTH = 64
export const MAX_IDEMPOTENCY_KEY = 255

/**
 * Text that is kept and shown as it is: no control characters, which end up in logs and terminals, and no half of a
 * surrogate pair, which is no text.
 */
export function plainText(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((text) => text.isWellFormed() && !CONTROL.test(text), 'has control characters or half characters')
}

const CONTROL = /\p{Cc}/u

/** Of whatever is named by an id, in a path, a query or a body. */
export const idText = plainText(200)
/** A user as the caller knows them. */
export const userIdText = plainText(500).refine(
  (text) => text === '' || text.trim() !== '',
  'must not be blank',
)
/** One scope (RFC 6749 section 3.3); several in one text would be asked for as one and never be granted. */
export const scopeText = plainText(1000).refine(
  (text) => !/\s/.test(text),
  'has spaces: write each scope as an item of its own',
)
/** A tool, by any of its names. */
export const toolNameText = plainText(400)

/** A whole number in a query. Unlike `z.coerce` it takes no ` `, `0x10` or `1e3`. */
export function wholeNumber({ min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number }) {
  return z
    .string()
    .regex(/^[+-]?\d{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().int().min(min).max(max))
    .openapi({ type: 'integer', minimum: min, ...(max < Number.MAX_SAFE_INTEGER && { maximum: max }) })
}

/** How many items a page may have: more is as many as there may be. */
export function limitQuery(max: number) {
  return z
    .string()
    .regex(/^[+-]?\d+$/, 'must be a whole number')
    .transform((text) => Math.min(Number(text), max))
    .pipe(z.number().int().min(1))
    .openapi({ type: 'integer', minimum: 1, description: `More than ${max} is ${max}` })
}

/** Throws `invalid_request` for what is no JSON or nests too deep. */
export function parseJson(text: string): unknown {
  // most bodies do not even have as many brackets, and are not looked at twice
  if (opensMoreThan(text, MAX_JSON_DEPTH) && nestsDeeperThan(text, MAX_JSON_DEPTH))
    throw invalidMember(
      '',
      'invalid',
      `The body nests deeper than ${MAX_JSON_DEPTH} levels of arrays and objects.`,
    )
  try {
    return JSON.parse(text)
  } catch {
    throw invalidJson(text)
  }
}

/** Says where, and never what is there: it may be a secret. */
function invalidJson(text: string): BrokerError {
  const { line = 1, column = 1, expected = 'a value' } = findJsonFault(text) ?? {}
  const message =
    text.trim() === ''
      ? 'The body is empty: send JSON.'
      : `The body is not valid JSON: at line ${line}, column ${column} there should be ${expected}.`
  const faults = [{ path: '', code: 'invalid_json', message, line, column }]
  return new BrokerError('invalid_request', message, { faults })
}

/** Anywhere, in strings too. */
function opensMoreThan(text: string, most: number): boolean {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > most) return true
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside of strings, without recursion and without building anything. */
function nestsDeeperThan(text: string, most: number): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) {
      i = endOfString(text, i)
      continue
    }
    // `[` and `{` differ in one bit, and so do `]` and `}`
    const bracket = code & ~0x20
    if (bracket === 0x5b && ++depth > most) return true
    if (bracket === 0x5d) depth--
  }
  return false
}

/** Where the string that opens at `start` closes; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    if (end === -1) return text.length
    let escapes = end - 1
    while (text.charCodeAt(escapes) === BACKSLASH) escapes--
    if ((end - escapes) % 2 === 1) return end
  }
}
