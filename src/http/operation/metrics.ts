import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Broker } from '../../broker.ts'
import { administersInstallation, projectOf } from '../../flows/manage-keys.ts'
import type { MetricFamily, MetricSample } from '../../services/metrics.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'

/** Who may read `/metrics`: anybody, whoever has an API key, nobody. */
export type MetricsAccess = 'open' | 'key' | 'off'

/** Asks every process for its figures; this one's own are `own`. */
export type Gather = (own: () => Promise<MetricFamily[]>) => Promise<readonly MetricFamily[][]>

export interface MetricsOptions {
  readonly version: string
  readonly access: MetricsAccess
  /** Where several processes are one Gatepass. */
  readonly gather?: Gather
}

/** `/metrics` in Prometheus' text form: the figures of all processes of this machine that serve together. */
export function addMetrics(
  add: AddEndpoint,
  broker: Broker,
  { version, access, gather = async (own) => [await own()] }: MetricsOptions,
): void {
  addFigures(broker, version)
  if (access === 'off') return
  add(
    {
      method: 'get',
      path: '/metrics',
      role: access === 'key' ? 'readonly' : 'public',
      tag: 'Operation',
      summary: 'Figures for Prometheus',
      description:
        'No user, no project and nothing secret is in them. GATEPASS_METRICS says who may read them: `open`, `key` or `off`. A key of the project `default` sees the providers and policies of all projects; one of another project sees their sums, under `other`.',
      responses: { 200: { description: 'text/plain; version=0.0.4' } },
    },
    async ({ c, caller }) => {
      const gathered = await gather(() => ownFigures(broker))
      const seesAll = access === 'open' || administersInstallation(await projectOf(broker, caller))
      const figures = seesAll ? gathered : gathered.map((families) => families.map(withoutNames))
      const registry = merge(figures)
      return c.body(await registry.metrics(), 200, { 'content-type': registry.contentType })
    },
  )
}

/** What projects have named. */
const NAMES = ['provider', 'policy']

/** The sums over what projects have named; of a state, which has no sum, nothing. */
function withoutNames(family: MetricFamily): MetricFamily {
  const isNamed = family.values.some(({ labels }) => NAMES.some((name) => name in labels))
  if (!isNamed) return family
  if (family.type === 'gauge') return { ...family, values: [] }
  const sums = new Map<string, MetricSample>()
  for (const sample of family.values) {
    const labels = { ...sample.labels }
    for (const name of NAMES) if (name in labels) labels[name] = 'other'
    const key = JSON.stringify([sample.metricName, labels])
    sums.set(key, { ...sample, labels, value: (sums.get(key)?.value ?? 0) + sample.value })
  }
  return { ...family, values: [...sums.values()] }
}

/** Of this process: what the broker counts, and what Node says of itself. */
export async function ownFigures(broker: Broker): Promise<MetricFamily[]> {
  return [...(await broker.metrics.families()), ...(await metricsOfNode().getMetricsAsJSON()).map(toFamily)]
}

/** The sum of what processes that have ended had counted: what only ever grows must not fall when one ends. */
export async function sumOfCounters(all: readonly MetricFamily[][]): Promise<MetricFamily[]> {
  const counters = all.map((one) =>
    one.filter(({ type, aggregator }) => type !== 'gauge' && aggregator === 'sum'),
  )
  return (await merge(counters).getMetricsAsJSON()).map(toFamily)
}

let nodeMetrics: Registry | undefined

/** The metrics of Node itself. They are collected from the first scrape on, since they watch the event loop. */
function metricsOfNode(): Registry {
  if (nodeMetrics === undefined) {
    nodeMetrics = new Registry()
    collectDefaultMetrics({ register: nodeMetrics })
  }
  return nodeMetrics
}

function merge(all: readonly MetricFamily[][]): Registry {
  // what says nothing of several says something of one
  if (all.length === 1) all = all.map((one) => one.map((family) => ({ ...family, aggregator: 'first' })))
  // its types ask for an array of metrics, where it takes an array of such arrays, one for each process
  return AggregatorRegistry.aggregate(all.map((one) => [...one]) as unknown as object[])
}

/** prom-client's own types of what `getMetricsAsJSON` answers leave out the values. */
function toFamily(metric: object): MetricFamily {
  return metric as MetricObjectWithValues<MetricValue<string>> & MetricFamily
}

function addFigures(broker: Broker, version: string): void {
  const { metrics, waiters, refreshes, cache, audit, uses, history } = broker
  metrics.gauge('gatepass_processes', 'Processes that serve together', () => 1)
  metrics.gauge(
    'gatepass_build_info',
    'The release that runs',
    () => ({ label: 'version', values: new Map([[version, 1]]) }),
    'first',
  )
  metrics.gauge('gatepass_waiters', 'Long polls and event streams that wait', () => waiters.count)
  metrics.gauge('gatepass_refreshes_running', 'Refreshes under way', () => refreshes.running.size)
  metrics.gauge('gatepass_cache_entries', 'What is held in memory', () => ({
    label: 'cache',
    values: new Map([
      ['connections', cache.connections.size],
      ['providers', cache.providers.size],
      ['tools', cache.tools.size],
      ['workers', cache.workers.size],
    ]),
  }))
  // each process counts the same rows
  metrics.gauge('gatepass_authorizations_pending', 'Authorizations under way', countLive(broker), 'max')
  metrics.gauge('gatepass_uses_waiting', 'Last-used times that are to be written', () => uses.waiting)
  metrics.gauge(
    'gatepass_executions_waiting',
    'Runs that are to be written into the history',
    () => history.waiting,
  )
  metrics.gauge(
    'gatepass_audit_waiting',
    'Releases of tokens that wait for their commit',
    () => audit.waiting,
  )
}

/** How long a count is good: it reads an index, and scrapes may come from many. */
const COUNTED_MS = 5_000

function countLive({ store, now }: Broker): () => Promise<number> {
  let countedAt = Number.NEGATIVE_INFINITY
  let live = Promise.resolve(0)

  async function count(): Promise<number> {
    let sum = 0
    for (const { id } of await store.projects.list()) sum += await store.authorizations.countLive(id, now())
    return sum
  }

  return () => {
    if (performance.now() - countedAt > COUNTED_MS) {
      countedAt = performance.now()
      live = count()
    }
    return live
  }
}
