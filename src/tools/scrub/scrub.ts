import { isDeeperThan } from '../read-json.ts'
import { formsOf, type SecretForms } from './secret-forms.ts'
import { jsonHoldsNoSecret } from './secret-needles.ts'
import { createScanner, type SecretScanner } from './secret-scanner.ts'

const REDACTED = '[redacted]'
const MAX_DEPTH = 100

/**
 * Returns a deep copy of a JSON value without these secrets. It finds a secret as a whole value and within longer texts,
 * keys and numbers, also when the secret is percent-encoded, in base64 or base64url (within a longer value too, as in
 * `Basic base64(user:secret)`), or escaped for JSON or HTML. A worker that hides its token on purpose is not stopped.
 *
 * Secrets of fewer than 8 characters are not replaced, because that would damage ordinary text. An escaped secret is
 * not found if its first characters complete an escape that the text before it begins (`%` before `4f%2F…`).
 *
 * A value that nests deeper than 100 levels becomes `[too deep]`, a value that is not JSON `[not JSON]`, and members
 * named `__proto__` are dropped. The time depends on the size of the value only, not on its content or the number of
 * secrets; a thread scrubs large values all the same (finish-answer.ts).
 */
export function scrub(value: unknown, secrets: readonly string[]): unknown {
  const text = serialised(value)
  if (text === undefined) return value === undefined ? undefined : '[not JSON]'
  return scrubbed(JSON.parse(text), text, secrets)
}

/** `scrub` for a value that the caller has just parsed and does not share. A value without secrets is not copied. */
export function scrubParsed(value: unknown, secrets: readonly string[]): unknown {
  const text = serialised(value)
  return text === undefined ? '[not JSON]' : scrubbed(value, text, secrets)
}

function scrubbed(value: unknown, text: string, secrets: readonly string[]): unknown {
  const isPlain = !text.includes('"__proto__"') && !isDeeperThan(value, MAX_DEPTH)
  if (isPlain && jsonHoldsNoSecret(text, secrets)) return value
  const redactor = createRedactor(formsOf(secrets))
  return isPlain && !redactor.holds(text) ? value : clean(value, redactor, 0)
}

function serialised(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined // a cycle, a bigint, or too deep for the stack
  }
}

function clean(value: unknown, redactor: Redactor, depth: number): unknown {
  if (typeof value === 'string') return redactor.redact(value)
  if (typeof value === 'number') return redactor.holds(String(value)) ? REDACTED : value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((item) => clean(item, redactor, depth + 1))
  const members = new Map<string, unknown>()
  const copies = new Map<string, number>()
  const original = value as Record<string, unknown> // it is an object
  for (const name in original) {
    if (name === '__proto__') continue
    const unique = uniqueName(redactor.redact(name), members, copies)
    members.set(unique, clean(original[name], redactor, depth + 1))
  }
  return Object.fromEntries(members)
}

/**
 * A unique name for a key, because keys that differed only in a secret have become equal. `copies` has the last number of
 * each name, so that many equal keys take linear time.
 */
function uniqueName(
  name: string,
  members: ReadonlyMap<string, unknown>,
  copies: Map<string, number>,
): string {
  if (!members.has(name)) return name
  let number = copies.get(name) ?? 2
  while (members.has(`${name}_${number}`)) number++
  copies.set(name, number + 1)
  return `${name}_${number}`
}

interface Redactor {
  /** `true` for every JSON text that contains a secret. */
  holds(text: string): boolean
  redact(text: string): string
}

function createRedactor(forms: SecretForms): Redactor {
  if (forms.isEmpty) return { holds: () => false, redact: (text) => text }
  /** The spans of the found secrets, in order and without overlaps. */
  const spans: [start: number, end: number][] = []
  const onSpan = (start: number, end: number) => addSpan(spans, start, end)
  const scanner = createScanner(forms, onSpan)
  const jsonScanner = createScanner({ ...forms, exact: forms.exactInJson }, onSpan)
  const find = (text: string, by: SecretScanner): Buffer => {
    const bytes = Buffer.from(text)
    spans.length = 0
    scan(by, bytes)
    return bytes
  }
  /** The parts of a text before, between and after its secrets. */
  const cut = (text: string): string[] => {
    const bytes = find(text, scanner)
    if (spans.length === 0) return [text]
    const starts = [0, ...spans.map(([, end]) => end)]
    return starts.map((start, i) => bytes.toString('utf8', start, spans[i]?.[0]))
  }
  return {
    holds(text) {
      find(text, jsonScanner)
      return spans.length > 0
    },
    redact(text) {
      const pieces = cut(text)
      // each piece is searched again: an escape across the edge of one secret may have hidden another secret
      return pieces.length === 1 ? text : pieces.flatMap(cut).join(REDACTED)
    },
  }
}

function scan(scanner: SecretScanner, bytes: Uint8Array): void {
  scanner.reset()
  scanner.read(bytes)
  scanner.end()
}

/** Adds a span; spans that overlap become one. */
function addSpan(spans: [start: number, end: number][], start: number, end: number): void {
  let [from, to] = [start, end]
  for (let last = spans.at(-1); last !== undefined && last[1] > from; last = spans.at(-1)) {
    from = Math.min(from, last[0])
    to = Math.max(to, last[1])
    spans.pop()
  }
  spans.push([from, to])
}
