import { isDeepStrictEqual } from 'node:util'
import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { missingKeys } from '../../services/sealing-keys.ts'
import type { SilentWorker } from '../../store/store.ts'
import { Answer } from '../answer.ts'
import { defineOperation } from '../operation.ts'

const tag = 'Operation'

/** The result of a probe is reused for this long, so that frequent health checks do not load the database. */
const PROBE_REUSED_MS = 1_000
/** A database whose commit takes longer counts as not writable. */
const LONGEST_PROBE_MS = 2_000

type Unready = 'shutting_down' | 'database' | 'master_key'

/** Why the process is not ready, if it is not. Made once for a broker, with the metrics of the last probe. */
export const readinessOf = perBroker((broker) => {
  const { whyUnusable } = probeOf(broker)
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
    'The database can be written, the process has every master key in use, and it is not shutting down. A worker of a distributed database that does not answer is named: all users but those whose connections it holds are served',
  answer: 'Ready',
  output: z.object({ ready: z.literal(true), unavailable_database_workers: z.array(z.string()).optional() }),
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
    const { silentWorkers } = probeOf(broker)
    if (reason === undefined)
      return {
        ready: true as const,
        ...(silentWorkers.length > 0 && {
          unavailable_database_workers: silentWorkers.map(({ name }) => name),
        }),
      }
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

interface Probe {
  /** Why the database or the keys cannot be used; `undefined`: they can. */
  readonly whyUnusable: () => Promise<Unusable | undefined>
  /** The workers of the database that did not answer the last probe. */
  readonly silentWorkers: readonly SilentWorker[]
}

/**
 * Probes whether the database accepts a commit, this process has the keys in use, and the workers of the database answer.
 * Simultaneous calls share one probe.
 */
const probeOf = perBroker(({ store, sealer, metrics, log }: Broker): Probe => {
  let silentWorkers: readonly SilentWorker[] = []
  let fault: Unusable | undefined
  let running: Promise<Unusable | undefined> | undefined
  let probedAt = Number.NEGATIVE_INFINITY

  async function attempt(): Promise<Unusable | undefined> {
    await store.probe()
    return (await missingKeys(store.facts, sealer)).length > 0 ? 'master_key' : undefined
  }

  async function askWorkers(): Promise<void> {
    const silent = await store.findSilentWorkers?.()
    if (silent === undefined || isDeepStrictEqual(silent, silentWorkers)) return
    silentWorkers = silent
    const addresses = silent.map(({ address }) => address)
    if (addresses.length > 0) log.error({ workers: addresses }, 'workers of the database do not answer')
    else log.info({}, 'all workers of the database answer again')
  }

  async function run(): Promise<Unusable | undefined> {
    const timer = Promise.withResolvers<Unusable>()
    const late = setTimeout(() => timer.resolve('database'), LONGEST_PROBE_MS)
    const asked = askWorkers().catch(() => {}) // the coordinator does not answer: `attempt` fails too
    fault = await Promise.race([attempt().catch(() => 'database' as const), timer.promise])
    await Promise.race([asked, timer.promise])
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
  if (store.findSilentWorkers !== undefined)
    metrics.gauge(
      'gatepass_database_workers_unavailable',
      'Workers of a distributed database that did not answer the last probe',
      () => silentWorkers.length,
      'max',
    )
  return {
    async whyUnusable() {
      if (performance.now() - probedAt < PROBE_REUSED_MS) return fault
      running ??= run()
      return running
    },
    get silentWorkers() {
      return silentWorkers
    },
  }
})
