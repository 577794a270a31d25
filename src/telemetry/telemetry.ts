import { randomUUID } from 'node:crypto'
import type { Log } from '../domain/log.ts'
import type { MetricFamily, Metrics } from '../services/metrics.ts'
import type { Tracing } from '../services/tracing.ts'
import { waitAtMost } from '../services/wait-at-most.ts'
import type { TelemetrySettings } from '../settings/telemetry.ts'
import { createExportCounts } from './export-counts.ts'
import { createOtlpClient, type OtlpClient } from './otlp-client.ts'
import { toOtlp } from './otlp-metrics.ts'
import { loadPackages, type Packages } from './packages.ts'
import { createTracing } from './tracing.ts'

// Sends traces and metrics to the collector that OpenTelemetry's variables name. Only this folder imports OpenTelemetry,
// and only `startTelemetry` loads it. Spans begin in the code that does the work, through services/tracing.ts
// and services/traced.ts.

/** The telemetry of one process. */
export interface Telemetry {
  /** Absent if traces are not sent. */
  readonly tracing?: Tracing
  /** Sends the metrics at intervals, and adds the counts of the telemetry itself to them. */
  sendMetrics(metrics: Metrics, read: () => Promise<readonly MetricFamily[]>): void
  /** Sends the queued spans and metrics for at most `ms`. Those not sent by then are lost. */
  close(ms: number): Promise<void>
}

export interface TelemetryParts {
  readonly log: Log
  readonly version: string
}

/** Loads OpenTelemetry and begins to send traces. Throws `ConfigError` if its packages are not installed. */
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
  const exportCounts = createExportCounts()
  const clients: OtlpClient[] = []
  const clientOf = (signal: 'traces' | 'metrics', endpoint: Parameters<typeof createOtlpClient>[1]) => {
    const client = createOtlpClient(signal, endpoint, {
      log,
      ended: (outcome) => exportCounts.exported(signal, outcome),
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
      onLost: exportCounts.lost,
      onCapped: exportCounts.capped,
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

  /** Sends the metrics. A call while they are being sent returns the promise of the first call. */
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
      exportCounts.addTo(to)
      readMetrics = read
      if (metrics !== undefined) timer = setInterval(() => void sendOnce(), metrics.intervalMs).unref()
    },
    async close(ms) {
      clearInterval(timer)
      const lastMetrics = async () => {
        await sending // its metrics were read earlier
        await sendOnce()
      }
      await waitAtMost(ms, Promise.allSettled([tracing?.flush(), timer && lastMetrics()]))
      // requests that are still under way are aborted, so that an unreachable collector does not keep the process alive
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
