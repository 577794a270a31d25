import { randomUUID } from 'node:crypto'
import { uptime } from 'node:os'
import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import type { RequestGuard } from '../providers/oauth-client.ts'
import type { Lease } from '../store/store.ts'

/**
 * The lease under which one process refreshes a connection. A process may stand still after it has taken the lease: it
 * was stopped, its machine slept or was paused. Then another takes the lease over and uses up the refresh token, and a
 * provider that is sent it once more ends the whole grant. So the holder looks whether it still holds the lease right
 * before the first byte of the request is sent, and gives the request up when the lease runs out.
 */
export interface RefreshLease extends Lease {
  /** For the request, once the lease has been taken. */
  guard(claimed: Connection): Required<RequestGuard>
  /** Why the guard held the request back: the lease is not sure to hold any more, or it could not be looked at. */
  readonly heldBack: 'lapsed' | Error | undefined
  /** The request has ended. */
  end(): void
}

/**
 * Longer than a request that is sent may take (10 s, waiting for a connection included) and its answer takes to be
 * stored, so that a living holder never loses it; that of a dead one lapses.
 */
const LEASE_SECONDS = 25
/** The database counts whole seconds, so up to one less is certain. */
const CERTAIN_MS = (LEASE_SECONDS - 1) * 1000
/** Of the lease, when the request is sent: for the request and for storing its answer. */
const ENOUGH_SECONDS = 12
const LOOK_MS = 500

/** To be made before the lease is taken, so that its own clock ends it no later than the database does. */
export function createRefreshLease({ store, now }: Broker, elapsed = elapsedClock()): RefreshLease {
  const owner = randomUUID()
  const leftMs = () => CERTAIN_MS - elapsed()
  const isEnough = () => leftMs() >= ENOUGH_SECONDS * 1000
  const lapsed = new AbortController()
  let looking: NodeJS.Timeout | undefined
  let heldBack: RefreshLease['heldBack']

  return {
    owner,
    seconds: LEASE_SECONDS,
    guard({ id, generation }) {
      // a timer of the whole length would not count the time for which the machine slept
      looking = setInterval(() => {
        // after the sockets, so that an answer that is there already is read
        if (leftMs() <= 0) setImmediate(() => lapsed.abort())
      }, LOOK_MS).unref()
      return {
        signal: lapsed.signal,
        async isStillWanted() {
          try {
            const left = isEnough()
              ? await store.connections.leaseLeft(id, generation, owner, now())
              : undefined
            // the process may have stood still once more while the database answered
            if (left !== undefined && left >= ENOUGH_SECONDS && isEnough()) return true
            heldBack = 'lapsed'
          } catch (error) {
            heldBack = error instanceof Error ? error : new Error(String(error))
          }
          return false
        },
      }
    },
    get heldBack() {
      return heldBack
    },
    end: () => clearInterval(looking),
  }
}

/**
 * Milliseconds since the call, by whichever clock went on longest: `performance.now()` stands still on Linux while the
 * machine sleeps, the uptime of the machine does not.
 */
export function elapsedClock(): () => number {
  const began = performance.now()
  const beganUp = uptime()
  return () => Math.max(performance.now() - began, (uptime() - beganUp) * 1000)
}
