import { fitsPattern } from './callback-members.ts'
import { type Members, membersOf } from './response-body.ts'

// Additional members of a provider's responses that tools need, such as Salesforce's `instance_url` or QuickBooks' `realmId`.

type Told = Readonly<Record<string, unknown>>

/** As JSON. The members are sealed and decrypted together with the access token. */
const MOST_BYTES = 8 * 1024

/**
 * The parameters of an authorization response that the provider entry names, if they occur once and match their pattern.
 * They come through the user's browser, which can send anything. A parameter that is named like a secret, or contains
 * one of the given secrets, is dropped.
 */
export function extraOfResponse(
  query: URLSearchParams,
  named: Readonly<Record<string, string>>,
  secrets: readonly (string | undefined)[],
): Members {
  const single = Object.entries(named).flatMap(([name, pattern]) => {
    const [value, ...others] = query.getAll(name)
    return value !== undefined && others.length === 0 && fitsPattern(pattern, value) ? [name] : []
  })
  const own = ['code', 'state'].flatMap((name) => query.getAll(name))
  const known = [...own, ...secrets].flatMap((secret) => (secret ? [secret] : []))
  const members = membersOf(Object.fromEntries(single.map((name) => [name, query.get(name)]))) ?? {}
  return membersForTools(members, known, 0)
}

/** Merges the members; later ones win, and members beyond the size limit are dropped. `undefined` when there are none. */
export function mergedExtra(...told: readonly (Told | undefined)[]): Told | undefined {
  const kept: Members = Object.create(null)
  let size = 2
  // the later ones first, so that they win and keep their place within the limit
  for (const [name, value] of told.toReversed().flatMap((source) => Object.entries(source ?? {}))) {
    const written = Buffer.byteLength(JSON.stringify({ [name]: value })) - 1
    if (Object.hasOwn(kept, name) || size + written > MOST_BYTES) continue
    kept[name] = value
    size += written
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}

const SECRET_NAME =
  /token|secret|passw|assertion|credential|api_?-?key|private_?-?key|signature|cookie|session/i
const STANDARD = new Set([
  'access_token',
  'refresh_token',
  'id_token',
  'token_type',
  'expires_in',
  'expires_at',
  'scope',
])
const DEEPEST = 4
const MOST_MEMBERS = 64
const LONGEST_TEXT = 2048

/**
 * The members that tools may see, without those that are named like a secret, are a JWT or contain one of the tokens.
 * Numbers and booleans are kept, such as `x_refresh_token_expires_in`.
 */
export function membersForTools(answer: Members, tokens: readonly string[], depth: number): Members {
  const kept = Object.entries(answer)
    .filter(([name]) => depth > 0 || !STANDARD.has(name))
    .map(([name, value]) => [name, forTools(value, tokens, depth)] as const)
    .filter(([name, value]) => value !== undefined && (isCount(value) || !SECRET_NAME.test(name)))
  return Object.fromEntries(kept.slice(0, MOST_MEMBERS))
}

function forTools(value: unknown, tokens: readonly string[], depth: number): unknown {
  if (isCount(value)) return value
  if (typeof value === 'string') {
    const isSecret = value.startsWith('eyJ') || holdsSecret(value, tokens)
    return isSecret || value.length > LONGEST_TEXT ? undefined : value
  }
  if (depth >= DEEPEST) return undefined
  if (Array.isArray(value)) {
    const items = value.slice(0, MOST_MEMBERS).map((item) => forTools(item, tokens, depth + 1))
    return items.filter((item) => item !== undefined)
  }
  const members = membersOf(value)
  return members && membersForTools(members, tokens, depth + 1)
}

/** An answer's document without the texts that hold one of the secrets, also as a URL or base64 writes it. */
export function withoutSecrets<Document>(document: Document, secrets: readonly string[]): Document {
  const forms = secrets.flatMap(writtenForms)
  const within = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return holdsSecret(value, forms) ? undefined : value
    if (typeof value !== 'object' || value === null) return value
    if (depth > DEEPEST_DOCUMENT) return undefined
    if (Array.isArray(value)) return value.map((member) => within(member, depth + 1))
    const members = Object.entries(value).map(([name, member]) => [name, within(member, depth + 1)])
    return Object.fromEntries(members)
  }
  return within(document, 0) as Document // the same shape
}

/** No answer that is used nests deeper. */
const DEEPEST_DOCUMENT = 32

function writtenForms(text: string): string[] {
  return [
    text,
    encodeURIComponent(text.toWellFormed()),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ]
}

/** Whether the text is one of the secrets, or contains one that is long enough to be told from other text. */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => text === secret || (secret.length >= 8 && text.includes(secret)))
}

function isCount(value: unknown): value is number | boolean {
  return typeof value === 'number' || typeof value === 'boolean'
}
