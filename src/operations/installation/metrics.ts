import { z } from '@hono/zod-openapi'
import {
  AggregatorRegistry,
  collectDefaultMetrics,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { Broker } from '../../broker.ts'
import { administersInstallation, projectOf } from '../../flows/manage-keys.ts'
import { addCacheMetrics } from '../../services/cache-metrics.ts'
import type { MetricFamily } from '../../services/metrics.ts'
import type { MetricSample } from '../../services/tallies.ts'
import { TextStream } from '../answer.ts'
import { defineOperation } from '../operation.ts'

/** Who may read `/metrics`: `open`, everybody; `key`, every API key; `off`, no one. */
export type MetricsAccess = 'open' | 'key' | 'off'

/** Collects the metrics of all processes; `own` returns those of this process. */
export type Gather = (own: () => Promise<MetricFamily[]>) => Promise<readonly MetricFamily[][]>

export interface MetricsOptions {
  readonly access: MetricsAccess
  /** Set if several processes serve together. */
  readonly gather?: Gather
}

/** The labels whose values projects choose. */
const NAMES = ['provider', 'policy']

let nodeMetrics: Registry | undefined

/** How long a count is reused: it reads the database, and several scrapers may request it. */
const COUNTED_MS = 5_000

/** `/metrics` in Prometheus' text format: the metrics of all processes of this machine that serve together. */

export const createGetMetrics = ({ access, gather = async (own) => [await own()] }: MetricsOptions) =>
  defineOperation({
    id: 'getMetrics',
    method: 'get',
    path: '/metrics',
    role: access === 'key' ? 'readonly' : 'public',
    tag: 'Operation',
    summary: 'Metrics for Prometheus',
    description:
      'They name no user and no project, and hold no secret. GATEPASS_METRICS says who may read them: `open`, `key` or `off`. A key of the project `default` sees the providers and policies of all projects; one of another project sees their sums, under `other`.',
    answer: "Prometheus' text format, version 0.0.4",
    output: z.string(),
    mediaType: 'text/plain',
    async run(broker, { caller }) {
      const gathered = await gather(() => ownMetrics(broker))
      const seesAll = access === 'open' || administersInstallation(await projectOf(broker, caller))
      const visible = seesAll ? gathered : gathered.map((families) => families.map(withoutNames))
      const registry = merge(visible)
      return new TextStream(registry.contentType, await registry.metrics())
    },
  })

/** Sums the values of all names that projects chose, under `other`. Removes gauges, which cannot be added. */
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

/** The metrics of this process: those of the broker and those of Node. */
export async function ownMetrics(broker: Broker): Promise<MetricFamily[]> {
  return [...(await broker.metrics.families()), ...(await metricsOfNode().getMetricsAsJSON()).map(toFamily)]
}

/**
 * The sums of the counters and histograms of ended processes. Without them a counter would fall when a process ends.
 */
export async function sumOfCounters(all: readonly MetricFamily[][]): Promise<MetricFamily[]> {
  const counters = all.map((families) =>
    families.filter(({ type, aggregator }) => type !== 'gauge' && aggregator === 'sum'),
  )
  return (await merge(counters).getMetricsAsJSON()).map(toFamily)
}

/** The metrics of Node itself. Their collection starts at the first scrape, because it monitors the event loop. */
function metricsOfNode(): Registry {
  if (nodeMetrics === undefined) {
    nodeMetrics = new Registry()
    collectDefaultMetrics({ register: nodeMetrics })
  }
  return nodeMetrics
}

function merge(all: readonly MetricFamily[][]): Registry {
  // all metrics of a single process are shown, also those with the aggregator `omit`
  if (all.length === 1)
    all = all.map((families) => families.map((family) => ({ ...family, aggregator: 'first' })))
  // the type of `aggregate` is an array of metrics, but the function takes one such array for each process
  return AggregatorRegistry.aggregate(all.map((families) => [...families]) as object[])
}

/** prom-client's type of the result of `getMetricsAsJSON` lacks the values. */
function toFamily(metric: object): MetricFamily {
  return metric as MetricObjectWithValues<MetricValue<string>> & MetricFamily
}

export function addGauges(broker: Broker, version: string): void {
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
  addCacheMetrics(metrics, cache)
  // every process counts the same rows of the database, so the counts are not added
  metrics.gauge('gatepass_authorizations_pending', 'Authorizations under way', countLive(broker), 'max')
  metrics.gauge('gatepass_uses_waiting', 'Last-used times that are to be written', () => uses.waiting)
  metrics.counted(
    'gatepass_uses_dropped_total',
    'Last-used times that could not be written in time',
    () => uses.dropped,
  )
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
