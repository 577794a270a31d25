import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import { maxEntries } from '../../services/cache-size.ts'
import { clientNetwork } from './network.ts'

/** The most buckets in memory. A new one replaces the least recently used, whose owner then gets a full bucket. */
const MAX_BUCKETS = 10_000
/** The unknown credentials that one address may send in a minute. */
const GUESSES_PER_MINUTE = 100

type Milliseconds = () => number
const monotonic: Milliseconds = () => performance.now()

/** Counts a request against its key, or against the owner of an access token. Throws `rate_limited`. */
export type Charge = (by: Pick<ApiKey, 'id' | 'rateLimit'>) => void

/**
 * Limits the requests of each key to its own rate, else to `perSecond`, with a burst of the same number; 0 is no limit.
 * Every process counts its own requests.
 */
export function createCharge(perSecond: number, now: Milliseconds = monotonic): Charge {
  const buckets = createBuckets(now)
  return ({ id, rateLimit = perSecond }) => {
    if (rateLimit === 0) return
    const seconds = buckets.take(id, rateLimit, rateLimit)
    if (seconds > 0)
      throw new BrokerError(
        'rate_limited',
        `More than ${rateLimit} requests a second came with this credential. Slow down.`,
        {
          retryAfter: seconds,
        },
      )
  }
}

/**
 * Counts an unknown credential (an API key, the token of a connect session, an access token) against the address that
 * sent it. Throws `rate_limited`. Known credentials are not counted.
 */
export type CountGuess = (address: string | undefined) => void

export function createCountGuess(now: Milliseconds = monotonic): CountGuess {
  const buckets = createBuckets(now)
  return (address = '') => {
    const seconds = buckets.take(clientNetwork(address), GUESSES_PER_MINUTE, GUESSES_PER_MINUTE / 60)
    if (seconds > 0)
      throw new BrokerError(
        'rate_limited',
        'Too many requests with unknown credentials came from your address, and the credential of this request is unknown too.',
        { retryAfter: seconds },
      )
  }
}

/**
 * Limits the requests of each address to `perSecond`, with a burst of `burst`. Returns 0 if the request is allowed,
 * else the seconds after which the address may send another.
 */
export function createAddressLimit(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  now: Milliseconds = monotonic,
): (address: string | undefined) => number {
  const buckets = createBuckets(now)
  return (address = '') => buckets.take(clientNetwork(address), burst, perSecond)
}

interface Bucket {
  tokens: number
  at: number
}

/** Token buckets by name. */
function createBuckets(now: Milliseconds) {
  const buckets = new LRUCache<string, Bucket>(maxEntries(MAX_BUCKETS))
  return {
    /** Takes a token from a bucket of `size`, refilled at `perSecond`. Returns 0, or the seconds until there is one. */
    take(name: string, size: number, perSecond: number): number {
      const at = now()
      let bucket = buckets.get(name)
      if (bucket === undefined) {
        bucket = { tokens: size, at }
        buckets.set(name, bucket)
      }
      bucket.tokens = Math.min(size, bucket.tokens + ((at - bucket.at) / 1000) * perSecond)
      bucket.at = at
      if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond
      bucket.tokens--
      return 0
    },
  }
}

/** The limits of requests that have another token than an API key. */
export interface RequestLimits {
  readonly charge: Charge
  readonly countGuess: CountGuess
}
