import { randomUUID } from 'node:crypto'

/**
 * Puts cached JSON into an answer that the SDK writes: the SDK gets a random text instead, which is replaced in the bytes
 * of the answer. So the SDK does not validate and write a list of 1,000 tools again for each request.
 */
export interface Placeholders {
  /** A placeholder for an array. `json` is the text of the array. */
  array(json: string): never[]
  readonly isEmpty: boolean
  /** Puts the JSON where the placeholders are. */
  fill(text: string): string
}

export function createPlaceholders(): Placeholders {
  const made = new Map<string, string>()
  return {
    array(json) {
      const mark = randomUUID()
      made.set(`["${mark}"]`, json)
      return [mark] as never[] // the SDK writes it without reading it
    },
    get isEmpty() {
      return made.size === 0
    },
    fill(text) {
      let filled = text
      for (const [mark, json] of made) filled = filled.replace(mark, () => json)
      return filled
    },
  }
}
