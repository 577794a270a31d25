/** An object of JSON: neither an array nor null. */
export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of a JSON object; `undefined` for any other value. To follow a path: `path.reduce(memberOf, value)`. */
export function memberOf(value: unknown, member: string): unknown {
  return isRecord(value) ? value[member] : undefined
}
