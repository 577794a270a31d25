import { setTimeout as sleep } from 'node:timers/promises'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Store } from '../store/store.ts'

type Noun = 'connections' | 'apiKeys' | 'secrets'

/** One thing's uses are written at most this often: what is asked of them is whether it has been idle for days. */
const WRITTEN_SECONDS = 60
/** As many as one commit takes without holding up requests, and the pause in which they go on. */
const BATCH = 200
const PAUSE_MS = 50
/** Of each noun; while nothing can be written, what comes beyond it is not remembered. */
const MAX_PENDING = 50_000

/** When things were last used, written in batches so that using them costs no write. */
export interface UseLog {
  used(noun: Noun, id: string, at: EpochSeconds): void
  /** Writes what has come together. Losing the last second of it in a crash is fine. */
  flush(): Promise<void>
  /** That are to be written. */
  readonly waiting: number
}

export function createUseLog(store: Store): UseLog {
  const logs = {
    connections: createUses(store.connections),
    apiKeys: createUses(store.apiKeys),
    secrets: createUses(store.secrets),
  }
  let flushing: Promise<void> | undefined

  async function write(): Promise<void> {
    for (const uses of Object.values(logs)) await uses.write()
  }

  return {
    used: (noun, id, at) => logs[noun].add(id, at),
    flush() {
      flushing ??= write().finally(() => {
        flushing = undefined
      })
      return flushing
    },
    get waiting() {
      return Object.values(logs).reduce((sum, uses) => sum + uses.waiting, 0)
    },
  }
}

function createUses(noun: { used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void> }) {
  const pending = new Map<string, EpochSeconds>()
  // since when, and what has been written since then
  let since = 0
  const written = new Set<string>()

  return {
    add(id: string, at: EpochSeconds): void {
      if (at >= since + WRITTEN_SECONDS) {
        since = at
        written.clear()
      }
      if (!written.has(id) && pending.size < MAX_PENDING) pending.set(id, at)
    },
    get waiting() {
      return pending.size
    },
    async write(): Promise<void> {
      while (pending.size > 0) {
        const batch = new Map([...pending].slice(0, BATCH))
        for (const id of batch.keys()) {
          pending.delete(id)
          written.add(id)
        }
        await noun.used(batch)
        if (pending.size > 0) await sleep(PAUSE_MS)
      }
    },
  }
}
