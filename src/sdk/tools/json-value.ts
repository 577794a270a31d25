/** Why a value cannot be represented in JSON. */
export class NotJson extends Error {}

/**
 * Returns the value's JSON text: dates become strings, `undefined` members are dropped. Throws `NotJson` for what JSON
 * would silently lose (functions, symbols, `NaN`) or cannot represent (a cycle, a bigint).
 */
export function toJsonText(value: unknown): string {
  if (value === undefined) return 'null'
  const text = serialized(value)
  if (text === undefined) throw new NotJson('JSON cannot represent it.')
  return text
}

function serialized(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, one: unknown) => {
      if (typeof one === 'function' || typeof one === 'symbol') throw new NotJson(`It holds a ${typeof one}.`)
      if (typeof one === 'number' && !Number.isFinite(one)) throw new NotJson(`It holds ${one}.`)
      return one
    })
  } catch (error) {
    if (error instanceof NotJson) throw error
    throw new NotJson('It contains a cycle, a bigint, or something that throws when it is serialized.')
  }
}
