import type { ParameterForm } from './request-plan.ts'

/** An input from which no request can be built. The message is for the author of the input. */
export class BadArgument extends Error {}

/** A value of the connection that the URL needs is not known. The message is for the operator. */
export class MissingValue extends Error {}

/** Serializes a parameter as encoded pairs of a query or form (OpenAPI 3.1 section 4.8.12.4; RFC 6570). */
export function toPairs(name: string, value: unknown, { style, explode }: ParameterForm): [string, string][] {
  if (value === undefined || value === null) return []
  const pair = (key: string, part: unknown): [string, string] => [encode(key), encode(textOf(part, name))]
  if (style === 'json') return [[encode(name), encode(JSON.stringify(value))]]
  if (typeof value !== 'object') return [pair(name, value)]
  if (style === 'deepObject') return deepPairs(name, value, { name, left: MOST_OF_NAMES })
  const separator = SEPARATORS[style]
  if (Array.isArray(value)) {
    if (explode) return value.map((part) => pair(name, part))
    return value.length === 0
      ? []
      : [[encode(name), value.map((part) => encode(textOf(part, name))).join(separator)]]
  }
  if (explode) return membersOf(value).map(([key, part]) => pair(key, part))
  return [[encode(name), flat(value, name).map(encode).join(separator)]]
}

const SEPARATORS = { spaceDelimited: '%20', pipeDelimited: '%7C', form: ',', simple: ',' } as const

/** Serializes a parameter for a path or header; `encodePart` escapes or refuses each key and value. */
export function toSimple(
  name: string,
  value: unknown,
  { style, explode }: ParameterForm,
  encodePart: (text: string) => string,
): string {
  if (style === 'json') return encodePart(JSON.stringify(value))
  if (Array.isArray(value)) return value.map((part) => encodePart(textOf(part, name))).join(',')
  if (typeof value !== 'object' || value === null) return encodePart(textOf(value, name))
  if (!explode) return flat(value, name).map(encodePart).join(',')
  return membersOf(value)
    .map(([key, part]) => `${encodePart(key)}=${encodePart(textOf(part, name))}`)
    .join(',')
}

/** Writes `name[a][b]=1`, and `name[0]=1` for lists, as APIs with nested forms expect. */
function deepPairs(
  path: string,
  value: object,
  bound: { readonly name: string; left: number },
): [string, string][] {
  return membersOf(value).flatMap(([key, part]): [string, string][] => {
    const inner = `${path}[${key}]`
    bound.left -= inner.length
    if (bound.left < 0)
      throw new BadArgument(`"${bound.name}" nests too many long names: each is written with all around it.`)
    return typeof part === 'object' && part !== null
      ? deepPairs(inner, part, bound)
      : [[encode(inner), encode(textOf(part, bound.name))]]
  })
}

/** In characters. A few kilobytes of nested names would become gigabytes. */
const MOST_OF_NAMES = 1_000_000

/** Whether the texts and names in a value have more characters. Each value counts as one at least. */
export function isLongerThan(value: unknown, most: number): boolean {
  let left = most
  const count = (part: unknown): void => {
    left -= typeof part === 'string' ? part.length : 1
    if (left < 0 || typeof part !== 'object' || part === null) return
    const isList = Array.isArray(part)
    for (const inner of isList ? part : Object.entries(part)) {
      count(inner)
      if (left < 0) return
    }
  }
  count(value)
  return left < 0
}

function membersOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, member]) => member !== undefined && member !== null)
}

function flat(value: object, name: string): string[] {
  return membersOf(value).flatMap(([key, part]) => [key, textOf(part, name)])
}

function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return String(value)
  if (value === null) throw new BadArgument(`"${name}" has a null in it, which its style cannot express.`)
  throw new BadArgument(`"${name}" nests deeper than its style can express.`)
}

/** Percent-encodes everything but unreserved characters (RFC 3986 section 2.3). */
export function encode(text: string): string {
  if (!text.isWellFormed()) throw new BadArgument('A text contains half of a surrogate pair.')
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
