import { createFold, type FoldSink, type TextFold } from './fold-text.ts'
import type { SecretForms } from './secret-forms.ts'
import type { Cursor } from './secret-matcher.ts'

// Searches a text, which may arrive in pieces, for all forms of all secrets at once. The time depends on the length of the
// text only.

/** Receives the span of each secret as soon as its last byte was read. Spans may overlap; their ends never decrease. */
export type OnSpan = (start: number, end: number) => void

export interface SecretScanner {
  /** Reads the next bytes. */
  read(bytes: Uint8Array): void
  /** Ends the text. */
  end(): void
  /** Begins another text. */
  reset(): void
  /** The position from which the bytes read so far could be the beginning of a secret; at most `most` bytes back. */
  pendingFrom(most: number): number
}

export interface ScannerOptions {
  /** Searches only for the secrets themselves: content that is not text has no escapes. */
  readonly exactOnly?: boolean
  /** Restarts the search at each line end. Has no effect when a secret contains a line end. */
  readonly inLines?: boolean
}

const [LINE_FEED, CARRIAGE_RETURN, EQUALS_SIGN] = [0x0a, 0x0d, 0x3d]
/** Base64 is padded with at most two `=`. */
const MAX_PADDING = 2

export function createScanner(
  forms: SecretForms,
  onSpan: OnSpan,
  { exactOnly = false, inLines = false }: ScannerOptions = {},
): SecretScanner {
  return new Scanner(forms, onSpan, exactOnly, inLines && forms.areOfOneLine)
}

class Scanner implements SecretScanner, FoldSink {
  readonly #onSpan: OnSpan
  readonly #exactOnly: boolean
  readonly #inLines: boolean
  readonly #exact: Cursor
  readonly #folded: Cursor
  readonly #fold: TextFold
  /** By byte: 1 where neither a form nor an escape begins with the byte. */
  readonly #skippable: Uint8Array
  /** Where the last folded bytes begin in the text: a ring buffer, indexed by the number of the folded byte. */
  readonly #starts: Float64Array
  #foldedBytes = 0
  #at = 0
  /** How many characters of a base64 secret may still follow: one that it shares with the next bytes, then padding. */
  #tail = 0
  #tailEnd = 0

  constructor(forms: SecretForms, onSpan: OnSpan, exactOnly: boolean, inLines: boolean) {
    this.#onSpan = onSpan
    this.#exactOnly = exactOnly
    this.#inLines = inLines
    this.#exact = forms.exact.cursor()
    this.#folded = forms.folded.cursor()
    this.#fold = createFold(this)
    this.#skippable = forms.skippable
    this.#starts = new Float64Array(2 ** Math.ceil(Math.log2(forms.folded.longest + 1)))
  }

  read(bytes: Uint8Array): void {
    const exact = this.#exact
    const skippable = this.#skippable
    for (let i = 0; i < bytes.length; i++) {
      if (this.#isQuiet()) {
        const from = i
        while (i < bytes.length && skippable[bytes[i] as number] === 1) i++
        this.#at += i - from
        if (i === bytes.length) return
      }
      const byte = bytes[i] as number
      if (this.#inLines && (byte === LINE_FEED || byte === CARRIAGE_RETURN)) {
        this.#endLine()
        continue
      }
      const at = this.#at++
      exact.step(byte)
      const { found } = exact
      if (found !== 0) this.#onSpan(at + 1 - found, at + 1)
      if (!this.#exactOnly) this.#fold.read(byte, at)
    }
  }

  end(): void {
    this.#fold.end(this.#at)
  }

  reset(): void {
    this.#endLine()
    this.#at = 0
  }

  folded(byte: number, start: number, end: number, raw: number): void {
    const { length } = this.#starts
    this.#starts[this.#foldedBytes & (length - 1)] = start
    this.#foldedBytes++
    const cursor = this.#folded
    cursor.step(byte)
    if (this.#tail !== 0) this.#readTail(raw === 0 ? byte : raw, end)
    const { found } = cursor
    if (found === 0) return
    this.#onSpan(this.#starts[(this.#foldedBytes - found) & (length - 1)] as number, end)
    if (!cursor.isBase64) return
    this.#tail = 1 + MAX_PADDING
    this.#tailEnd = end
  }

  pendingFrom(most: number): number {
    if (this.#at > most) this.#fold.forgetBefore(this.#at - most)
    const exact = this.#at - this.#exact.pending(most)
    const begun = this.#fold.begun ?? this.#at
    let folded = this.#folded.pending()
    for (; folded > 0; folded = this.#folded.pending(folded - 1)) {
      const start = this.#starts[(this.#foldedBytes - folded) & (this.#starts.length - 1)] as number
      if (this.#at - start <= most) return Math.min(exact, begun, start)
    }
    return Math.min(exact, begun)
  }

  #readTail(byte: number, end: number): void {
    const isShared = this.#tail > MAX_PADDING && isBase64(byte)
    if (!isShared && byte !== EQUALS_SIGN) {
      this.#tail = 0
      return
    }
    this.#onSpan(this.#tailEnd, end)
    this.#tailEnd = end
    this.#tail = isShared ? MAX_PADDING : Math.min(this.#tail, MAX_PADDING) - 1
  }

  /** Whether no form and no escape has begun, so that most bytes can be skipped. */
  #isQuiet(): boolean {
    return (
      this.#tail === 0 &&
      this.#exact.isAtRoot &&
      this.#folded.isAtRoot &&
      (this.#exactOnly || this.#fold.begun === undefined)
    )
  }

  /** Resets the search: no secret spans a line end. */
  #endLine(): void {
    this.#fold.end(this.#at)
    this.#at++
    this.#exact.reset()
    this.#folded.reset()
    this.#tail = 0
  }
}

function isBase64(byte: number): boolean {
  const letter = byte | 0x20
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    '+/-_'.includes(String.fromCharCode(byte))
  )
}
