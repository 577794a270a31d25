/** What a log line may hold of what it is given: a net below the rule that nothing secret is given to it. */

const REDACTED = '[redacted]'
const MAX_DEPTH = 8
const MAX_MEMBERS = 100
const MAX_TEXT = 4_000

/** Members that hold a secret by their very name, in whatever case and with or without `_` and `-`. */
const SECRET_NAMES = new Set([
  'assertion',
  'auth',
  'authorization',
  'bearer',
  'code',
  'codeverifier',
  'cookies',
  'credential',
  'credentials',
  'flowid',
  'nonce',
  'proxyauthorization',
  'setcookie',
  'state',
])
const SECRET_ENDINGS =
  /(?:token|secret|password|passwd|passphrase|key|cookie|verifier|assertion|credentials?)s?$/

/** Texts that are a secret wherever they stand, and those that follow a name that says so. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  // the scheme and its credentials, but not where a sentence goes on: "Basic authentication", "a bearer token"
  [
    /\b(bearer|basic|dpop)\s+(?!(?:tokens?|auth(?:entication|orization)?|credentials?|header|scheme|challenge|instead|assumed)\b(?![\w~+/=-]))[\w~+/.=-]{6,}/gi,
    `$1 ${REDACTED}`,
  ],
  [/\bey[JI][\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/g, REDACTED], // a JWT
  [/\b(?:gp|arc|flow)_[\w-]{20,}/g, REDACTED], // an API key, the one-time id of a verifier page
  [
    /(["']?)\b((?:access|refresh|id|user|subject|actor)_?token|client_?secret|client_assertion|code(?:_?verifier)?|state|nonce|flow_?id|password|api_?key|secret|token)(\1\s*[=:]\s*)(["']?)[^\s"'&,;}]+\4/gi,
    `$1$2$3$4${REDACTED}$4`,
  ],
]

/**
 * A copy in which nothing is left whose name or looks give it away as a secret, at any depth. Of errors the kind and
 * the place stay, not the message, which may hold what a provider answered. Never throws, whatever it is given.
 */
export function redact(about: object): Record<string, unknown> {
  return about instanceof Error ? { error: harmlessError(about, 0) } : members(about, 0)
}

function harmless(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value)
    case 'bigint':
      return String(value)
    case 'symbol':
    case 'function':
      return `[${typeof value}]`
    case 'object':
      return value === null ? null : harmlessObject(value, depth)
    default:
      return value
  }
}

function harmlessObject(value: object, depth: number): unknown {
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Error) return harmlessError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return `${value.origin}${value.pathname}`
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((one) => harmless(one, depth + 1))
  // headers, bodies, maps: whatever has its own way of holding things
  const kind = Object.getPrototypeOf(value)?.constructor
  if (kind !== undefined && kind !== Object) return `[${String(kind.name) || 'object'}]`
  return members(value, depth)
}

function members(value: object, depth: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value).slice(0, MAX_MEMBERS)) {
    let member: unknown
    try {
      member = value[name as keyof typeof value]
    } catch {
      member = '[unreadable]' // a getter that throws
    }
    if (member === undefined) continue
    const isHarmless = typeof member === 'boolean' || !isSecretName(name)
    copy[name] = isHarmless ? harmless(member, depth + 1) : REDACTED
  }
  return copy
}

function harmlessError(error: Error, depth: number): object {
  const { name, stack = '', cause } = error
  const frames = stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .map((line) => line.trim())
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return {
    name,
    ...(/^[A-Z0-9_]{2,60}$/.test(code) && { errno: code }),
    at: frames,
    ...(cause !== undefined && { cause: cause instanceof Error ? harmless(cause, depth + 1) : typeof cause }),
  }
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.test(plain)
}

export function redactText(text: string): string {
  let clean = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  for (const [pattern, replacement] of SECRET_TEXTS) clean = clean.replaceAll(pattern, replacement)
  return clean
}
