import { vi } from 'vitest'

/**
 * Starts servers whose background jobs do not run by themselves: their intervals are of real time, so beside a clock that
 * the test moves they would come at any point of it on a slow machine. The test runs the jobs that it needs.
 */
export async function withoutJobs<T>(start: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    return await start()
  } finally {
    vi.useRealTimers()
  }
}
