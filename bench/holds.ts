import { readFileSync, writeFileSync } from 'node:fs'

/** Forgets what `hold-probe.ts` wrote until now, such as what starting took. */
export function clearHolds(file: string): void {
  writeFileSync(file, '')
}

/** The most processor time that the event loop took at a stretch since then, in milliseconds. */
export function longestHoldMs(file: string): number {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return Math.max(0, ...lines.map((line) => Number(line.split(' ')[1])))
}
