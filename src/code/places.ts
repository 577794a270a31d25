import { BrokerError } from '../domain/errors.ts'

// Every run has a thread and memory of its own, so how many there may be at a time is bounded: for the process, and for
// each key, so that none shuts out the others.

const MAX_RUNS = 16
/** Of what the runs may come to hold together. */
const MAX_MEMORY_MB = 1024
const RETRY_SECONDS = 1

export interface Places {
  /** Answers what gives it back. Throws `rate_limited`. */
  take(apiKeyId: string, memoryMb: number): () => void
  readonly running: number
}

export function createPlaces(): Places {
  const taken = new Set<{ readonly apiKeyId: string; readonly memoryMb: number }>()
  const memory = (of: readonly { readonly memoryMb: number }[]) =>
    of.reduce((sum, { memoryMb }) => sum + memoryMb, 0)

  return {
    get running() {
      return taken.size
    },
    take(apiKeyId, memoryMb) {
      const all = [...taken]
      const own = all.filter((one) => one.apiKeyId === apiKeyId)
      if (own.length >= MAX_RUNS / 2 || memory(own) + memoryMb > MAX_MEMORY_MB / 2)
        throw full('This key has as much code running as it may')
      if (all.length >= MAX_RUNS || memory(all) + memoryMb > MAX_MEMORY_MB)
        throw full('As much code is running as may')
      const place = { apiKeyId, memoryMb }
      taken.add(place)
      return () => void taken.delete(place)
    },
  }
}

function full(what: string): BrokerError {
  return new BrokerError(
    'rate_limited',
    `${what}. Try again in ${RETRY_SECONDS} s, or ask for less memory (limits.memory_mb).`,
    { retryAfter: RETRY_SECONDS },
  )
}
