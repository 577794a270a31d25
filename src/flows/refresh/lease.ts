import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { Connection } from '../../domain/connection.ts'
import type { RequestGuard } from '../../providers/token-request.ts'
import { elapsedClock } from '../../services/elapsed-clock.ts'
import type { Lease } from '../../store/lease.ts'

/**
 * The lease under which one process refreshes a connection. A process may be suspended after it has taken the lease, for
 * example because its machine sleeps. Then another process takes the lease over and uses the refresh token, and a provider
 * that receives that token a second time ends the whole grant. So the holder checks that it still holds the lease right
 * before the first byte of the request is sent, and aborts the request when the lease runs out.
 */
export interface RefreshLease extends Lease {
  /** The guard of the request. To be called once the lease has been taken. */
  guard(claimed: Connection): Required<RequestGuard>
  /**
   * Why the guard held the request back: `lapsed` when too little is left of the lease, an error when the database
   * could not be asked.
   */
  readonly heldBack: 'lapsed' | Error | undefined
  /** To be called when the request has ended. */
  end(): void
}

/**
 * Longer than a request (10 s, including the wait for a connection) and storing its answer take, so that a running
 * process never loses its lease; the lease of a dead process lapses.
 */
const LEASE_SECONDS = 25
/** The part of the lease that is certain: the database counts whole seconds, so up to one second is missing. */
const CERTAIN_MS = (LEASE_SECONDS - 1) * 1000
/** How much of the lease must be left when the request is sent: enough for the request and for storing its answer. */
const ENOUGH_SECONDS = 12
const CHECK_MS = 500

/** To be called before the lease is taken: by this process's clock the lease then ends no later than by the database's. */
export function createRefreshLease(
  { store, now }: Pick<Broker, 'store' | 'now'>,
  elapsed = elapsedClock(),
): RefreshLease {
  const owner = randomUUID()
  const leftMs = () => CERTAIN_MS - elapsed()
  const isEnough = () => leftMs() >= ENOUGH_SECONDS * 1000
  const lapsed = new AbortController()
  let checking: NodeJS.Timeout | undefined
  let heldBack: RefreshLease['heldBack']

  return {
    owner,
    seconds: LEASE_SECONDS,
    guard({ id, generation }) {
      // one timer for the whole lease would not count the time during which the machine slept
      checking = setInterval(() => {
        // after the sockets were read, so that an answer that has already arrived is not lost
        if (leftMs() <= 0) setImmediate(() => lapsed.abort())
      }, CHECK_MS).unref()
      return {
        signal: lapsed.signal,
        async isStillWanted() {
          try {
            const left = isEnough()
              ? await store.connections.leaseLeft(id, generation, owner, now())
              : undefined
            // the process may have been suspended once more while the database answered
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
    end: () => clearInterval(checking),
  }
}
