import { isDeeperThan } from './metadata-member.ts'

const REDACTED = '[redacted]'
const MIN_SECRET_LENGTH = 8
const MAX_DEPTH = 100

/**
 * A deep copy of a JSON value in which none of these secrets is left: not by itself, not within a longer text, a key
 * or a number, and neither percent-encoded, in base64 or base64url (within a longer one too, as in
 * `Basic base64(user:secret)`), nor escaped for JSON or HTML. Secrets under 8 characters are let stand: replacing
 * them would wreck ordinary text. Against a worker that hides its token on purpose nothing helps.
 *
 * What nests deeper than 100 levels becomes `[too deep]`, what is no JSON `[not JSON]`; keys `__proto__` are dropped.
 */
export function scrub(value: unknown, secrets: readonly string[]): unknown {
  const text = serialised(value)
  if (text === undefined) return value === undefined ? undefined : '[not JSON]'
  const copy: unknown = JSON.parse(text)
  const pattern = patternOf(secrets)
  const isClean = !pattern?.test(text) && !text.includes('"__proto__"') && !isDeeperThan(copy, MAX_DEPTH)
  return isClean ? copy : clean(copy, pattern, 0)
}

function serialised(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined // a circle, a bigint, or too deep for the stack
  }
}

function clean(value: unknown, pattern: RegExp | undefined, depth: number): unknown {
  if (typeof value === 'string') return pattern ? value.replaceAll(pattern, REDACTED) : value
  if (typeof value === 'number') return pattern && String(value).search(pattern) >= 0 ? REDACTED : value
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (Array.isArray(value)) return value.map((one) => clean(one, pattern, depth + 1))
  const members = new Map<string, unknown>()
  for (const [name, one] of Object.entries(value)) {
    if (name === '__proto__') continue
    let plain = pattern ? name.replaceAll(pattern, REDACTED) : name
    while (members.has(plain)) plain += '_' // two keys that differed in the secret alone
    members.set(plain, clean(one, pattern, depth + 1))
  }
  return Object.fromEntries(members)
}

/** Every form of every secret. It finds a form in a text as well as in that text's JSON. */
function patternOf(secrets: readonly string[]): RegExp | undefined {
  const known = secrets.flatMap((secret) => [secret, secret.trim()]) // what uses a secret may trim it
  const usable = [...new Set(known)].filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  if (usable.length === 0) return undefined
  const longestFirst = usable.sort((a, b) => b.length - a.length) // else the end of one that begins like another is left
  return new RegExp(
    longestFirst.flatMap((secret) => [escapedForms(secret), ...base64Forms(secret)]).join('|'),
    'g',
  )
}

/** The secret with any of its characters but letters and digits as it is or escaped. */
function escapedForms(secret: string): string {
  return [...secret]
    .map((character) => (/[A-Za-z0-9]/.test(character) ? character : escapes(character)))
    .join('')
}

const HTML_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}

function escapes(character: string): string {
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25)?${hex(byte, 2)}`).join('')
  const units = Array.from(
    { length: character.length },
    (_, i) => `\\\\{1,8}u${hex(character.charCodeAt(i), 4)}`,
  )
  const code = character.codePointAt(0) ?? 0
  const html = HTML_NAMES[character]
  const short = /^\\([bfnrt])$/.exec(JSON.stringify(character).slice(1, -1))?.[1]
  return `(?:${[
    `\\\\{0,8}${literal(character)}`, // JSON within JSON doubles the backslashes
    percent,
    units.join(''),
    `&#(?:0*${code}|[xX]0*${hex(code, 1)});`,
    ...(html === undefined ? [] : [`&${html};`]),
    ...(short === undefined ? [] : [`\\\\{1,8}${short}`]),
    ...(character === ' ' ? ['\\+'] : []),
  ].join('|')})`
}

/** A number in hexadecimal of any case. */
function hex(value: number, digits: number): string {
  const text = value.toString(16).padStart(digits, '0')
  return text.replaceAll(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}

/**
 * The characters of a base64 text that are due to the secret alone, for each of the three ways it may lie in it: with 0,
 * 1 or 2 bytes before it. The one character that the secret shares with what follows goes along.
 */
function base64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6))
    const written = own.replaceAll(/[-_]/g, (character) =>
      character === '-' ? `(?:-|${escapes('+')})` : `(?:_|${escapes('/')})`,
    )
    return `${written}[A-Za-z0-9+/_-]?(?:=|%3[dD]){0,2}`
  })
}
