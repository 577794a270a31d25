/** What the importer is told about a departure that was read all the same. `path` is like `oauth[0].pkceType`. */
export interface Warning {
  readonly path: string
  readonly message: string
}

export type Warn = (path: string, message: string) => void

/** Ends the reading of one tool. Caught where that tool's reading began, never further out. */
export class Refusal extends Error {}

export type JsonRecord = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `""` and `null` mean "default", as if the member were absent. */
export function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

/** The member under its camel case or snake case name; where both stand and differ, camel case wins with a warning. */
export function member(of: JsonRecord, name: string, path: string, warn: Warn): unknown {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return either(of, name, snake, path, warn)
}

/** The first of two spellings that says something. */
export function either(of: JsonRecord, first: string, second: string, path: string, warn: Warn): unknown {
  const [wins, other] = [of[first], of[second]]
  if (first === second || isAbsent(other)) return isAbsent(wins) ? undefined : wins
  if (isAbsent(wins)) return other
  if (JSON.stringify(wins) !== JSON.stringify(other))
    warn(at(path, first), `\`${second}\` says something else; \`${first}\` was taken.`)
  return wins
}

/** A member that must be a string. Refused without its value, which may be a secret. */
export function text(of: JsonRecord, name: string, path: string, warn: Warn): string | undefined {
  const value = member(of, name, path, warn)
  if (value === undefined || typeof value === 'string') return value
  throw new Refusal(`${at(path, name)} is ${kindOf(value)}; write it as a string.`)
}

export function at(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/** A short rendering of a value from the file, for a message. Not for values that may be secrets. */
export function quote(value: unknown): string {
  const json = JSON.stringify(value) ?? 'undefined'
  return json.length > 60 ? `${json.slice(0, 57)}...` : json
}

export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Whether the value nests deeper than `levels`. Reads no further than that, so it ends for any value. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1))
}
