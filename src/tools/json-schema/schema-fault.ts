export type SchemaFaultKind = 'unsupported_schema' | 'external_ref' | 'invalid_schema'

/**
 * Why a schema cannot be used. The message names the place in the schema and the remedy. It contains no values that were
 * checked by the schema.
 */
export class SchemaFault extends Error {
  readonly kind: SchemaFaultKind

  constructor(kind: SchemaFaultKind, message: string) {
    super(message)
    this.name = 'SchemaFault'
    this.kind = kind
  }
}

/** Names a place in the schema for people: its JSON Pointer (RFC 6901), or the whole schema. */
export function locationOf(pointer: string): string {
  return pointer === '' ? 'The schema' : `The schema at "${excerpt(pointer)}"`
}

/** Shortens text from a schema for use in a message: no control characters, at most 120 characters. */
export function excerpt(text: string): string {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ')
  return plain.length <= 120 ? plain : `${plain.slice(0, 119)}…`
}
