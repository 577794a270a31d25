import type { HrTime } from '@opentelemetry/api'
import type { DataPoint, MetricData } from '@opentelemetry/sdk-metrics'
import type { MetricFamily } from '../../services/metrics.ts'
import type { MetricSample } from '../../services/tallies.ts'
import type { Packages } from './packages.ts'

type HistogramValue = Extract<MetricData, { dataPointType: 0 }>['dataPoints'][number]['value']

/**
 * Converts the metrics of `/metrics` to OTLP, with the same names. Counts are cumulative since `startedAt`, the start
 * of the process. Times are in milliseconds since 1970.
 */
export function toOtlp(
  { metrics: { AggregationTemporality, DataPointType }, api }: Pick<Packages, 'metrics' | 'api'>,
  families: readonly MetricFamily[],
  { startedAt, now }: { readonly startedAt: number; readonly now: number },
): MetricData[] {
  const times = { startTime: toHrTime(startedAt), endTime: toHrTime(now) }
  return families.map((family): MetricData => {
    const { name, help, type } = family
    const base = {
      descriptor: { name, description: help, unit: '', valueType: api.ValueType.DOUBLE },
      aggregationTemporality: AggregationTemporality.CUMULATIVE,
    }
    if (type === 'histogram') {
      const dataPoints = distributionsOf(family).map((distribution) => ({ ...times, ...distribution }))
      return { ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints }
    }
    const dataPoints = family.values.map(
      ({ labels, value }): DataPoint<number> => ({ ...times, attributes: { ...labels }, value }),
    )
    if (type === 'counter')
      return { ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    return { ...base, dataPointType: DataPointType.GAUGE, dataPoints }
  })
}

/** Prometheus counts the values up to each bound, OTLP those between two bounds. */
function distributionsOf({ name, values }: MetricFamily) {
  const byLabels = new Map<string, { readonly attributes: MetricSample['labels']; value: HistogramValue }>()
  for (const { labels, value, metricName } of values) {
    const { le, ...attributes } = labels
    const key = JSON.stringify(attributes)
    const found = byLabels.get(key) ?? { attributes, value: emptyDistribution() }
    byLabels.set(key, found)
    const { buckets } = found.value
    if (metricName === `${name}_sum`) found.value.sum = value
    else if (metricName === `${name}_count`) found.value.count = value
    else {
      const below = buckets.counts.reduce((sum, count) => sum + count, 0)
      buckets.counts.push(value - below)
      if (le !== '+Inf') buckets.boundaries.push(Number(le))
    }
  }
  return [...byLabels.values()].map(({ attributes, value }) => ({ attributes: { ...attributes }, value }))
}

function emptyDistribution(): HistogramValue {
  return { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 }
}

function toHrTime(milliseconds: number): HrTime {
  const seconds = Math.trunc(milliseconds / 1000)
  return [seconds, Math.round((milliseconds - seconds * 1000) * 1e6)]
}
