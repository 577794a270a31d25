import { type Form, fold, foldMap, formsOf, holds, spansOf } from './scrub.ts'

/** Takes secrets out of a body that is never there as a whole. */
export interface StreamScrubber {
  /** What may be passed on by now; only what could be the beginning of a secret is kept back. */
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** More than that is not kept back, whatever it could become. */
const MAX_HELD_BYTES = 64 * 1024
/** What one character may take when it is written as an escape: `\\u0041`, `%252541`, `&#x00041;`. */
const LONGEST_ESCAPE = 12
const ASTERISK = 0x2a

/**
 * Asterisks stand in place of a secret, byte for byte, so that lengths stay. In a text it is found in the forms that
 * `scrub` knows, in other content only as it is. Not found is what is compressed, encrypted, in UTF-16, spread over
 * several answers, or written with escapes of more than 12 characters over the border of two chunks.
 */
export function createStreamScrubber(
  secrets: readonly string[],
  options: { readonly isText: boolean },
): StreamScrubber {
  const forms = formsOf(secrets).filter(({ kind }) => options.isText || kind === 'exact')
  const longest = Math.max(0, ...forms.map(({ text }) => text.length))
  let held = Buffer.alloc(0)

  return {
    push(chunk) {
      if (forms.length === 0) return chunk
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : Buffer.from(chunk)
      const end = heldFrom(mask(bytes, forms), forms, longest)
      held = bytes.subarray(end)
      if (held.length <= MAX_HELD_BYTES) return bytes.subarray(0, end)
      held = Buffer.alloc(0)
      return bytes
    },
    end: () => held, // masked when it came
  }
}

/** One character a byte; what is no ASCII is in no secret. */
function asciiOf(bytes: Buffer): string {
  const text = bytes.toString('latin1')
  return text.replaceAll(/[\x80-\xff]+/g, (run) => '\0'.repeat(run.length))
}

/** Overwrites the secrets, and answers the text that is left. */
function mask(bytes: Buffer, forms: readonly Form[]): string {
  const text = asciiOf(bytes)
  if (!holds(text, forms)) return text
  for (const form of forms) for (const { start, end } of spansOf(form, text)) bytes.fill(ASTERISK, start, end)
  return asciiOf(bytes)
}

/** An escape that has begun: looked for in the last characters alone. */
const BEGUN_ESCAPE = /(?:\\+(?:u[\dA-Fa-f]{0,3})?|%(?:25)*[\dA-Fa-f]?|&#?[\dA-Za-z]{0,8})$/
const ESCAPE_WINDOW = 24

/** Where that begins which, with what comes next, could be a secret. No secret goes over the end of a line. */
function heldFrom(text: string, forms: readonly Form[], longest: number): number {
  const lineStart = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1
  const from = Math.max(lineStart, text.length - longest * LONGEST_ESCAPE)
  const tail = text.slice(from)
  const window = Math.max(0, tail.length - ESCAPE_WINDOW)
  const begun = BEGUN_ESCAPE.exec(tail.slice(window))
  const begunAt = begun === null ? tail.length : window + begun.index

  const exact = forms.filter(({ kind }) => kind === 'exact')
  const others = forms.filter(({ kind }) => kind !== 'exact')
  const starts = [begunAt, beginningAt(tail, exact)]
  if (others.length > 0)
    for (const one of new Set([tail, tail.slice(0, begunAt)])) {
      const at = beginningAt(fold(one), others)
      starts.push(foldMap(one).starts[at] ?? one.length)
    }
  return from + Math.min(...starts)
}

/** The first place from which on all of the text is the beginning of a form. */
function beginningAt(text: string, forms: readonly Form[]): number {
  let first = text.length
  for (const { text: form } of forms) {
    const head = form[0] ?? ''
    const from = Math.max(0, text.length - form.length + 1)
    for (let at = text.indexOf(head, from); at >= 0 && at < first; at = text.indexOf(head, at + 1))
      if (form.startsWith(text.slice(at))) first = at
  }
  return first
}
