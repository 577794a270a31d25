/** Why a value is none of JSON. */
export class NotJson extends Error {}

/**
 * The value as JSON would bring it over: dates become texts, members that are `undefined` go. Throws `NotJson` for what
 * JSON would lose without a word (functions, symbols, `NaN`) or cannot hold (a circle, a bigint, too much of it).
 */
export function toJsonValue(value: unknown, maxBytes: number): unknown {
  return JSON.parse(toJsonText(value, maxBytes))
}

/** The same as a text. */
export function toJsonText(value: unknown, maxBytes: number): string {
  if (value === undefined) return 'null'
  const text = serialised(value)
  if (text === undefined) throw new NotJson('It is nothing that JSON can hold.')
  if (Buffer.byteLength(text) > maxBytes) throw new NotJson(`It has more than ${maxBytes} bytes.`)
  return text
}

function serialised(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_, one: unknown) => {
      if (typeof one === 'function' || typeof one === 'symbol') throw new NotJson(`It holds a ${typeof one}.`)
      if (typeof one === 'number' && !Number.isFinite(one)) throw new NotJson(`It holds ${one}.`)
      return one
    })
  } catch (error) {
    if (error instanceof NotJson) throw error
    throw new NotJson('It holds a circle, a bigint, or something that fails when it is made JSON.')
  }
}
