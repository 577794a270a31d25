import { LRUCache } from 'lru-cache'
import { WORKER_TOKEN_HEADER } from '../worker-token.ts'
import { base64Forms, MIN_SECRET_LENGTH } from './secret-forms.ts'

// A fast search for a part of each secret (its needle) with `String.includes`, which is many times as fast as the scanner
// and needs no matcher for each token. It proves for most texts that they hold no secret; the scanner decides the others.

/** The needle is mostly the end of a secret, which varies most. Every form of the secret contains a form of each of its parts. */
const NEEDLE_LENGTH = 16
/** Characters that JSON does not escape. Only `+` has another folded form. */
const SIMPLE = /^[\w.~/=:@+-]+$/
/** Escapes of other characters. A backslash before any other letter is only dropped (fold-text.ts). */
const ESCAPE = /%[0-9a-f]{2}|&(?:#|amp;|lt;|gt;|quot;|apos;)|\\u/i
/** Control characters that folding turns into letters (fold-text.ts). Line ends cannot be part of a secret that has a needle. */
const CONTROL = /[\b\f]/

interface Needles {
  readonly exact: string
  readonly folded: readonly string[]
}

/** How many needles are kept: those of more tokens than a busy process has in use, 0.5 kB each. */
const KEPT = 20_000

/** The needles of the most recently used secrets, by the part that is searched for. Nothing else of a secret is kept here. */
const kept = new LRUCache<string, Needles>({ max: KEPT })

/** `true` if the JSON text certainly holds none of the secrets in any form that `scrub` finds; `false` proves nothing. */
export function jsonHoldsNoSecret(json: string, secrets: readonly string[]): boolean {
  const searched = needlesOf(secrets)
  if (searched === undefined) return false
  if (searched.length === 0) return true
  return !ESCAPE.test(json) && hasNone(json, searched)
}

/** `jsonHoldsNoSecret` for bytes that need not be JSON. In content that is no text, only unchanged secrets are searched for. */
export function bytesHoldNoSecret(
  bytes: Uint8Array,
  secrets: readonly string[],
  { isText }: { readonly isText: boolean },
): boolean {
  const searched = needlesOf(secrets)
  if (searched === undefined) return false
  if (searched.length === 0) return true
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  if (!isText) return searched.every(({ exact }) => !text.includes(exact))
  if (ESCAPE.test(text) || CONTROL.test(text)) return false
  return hasNone(text, searched) && (!text.includes('\t') || hasNone(text.replaceAll('\t', 't'), searched))
}

function hasNone(text: string, searched: readonly Needles[]): boolean {
  const plain = text.includes('\\') ? text.replaceAll('\\', '') : text
  const folded = plain.includes('+') ? plain.replaceAll('+', ' ') : plain
  return searched.every(
    ({ exact, folded: forms }) => !text.includes(exact) && forms.every((form) => !folded.includes(form)),
  )
}

/** The needles of the secrets; `undefined` if one of them has none, so that only the scanner can search for it. */
function needlesOf(secrets: readonly string[]): readonly Needles[] | undefined {
  const all: Needles[] = []
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue
    if (!SIMPLE.test(secret)) return undefined
    all.push(needlesAt(needleOf(secret)))
  }
  return all
}

/**
 * The part of the secret that is searched for. All tokens for workers begin alike, and each is used once: with the end of
 * the common part the needles are made once, and these tokens take no place of a user's in the cache.
 */
function needleOf(secret: string): string {
  return secret.startsWith(WORKER_TOKEN_HEADER) ? HEADER_NEEDLE : secret.slice(-NEEDLE_LENGTH)
}

const HEADER_NEEDLE = WORKER_TOKEN_HEADER.slice(-NEEDLE_LENGTH)

function needlesAt(part: string): Needles {
  const known = kept.get(part)
  if (known !== undefined) return known
  // a copy: V8's slice of a string keeps the whole string in memory
  const exact = Buffer.from(part).toString()
  const forms = [exact, ...base64Forms(exact)].map((form) => form.replaceAll('+', ' '))
  const made = { exact, folded: [...new Set(forms)] }
  kept.set(exact, made)
  return made
}
