import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Place } from './bench.ts'
import { lasting } from './pace.ts'
import { type Figure, quantile } from './report.ts'

const PAUSE_MS = 20
const PROBED_MS = 2_000

/** How long the disk alone takes for a flush: no durable answer can be faster. A database in memory has none. */
export async function flushing(folder: string, place: Place): Promise<Figure[]> {
  if (place === 'memory') return []
  const probe = probeDisk(join(folder, 'probe'))
  await sleep(lasting(PROBED_MS))
  const took = await probe.stop()
  const at = (q: number) => `${quantile(took, q).toFixed(2)} ms`
  return [{ name: 'the disk alone: flush of 4 kB, p50, p99', value: `${at(0.5)}, ${at(0.99)}` }]
}

/**
 * Writes 4 kB into a file of its own and flushes it (`fdatasync`) every 20 ms until it is stopped. Returns how many
 * milliseconds each took: what a program that does nothing else waits for this disk.
 */
export function probeDisk(file: string): { stop(): Promise<readonly number[]> } {
  let isOver = false
  const run = async () => {
    const took: number[] = []
    await using handle = await open(file, 'w')
    while (!isOver) {
      const begun = performance.now()
      await handle.write(Buffer.alloc(4_096, 1), 0, 4_096, (took.length % 64) * 4_096)
      await handle.datasync()
      took.push(performance.now() - begun)
      await sleep(PAUSE_MS)
    }
    return took
  }
  const running = run()
  return {
    async stop() {
      isOver = true
      const took = await running
      await rm(file)
      return took
    },
  }
}
