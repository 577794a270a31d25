// Decodes the escapes of JSON (also when escaped several times), URLs and HTML, and the `+` of forms, to UTF-8 bytes
// without backslashes. The decoder reads one byte at a time, so a text may arrive in pieces. It reads no byte twice, so
// its time is linear.

/** Receives the decoded bytes. The source of each begins at `start` and ends before `end`. */
export interface FoldSink {
  /** `raw`: the source byte; 0 where the source is an escape. */
  folded(byte: number, start: number, end: number, raw: number): void
}

/** The decoder of one text. */
export interface TextFold {
  /** Reads the byte at the position `at`. */
  read(byte: number, at: number): void
  /** Ends the text; an escape that is not complete is taken literally. */
  end(at: number): void
  /** Where the unfinished escape begins; `undefined` where there is none. */
  readonly begun: number | undefined
  /** Treats the unfinished escape as if it began at `at` at the earliest. */
  forgetBefore(at: number): void
}

type State = 'plain' | 'backslashes' | 'unicode' | 'high surrogate' | 'percent' | 'entity'

const [BACKSLASH, PERCENT, AMPERSAND, SEMICOLON, SPACE, LETTER_U] = [0x5c, 0x25, 0x26, 0x3b, 0x20, 0x75]

/** By byte: 1 where an escape begins, the decoded byte where it differs, 0 for all other bytes. */
const SPECIAL = new Uint8Array(256)
for (const byte of [BACKSLASH, PERCENT, AMPERSAND]) SPECIAL[byte] = 1
/** Backslashes are dropped, so `\\n` becomes `n`, and the control character must become the same; a form writes a space as `+`. */
for (const [from, to] of ['\bb', '\ff', '\nn', '\rr', '\tt', '+ '])
  SPECIAL[(from as string).charCodeAt(0)] = (to as string).charCodeAt(0)

/** The value of a hexadecimal digit; 255 for any other byte. */
const HEX = new Uint8Array(256).fill(255)
for (let i = 0; i < 16; i++) {
  const digit = i.toString(16)
  HEX[digit.charCodeAt(0)] = i
  HEX[digit.toUpperCase().charCodeAt(0)] = i
}

const NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** `#` and seven digits, `#x` and six. */
const LONGEST_ENTITY = 8
const REPLACEMENT = 0xfffd

export function createFold(sink: FoldSink): TextFold {
  return new Fold(sink)
}

class Fold implements TextFold {
  readonly #sink: FoldSink
  #state: State = 'plain'
  /** Where the current escape begins. */
  #start = 0
  /** The bytes of the current escape, which are taken literally if it turns out to be none. */
  readonly #letters = new Uint8Array(LONGEST_ENTITY + 2)
  #length = 0
  #value = 0
  /** Where an escaped percent sign ends that may begin another escape. */
  #percentEnd = 0
  /** A high surrogate that waits for its low surrogate, and its position. */
  #high = 0
  #highStart = 0
  #highEnd = 0

  constructor(sink: FoldSink) {
    this.#sink = sink
  }

  read(byte: number, at: number): void {
    switch (this.#state) {
      case 'plain':
        this.#plain(byte, at)
        return
      case 'backslashes':
        if (byte === BACKSLASH) return
        if (byte !== LETTER_U) {
          this.#failed(byte, at)
          return
        }
        this.#begin('unicode', byte)
        return
      case 'unicode':
        this.#unicode(byte, at)
        return
      case 'high surrogate':
        if (byte !== BACKSLASH) {
          this.#failed(byte, at)
          return
        }
        this.#state = 'backslashes'
        this.#start = at
        return
      case 'percent':
        this.#percent(byte, at)
        return
      case 'entity':
        this.#entity(byte, at)
        return
    }
  }

  end(at: number): void {
    this.#giveUp(at)
  }

  get begun(): number | undefined {
    if (this.#state === 'plain') return undefined
    return this.#high !== 0 ? this.#highStart : this.#start
  }

  forgetBefore(at: number): void {
    this.#start = Math.max(this.#start, at)
    this.#highStart = Math.max(this.#highStart, at)
  }

  #plain(byte: number, at: number): void {
    const special = SPECIAL[byte] as number
    if (special === 0) {
      this.#sink.folded(byte, at, at + 1, byte)
      return
    }
    if (special !== 1) {
      this.#sink.folded(special, at, at + 1, byte)
      return
    }
    this.#start = at
    this.#length = 0
    if (byte === BACKSLASH) this.#state = 'backslashes'
    else this.#begin(byte === PERCENT ? 'percent' : 'entity', byte)
    this.#percentEnd = 0
  }

