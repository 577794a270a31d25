import { readFileSync } from 'node:fs'
import type { SteadyClock } from '../domain/clock.ts'

/**
 * The monotonic clock of a Linux machine (CLOCK_MONOTONIC), which containers share. It does not advance while the
 * machine sleeps. `undefined` on other systems, which do not tell one start of the machine from the next.
 */
export function machineClock(bootIdPath = '/proc/sys/kernel/random/boot_id'): SteadyClock | undefined {
  const milliseconds = () => Number(process.hrtime.bigint() / 1_000_000n)
  try {
    const bootId = readFileSync(bootIdPath, 'utf8').trim()
    return { bootId, startedAt: Date.now() - milliseconds(), milliseconds }
  } catch {
    return undefined
  }
}
