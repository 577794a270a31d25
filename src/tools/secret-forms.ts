import { foldBytes, foldsToItself } from './fold-text.ts'
import { createMatcher, type Matcher } from './secret-matcher.ts'

// The ways in which a secret may be written that are looked for.

const MIN_SECRET_LENGTH = 8
/** A secret of 8 characters that folds to less than half is backslashes. */
const MIN_FOLDED_LENGTH = 4

/** One way a secret is written: as it is, or to be looked for in a folded text. */
export interface Form {
  readonly bytes: Uint8Array
  readonly kind: 'exact' | 'folded' | 'base64'
}

/** What finds a set of secrets. */
export interface SecretForms {
  /** In the bytes as they are. */
  readonly exact: Matcher
  /** In the folded bytes. */
  readonly folded: Matcher
  /** None of them goes over the end of a line. */
  readonly areOfOneLine: boolean
  /** By byte: 1 where neither a form nor an escape begins with it. */
  readonly skippable: Uint8Array
  readonly isEmpty: boolean
}

/** Of the sets that were looked for last. */
const keptSets = new Map<string, SecretForms>()
const MAX_SETS = 64

export function formsOf(secrets: readonly string[]): SecretForms {
  const known = secrets.flatMap((secret) => [secret, secret.trim()]) // what uses a secret may trim it
  const usable = [...new Set(known)].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  return remembered(keptSets, MAX_SETS, JSON.stringify(usable), () => {
    const forms = usable.flatMap((secret) => remembered(keptForms, MAX_KEPT, secret, () => makeForms(secret)))
    const exact = createMatcher(forms.filter(({ kind }) => kind === 'exact'))
    const folded = createMatcher(forms.filter(({ kind }) => kind !== 'exact'))
    const skippable = new Uint8Array(256)
    for (let byte = 0; byte < 256; byte++)
      if (foldsToItself(byte) && !exact.begins(byte) && !folded.begins(byte)) skippable[byte] = 1
    return {
      exact,
      folded,
      skippable,
      areOfOneLine: !usable.some((secret) => /[\r\n]/.test(secret.trim())),
      isEmpty: forms.length === 0,
    }
  })
}

/** Of the secrets that were looked for last: making them costs more than looking, and each is looked for several times. */
const keptForms = new Map<string, readonly Form[]>()
const MAX_KEPT = 256

function remembered<T>(kept: Map<string, T>, most: number, key: string, make: () => T): T {
  const value = kept.get(key) ?? make()
  kept.delete(key)
  kept.set(key, value)
  const [oldest] = kept.keys()
  if (kept.size > most && oldest !== undefined) kept.delete(oldest)
  return value
}

/** What most tokens are made of: it folds to itself, escaped or not. */
const PLAIN = /^[\w.~-]*$/

function makeForms(secret: string): readonly Form[] {
  const fold = (text: string) => foldBytes(Buffer.from(text))
  // as it is, and as it is when all of it was escaped: only then does a `%41` that stands in a secret stay one
  const folded = PLAIN.test(secret) ? [Buffer.from(secret)] : [fold(secret), fold(percentEncoded(secret))]
  // both besides the folds: an escape that begins in the secret and ends behind it folds to something else
  const exact = new Set([secret, JSON.stringify(secret).slice(1, -1)])
  return [
    ...[...exact].map((text) => ({ bytes: Buffer.from(text), kind: 'exact' }) as const),
    ...folded
      .filter((bytes) => bytes.length >= MIN_FOLDED_LENGTH)
      .map((bytes) => ({ bytes, kind: 'folded' }) as const),
    ...base64Forms(secret).map(
      (text) => ({ bytes: Buffer.from(text.replaceAll('+', ' ')), kind: 'base64' }) as const, // folded
    ),
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
