/**
 * What has happened since the start, in plain numbers: counting on a hot path is one look-up and one addition. They get
 * their Prometheus form when somebody asks (`http/metrics.ts`). Labels are provider ids and words of closed lists,
 * never a user, a project, a path as it was called or anything secret.
 */
export interface Metrics {
  /** An answer to whoever asked for a token. */
  tokenFetched(providerId: string, outcome: TokenFetched): void
  /** How a refresh ended that this process made a token request for. */
  refreshed(providerId: string, outcome: Refreshed): void
  /** A request to a provider, a worker or a metadata document. */
  asked(kind: string, outcome: string, seconds: number): void
  /** A run of a tool, by the type of what runs it (`none`: nothing does) and how it ended: its outcome, or the error's kind. */
  toolRan(workerType: string, end: string, seconds: number): void
  authorizationBegan(): void
  authorizationCompleted(): void
  authorizationFailed(reason: string): void
  /** The cell of one route, to be kept by whoever serves it. */
  route(method: string, route: string): RouteFigures
  /** A figure of its own, for whoever has something to count. The name begins with `gatepass_` and ends as Prometheus asks. */
  counter(name: string, help: string, labels?: readonly string[]): Counter
  histogram(name: string, help: string, options: HistogramOptions): Histogram
  /** Read when it is asked for; absent while `read` answers `undefined`. Over processes it is the sum unless said otherwise. */
  gauge(name: string, help: string, read: () => Reading | Promise<Reading>, over?: Aggregator): void
  /** The same for what is counted elsewhere and only ever grows; its name ends in `_total`. */
  counted(name: string, help: string, read: () => Reading): void
  /** Everything, as it stands. */
  families(): Promise<MetricFamily[]>
}

/** `superseded`: the user consented anew meanwhile; `lost`: its outcome is not known; the rest says itself. */
export type Refreshed = 'refreshed' | 'refused' | 'lost' | 'unavailable' | 'superseded' | 'revoked_meanwhile'

export type TokenFetched = 'ready' | 'authorization_required' | 'provider_unavailable' | 'refused'

/** One number, or one for each value of a label. */
export type Reading =
  | number
  | undefined
  | { readonly label: string; readonly values: ReadonlyMap<string, number> }

export interface RouteFigures {
  answered(status: number, seconds: number): void
}

export interface Counter {
  /** The cell of these label values; one and the same object each time. */
  of(...labels: readonly string[]): Cell
}

export interface Cell {
  value: number
}

export interface Histogram {
  of(...labels: readonly string[]): { observe(value: number): void }
}

export interface HistogramOptions {
  readonly labels?: readonly string[]
  /** Upper bounds, ascending. */
  readonly buckets: readonly number[]
}

/** As prom-client's registries have it; what several processes count is put together by `aggregator`. */
export interface MetricFamily {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly aggregator: Aggregator
  readonly values: readonly MetricSample[]
}

/** How the readings of several processes become one; `omit`: they do not. */
export type Aggregator = 'sum' | 'max' | 'min' | 'average' | 'first' | 'omit'

export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

/** Beyond these, whatever comes new is counted under `other`: ids of providers are many where projects are. */
const MAX_CELLS = 1_000
const OTHER = 'other'

