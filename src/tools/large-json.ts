import { randomUUID } from 'node:crypto'

// A JSON value that stays text. A tool may answer megabytes, and parsing or writing them must not block other requests, so
// a thread reads and scrubs such a value (read-answer.ts) and the event loop only passes its bytes on.

/** Larger JSON is not parsed on the event loop. */
export const LARGE_BYTES = 64 * 1024
/** JSON with this many values is parsed in a few milliseconds. */
const MAX_PARSED_VALUES = 20_000

/** Takes the place of a JSON value in any structure that `jsonBody` or `jsonText` writes. */
export class LargeJson {
  /** UTF-8. */
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  get isArray(): boolean {
    return this.bytes[0] === 0x5b
  }

  text(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length).toString()
  }

  /** Whether parsing takes a few milliseconds only. Counts commas and opening brackets: values are at most one more. */
  isQuickToParse(): boolean {
    let values = 0
    for (const byte of this.bytes)
      if ((byte === 0x2c || byte === 0x5b || byte === 0x7b) && ++values > MAX_PARSED_VALUES) return false
    return true
  }

  parse(): unknown {
    return JSON.parse(this.text())
  }

  /** A placeholder while `pieces` runs. Other writers of JSON get the parsed value, which is correct but slow. */
  toJSON(): unknown {
    if (collecting === undefined) return this.parse()
    collecting.found.push(this)
    return collecting.mark
  }
}

/** The JSON value itself, parsed if it is a `LargeJson`. */
export function parsedValue(value: unknown): unknown {
  return value instanceof LargeJson ? value.parse() : value
}

/** Whether the JSON value is an array, without parsing it. */
export function isList(value: unknown): boolean {
  return value instanceof LargeJson ? value.isArray : Array.isArray(value)
}

/** Whether a list has items. Only long lists are large. */
export function hasItems(list: readonly unknown[] | LargeJson): boolean {
  return list instanceof LargeJson || list.length > 0
}

/** Set while `pieces` runs: the placeholder, and the values that it replaces. */
let collecting: { readonly mark: string; readonly found: LargeJson[] } | undefined

/** The text of `JSON.stringify`, cut at each `LargeJson`. */
function pieces(value: unknown): { readonly texts: readonly string[]; readonly large: readonly LargeJson[] } {
  const mark = randomUUID() // random, so that no part of the value can contain it
  const found: LargeJson[] = []
  collecting = { mark, found }
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } finally {
    collecting = undefined
  }
  return { texts: found.length === 0 ? [text ?? 'null'] : (text ?? 'null').split(`"${mark}"`), large: found }
}

/** The JSON as a string, or as UTF-8 bytes where a part of it is large. */
export function jsonBody(value: unknown): string | Uint8Array {
  const { texts, large } = pieces(value)
  if (large.length === 0) return texts[0] ?? ''
  return Buffer.concat(texts.flatMap((text, i) => [Buffer.from(text), large[i]?.bytes ?? new Uint8Array()]))
}

/** The JSON as a string. */
export function jsonText(value: unknown): string {
  const { texts, large } = pieces(value)
  return texts.map((text, i) => text + (large[i]?.text() ?? '')).join('')
}

/** The value of a JSON text; a large one is not parsed. */
export function fromJsonText(text: string): unknown {
  return text.length > LARGE_BYTES ? new LargeJson(Buffer.from(text)) : JSON.parse(text)
}
