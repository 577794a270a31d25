import { LRUCache } from 'lru-cache'
import { RE2JS } from 're2js'

/**
 * A regular expression of another author. It runs in RE2, which does not backtrack: its time grows with the length
 * of the text times the size of the pattern.
 */
export interface Pattern {
  /** The instructions of the compiled program: the most that a character can cost. */
  readonly size: number
  /** Whether a part of the text matches. */
  test(text: string): boolean
  /** Whether the whole text matches. */
  matches(text: string): boolean
}

export interface PatternLimits {
  /** In characters of the source. */
  readonly length: number
  /** At most 10,000. */
  readonly size: number
  /** How many Unicode classes (`\p{L}`), each of which may take 100 µs to compile. */
  readonly classes?: number
}

/** Why a text cannot be used as a pattern. */
export class PatternFault extends Error {
  /** Whether it is a pattern, but exceeds a limit. */
  readonly isTooLarge: boolean

  constructor(message: string, { isTooLarge = false } = {}) {
    super(message)
    this.isTooLarge = isTooLarge
  }
}

/** A larger program is not kept. */
const MAX_SIZE = 10_000
const MAX_KEPT = 1_000
/** In instructions of all patterns together. */
const MAX_KEPT_SIZE = 500_000

/** Faults are kept too, since compiling what is too large takes longest. */
const kept = new LRUCache<string, Pattern | PatternFault>({
  max: MAX_KEPT,
  maxSize: MAX_KEPT_SIZE,
  sizeCalculation: (pattern) => ('size' in pattern ? pattern.size : 1),
})

/** Compiles the pattern, or returns it from the cache. Throws `PatternFault`. */
export function compilePattern(source: string, { length, size, classes }: PatternLimits): Pattern {
  if (source.length > length)
    throw new PatternFault(`has more than ${length} characters`, { isTooLarge: true })
  if (classes !== undefined && (source.match(/\\p/gi)?.length ?? 0) > classes)
    throw new PatternFault(`has more than ${classes} Unicode classes`, { isTooLarge: true })
  const known = kept.get(source)
  const pattern = known ?? compile(source)
  if (known === undefined) kept.set(source, pattern)
  if (pattern instanceof PatternFault) throw pattern
  if (pattern.size > size) throw tooLarge()
  return pattern
}

function tooLarge(): PatternFault {
  return new PatternFault('repeats too much', { isTooLarge: true })
}

/** The source in RE2's syntax of a pattern in that of ECMA-262. */
export function fromEcmaScript(source: string): string {
  return RE2JS.translateRegExp(source)
}

function compile(source: string): Pattern | PatternFault {
  try {
    const compiled = RE2JS.compile(source)
    const size = compiled.programSize()
    if (size > MAX_SIZE) return tooLarge()
    return {
      size,
      test: (text) => compiled.test(text),
      // a matcher: `RE2JS.matches` makes an automaton first, which takes as long as many checks of short texts
      matches: (text) => compiled.matcher(text).matches(),
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    return new PatternFault(reason)
  }
}
