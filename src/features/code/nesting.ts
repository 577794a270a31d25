import { MAX_DEPTH } from './limits.ts'

/** Whether arrays and objects nest deeper than `MAX_DEPTH`. Without recursion, because a hostile value would overflow the stack. */
export function nestsTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((nested) =>
      typeof nested === 'object' && nested !== null ? Object.values(nested) : [],
    )
  }
  return false
}
