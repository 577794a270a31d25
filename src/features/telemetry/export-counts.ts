import type { Metrics, Reading } from '../../services/metrics.ts'
import type { SpanLoss } from './tracing.ts'

type Signal = 'traces' | 'metrics'

/** Counts the batches and spans that telemetry sent and lost. `addTo` adds the counts to the metrics, which are made later. */
export function createExportCounts() {
  const batches = {
    sent: new Map<Signal, number>([
      ['traces', 0],
      ['metrics', 0],
    ]),
    failed: new Map<Signal, number>([
      ['traces', 0],
      ['metrics', 0],
    ]),
  }
  const lost = new Map<SpanLoss, number>()
  let capped = 0

  return {
    exported: (signal: Signal, outcome: 'sent' | 'failed') => raise(batches[outcome], signal),
    lost: (reason: SpanLoss, spans: number) => raise(lost, reason, spans),
    capped() {
      capped++
    },
    addTo(metrics: Metrics) {
      const counted = (name: string, help: string, label: string, values: ReadonlyMap<string, number>) =>
        metrics.counted(name, help, (): Reading => ({ label, values }))
      counted(
        'gatepass_telemetry_exports_total',
        'Batches of telemetry that the collector took',
        'signal',
        batches.sent,
      )
      counted(
        'gatepass_telemetry_exports_failed_total',
        'Batches of telemetry that the collector did not take',
        'signal',
        batches.failed,
      )
      counted('gatepass_spans_lost_total', 'Spans that were not sent', 'reason', lost)
      metrics.counted(
        'gatepass_traces_capped_total',
        'Traces that were not recorded because the second had too many',
        () => capped,
      )
    },
  }
}

function raise<Key>(counts: Map<Key, number>, key: Key, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
