import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { missingKeys } from '../../services/sealing-keys.ts'
import { Answer } from '../answer.ts'
import { defineOperation } from '../operation.ts'

const tag = 'Operation'

/** The result of a probe is reused for this long, so that frequent health checks do not load the database. */
const PROBE_REUSED_MS = 1_000
/** A database whose commit takes longer counts as not writable. */
const LONGEST_PROBE_MS = 2_000

type Unready = 'shutting_down' | 'database' | 'master_key'

/** Why the process is not ready, if it is not. Made once for a broker, with the metric of the last probe. */
export const readinessOf = perBroker((broker) => {
  const whyUnusable = probe(broker)
  return async (): Promise<Unready | undefined> => {
    // the waiters are closed at the beginning of the shutdown
    if (broker.waiters.closed) return 'shutting_down'
    return whyUnusable()
  }
})

const MESSAGES = {
  shutting_down: 'This process is shutting down. It finishes the requests that it has begun.',
  database: 'The database cannot be written.',
  master_key:
    'Something in the database is sealed with a master key that this process does not have. Restart it with that key as well.',
} as const satisfies Record<Unready, string>

type Unusable = Exclude<Unready, 'shutting_down'>

export const getHealth = defineOperation({
  id: 'getHealth',
  method: 'get',
  path: '/health',
  role: 'public',
  tag,
  summary: 'The process is alive',
  answer: 'Alive',
  output: z.object({ status: z.literal('ok') }),
  run: () => ({ status: 'ok' as const }),
})

export const getReadiness = defineOperation({
  id: 'getReadiness',
  method: 'get',
  path: '/ready',
  role: 'public',
  tag,
  summary:
    'The database can be written, the process has every master key in use, and it is not shutting down',
  answer: 'Ready',
  output: z.object({ ready: z.literal(true) }),
  otherAnswers: {
    503: {
      description: 'Not ready',
      schema: z.object({
        ready: z.literal(false),
        reason: z.enum(['shutting_down', 'database', 'master_key']),
        message: z.string(),
      }),
    },
  },
  async run(broker) {
    const reason = await readinessOf(broker)()
    if (reason === undefined) return { ready: true as const }
    return new Answer({ ready: false, reason, message: MESSAGES[reason] }, { status: 503 })
  },
})

export const getArcadeHealth = defineOperation({
  id: 'getArcadeHealth',
  method: 'get',
  path: '/v1/health',
  role: 'public',
  tag,
  summary: 'Readiness in the form of Arcade’s API',
  answer: 'Healthy',
  output: z.object({ healthy: z.boolean(), reason: z.string().optional() }),
  otherAnswers: {
    503: {
      description: 'Not healthy',
      schema: z.object({ healthy: z.boolean(), reason: z.string().optional() }),
    },
  },
  async run(broker) {
    const reason = await readinessOf(broker)()
    if (reason === undefined) return { healthy: true }
    return new Answer({ healthy: false, reason: MESSAGES[reason] }, { status: 503 })
  },
})

/**
 * Returns a function that probes whether the database accepts a commit and this process has the keys in use. Simultaneous
 * calls share one probe.
 */
function probe({ store, sealer, metrics }: Broker): () => Promise<Unusable | undefined> {
  let fault: Unusable | undefined
  let running: Promise<Unusable | undefined> | undefined
  let probedAt = Number.NEGATIVE_INFINITY

  async function attempt(): Promise<Unusable | undefined> {
    await store.probe()
    return (await missingKeys(store.facts, sealer)).length > 0 ? 'master_key' : undefined
  }

  async function run(): Promise<Unusable | undefined> {
    const timer = Promise.withResolvers<Unusable>()
    const late = setTimeout(() => timer.resolve('database'), LONGEST_PROBE_MS)
    fault = await Promise.race([attempt().catch(() => 'database' as const), timer.promise])
    clearTimeout(late)
    probedAt = performance.now()
    running = undefined
    return fault
  }

  metrics.gauge(
    'gatepass_database_writable',
    'Whether the last probe could commit to the database; 1 or 0',
    () => (fault === 'database' ? 0 : 1),
    'min',
  )
  return async () => {
    if (performance.now() - probedAt < PROBE_REUSED_MS) return fault
    running ??= run()
    return running
  }
}
