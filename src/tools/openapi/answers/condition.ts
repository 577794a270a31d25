import type { Condition } from './answer-plan.ts'
import { firstAt, valuesAt } from './member-path.ts'

/** What a condition is judged by. */
export interface Judged {
  readonly value: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly input: Readonly<Record<string, unknown>>
  /** The number of the page, or where the next one begins. */
  readonly position?: number
}

export function holds(condition: Condition, { value, headers, input, position = 0 }: Judged): boolean {
  if ('link' in condition) return /;\s*rel="?next"?/i.test(headers.link ?? '')
  if ('lacks' in condition) return firstAt(value, [condition.lacks]) === undefined
  const found = firstAt(value, [condition.at])
  if ('isAbovePage' in condition) return Number(found) > position
  if ('isAsLongAs' in condition) {
    const [list] = valuesAt(value, condition.at)
    return Array.isArray(list) && list.length >= Number(input[condition.isAsLongAs])
  }
  if (condition.is !== undefined) return found === condition.is
  if (Array.isArray(found)) return found.length > 0
  return found !== undefined && found !== false && found !== '' && found !== 0
}
