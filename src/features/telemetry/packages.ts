import { ConfigError } from '../../config-error.ts'

/** OpenTelemetry's packages: optional dependencies, which are loaded only if a collector is set. */
export type Packages = Awaited<ReturnType<typeof load>>

async function load() {
  const [api, trace, resources, transformer, metrics] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/otlp-transformer'),
    import('@opentelemetry/sdk-metrics'),
  ])
  return { api, trace, resources, transformer, metrics }
}

/** Loads the packages. Throws `ConfigError` if they are not installed. */
export async function loadPackages(): Promise<Packages> {
  try {
    return await load()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new ConfigError([
      'OTEL_EXPORTER_OTLP_ENDPOINT or the endpoint of one signal is set, but the packages of OpenTelemetry are not installed. Install Gatepass without `--omit=optional`, or unset the variable.',
    ])
  }
}
