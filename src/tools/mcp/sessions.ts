import { LRUCache } from 'lru-cache'
import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { McpSession } from './session.ts'

/**
 * A session in use by one call. `end(isUsable)` returns it to the pool, or closes it if the next call must not use
 * it.
 */
export interface Lease {
  readonly session: McpSession
  readonly isReused: boolean
  end(isUsable: boolean): void
}

interface PooledSession {
  readonly session: McpSession
  uses: number
  timer?: NodeJS.Timeout
}

/** The limit for all servers and users of a process. */
const MAX_SESSIONS = 256
const IDLE_MS = 60_000

const sessionsOf = new WeakMap<Broker, Map<string, PooledSession>>()

/**
 * Leases the session of `key`, which identifies the server's settings, the user and the token, so users never share a
 * session. An open session is shared by concurrent calls and closed after a minute without use.
 */
export async function leaseSession(
  broker: Broker,
  key: string,
  open: () => Promise<McpSession>,
): Promise<Lease> {
  const pool = sessionsOf.get(broker) ?? new Map<string, PooledSession>()
  sessionsOf.set(broker, pool)
  const known = pool.get(key)
  if (known !== undefined) return lease(pool, key, known, true)
  const fresh: PooledSession = { session: await open(), uses: 0 }
  // when two calls opened one at the same time, one is pooled
  if (!pool.has(key) && makeRoom(pool)) pool.set(key, fresh)
  return lease(pool, key, fresh, false)
}

function lease(
  pool: Map<string, PooledSession>,
  key: string,
  pooled: PooledSession,
  isReused: boolean,
): Lease {
  pooled.uses++
  clearTimeout(pooled.timer)
  const drop = () => {
    if (pool.get(key) === pooled) pool.delete(key)
    pooled.session.close()
  }
  return {
    session: pooled.session,
    isReused,
    end(isUsable) {
      pooled.uses--
      if (!isUsable && pool.get(key) === pooled) pool.delete(key)
      if (pooled.uses > 0) return
      if (pool.get(key) !== pooled) return drop()
      // `makeRoom` reads the map in this order: idle sessions in the order in which they became idle
      pool.delete(key)
      pool.set(key, pooled)
      pooled.timer = setTimeout(drop, IDLE_MS)
      pooled.timer.unref()
    },
  }
}

/** Makes room by closing the oldest session that no call uses. `false` if all are in use. */
function makeRoom(pool: Map<string, PooledSession>): boolean {
  if (pool.size < MAX_SESSIONS) return true
  for (const [key, pooled] of pool) {
    if (pooled.uses > 0) continue
    clearTimeout(pooled.timer)
    pool.delete(key)
    pooled.session.close()
    return true
  }
  return false
}

const LEGACY_KNOWN_MS = 10 * 60_000
const MAX_KNOWN = 1_000
/** Servers that spoke only protocol versions before 2026-07-28 when they were last asked: negotiation is skipped. */
const knownLegacy = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: LEGACY_KNOWN_MS })

export function isKnownLegacy({ uid, uri }: Pick<Worker, 'uid' | 'uri'>): boolean {
  return knownLegacy.has(`${uid} ${uri}`)
}

/** Remembers whether the server speaks only protocol versions before 2026-07-28. */
export function rememberProtocol({ uid, uri }: Pick<Worker, 'uid' | 'uri'>, { client }: McpSession): void {
  const key = `${uid} ${uri}`
  if (client.getProtocolEra() !== 'legacy') return void knownLegacy.delete(key)
  if (!knownLegacy.has(key)) knownLegacy.set(key, true) // the time counts from when it was first known
}
