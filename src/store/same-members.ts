import { isDeepStrictEqual } from 'node:util'

/** Whether two states of a row have the same values in these columns. */
export function sameMembers<Row>(one: Row, other: Row, names: readonly (keyof Row)[]): boolean {
  return names.every((name) => isDeepStrictEqual(one[name], other[name]))
}
