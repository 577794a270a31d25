import { parseRetryAfter } from '../../retry-after.ts'

// Reads errors of libraries that are not imported, so their members may have any type.

export type Shape = Readonly<Record<string, unknown>>

/** Returns the value as an object whose members may be read; an empty object for any other value. */
export function shapeOf(value: unknown): Shape {
  const hasMembers = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return hasMembers ? (value as Shape) : {} // reading a member of an object is always possible
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Returns the first value that is an HTTP error status, 400 to 599, as a number or as text. */
export function failureStatus(...values: readonly unknown[]): number | undefined {
  const numbers = values.map((value) =>
    typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value,
  )
  return numbers.find(
    (number): number is number => Number.isInteger(number) && Number(number) >= 400 && Number(number) <= 599,
  )
}

const MAX_MESSAGE = 2000

/** Returns the error as text. Only for the operator, because it may contain secrets. */
export function developerMessageOf(error: unknown): string {
  const { name, message, statusText } = shapeOf(error)
  return `${text(name) ?? 'Error'}: ${text(message) ?? text(statusText) ?? String(error)}`.slice(
    0,
    MAX_MESSAGE,
  )
}

/** Reads `Retry-After` from `Headers`, a plain object or a Map. Returns milliseconds. */
export function retryAfterOf(headers: unknown): number | undefined {
  return parseRetryAfter(header(headers, 'retry-after') ?? '')
}

function header(headers: unknown, name: string): string | undefined {
  const shape = shapeOf(headers)
  const { get } = shape
  const value =
    typeof get === 'function'
      ? get.call(headers, name)
      : Object.entries(shape).find(([key]) => key.toLowerCase() === name)?.[1]
  const [first] = Array.isArray(value) ? value : [value]
  return typeof first === 'number' ? String(first) : text(first)
}

/** Returns the host of the first value that is a URL. The rest of a URL may contain secrets. */
export function hostOf(...addresses: readonly unknown[]): string | undefined {
  const address = addresses
    .map((candidate) => (candidate instanceof URL ? candidate.href : candidate))
    .find((candidate) => URL.canParse(String(candidate)))
  const { host } = address === undefined ? { host: '' } : new URL(String(address))
  return text(host)
}
