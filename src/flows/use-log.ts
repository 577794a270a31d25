import type { EpochSeconds } from '../domain/clock.ts'
import type { Store } from '../store/store.ts'

type Noun = 'connections' | 'apiKeys' | 'secrets'

/** When things were last used, written in batches so that using them costs no write. */
export interface UseLog {
  used(noun: Noun, id: string, at: EpochSeconds): void
  /** Writes what has come together. Losing the last second of it in a crash is fine. */
  flush(): Promise<void>
}

export function createUseLog(store: Store): UseLog {
  const pending = { connections: new Map(), apiKeys: new Map(), secrets: new Map() } as Record<
    Noun,
    Map<string, EpochSeconds>
  >
  return {
    used(noun, id, at) {
      pending[noun].set(id, at)
    },
    async flush() {
      for (const noun of ['connections', 'apiKeys', 'secrets'] as const) {
        const uses = pending[noun]
        if (uses.size === 0) continue
        pending[noun] = new Map()
        await store[noun].used(uses)
      }
    },
  }
}
