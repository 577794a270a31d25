import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until the condition holds. The limit is far longer than any machine needs: its only use is that a test that would
 * hang fails and names the condition.
 */
export async function until(holds: () => Promise<boolean> | boolean, ms = 300_000): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`This did not hold within ${ms} ms: ${holds}`)
    await sleep(5)
  }
}
