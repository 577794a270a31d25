import { isDeeperThan } from './read-json.ts'

const REDACTED = '[redacted]'
const MIN_SECRET_LENGTH = 8
/** A secret of 8 characters that folds to less than half is backslashes. */
const MIN_FOLDED_LENGTH = 4
const MAX_DEPTH = 100

/**
 * A deep copy of a JSON value in which none of these secrets is left: not by itself, not within a longer text, a key
 * or a number, and neither percent-encoded, in base64 or base64url (within a longer one too, as in
 * `Basic base64(user:secret)`), nor escaped for JSON or HTML. Secrets under 8 characters are let stand: replacing
 * them would wreck ordinary text. Against a worker that hides its token on purpose nothing helps.
 *
 * What nests deeper than 100 levels becomes `[too deep]`, what is no JSON `[not JSON]`; keys `__proto__` are dropped.
 * The time it takes grows with the size of the value alone, whatever stands in it.
 */
export function scrub(value: unknown, secrets: readonly string[]): unknown {
  const text = serialised(value)
  if (text === undefined) return value === undefined ? undefined : '[not JSON]'
  const copy: unknown = JSON.parse(text)
  const forms = formsOf(secrets)
  const isClean = !holds(text, forms) && !text.includes('"__proto__"') && !isDeeperThan(copy, MAX_DEPTH)
  return isClean ? copy : clean(copy, forms, 0)
}

function serialised(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined // a circle, a bigint, or too deep for the stack
  }
}

function clean(value: unknown, forms: readonly Form[], depth: number): unknown {
  if (typeof value === 'string') return redact(value, forms)
  if (typeof value === 'number') return holds(String(value), forms) ? REDACTED : value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((one) => clean(one, forms, depth + 1))
  const members = new Map<string, unknown>()
  for (const [name, one] of Object.entries(value)) {
    if (name === '__proto__') continue
    let plain = redact(name, forms)
    while (members.has(plain)) plain += '_' // two keys that differed in the secret alone
    members.set(plain, clean(one, forms, depth + 1))
  }
  return Object.fromEntries(members)
}

/** One way a secret is written: as it is, or to be looked for in a folded text. */
export interface Form {
  readonly text: string
  readonly kind: 'exact' | 'folded' | 'base64'
}

export function formsOf(secrets: readonly string[]): readonly Form[] {
  const known = secrets.flatMap((secret) => [secret, secret.trim()]) // what uses a secret may trim it
  const usable = [...new Set(known)].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  return usable.flatMap((secret) => {
    const forms = kept.get(secret) ?? makeForms(secret)
    kept.delete(secret)
    kept.set(secret, forms)
    const [oldest] = kept.keys()
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    return forms
  })
}

/** Of the secrets that were looked for last: making them costs more than looking, and each is looked for several times. */
const kept = new Map<string, readonly Form[]>()
const MAX_KEPT = 256

/** What most tokens are made of: it folds to itself, escaped or not. */
const PLAIN = /^[\w.~-]*$/

function makeForms(secret: string): readonly Form[] {
  // as it is, and as it is when all of it was escaped: only then does a `%41` that stands in a secret stay one
  const folded = new Set(PLAIN.test(secret) ? [secret] : [fold(secret), fold(percentEncoded(secret))])
  // both besides the folds: an escape that begins in the secret and ends behind it folds to something else
  const exact = new Set([secret, JSON.stringify(secret).slice(1, -1)])
  return [
    ...[...exact].map((text) => ({ text, kind: 'exact' }) as const),
    ...[...folded]
      .filter((text) => text.length >= MIN_FOLDED_LENGTH)
      .map((text) => ({ text, kind: 'folded' }) as const),
    ...base64Forms(secret).map((text) => ({ text: fold(text), kind: 'base64' }) as const),
  ]
}

function percentEncoded(secret: string): string {
  return Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&')
}

/**
 * The characters of a base64 text that are due to the secret alone, for each of the three ways it may lie in it: with
 * 0, 1 or 2 bytes before it.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const forms = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes])
    return (['base64', 'base64url'] as const).map((alphabet) =>
      whole.toString(alphabet).slice(Math.ceil((before * 8) / 6), Math.floor((whole.length * 8) / 6)),
    )
  })
  return [...new Set(forms)]
}

/** Never `false` for the JSON of a text that holds one. */
export function holds(text: string, forms: readonly Form[]): boolean {
  if (forms.length === 0) return false
  const folded = fold(text)
  return forms.some((form) => (form.kind === 'exact' ? text : folded).includes(form.text))
}

