import { type Stats, statSync } from 'node:fs'

/** What the system knows of the path; `undefined` if there is nothing, or it cannot be reached (permissions, a circle of links). */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
