import { randomUUID } from 'node:crypto'
import type { Artifact } from './tool-answer.ts'

// A JSON value as its text: what a tool answers may be megabytes, and neither parsing nor writing it may hold up other
// requests. Such a value is read and scrubbed in a thread (read-answer.ts), and goes on as bytes.

/** What is larger is not parsed on the event loop. */
export const LARGE_BYTES = 64 * 1024
/** With so many values it still takes only a few milliseconds to parse. */
const MAX_PARSED_VALUES = 20_000

/** Stands for a JSON value wherever one may stand, if what holds it is written by `jsonBody` or `jsonText`. */
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

  /** Commas and opening brackets: at least as many as it has values. */
  isParsedSoon(): boolean {
    let values = 0
    for (const byte of this.bytes)
      if ((byte === 0x2c || byte === 0x5b || byte === 0x7b) && ++values > MAX_PARSED_VALUES) return false
    return true
  }

  parse(): unknown {
    return JSON.parse(this.text())
  }

  /** For whatever writes JSON without regard to it: right, and slow. */
  toJSON(): unknown {
    if (collecting === undefined) return this.parse()
    collecting.found.push(this)
    return collecting.mark
  }
}

export function isList(value: unknown): boolean {
  return value instanceof LargeJson ? value.isArray : Array.isArray(value)
}

let collecting: { readonly mark: string; readonly found: LargeJson[] } | undefined

/** As `JSON.stringify`, in pieces: each `LargeJson` as it is. `undefined` for what JSON has no word for. */
function pieces(value: unknown): { readonly texts: readonly string[]; readonly large: readonly LargeJson[] } {
  const mark = randomUUID() // nobody who wrote a part of the value knows it
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

/** A text where nothing in it is large, else its UTF-8. */
export function jsonBody(value: unknown): string | Uint8Array {
  const { texts, large } = pieces(value)
  if (large.length === 0) return texts[0] ?? ''
  return Buffer.concat(texts.flatMap((text, i) => [Buffer.from(text), large[i]?.bytes ?? new Uint8Array()]))
}

export function jsonText(value: unknown): string {
  const { texts, large } = pieces(value)
  return texts.map((text, i) => text + (large[i]?.text() ?? '')).join('')
}

/** The value of a JSON text that may be large and that nobody looks into. */
export function fromJsonText(text: string): unknown {
  return text.length > LARGE_BYTES ? new LargeJson(Buffer.from(text)) : JSON.parse(text)
}

/** A large CallToolResult, with what is looked for in it found out where it was read. */
export class LargeMcpResult extends LargeJson {
  /** Whether it has structured content. */
  readonly isStructured: boolean
  /** The value with what came beside the texts (mcp/media-content.ts). */
  readonly value: LargeJson
  /** In place of the value, for those who know artifacts. */
  readonly artifact: Artifact | undefined

  constructor(bytes: Uint8Array, about: Pick<LargeMcpResult, 'isStructured' | 'value' | 'artifact'>) {
    super(bytes)
    this.isStructured = about.isStructured
    this.value = about.value
    this.artifact = about.artifact
  }
}
