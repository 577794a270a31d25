/** Random choices; the same seed makes the same ones (mulberry32). */
export interface Choices {
  /** At least 0, less than 1. */
  number(): number
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
  of<T>(list: readonly T[]): T
  chance(of: number): boolean
  /** Choices for one of several parts that run at once, so that their timing does not change what each chooses. */
  branch(name: string): Choices
}

export function choices(seed: number): Choices {
  let state = seed >>> 0
  const number = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(number() * (most - least + 1))
  return {
    number,
    between,
    of: (list) => list[between(0, list.length - 1)] as (typeof list)[number], // lists are never empty
    chance: (of) => number() < of,
    branch: (name) =>
      choices([...name].reduce((sum, one) => Math.imul(sum, 31) + one.charCodeAt(0), seed | 0)),
  }
}
