import { LRUCache } from 'lru-cache'
import { foldBytes, foldsToItself } from './fold-text.ts'
import { createMatcher, type Form, type Matcher } from './secret-matcher.ts'

// The forms of a secret that are searched for: unchanged, escaped, and in base64.

/** In characters; shorter secrets are not searched for. */
export const MIN_SECRET_LENGTH = 8
/** In bytes. Folding shortens a secret with backslashes or escapes; shorter forms would match ordinary text. */
const MIN_FOLDED_LENGTH = 4

/** The matchers for a set of secrets. */
export interface SecretForms {
  /** Searches the unchanged bytes. */
  readonly exact: Matcher
  /** `exact` for a JSON text, in which a form that was already escaped is escaped a second time. */
  readonly exactInJson: Matcher
  /** Searches the folded bytes (fold-text.ts). */
  readonly folded: Matcher
  /** No secret contains a line end. */
  readonly areOfOneLine: boolean
  /** By byte: 1 where neither a form nor an escape begins with the byte. */
  readonly skippable: Uint8Array
  readonly isEmpty: boolean
}

/** A cache by the set of secrets. */
const keptSets = new LRUCache<string, SecretForms>({ max: 64 })

/** The texts that are searched for: the secrets and their trimmed forms, without those that are too short. */
function usableSecrets(secrets: readonly string[]): string[] {
  const known = secrets.flatMap((secret) => [secret, secret.trim()])
  return [...new Set(known)].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
}

/** Returns the matchers for the secrets, from a cache. */
export function formsOf(secrets: readonly string[]): SecretForms {
  const usable = usableSecrets(secrets)
  return remembered(keptSets, JSON.stringify(usable), () => {
    const forms = usable.flatMap((secret) => remembered(keptForms, secret, () => makeForms(secret)))
    const exactForms = forms.filter(({ kind }) => kind === 'exact')
    const exact = createMatcher(exactForms)
    const escapedTwice = usable.map((secret) => escaped(escaped(secret)))
    const exactInJson = createMatcher([...exactForms, ...escapedTwice.map(exactForm)])
    const folded = createMatcher(forms.filter(({ kind }) => kind !== 'exact'))
    const skippable = new Uint8Array(256)
    for (let byte = 0; byte < 256; byte++)
      if (foldsToItself(byte) && !exact.begins(byte) && !folded.begins(byte)) skippable[byte] = 1
    return {
      exact,
      exactInJson,
      folded,
      skippable,
      areOfOneLine: !usable.some((secret) => /[\r\n]/.test(secret.trim())),
      isEmpty: forms.length === 0,
    }
  })
}

/** A cache by secret: making the forms takes longer than a search, and each secret is searched for several times. */
const keptForms = new LRUCache<string, readonly Form[]>({ max: 256 })

function remembered<T extends object>(kept: LRUCache<string, T>, key: string, make: () => T): T {
  const value = kept.get(key) ?? make()
  kept.set(key, value)
  return value
}

/** The characters of most tokens, which folding does not change. */
const PLAIN = /^[\w.~-]*$/

function makeForms(secret: string): readonly Form[] {
  const fold = (text: string) => foldBytes(Buffer.from(text))
  // folding decodes a `%41` of the secret in a text that holds the secret unchanged, and keeps it in a text that holds
  // the secret escaped
  const folded = PLAIN.test(secret) ? [Buffer.from(secret)] : [fold(secret), fold(percentEncoded(secret))]
  // both are searched besides the folded forms, because an escape that begins in the secret and ends after it is folded differently
  const exact = new Set([secret, escaped(secret)])
  return [
    ...[...exact].map(exactForm),
    ...folded
      .filter((bytes) => bytes.length >= MIN_FOLDED_LENGTH)
      .map((bytes) => ({ bytes, kind: 'folded' }) as const),
    ...base64Forms(secret).map(
      (text) => ({ bytes: Buffer.from(text.replaceAll('+', ' ')), kind: 'base64' }) as const, // folded
    ),
  ]
}

function exactForm(text: string): Form {
  return { bytes: Buffer.from(text), kind: 'exact' }
}

/** The text as a JSON string has it between its quotes. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function percentEncoded(secret: string): string {
  return Buffer.from(secret).toString('hex').replaceAll(/../g, '%$&')
}

/**
 * The characters of a base64 text that depend on the secret only, for each of its three alignments: after 0, 1 or 2 bytes.
 */
export function base64Forms(secret: string): string[] {
  // two bytes before the secret; each alignment uses 0, 1 or 2 of them
  const bytes = Buffer.from(`\0\0${secret}`)
  const forms = new Set<string>()
  for (let before = 0; before < 3; before++) {
    const start = 2 - before
    const end = Math.floor(((bytes.length - start) * 8) / 6)
    const base64 = bytes.toString('base64', start).slice(Math.ceil((before * 8) / 6), end)
    forms.add(base64)
    // base64url (RFC 4648 section 5)
    if (/[+/]/.test(base64)) forms.add(base64.replaceAll('+', '-').replaceAll('/', '_'))
  }
  return [...forms]
}
