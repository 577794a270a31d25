import type { Metrics, Reading } from './metrics.ts'
import type { CacheFigures } from './read-cache.ts'

type Caches = Readonly<Record<string, { readonly figures: CacheFigures }>>

/** Adds the metrics of the caches: size, hits, misses and evictions. */
export function addCacheMetrics(metrics: Metrics, caches: Caches): void {
  const each = (figure: (figures: CacheFigures) => number | undefined) => (): Reading => ({
    label: 'cache',
    values: new Map(
      Object.entries(caches).flatMap(([name, { figures }]) => {
        const value = figure(figures)
        return value === undefined ? [] : [[name, value] as const]
      }),
    ),
  })
  metrics.gauge(
    'gatepass_cache_entries',
    'Entries in each cache',
    each(({ entries }) => entries),
  )
  metrics.gauge(
    'gatepass_cache_bytes',
    'Memory of caches that are sized in bytes, estimated',
    each(({ bytes }) => bytes),
  )
  metrics.counted(
    'gatepass_cache_hits_total',
    'Reads that were answered from memory',
    each(({ hits }) => hits),
  )
  metrics.counted(
    'gatepass_cache_misses_total',
    'Reads that had to ask the database',
    each(({ misses }) => misses),
  )
  metrics.counted(
    'gatepass_cache_evictions_total',
    'Values removed to make room for others',
    each(({ evictions }) => evictions),
  )
}
