import type { Config } from '../../config.ts'
import type { Check } from '../../diagnosis/check.ts'
import { tryCollector } from './otlp-client.ts'
import { telemetrySettings } from './settings.ts'

/** Checks that the collector, if one is set, accepts traces and metrics. */
export async function checkTelemetry(config: Config): Promise<Check[]> {
  const telemetry = config.of(telemetrySettings)
  const signals = (['traces', 'metrics'] as const).map(async (signal): Promise<Check[]> => {
    const endpoint = telemetry?.[signal]
    if (endpoint === undefined) return []
    const { origin, pathname } = endpoint.url // a query may hold a key
    const where = `${origin}${pathname}`
    const reason = await tryCollector(endpoint)
    if (reason === undefined)
      return [{ name: 'telemetry', status: 'ok', message: `${where} takes ${signal}` }]
    return [
      {
        name: 'telemetry',
        status: 'warning',
        message: `${where} does not take ${signal}: ${reason}. They are lost; nothing else is affected.`,
        fix: 'Check OTEL_EXPORTER_OTLP_ENDPOINT, _PROTOCOL and _HEADERS, and that the collector takes OTLP over HTTP (port 4318 by default).',
      },
    ]
  })
  return (await Promise.all(signals)).flat()
}
