/** The longest result that Gatepass reads. */
export const MAX_BYTES = 4 * 1024 * 1024

/** Says why a value has no JSON text. */
export class NotJson extends Error {}

/**
 * Returns the value's JSON text: dates become strings, `undefined` members are dropped. Throws `NotJson` for what JSON
 * would silently lose (functions, symbols, `NaN`) or cannot represent (a cycle, a bigint), and for a text of more than
 * `MAX_BYTES`.
 */
export function toJsonText(value: unknown): string {
  if (value === undefined) return 'null'
  const text = serialized(value)
  if (text === undefined) throw new NotJson('JSON cannot represent it.')
  // a UTF-16 code unit has at most 3 bytes in UTF-8
  const isTooLong = text.length > MAX_BYTES / 3 && new TextEncoder().encode(text).length > MAX_BYTES
  if (isTooLong) throw new NotJson(`It has more than ${MAX_BYTES} bytes.`)
  return text
}

function serialized(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, member: unknown) => {
      if (typeof member === 'function' || typeof member === 'symbol')
        throw new NotJson(`It holds a ${typeof member}.`)
      if (typeof member === 'number' && !Number.isFinite(member)) throw new NotJson(`It holds ${member}.`)
      return member
    })
  } catch (error) {
    if (error instanceof NotJson) throw error
    throw new NotJson('It contains a cycle, a bigint, or something that throws when it is serialized.')
  }
}
