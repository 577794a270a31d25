import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { findJsonFault } from './json-fault.ts'

/** The levels of nesting that a body may have: more than any known tool schema has, and too few to overflow a stack. */
const MAX_JSON_DEPTH = 64

/** Throws `invalid_request` for text that is not JSON or nests too deep. */
export function parseJson(text: string): unknown {
  // most bodies have fewer brackets than that, so the slower exact count is skipped
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

/** The refusal of text that is not JSON. Names the place and never quotes the text, which may hold a secret. */
function invalidJson(text: string): BrokerError {
  const { line = 1, column = 1, expected = 'a value' } = findJsonFault(text) ?? {}
  const message =
    text.trim() === ''
      ? 'The body is empty: send JSON.'
      : `The body is not valid JSON: at line ${line}, column ${column} there should be ${expected}.`
  const faults = [{ path: '', code: 'invalid_json' as const, message, line, column }]
  return new BrokerError('invalid_request', message, { faults })
}

/** Counts all opening brackets, also those in strings. */
function opensMoreThan(text: string, most: number): boolean {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (++count > most) return true
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Counts brackets outside of strings, without recursion and without allocating. */
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

/** The index at which the string that opens at `start` closes; the end of the text if it does not close. */
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
