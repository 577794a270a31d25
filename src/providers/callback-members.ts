import { RE2JS } from 're2js'

/** In characters. */
const LONGEST_VALUE = 500
const LONGEST_PATTERN = 300

/**
 * A pattern that a whole value must match. RE2 has no backtracking: the value comes through a user's browser, and
 * takes time in proportion to its length. Returns what is wrong with it.
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

/** Whether the value is one that the entry lets through; a pattern that cannot be read lets nothing through. */
export function fitsPattern(pattern: string, value: string): boolean {
  if (value.length > LONGEST_VALUE || /\p{Cc}/u.test(value)) return false
  if (patternFault(pattern) !== undefined) return false
  return RE2JS.compile(pattern).matches(value)
}
