export type SchemaFaultKind = 'unsupported_schema' | 'external_ref' | 'invalid_schema'

/** Why a schema cannot be used. The message says where, and what to do; it tells nothing of the values it is for. */
export class SchemaFault extends Error {
  readonly kind: SchemaFaultKind

  constructor(kind: SchemaFaultKind, message: string) {
    super(message)
    this.name = 'SchemaFault'
    this.kind = kind
  }
}

/** A place in the schema as people read it: its JSON Pointer (RFC 6901), or the whole. */
export function placeOf(pointer: string): string {
  return pointer === '' ? 'The schema' : `The schema at "${cut(pointer)}"`
}

/** Words of a schema within a sentence. */
export function cut(text: string): string {
  const plain = text.replaceAll(/\p{Cc}/gu, ' ')
  return plain.length <= 120 ? plain : `${plain.slice(0, 119)}…`
}
