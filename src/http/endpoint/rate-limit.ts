import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'

/** What is remembered at most; past it the oldest is forgotten, which only ever lets through more. */
const MAX_REMEMBERED = 10_000
/** Wrong keys that one address may present a minute. */
const GUESSES_PER_MINUTE = 100

type Milliseconds = () => number
const monotonic: Milliseconds = () => performance.now()

/** Counts a request against its key. Throws `rate_limited`. */
export type Charge = (key: ApiKey) => void

/**
 * So many requests a second for each key, and as many at once: what the key says, else `perSecond`; 0 is any number.
 * Every process counts for itself.
 */
export function createCharge(perSecond: number, now: Milliseconds = monotonic): Charge {
  const buckets = createBuckets(now)
  return ({ id, rateLimit = perSecond }) => {
    if (rateLimit === 0) return
    const seconds = buckets.take(id, rateLimit, rateLimit)
    if (seconds > 0)
      throw new BrokerError('rate_limited', `This key may send ${rateLimit} requests a second. Slow down.`, {
        retryAfter: seconds,
      })
  }
}

/** Counts a key that is none against the address it came from. Throws `rate_limited`; a good key is never counted. */
export type CountGuess = (address: string | undefined) => void

export function createCountGuess(now: Milliseconds = monotonic): CountGuess {
  const buckets = createBuckets(now)
  return (address = '') => {
    const seconds = buckets.take(network(address), GUESSES_PER_MINUTE, GUESSES_PER_MINUTE / 60)
    if (seconds > 0)
      throw new BrokerError(
        'rate_limited',
        'Too many requests with unknown API keys came from your address, and this key is not known here either.',
        { retryAfter: seconds },
      )
  }
}

/** Whoever has an IPv6 address has its /64. */
function network(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':').filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter(Boolean).length
  return [...groups, ...Array<string>(Math.max(missing, 0)).fill('0')].slice(0, 4).join(':')
}

interface Bucket {
  tokens: number
  at: number
}

/** Token buckets by name. */
function createBuckets(now: Milliseconds) {
  const buckets = new Map<string, Bucket>()
  return {
    /** Takes one of at most `size` tokens, which come back at `perSecond`: 0, or in how many seconds there is one. */
    take(name: string, size: number, perSecond: number): number {
      const at = now()
      let bucket = buckets.get(name)
      if (bucket === undefined) {
        if (buckets.size >= MAX_REMEMBERED) buckets.delete(buckets.keys().next().value ?? name)
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
