// JSON Pointer (RFC 6901): schemas and OpenAPI documents refer to their parts by pointers, and errors to members of a
// value.

/** The names in a pointer, unescaped (section 4); empty for the whole document. */
export function pointerTokens(pointer: string): string[] {
  return pointer.split('/').slice(1).map(unescapeToken)
}

/** A name as one token of a pointer (section 3). */
export function escapeToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The value at a pointer, reached by own members only; `undefined` if there is none. */
export function valueAt(document: unknown, pointer: string): unknown {
  return valueByTokens(document, pointerTokens(pointer))
}

/**
 * The value that a reference such as `#/$defs/item` leads to (section 6); `undefined` if there is none, or if the
 * reference is not a pointer in a fragment. Tokens are percent-decoded one by one, so that `%2F` is part of a name.
 */
export function valueAtReference(document: unknown, reference: string): unknown {
  if (reference === '#') return document
  if (!reference.startsWith('#/')) return undefined
  return valueByTokens(document, reference.slice(2).split('/').map(percentDecoded).map(unescapeToken))
}

function valueByTokens(document: unknown, tokens: readonly string[]): unknown {
  return tokens.reduce<unknown>(
    (at, name) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? Reflect.get(at, name) : undefined,
    document,
  )
}

function unescapeToken(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~')
}

function percentDecoded(token: string): string {
  try {
    return decodeURIComponent(token)
  } catch {
    return token // not percent-encoded
  }
}
