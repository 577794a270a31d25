import { BrokerError } from '../../domain/errors.ts'
import { perBroker } from '../../flows/per-broker.ts'

// Each run of code needs a thread and memory, so the number of concurrent runs is limited: for the process, and for each
// API key, so that one key cannot use all slots.

const MAX_RUNS = 16
/** The largest sum of the memory limits of all runs. */
const MAX_MEMORY_MB = 1024
const RETRY_SECONDS = 1

export interface RunSlots {
  /** Takes a slot and returns the function that releases it. Throws `rate_limited` if no slot or memory is free. */
  take(apiKeyId: string, memoryMb: number): () => void
  readonly running: number
}

/** The slots of this process for pieces of code under way. */
export const slotsOf = perBroker((broker) => {
  const slots = createRunSlots()
  broker.metrics.gauge('gatepass_code_running', 'Pieces of code under way', () => slots.running)
  return slots
})

export function createRunSlots(): RunSlots {
  const taken = new Set<{ readonly apiKeyId: string; readonly memoryMb: number }>()
  const memory = (of: readonly { readonly memoryMb: number }[]) =>
    of.reduce((sum, { memoryMb }) => sum + memoryMb, 0)

  return {
    get running() {
      return taken.size
    },
    take(apiKeyId, memoryMb) {
      const all = [...taken]
      const own = all.filter((run) => run.apiKeyId === apiKeyId)
      if (own.length >= MAX_RUNS / 2 || memory(own) + memoryMb > MAX_MEMORY_MB / 2)
        throw full('This API key already runs as much code as one key may')
      if (all.length >= MAX_RUNS || memory(all) + memoryMb > MAX_MEMORY_MB)
        throw full('The server already runs as much code as its limits allow')
      const slot = { apiKeyId, memoryMb }
      taken.add(slot)
      return () => void taken.delete(slot)
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
