import { setTimeout as sleep } from 'node:timers/promises'

/** The shortest time between two wake-ups of one process. */
const GAP_MS = 5

/** Wakes the other processes up after commits: at once, but those that follow shortly share one wake-up. */
export interface WakeUps {
  request(): void
  /** Resolves when all that was requested has been sent. */
  flush(): Promise<void>
}

/**
 * PostgreSQL lets transactions that notify commit one at a time, over all databases of a server. So no transaction that
 * writes notifies; `send` does, in a transaction that waits for no disk.
 */
export function createWakeUps(send: () => Promise<void>): WakeUps {
  let isRequested = false
  let isRunning = false
  let inFlight = Promise.resolve()

  function sendNow(): Promise<void> {
    isRequested = false
    inFlight = send().catch(() => {}) // the others look for themselves every second
    return inFlight
  }

  async function run(): Promise<void> {
    isRunning = true
    while (isRequested) {
      await sendNow()
      await sleep(GAP_MS, undefined, { ref: false })
    }
    isRunning = false
  }

  return {
    request() {
      isRequested = true
      if (!isRunning) void run()
    },
    async flush() {
      await inFlight
      if (isRequested) await sendNow()
    },
  }
}
