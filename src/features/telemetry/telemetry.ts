import { randomUUID } from 'node:crypto'
import type { MetricFamily } from '../../services/metrics.ts'
import type { StartObserver } from '../../services/process-observer.ts'
import { waitAtMost } from '../../services/wait-at-most.ts'
import { createExportCounts } from './export-counts.ts'
import { createOtlpClient, type OtlpClient } from './otlp-client.ts'
import { toOtlp } from './otlp-metrics.ts'
import { loadPackages, type Packages } from './packages.ts'
import { telemetrySettings } from './settings.ts'
import { createTracing } from './tracing.ts'

// Only this folder imports OpenTelemetry, and only `startTelemetry` loads it.

/** Loads OpenTelemetry and begins to send traces. Throws `ConfigError` if its packages are not installed. */
export const startTelemetry: StartObserver = async (settingsOf, { log, version }) => {
  const settings = settingsOf.of(telemetrySettings)
  if (settings === undefined) return undefined
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
    tracing,
    observe(to, read) {
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
