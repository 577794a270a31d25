import { type Stats, statSync } from 'node:fs'

/** The file's kind and size; `undefined` if there is none, or it cannot be reached (permissions, a circle of links). */
export function findStats(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
