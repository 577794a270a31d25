import { readFileSync, writeFileSync } from 'node:fs'

// What `hold-probe.ts` writes, one JSON object a line; times in milliseconds since the process began.

/** Processor time that the event loop took without a pause. */
export interface Hold {
  readonly kind: 'hold'
  readonly from: number
  readonly to: number
  readonly ms: number
}

/** A collection of garbage, which pauses the event loop. */
export interface Collection {
  readonly kind: 'collection'
  readonly at: number
  readonly ms: number
}

/** Empties the file, such as after the start. */
export function clearHolds(file: string): void {
  writeFileSync(file, '')
}

/** The longest hold since the file was emptied, in milliseconds, and the longest without its garbage collections. */
export function longestHolds(file: string): { readonly all: number; readonly withoutCollections: number } {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const found = lines.map((line) => JSON.parse(line) as Hold | Collection) // hold-probe.ts writes these
  const holds = found.filter((one) => one.kind === 'hold')
  const collections = found.filter((one) => one.kind === 'collection')
  const own = holds.map(({ from, to, ms }) => {
    const within = collections.filter(({ at }) => at >= from && at <= to)
    return within.reduce((rest, collection) => rest - collection.ms, ms)
  })
  return { all: Math.max(0, ...holds.map(({ ms }) => ms)), withoutCollections: Math.max(0, ...own) }
}
