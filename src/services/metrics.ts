import { createCount, createDistribution, createTallies, type MetricSample } from './tallies.ts'

/**
 * The process's metrics, rendered as text by `operations/installation/metrics.ts`. Labels are ids of providers and policies, and
 * words of closed lists: never a user, a project, a requested path or a secret.
 */
export interface Metrics {
  /** A request for a token was answered. */
  tokenFetched(providerId: string, outcome: TokenFetched): void
  /** A refresh for which this process sent a token request has ended. */
  refreshed(providerId: string, outcome: Refreshed): void
  /** A request to a provider, a worker or a metadata document has ended. */
  requestEnded(kind: string, outcome: string, seconds: number): void
  /** A tool run has ended. `workerType` is `none` for a tool without a worker; `end` is the outcome or the error's kind. */
  toolRan(workerType: string, end: string, seconds: number): void
  authorizationBegan(): void
  authorizationCompleted(): void
  authorizationFailed(reason: string): void
  /** The metrics of one route. The caller keeps the result, so that no request looks them up. */
  route(method: string, route: string): RouteMetrics
  /** A further counter. The name begins with `gatepass_` and ends in `_total`. */
  counter(name: string, help: string, labels?: readonly string[]): Counter
  histogram(name: string, help: string, options: HistogramOptions): Histogram
  /**
   * A value that is read at each scrape; while `read` returns `undefined` or fails, the metric is left out.
   * `aggregator` says how the values of several processes are combined; the default is their sum.
   */
  gauge(name: string, help: string, read: () => Reading | Promise<Reading>, aggregator?: Aggregator): void
  /** Like `gauge`, for a count that another part keeps and that never falls; the name ends in `_total`. */
  counted(name: string, help: string, read: () => Reading): void
  /** The current values of all metrics. */
  families(): Promise<MetricFamily[]>
}

/**
 * How a refresh ended. `superseded`: the user consented again in the meantime; `lost`: no response tells the outcome.
 */
export type Refreshed = 'refreshed' | 'refused' | 'lost' | 'unavailable' | 'superseded' | 'revoked_meanwhile'

/** The outcome of a request for a token. */
export type TokenFetched = 'ready' | 'authorization_required' | 'provider_unavailable' | 'refused'

/** One number, or one for each value of a label. */
export type Reading =
  | number
  | undefined
  | { readonly label: string; readonly values: ReadonlyMap<string, number> }

export interface RouteMetrics {
  answered(status: number, seconds: number): void
}

export interface Counter {
  /** Adds one. The label values are in the order of the counter's labels. */
  increment(...labels: readonly string[]): void
  /** The count of these label values. A caller that increments the count often keeps this object. */
  of(...labels: readonly string[]): { inc(): void }
}

export interface Histogram {
  observe(value: number, ...labels: readonly string[]): void
  /** The histogram of these label values. A caller that observes often keeps this object. */
  of(...labels: readonly string[]): { observe(value: number): void }
}

export interface HistogramOptions {
  readonly labels?: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** A metric in the form of prom-client's registries. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregator: Aggregator
  readonly values: readonly MetricSample[]
}

/** How the values of several processes are combined; `omit`: the metric is left out. */
export type Aggregator = 'sum' | 'max' | 'min' | 'average' | 'first' | 'omit'

/** Upper bounds of the buckets: from a cached token to a long poll of a minute. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const PROVIDER_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics(): Metrics {
  const collectors: (() => Promise<MetricFamily | undefined>)[] = []

  const counter: Metrics['counter'] = (name, help, labels = []) => {
    const counts = createTallies(labels, createCount)
    collectors.push(async () => ({
      name,
      help,
      type: 'counter',
      aggregator: 'sum',
      values: counts.samples(),
    }))
    return { increment: (...values) => counts.of(values).inc(), of: (...values) => counts.of(values) }
  }

  const histogram: Metrics['histogram'] = (name, help, { labels = [], buckets }) => {
    const distributions = createTallies(labels, (values) => createDistribution(name, buckets, values))
    collectors.push(async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: distributions.samples(),
    }))
    return {
      observe: (value, ...values) => distributions.of(values).observe(value),
      of: (...values) => distributions.of(values),
    }
  }

  const reading =
    (type: 'counter' | 'gauge'): Metrics['gauge'] =>
    (name, help, read, aggregator = 'sum') =>
      void collectors.push(async () => {
        const values = toSamples(await read())
        return values && { name, help, type, aggregator, values }
      })

  const requests = counter('gatepass_http_requests_total', 'Requests that were answered', [
    'method',
    'route',
    'status',
  ])
  const latencies = histogram(
    'gatepass_http_request_duration_seconds',
    'From the request to its answer; long polls last as long as they wait',
    { labels: ['method', 'route'], buckets: REQUEST_SECONDS },
  )
  const fetches = counter('gatepass_token_fetches_total', 'Tokens that were asked for', [
    'provider',
    'outcome',
  ])
  const refreshes = counter('gatepass_refreshes_total', 'Refreshes that ended', ['provider', 'outcome'])
  const runs = counter('gatepass_tool_runs_total', 'Runs of tools that ended', ['worker_type', 'end'])
  const runSeconds = histogram(
    'gatepass_tool_run_duration_seconds',
    'From the call of a tool to its end, what it waits for included',
    { labels: ['worker_type'], buckets: REQUEST_SECONDS },
  )
  const outgoing = counter('gatepass_outgoing_requests_total', 'Requests to providers and workers', [
    'kind',
    'outcome',
  ])
  const outgoingLatencies = histogram(
    'gatepass_outgoing_request_duration_seconds',
    'From the request to the end of its answer',
    { labels: ['kind'], buckets: PROVIDER_SECONDS },
  )
  const began = counter('gatepass_authorizations_begun_total', 'Authorizations that began')
  const completed = counter('gatepass_authorizations_completed_total', 'Authorizations that completed')
  const failed = counter('gatepass_authorizations_failed_total', 'Authorizations that failed', ['reason'])

  return {
    tokenFetched: (providerId, outcome) => fetches.increment(providerId, outcome),
    refreshed: (providerId, outcome) => refreshes.increment(providerId, outcome),
    requestEnded(kind, outcome, seconds) {
      outgoing.increment(kind, outcome)
      outgoingLatencies.observe(seconds, kind)
    },
    toolRan(workerType, end, seconds) {
      runs.increment(workerType, end)
      runSeconds.observe(seconds, workerType)
    },
    authorizationBegan: () => began.increment(),
    authorizationCompleted: () => completed.increment(),
    authorizationFailed: (reason) => failed.increment(reason),
    route(method, route) {
      const latency = latencies.of(method, route)
      const counts: ReturnType<Counter['of']>[] = [] // by the first digit of the status
      return {
        answered(status, seconds) {
          const kind = Math.floor(status / 100)
          counts[kind] ??= requests.of(method, route, `${kind}xx`)
          counts[kind].inc()
          latency.observe(seconds)
        },
      }
    },
    counter,
    histogram,
    gauge: reading('gauge'),
    counted: reading('counter'),
    async families() {
      // a value that cannot be read is left out, so that it does not hide the others
      const all = await Promise.all(collectors.map((collect) => collect().catch(() => undefined)))
      return all.filter((family) => family !== undefined)
    },
  }
}

function toSamples(reading: Reading): MetricSample[] | undefined {
  if (reading === undefined) return undefined
  if (typeof reading === 'number') return [{ labels: {}, value: reading }]
  return [...reading.values].map(([label, value]) => ({ labels: { [reading.label]: label }, value }))
}
