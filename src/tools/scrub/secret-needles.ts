import { LRUCache } from 'lru-cache'
import { base64Forms, MIN_SECRET_LENGTH } from './secret-forms.ts'

// A fast search for a part of each secret (its needle) with `String.includes`, which is many times as fast as the scanner
// and needs no matcher for each token. It proves for most texts that they hold no secret; the scanner decides the others.

/** The needle is the end of a secret, which varies most between tokens. Every form of the secret contains a form of its end. */
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

/** The needles of the most recently used secrets; `undefined` where only the scanner can search for the secret. */
const kept = new LRUCache<string, { readonly needles: Needles | undefined }>({ max: 1_000 })

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
    let known = kept.get(secret)
    if (known === undefined) {
      known = secret.length < MIN_SECRET_LENGTH ? TOO_SHORT : { needles: makeNeedles(secret) }
      kept.set(secret, known)
    }
    if (known === TOO_SHORT) continue
    if (known.needles === undefined) return undefined
    all.push(known.needles)
  }
  return all
}

/** The cache entry of a secret that is too short to be searched for. */
const TOO_SHORT = { needles: undefined }

function makeNeedles(secret: string): Needles | undefined {
  if (!SIMPLE.test(secret)) return undefined
  const exact = secret.slice(-NEEDLE_LENGTH)
  const forms = [exact, ...base64Forms(exact)].map((form) => form.replaceAll('+', ' '))
  return { exact, folded: [...new Set(forms)] }
}