/** From a token out of memory to a long poll of a minute. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const PROVIDER_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics(): Metrics {
  const collectors: (() => MetricFamily | undefined | Promise<MetricFamily | undefined>)[] = []

  const counter: Metrics['counter'] = (name, help, labels = []) => {
    const cells = createCells(labels, () => ({ value: 0 }))
    collectors.push(() => ({
      name,
      help,
      type: 'counter',
      aggregator: 'sum',
      values: cells.all().map(([labels, { value }]) => ({ labels, value })),
    }))
    return cells
  }

  const histogram: Metrics['histogram'] = (name, help, { labels = [], buckets }) => {
    const cells = createCells(labels, () => createDistribution(buckets))
    collectors.push(() => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: cells.all().flatMap(([labels, cell]) => cell.samples(name, labels)),
    }))
    return cells
  }

  const gauge: Metrics['gauge'] = (name, help, read, over = 'sum') =>
    void collectors.push(async () => {
      const values = toSamples(await read())
      return values && { name, help, type: 'gauge', aggregator: over, values }
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
  const began = counter('gatepass_authorizations_begun_total', 'Authorizations that began').of()
  const completed = counter('gatepass_authorizations_completed_total', 'Authorizations that completed').of()
  const failed = counter('gatepass_authorizations_failed_total', 'Authorizations that failed', ['reason'])

  return {
    tokenFetched: (providerId, outcome) => void fetches.of(providerId, outcome).value++,
    refreshed: (providerId, outcome) => void refreshes.of(providerId, outcome).value++,
    asked(kind, outcome, seconds) {
      outgoing.of(kind, outcome).value++
      outgoingLatencies.of(kind).observe(seconds)
    },
    toolRan(workerType, end, seconds) {
      runs.of(workerType, end).value++
      runSeconds.of(workerType).observe(seconds)
    },
    authorizationBegan: () => void began.value++,
    authorizationCompleted: () => void completed.value++,
    authorizationFailed: (reason) => void failed.of(reason).value++,
    route(method, route) {
      const latency = latencies.of(method, route)
      // made when there is one to count, so that a scrape is not full of zeroes
      const byStatus: (Cell | undefined)[] = []
      return {
        answered(status, seconds) {
          const kind = Math.floor(status / 100)
          byStatus[kind] ??= requests.of(method, route, `${kind}xx`)
          byStatus[kind].value++
          latency.observe(seconds)
        },
      }
    },
    counter,
    histogram,
    gauge,
    counted: (name, help, read) =>
      void collectors.push(() => {
        const values = toSamples(read())
        return values && { name, help, type: 'counter', aggregator: 'sum', values }
      }),
    async families() {
      // what cannot be read right now is left out; the rest says why
      const all = await Promise.all(
        collectors.map(async (collect) => collect()).map((one) => one.catch(() => undefined)),
      )
      return all.filter((family) => family !== undefined)
    },
  }
}

function toSamples(reading: Reading): MetricSample[] | undefined {
  if (reading === undefined) return undefined
  if (typeof reading === 'number') return [{ labels: {}, value: reading }]
  return [...reading.values].map(([label, value]) => ({ labels: { [reading.label]: label }, value }))
}

/** One thing for each combination of label values; beyond `MAX_CELLS` of them one for all the others. */
function createCells<T>(names: readonly string[], make: () => T) {
  interface Node {
    readonly next: Map<string, Node>
    cell?: T
  }
  const root: Node = { next: new Map() }
  let count = 0

  function of(...labels: readonly string[]): T {
    let node = root
    for (const label of labels) {
      let next = node.next.get(label)
      if (next === undefined) {
        if (count >= MAX_CELLS && !labels.every((one) => one === OTHER)) return of(...names.map(() => OTHER))
        next = { next: new Map() }
        node.next.set(label, next)
      }
      node = next
    }
    if (node.cell === undefined) {
      node.cell = make()
      count++
    }
    return node.cell
  }

  function all(): (readonly [Record<string, string>, T])[] {
    const found: (readonly [Record<string, string>, T])[] = []
    const walk = (node: Node, labels: readonly string[]) => {
      if (node.cell !== undefined)
        found.push([Object.fromEntries(labels.map((label, i) => [names[i], label])), node.cell])
      for (const [label, next] of node.next) walk(next, [...labels, label])
    }
    walk(root, [])
    return found
  }

  if (names.length === 0) of() // without labels it is there from the start, at zero
  return { of, all }
}

function createDistribution(buckets: readonly number[]) {
  const counts = new Float64Array(buckets.length + 1)
  let sum = 0
  return {
    observe(value: number): void {
      let i = 0
      while (i < buckets.length && value > (buckets[i] as number)) i++ // i is below the length
      counts[i] = (counts[i] ?? 0) + 1
      sum += value
    },
    /** As Prometheus wants them: each bucket holds those below it too. */
    samples(name: string, labels: Readonly<Record<string, string>>): MetricSample[] {
      let count = 0
      const cumulative = [...counts].map((own, i) => {
        count += own
        return { metricName: `${name}_bucket`, labels: { ...labels, le: buckets[i] ?? '+Inf' }, value: count }
      })
      return [
        ...cumulative,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    },
  }
}
