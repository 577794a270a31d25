import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { McpSession } from './session.ts'

/** A session that is used for one call; `isUsable`: the next call may have it. */
export interface Lease {
  readonly session: McpSession
  readonly isReused: boolean
  end(isUsable: boolean): void
}

interface Held {
  readonly session: McpSession
  uses: number
  timer?: NodeJS.Timeout
}

/** Over all servers and users of a process. */
const MAX_HELD = 256
const IDLE_MS = 60_000

const sessionsOf = new WeakMap<Broker, Map<string, Held>>()

/**
 * A session of that key, which names the server as it is set up, the user and the token: nobody has another's. One that
 * is there is used again, by several calls at a time; it is closed when nobody has used it for a minute.
 */
export async function leaseSession(
  broker: Broker,
  key: string,
  open: () => Promise<McpSession>,
): Promise<Lease> {
  const held = sessionsOf.get(broker) ?? new Map<string, Held>()
  sessionsOf.set(broker, held)
  const known = held.get(key)
  if (known !== undefined) return lease(held, key, known, true)
  const fresh: Held = { session: await open(), uses: 0 }
  // of two that were opened at once, one is kept
  if (!held.has(key) && makeRoom(held)) held.set(key, fresh)
  return lease(held, key, fresh, false)
}

function lease(held: Map<string, Held>, key: string, one: Held, isReused: boolean): Lease {
  one.uses++
  clearTimeout(one.timer)
  const drop = () => {
    if (held.get(key) === one) held.delete(key)
    one.session.close()
  }
  return {
    session: one.session,
    isReused,
    end(isUsable) {
      one.uses--
      if (!isUsable && held.get(key) === one) held.delete(key)
      if (one.uses > 0) return
      if (held.get(key) !== one) return drop()
      one.timer = setTimeout(drop, IDLE_MS)
      one.timer.unref()
    },
  }
}

/** Whether one more may be held; the one that is idle for longest goes. */
function makeRoom(held: Map<string, Held>): boolean {
  if (held.size < MAX_HELD) return true
  for (const [key, one] of held) {
    if (one.uses > 0) continue
    clearTimeout(one.timer)
    held.delete(key)
    one.session.close()
    return true
  }
  return false
}

const LEGACY_KNOWN_MS = 10 * 60_000
const MAX_KNOWN = 1_000
/** When a server was last seen to know no protocol of 2026-07-28 or later, so that it is not asked each time. */
const legacySince = new Map<string, number>()

export function isKnownLegacy({ uid, uri }: Pick<Worker, 'uid' | 'uri'>): boolean {
  return performance.now() - (legacySince.get(`${uid} ${uri}`) ?? Number.NEGATIVE_INFINITY) < LEGACY_KNOWN_MS
}

export function noteProtocol({ uid, uri }: Pick<Worker, 'uid' | 'uri'>, { client }: McpSession): void {
  const key = `${uid} ${uri}`
  if (client.getProtocolEra() !== 'legacy') return void legacySince.delete(key)
  if (isKnownLegacy({ uid, uri })) return
  for (const oldest of legacySince.keys()) if (legacySince.size >= MAX_KNOWN) legacySince.delete(oldest)
  legacySince.delete(key)
  legacySince.set(key, performance.now())
}
