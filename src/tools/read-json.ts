import { isRecord, type JsonRecord } from '../parsing/json-record.ts'

// Reads JSON from other parties, one member at a time. `path` names the member in messages, such as `output.value_schema`.

/** Input that cannot be used, usually the description of one tool. The message is for its author. The reader of the whole input catches it. */
export class Refusal extends Error {}

export const NOT_JSON = 'The worker answered with something that is not JSON.'

/** `""` and `null` mean "default", as if the member were absent. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

/** Returns an object. Throws `Refusal`, also when the member is absent. */
export function record(value: unknown, path: string): JsonRecord {
  if (isRecord(value)) return value
  throw new Refusal(`${path} is ${kindOf(value)}; it must be an object.`)
}

/** Returns an array, which is empty when the member is absent. Throws `Refusal`. */
export function list(value: unknown, path: string, most = Number.POSITIVE_INFINITY): readonly unknown[] {
  if (isAbsent(value)) return []
  if (!Array.isArray(value)) throw new Refusal(`${path} is ${kindOf(value)}; it must be an array.`)
  if (value.length > most) throw new Refusal(`${path} has ${value.length} items; at most ${most} are read.`)
  return value
}

/** Returns a non-empty string, or `undefined` when the member is absent. Throws `Refusal`; its message omits the value, which may be a secret. */
export function text(value: unknown, path: string): string | undefined {
  if (isAbsent(value)) return undefined
  if (typeof value === 'string') return value
  throw new Refusal(`${path} is ${kindOf(value)}; it must be a string.`)
}

/** Returns an array of non-empty strings. Throws `Refusal`. */
export function scopeList(value: unknown, path: string): string[] {
  return list(value, path).map((scope, index) => {
    if (typeof scope === 'string' && scope !== '') return scope
    throw new Refusal(`${path}[${index}] is not a scope.`)
  })
}

/** A short form of a value for a message. Not for values that may be secrets. */
export function quote(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined'
  return json.length > 60 ? `${json.slice(0, 57)}...` : json
}

/** A string unchanged, any other value as JSON. `String` would throw for an object with a member `toString`. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Names the type of a value for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/**
 * Whether the JSON value nests deeper than `levels`. It reads no deeper, so that it ends for any value. It makes no array
 * of the members, which would take most of the time for an object with 300,000 members.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) return value.some((inner) => isDeeperThan(inner, levels - 1))
  const members = value as Record<string, unknown> // it is an object
  for (const name in members) if (isDeeperThan(members[name], levels - 1)) return true
  return false
}
