import { randomUUID } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import type { MetricFamily, Metrics } from '../services/metrics.ts'
import type { Tracing } from '../services/tracing.ts'
import type { TelemetrySettings } from '../settings/telemetry.ts'
import { createOtlpClient, type OtlpClient } from './otlp-client.ts'
import { toOtlp } from './otlp-metrics.ts'
import { loadPackages, type Packages } from './packages.ts'
import { createTracing, type SpanLoss } from './tracing.ts'

// Sends traces and metrics to the collector that OpenTelemetry's variables name. This folder alone imports
// OpenTelemetry, and only `startTelemetry` loads it. What is a span is decided where the work is done, by
// services/tracing.ts and services/traced.ts.

/** The telemetry of one process. */
export interface Telemetry {
  /** Absent where traces are not sent. */
  readonly tracing?: Tracing
  /** Sends the metrics from now on, and adds figures of the telemetry itself to them. */
  sendMetrics(metrics: Metrics, read: () => Promise<readonly MetricFamily[]>): void
  /** Sends what waits, for at most `ms`. What is not sent by then is lost. */
  close(ms: number): Promise<void>
}

export interface TelemetryParts {
  readonly log: Log
  readonly version: string
}

/** Throws `ConfigError` where OpenTelemetry's packages are not installed. */
export async function startTelemetry(
  settings: TelemetrySettings,
  { log, version }: TelemetryParts,
): Promise<Telemetry> {
  const packages = await loadPackages()
  const startedAt = Date.now() - performance.now()
  const resource = packages.resources.resourceFromAttributes({
    'service.version': version,
    'service.instance.id': randomUUID(),
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry',
    ...settings.resource,
  })
  const figures = createFigures()
  const clients: OtlpClient[] = []
  const clientOf = (signal: 'traces' | 'metrics', endpoint: Parameters<typeof createOtlpClient>[1]) => {
    const client = createOtlpClient(signal, endpoint, {
      log,
      ended: (outcome) => figures.exported(signal, outcome),
    })
    clients.push(client)
    return client
  }
  const { traces, metrics } = settings
  const tracing =
    traces &&
    createTracing({
      packages,
      settings: traces,
      resource,
      version,
      client: clientOf('traces', traces),
      onLost: figures.lost,
      onCapped: figures.capped,
    })
  const metricsClient = metrics && clientOf('metrics', metrics)
  let timer: NodeJS.Timeout | undefined
  let sending: Promise<void> | undefined
  let readMetrics = async (): Promise<readonly MetricFamily[]> => []

  async function send(): Promise<void> {
    if (metrics === undefined || metricsClient === undefined) return
    const body = serialized(packages, metrics.protocol, {
      resource,
      scopeMetrics: [
        {
          scope: { name: 'gatepass', version },
          metrics: toOtlp(packages, await readMetrics(), { startedAt, now: Date.now() }),
        },
      ],
    })
    if (body !== undefined) await metricsClient.send(body)
  }

  /** One at a time. */
  function sendOnce(): Promise<void> {
    sending ??= send()
      .catch((error: unknown) => log.error({ error }, 'metrics could not be read for the collector'))
      .finally(() => {
        sending = undefined
      })
    return sending
  }

  return {
    ...(tracing && { tracing }),
    sendMetrics(to, read) {
      figures.addTo(to)
      readMetrics = read
      if (metrics !== undefined) timer = setInterval(() => void sendOnce(), metrics.intervalMs).unref()
    },
    async close(ms) {
      clearInterval(timer)
      const enough = new AbortController()
      const over = new Promise<void>((resolve) => {
        const limit = setTimeout(resolve, Math.max(ms, 0))
        enough.signal.addEventListener('abort', () => clearTimeout(limit))
      })
      const flushed = Promise.allSettled([tracing?.flush(), timer && sendOnce()])
      await Promise.race([flushed, over])
      enough.abort()
      // what is still under way is cut off, so that an unreachable collector does not keep the process alive
      await Promise.allSettled(clients.map((client) => client.close()))
    },
  }
}

function serialized(
  { transformer: { JsonMetricsSerializer, ProtobufMetricsSerializer } }: Packages,
  protocol: string,
  batch: Parameters<typeof ProtobufMetricsSerializer.serializeRequest>[0],
): Uint8Array | undefined {
  const serializer = protocol === 'http/json' ? JsonMetricsSerializer : ProtobufMetricsSerializer
  return serializer.serializeRequest(batch)
}

/** Figures of the telemetry itself, counted from its start and shown once there are metrics to add them to. */
function createFigures() {
  const exports_ = { traces: { sent: 0, failed: 0 }, metrics: { sent: 0, failed: 0 } }
  const lost = new Map<string, number>()
  let capped = 0
  return {
    exported(signal: 'traces' | 'metrics', outcome: 'sent' | 'failed') {
      exports_[signal][outcome]++
    },
    lost(why: SpanLoss, spans: number) {
      lost.set(why, (lost.get(why) ?? 0) + spans)
    },
    capped() {
      capped++
    },
    addTo(metrics: Metrics) {
      metrics.counted(
        'gatepass_telemetry_exports_total',
        'Batches of telemetry that were sent to the collector',
        () => ({
          label: 'signal',
          values: new Map([
            ['traces', exports_.traces.sent],
            ['metrics', exports_.metrics.sent],
          ]),
        }),
      )
      metrics.counted(
        'gatepass_telemetry_exports_failed_total',
        'Batches of telemetry that the collector did not take',
        () => ({
          label: 'signal',
          values: new Map([
            ['traces', exports_.traces.failed],
            ['metrics', exports_.metrics.failed],
          ]),
        }),
      )
      metrics.counted('gatepass_spans_lost_total', 'Spans that were not sent', () => ({
        label: 'reason',
        values: lost,
      }))
      metrics.counted(
        'gatepass_traces_capped_total',
        'Traces that were not recorded because a second has too many of them',
        () => capped,
      )
    },
  }
}
