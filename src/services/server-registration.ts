import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Sealer } from '../store/seal.ts'
import type { Store } from '../store/store.ts'
import { noteSealingKey } from './sealing-keys.ts'

/** How often a server writes that it runs. */
export const SERVER_BEAT_MS = 10_000

/** This process as one of the servers that run: the database says which master keys each of them has. */
export interface ServerRegistration {
  /** Writes that the server runs. To be called every `SERVER_BEAT_MS`. */
  beat(): Promise<void>
  /** Called at the end of the process. */
  leave(): Promise<void>
}

/** Throws `store_unavailable` where a key came into use, between the check of the ring and now, that this process lacks. */
export async function registerServer(
  store: Pick<Store, 'facts' | 'servers'>,
  sealer: Sealer,
): Promise<ServerRegistration> {
  const server = {
    id: randomUUID(),
    name: `${hostname()} process ${process.pid}`,
    keyIds: sealer.keyIds,
  }
  let hasLeft = false
  let beating: Promise<void> = Promise.resolve()

  const beat = async () => {
    await store.servers.beat(server)
    // a process that adds a key reads the servers after the keys, so one of the two sees the other
    await noteSealingKey(store, sealer)
  }
  const leave = async () => {
    hasLeft = true
    await beating.catch(() => {}) // so that the row is not written again
    await store.servers.leave(server.id)
  }

  try {
    await beat()
  } catch (error) {
    await leave()
    throw error
  }
  return {
    async beat() {
      if (hasLeft) return
      beating = beat()
      await beating
    },
    leave,
  }
}
