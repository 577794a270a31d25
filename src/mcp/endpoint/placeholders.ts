import { randomUUID } from 'node:crypto'

/**
 * JSON that was made before, in an answer that the SDK writes: the SDK gets a random text in its place, which the answer's
 * bytes are searched for. A list of 1,000 tools or a large result is then not checked and written again for each request.
 */
export interface Placeholders {
  /** A value for a member whose type is a list. `json`: that of an array. */
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
      return [mark] as never[] // the SDK passes it on without reading it
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