function redact(text: string, forms: readonly Form[]): string {
  if (!holds(text, forms)) return text
  const spans = forms.flatMap((form) => spansOf(form, text)).sort((a, b) => a.start - b.start)
  let [redacted, end] = ['', 0]
  for (const span of spans) {
    if (span.start >= end) redacted += text.slice(end, span.start) + REDACTED
    end = Math.max(end, span.end)
  }
  return redacted + text.slice(end)
}

export interface Span {
  readonly start: number
  readonly end: number
}

/** The one character that a secret in base64 shares with what follows, and the padding. */
const BASE64_END = /[A-Za-z0-9+/_-]?(?:=|%(?:25)*3[dD]){0,2}/y

export function spansOf({ text: wanted, kind }: Form, text: string): Span[] {
  const within = kind === 'exact' ? text : fold(text)
  const spans: Span[] = []
  const map = kind === 'exact' || !within.includes(wanted) ? undefined : foldMap(text)
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length)) {
    const last = at + wanted.length - 1
    const [start, end] = [map?.starts[at] ?? at, map?.ends[last] ?? last + 1]
    BASE64_END.lastIndex = end
    const tail = kind === 'base64' ? (BASE64_END.exec(text)?.[0].length ?? 0) : 0
    spans.push({ start, end: end + tail })
  }
  return spans
}

/**
 * What is written in more ways than one: escapes of JSON (any number of times over), of URLs and of HTML, the space of
 * a form, and what is not ASCII. Each match is used up, so that no text is gone over twice.
 */
const UNIT =
  /\\+u[dD][89abAB][\dA-Fa-f]{2}\\+u[dD][c-fC-F][\dA-Fa-f]{2}|\\+u[\dA-Fa-f]{4}|\\+|%(?:25)*[\dA-Fa-f]{2}|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#[xX][\dA-Fa-f]{1,6});|[\b\f\n\r\t+]|[^\0-\x7f]/gu

/** The text with each such unit as the UTF-8 bytes it stands for, one character a byte, and without backslashes. */
export function fold(text: string): string {
  return text.replaceAll(UNIT, foldUnit)
}

/** Where in the text each character of its fold begins and ends. */
export function foldMap(text: string): {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
} {
  const [starts, ends]: [number[], number[]] = [[], []]
  let done = 0
  const plainUntil = (end: number) => {
    for (; done < end; done++) {
      starts.push(done)
      ends.push(done + 1)
    }
  }
  for (const { 0: unit, index } of text.matchAll(UNIT)) {
    plainUntil(index)
    done = index + unit.length
    for (let i = foldUnit(unit).length; i > 0; i--) {
      starts.push(index)
      ends.push(done)
    }
  }
  plainUntil(text.length)
  return { starts, ends }
}

const HTML_NAMES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
/** After its backslash is gone, `\\n` is an `n`. */
const FOLDED: Readonly<Record<string, string>> = {
  '\\': '',
  '\b': 'b',
  '\f': 'f',
  '\n': 'n',
  '\r': 'r',
  '\t': 't',
  '+': ' ', // a form writes a space so
}

function foldUnit(unit: string): string {
  const character = characterOf(unit)
  const known = FOLDED[character]
  if (known !== undefined) return known
  // a byte of a URL is one already
  return unit.startsWith('%') ? character : Buffer.from(character).toString('latin1')
}

function characterOf(unit: string): string {
  switch (unit[0]) {
    case '\\': {
      const codes = unit.split('u').slice(1)
      return codes.length === 0
        ? '\\'
        : String.fromCharCode(...codes.map((code) => Number.parseInt(code.slice(0, 4), 16)))
    }
    case '%':
      return String.fromCharCode(Number.parseInt(unit.slice(-2), 16))
    case '&': {
      const said = unit.slice(1, -1)
      if (!said.startsWith('#')) return HTML_NAMES[said] ?? ''
      const code = /^#x/i.test(said) ? Number.parseInt(said.slice(2), 16) : Number(said.slice(1))
      return code <= 0x10ffff ? String.fromCodePoint(code) : ''
    }
    default:
      return unit
  }
}
