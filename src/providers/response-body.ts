import type { ContentType } from './request-block.ts'

/** Members of a response, with a null prototype and without names such as `__proto__`. */
export type Members = Record<string, unknown>

/**
 * The members of a JSON object or a form, depending on the body itself; `undefined` for anything else (HTML, a list, an
 * incomplete object, an empty body). The last value of a repeated member counts.
 */
export function readMembers(
  body: Uint8Array,
  contentType: string | undefined,
  expected: ContentType,
): Members | undefined {
  const text = decode(body).trim()
  if (text.startsWith('{')) return readJson(text)
  const form = 'application/x-www-form-urlencoded'
  const claimed = expected === form || contentType?.trim().toLowerCase().startsWith(form)
  // text with a space before the `=` is prose, even if the header claims a form
  return /^[\w.%+[\]-]+=[^<>]*$/.test(text) && (claimed || !/\s/.test(text))
    ? toMembers(new URLSearchParams(text))
    : undefined
}

/** The members of a JSON object, with or without a byte order mark. */
export function readJsonMembers(body: Uint8Array): Members | undefined {
  return readJson(decode(body))
}

/** A JSON list as `{items}`; `undefined` for anything else. */
export function readJsonItems(body: Uint8Array): Members | undefined {
  try {
    const items: unknown = JSON.parse(decode(body))
    return Array.isArray(items) ? toMembers([['items', items]]) : undefined
  } catch {
    return undefined // as in `readJson`
  }
}

/** The own members of any object. Lists and primitive values give `undefined`. */
export function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? toMembers(Object.entries(value))
    : undefined
}

/** The claims of a JWT, without a check of its signature. `undefined` for anything else. */
export function readClaims(jwt: unknown): Members | undefined {
  const [, claims, signature, ...rest] = typeof jwt === 'string' ? jwt.split('.') : []
  if (claims === undefined || signature === undefined || rest.length > 0) return undefined
  return readJsonMembers(Buffer.from(claims, 'base64url'))
}

function readJson(text: string): Members | undefined {
  try {
    return membersOf(JSON.parse(text))
  } catch {
    return undefined // the parser's message quotes the text, so it is not passed on
  }
}

function toMembers(entries: Iterable<readonly [string, unknown]>): Members {
  const members: Members = Object.create(null)
  for (const [name, value] of entries) {
    if (name !== '__proto__' && name !== 'constructor' && name !== 'prototype') members[name] = value
  }
  return members
}

/** UTF-8 unless a byte order mark says UTF-16; the mark itself is dropped. */
function decode(body: Uint8Array): string {
  const utf16 =
    (body[0] === 0xff && body[1] === 0xfe && 'utf-16le') ||
    (body[0] === 0xfe && body[1] === 0xff && 'utf-16be')
  return new TextDecoder(utf16 || 'utf-8').decode(body)
}
