import { RE2JS } from 're2js'

/** In characters: a longer value is dropped. */
const LONGEST_VALUE = 500
const LONGEST_PATTERN = 300

/**
 * Why the text cannot be a pattern that whole values must match; `undefined` when it can. Values come through a user's
 * browser, so patterns run in RE2, which has no backtracking and takes time in proportion to a value's length.
 */
export function patternFault(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return `has more than ${LONGEST_PATTERN} characters`
  try {
    RE2JS.compile(pattern)
    return undefined
  } catch {
    return 'is no regular expression that RE2 takes (no lookaround, no back-references)'
  }
}

/** Whether the value matches the entry's pattern; an invalid pattern matches nothing. */
export function fitsPattern(pattern: string, value: string): boolean {
  if (value.length > LONGEST_VALUE || /\p{Cc}/u.test(value)) return false
  if (patternFault(pattern) !== undefined) return false
  return RE2JS.compile(pattern).matches(value)
}

/** What a value may be: one of a list, or anything that matches the pattern. */
export interface Allowed {
  readonly pattern: string
  readonly oneOf?: readonly string[]
}

export function isAllowed({ pattern, oneOf }: Allowed, value: string): boolean {
  return oneOf === undefined ? fitsPattern(pattern, value) : oneOf.includes(value)
}

/** A pattern that matches exactly these values. It may be longer than `patternFault` allows. */
export function anyOf(values: readonly string[]): string {
  return values.map((value) => value.replaceAll(/[^A-Za-z0-9]/g, '\\$&')).join('|')
}
