import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for the work, at most `ms`. Rejects if the work rejects in that time. The timeout does not stop the work. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const done = new AbortController()
  const timeout = sleep(Math.max(ms, 0), undefined, { signal: done.signal }).catch(() => {})
  await Promise.race([work, timeout]).finally(() => done.abort())
}
