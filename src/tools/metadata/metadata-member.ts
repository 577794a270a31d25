import type { JsonRecord } from '../../parsing/json-record.ts'
import { isAbsent, kindOf, Refusal } from '../read-json.ts'

/** A deviation from the format that was accepted. `path` is like `oauth[0].pkceType`. */
export interface Warning {
  readonly path: string
  readonly message: string
}

export type Warn = (path: string, message: string) => void

/** The member by its camel case or snake case name. If both are present and differ, camel case wins, with a warning. */
export function member(of: JsonRecord, name: string, path: string, warn: Warn): unknown {
  const snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return either(of, name, snake, path, warn)
}

/**
 * The member by the first of two spellings that has a value. If both have different values, the first wins, with a
 * warning.
 */
export function either(of: JsonRecord, first: string, second: string, path: string, warn: Warn): unknown {
  const [wins, other] = [of[first], of[second]]
  if (first === second || isAbsent(other)) return isAbsent(wins) ? undefined : wins
  if (isAbsent(wins)) return other
  if (JSON.stringify(wins) !== JSON.stringify(other))
    warn(at(path, first), `\`${second}\` says something else; \`${first}\` was taken.`)
  return wins
}

/** A member that must be a string. The refusal does not quote the value, which may be a secret. */
export function textMember(of: JsonRecord, name: string, path: string, warn: Warn): string | undefined {
  const value = member(of, name, path, warn)
  if (value === undefined || typeof value === 'string') return value
  throw new Refusal(`${at(path, name)} is ${kindOf(value)}; write it as a string.`)
}

/** The path of a member for messages, such as `oauth[0].scopes`. */
export function at(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}
