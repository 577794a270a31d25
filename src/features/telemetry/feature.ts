import type { Feature } from '../feature.ts'

/**
 * Sends traces and metrics to the collector that OpenTelemetry's variables name. Spans begin in the code that does the
 * work, through services/tracing.ts and services/traced.ts.
 */
export const telemetry: Feature = {
  settings: async () => (await import('./settings.ts')).telemetrySettings,
  observer: async () => (await import('./telemetry.ts')).startTelemetry,
  installationChecks: async () => (await import('./checks.ts')).checkTelemetry,
}
