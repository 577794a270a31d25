// Removes secrets from log lines. It is the second line of defence: callers pass nothing secret in the first place.

const REDACTED = '[redacted]'
const MAX_DEPTH = 8
const MAX_MEMBERS = 100
const MAX_TEXT = 4_000

/** Names of members that hold secrets; upper case, `_` and `-` are ignored. */
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

/** Patterns of secrets inside text, by the secret's own form or by the name before it, and their replacements. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  // the scheme and its credentials, but not where a sentence goes on: "Basic authentication", "a bearer token"
  [
    /\b(bearer|basic|dpop)\s+(?!(?:tokens?|auth(?:entication|orization)?|credentials?|header|scheme|challenge|instead|assumed)\b(?![\w~+/=-]))[\w~+/.=-]{6,}/gi,
    `$1 ${REDACTED}`,
  ],
  [/\bey[JI][\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/g, REDACTED], // a JWT
  [/\b(?:gpp?|arc|flow)_[\w-]{20,}/g, REDACTED], // an API key, a one-time link, the one-time id of a verifier page
  [
    /(["']?)\b((?:access|refresh|id|user|subject|actor)_?token|client_?secret|(?:client_)?assertion|code(?:_?verifier)?|state|nonce|flow_?id|password|api_?key|secret|token)(\1\s*[=:]\s*)(["']?)[^\s"'&,;}]+\4/gi,
    `$1$2$3$4${REDACTED}$4`,
  ],
]

/**
 * Returns a copy without members and texts that look like secrets, at any depth. An error keeps its kind and its stack
 * frames, but not its message, which may quote a provider's response. Never throws.
 */
export function redact(about: object): Record<string, unknown> {
  return about instanceof Error ? { error: redactError(about, 0) } : redactMembers(about, 0)
}

function redactValue(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return redactText(value)
    case 'bigint':
      return String(value)
    case 'symbol':
    case 'function':
      return `[${typeof value}]`
    case 'object':
      return value === null ? null : redactObject(value, depth)
    default:
      return value
  }
}

function redactObject(value: object, depth: number): unknown {
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Error) return redactError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  if (value instanceof URL) return `${value.origin}${value.pathname}`
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item) => redactValue(item, depth + 1))
  // objects of a class, such as headers, bodies and maps, are logged by the name of their class
  const kind = Object.getPrototypeOf(value)?.constructor
  if (kind !== undefined && kind !== Object) return `[${String(kind.name) || 'object'}]`
  return redactMembers(value, depth)
}

function redactMembers(value: object, depth: number): Record<string, unknown> {
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
    copy[name] = isHarmless ? redactValue(member, depth + 1) : REDACTED
  }
  return copy
}

function redactError(error: Error, depth: number): object {
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
    ...(cause !== undefined && {
      cause: cause instanceof Error ? redactValue(cause, depth + 1) : typeof cause,
    }),
  }
}

function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replaceAll(/[^a-z]/g, '')
  return SECRET_NAMES.has(plain) || SECRET_ENDINGS.test(plain)
}

/** Replaces secrets inside a text, and cuts it after 4,000 characters. */
export function redactText(text: string): string {
  let clean = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
  for (const [pattern, replacement] of SECRET_TEXTS) clean = clean.replaceAll(pattern, replacement)
  return clean
}