  #begin(state: State, byte: number): void {
    this.#state = state
    this.#letters[0] = byte
    this.#length = 1
    this.#value = 0
  }

  #add(byte: number): void {
    this.#letters[this.#length++] = byte
  }

  /** `\u0041` */
  #unicode(byte: number, at: number): void {
    const digit = HEX[byte] as number
    if (digit === 255) {
      this.#failed(byte, at)
      return
    }
    this.#add(byte)
    this.#value = this.#value * 16 + digit
    if (this.#length < 5) return
    const [value, high, start] = [this.#value, this.#high, this.#start]
    if (high !== 0 && value >= 0xdc00 && value <= 0xdfff) {
      this.#high = 0
      this.#state = 'plain'
      this.#character(0x10000 + (high - 0xd800) * 0x400 + (value - 0xdc00), this.#highStart, at + 1)
      return
    }
    this.#endHigh()
    if (value >= 0xd800 && value <= 0xdbff) {
      this.#high = value
      this.#highStart = start
      this.#highEnd = at + 1
      this.#state = 'high surrogate'
      return
    }
    this.#state = 'plain'
    this.#character(value, start, at + 1)
  }

  /** `%41`, `%2541`, `%252541`: `%25` may be a percent sign or the beginning of more. */
  #percent(byte: number, at: number): void {
    const digit = HEX[byte] as number
    if (digit === 255) {
      this.#failed(byte, at)
      return
    }
    this.#add(byte)
    if (this.#length === 2) {
      this.#value = digit
      return
    }
    const value = this.#value * 16 + digit
    if (value === PERCENT) {
      this.#percentEnd = at + 1
      this.#length = 1
      return
    }
    this.#state = 'plain'
    this.#character(value, this.#start, at + 1, true)
  }

  /** `&amp;`, `&#65;`, `&#x41;` */
  #entity(byte: number, at: number): void {
    if (byte !== SEMICOLON) {
      const isFirst = this.#length === 1
      if (this.#length > LONGEST_ENTITY || !(isAlphanumeric(byte) || (isFirst && byte === 0x23))) {
        this.#failed(byte, at)
        return
      }
      this.#add(byte)
      return
    }
    const name = String.fromCharCode(...this.#letters.subarray(1, this.#length))
    const code = codeOf(name)
    if (code === undefined) {
      this.#failed(byte, at)
      return
    }
    this.#state = 'plain'
    if (code <= 0x10ffff) this.#character(code, this.#start, at + 1)
  }

  /** Handles bytes that turned out to be no escape: they are taken literally, and `byte` is read as plain text. */
  #failed(byte: number, at: number): void {
    this.#giveUp(at)
    this.#plain(byte, at)
  }

  #giveUp(at: number): void {
    const state = this.#state
    if (state === 'plain') return
    this.#endHigh()
    this.#state = 'plain'
    if (state === 'backslashes' || state === 'high surrogate') return
    let from = 0
    if (this.#percentEnd !== 0 && state === 'percent') {
      this.#sink.folded(PERCENT, this.#start, this.#percentEnd, 0)
      from = 1
    }
    for (let i = from; i < this.#length; i++) {
      const letter = this.#letters[i] as number
      const place = at - this.#length + i
      this.#sink.folded(letter, place, place + 1, letter)
    }
  }

  #endHigh(): void {
    if (this.#high === 0) return
    this.#high = 0
    this.#utf8(REPLACEMENT, this.#highStart, this.#highEnd)
  }

  /** `isByte`: from a URL, which escapes each byte separately. */
  #character(code: number, start: number, end: number, isByte = false): void {
    if (code === BACKSLASH) return
    const special = code < 0x80 ? (SPECIAL[code] as number) : 0
    if (special > 1) this.#sink.folded(special, start, end, 0)
    else if (code < 0x80 || isByte) this.#sink.folded(code, start, end, 0)
    else this.#utf8(code >= 0xd800 && code <= 0xdfff ? REPLACEMENT : code, start, end)
  }

  #utf8(code: number, start: number, end: number): void {
    const sink = this.#sink
    const rest = (shift: number) => sink.folded(0x80 | ((code >> shift) & 0x3f), start, end, 0)
    if (code < 0x800) sink.folded(0xc0 | (code >> 6), start, end, 0)
    else {
      if (code < 0x10000) sink.folded(0xe0 | (code >> 12), start, end, 0)
      else {
        sink.folded(0xf0 | (code >> 18), start, end, 0)
        rest(12)
      }
      rest(6)
    }
    rest(0)
  }
}

function codeOf(name: string): number | undefined {
  if (!name.startsWith('#')) return Object.hasOwn(NAMES, name) ? NAMES[name]?.charCodeAt(0) : undefined
  if (/^#\d{1,7}$/.test(name)) return Number(name.slice(1))
  return /^#[xX][\dA-Fa-f]{1,6}$/.test(name) ? Number.parseInt(name.slice(2), 16) : undefined
}

function isAlphanumeric(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || ((byte | SPACE) >= 0x61 && (byte | SPACE) <= 0x7a)
}

/** Whether the byte is neither changed by decoding nor the beginning of an escape. */
export function foldsToItself(byte: number): boolean {
  return SPECIAL[byte] === 0
}

/** Decodes a whole text. */
export function foldBytes(bytes: Uint8Array): Uint8Array {
  const folded: number[] = []
  const fold = createFold({ folded: (byte) => void folded.push(byte) })
  for (let at = 0; at < bytes.length; at++) fold.read(bytes[at] as number, at)
  fold.end(bytes.length)
  return Uint8Array.from(folded)
}
