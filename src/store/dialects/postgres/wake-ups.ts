import { setTimeout as sleep } from 'node:timers/promises'

/** The shortest time between two notifications of one process. */
const GAP_MS = 5

/** Notifies the other processes after a commit, at once. Commits that follow shortly share one notification. */
export interface WakeUps {
  request(): void
  /** Resolves when all that was requested has been sent. */
  flush(): Promise<void>
}

/**
 * PostgreSQL commits transactions with NOTIFY one at a time, over all databases of a server. So a transaction that writes
 * sends no notification itself. `send` does, in a transaction of its own that does not wait for the disk.
 */
export function createWakeUps(send: () => Promise<void>): WakeUps {
  let isRequested = false
  let isRunning = false
  let inFlight = Promise.resolve()

  function sendNow(): Promise<void> {
    isRequested = false
    inFlight = send().catch(() => {}) // the other processes also read every second
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
