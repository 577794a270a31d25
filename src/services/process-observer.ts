import type { Log } from '../domain/log.ts'
import type { FeatureSettings } from './feature-settings.ts'
import type { MetricFamily, Metrics } from './metrics.ts'
import type { Tracing } from './tracing.ts'

/** Records the work of one process. It begins before the broker opens, and ends after the server's last request. */
export interface ProcessObserver {
  /** Absent if it records no spans. */
  readonly tracing?: Tracing | undefined
  /** Begins to read the metrics of the process, and may add its own. */
  observe(metrics: Metrics, read: () => Promise<readonly MetricFamily[]>): void
  /** Finishes within `ms`. What it has not passed on by then is lost. */
  close(ms: number): Promise<void>
}

/** Returns `undefined` where the settings ask for none. Throws `ConfigError` where it cannot begin. */
export type StartObserver = (
  settings: { of<Value>(settings: FeatureSettings<Value>): Value },
  parts: { readonly log: Log; readonly version: string },
) => Promise<ProcessObserver | undefined>
