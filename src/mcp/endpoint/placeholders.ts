import { randomUUID } from 'node:crypto'

/**
 * Puts cached JSON into an answer that the SDK writes: the SDK gets a random text instead, which is replaced in the bytes
 * of the answer. So the SDK does not validate and write a list of 1,000 tools again for each request.
 */
export interface Placeholders {
  /** A placeholder for an array. `json` is the text of the array in UTF-8. */
  array(json: Buffer): never[]
  readonly isEmpty: boolean
  /** Puts the JSON where the placeholders are. */
  fill(text: Buffer): Buffer
}

export function createPlaceholders(): Placeholders {
  const made = new Map<string, Buffer>()
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
      for (const [mark, json] of made) {
        const at = filled.indexOf(mark)
        if (at === -1) continue
        filled = Buffer.concat([filled.subarray(0, at), json, filled.subarray(at + mark.length)])
      }
      return filled
    },
  }
}
