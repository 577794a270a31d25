import { compilePattern, PatternFault } from '../parsing/pattern.ts'

/** In characters: a longer value is dropped. */
const LONGEST_VALUE = 500
const LIMITS = { length: 300, size: 1_000, classes: 8 }
/**
 * How many characters times instructions of the pattern a check may take, a few milliseconds. A longer value does not
 * match: patterns come from administrators of single projects, and values through a user's browser.
 */
const MAX_STEPS = 100_000

/** Why the text cannot be a pattern that whole values must match; `undefined` when it can. */
export function patternFault(pattern: string): string | undefined {
  try {
    compilePattern(pattern, LIMITS)
    return undefined
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error
    return error.isTooLarge
      ? error.message
      : 'is not a regular expression that RE2 takes (no lookaround, no back-references)'
  }
}

/** Whether the value matches the entry's pattern; an invalid pattern matches nothing. */
export function fitsPattern(pattern: string, value: string): boolean {
  if (value.length > LONGEST_VALUE || /\p{Cc}/u.test(value) || patternFault(pattern) !== undefined)
    return false
  const compiled = compilePattern(pattern, LIMITS)
  return value.length * compiled.size <= MAX_STEPS && compiled.matches(value)
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
