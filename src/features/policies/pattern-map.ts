/** Maps patterns, in which `*` matches any characters, to numbers, and finds those whose pattern may match a text. */
export interface PatternMap {
  readonly isEmpty: boolean
  add(pattern: string, value: number): void
  /** Adds to `found` the values of all patterns that match the text, and of some that do not. */
  find(text: string, found: Set<number>): void
}

type Values = Map<string, number[]>

/**
 * Patterns are kept by the text before their first `*`, else by the text after their last one. A look-up takes one step
 * for each length that these texts have, not for each pattern.
 */
export function createPatternMap(): PatternMap {
  const whole: Values = new Map()
  const beginnings = new Map<number, Values>()
  const endings = new Map<number, Values>()
  /** The numbers of patterns that begin and end with `*`. */
  const open: number[] = []
  let isEmpty = true

  return {
    get isEmpty() {
      return isEmpty
    },
    add(pattern, value) {
      isEmpty = false
      const { first, last } = partsOf(pattern)
      if (last === undefined) put(whole, first, value)
      else if (first !== '') put(ofLength(beginnings, first.length), first, value)
      else if (last !== '') put(ofLength(endings, last.length), last, value)
      else open.push(value)
    },
    find(text, found) {
      const addAll = (values: readonly number[] = []) => {
        for (const value of values) found.add(value)
      }
      addAll(open)
      addAll(whole.get(text))
      for (const [length, values] of beginnings) addAll(values.get(text.slice(0, length)))
      for (const [length, values] of endings) addAll(values.get(text.slice(-length)))
    },
  }
}

/** The key of a pattern in the map: patterns with the same key are found together. Empty if any text may match. */
export function keyOf(pattern: string): string {
  const { first, last } = partsOf(pattern)
  if (last === undefined) return `=${first}`
  if (first !== '') return `${first}*`
  return last === '' ? '' : `*${last}`
}

/** The text before the first `*` and the text after the last `*`; without a `*`, `first` is the whole pattern. */
function partsOf(pattern: string): { readonly first: string; readonly last?: string } {
  const star = pattern.indexOf('*')
  if (star < 0) return { first: pattern }
  return { first: pattern.slice(0, star), last: pattern.slice(pattern.lastIndexOf('*') + 1) }
}

function put(values: Values, text: string, value: number): void {
  const known = values.get(text)
  if (known === undefined) values.set(text, [value])
  else known.push(value)
}

function ofLength(lengths: Map<number, Values>, length: number): Values {
  const known = lengths.get(length) ?? new Map<string, number[]>()
  lengths.set(length, known)
  return known
}
