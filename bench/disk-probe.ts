import { open, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const PAUSE_MS = 20

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
