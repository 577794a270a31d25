// The numbers of counters and histograms. prom-client has them too, but it looks up and checks the label values at each
// observation, which is too slow for the hot path of a token fetch.

/** One number of a metric, in the form of prom-client's registries. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  readonly metricName?: string
}

/** Label values by the names of the labels. */
type Labels = Readonly<Record<string, string>>

/** The number of one combination of label values. */
interface Tally {
  samples(): readonly MetricSample[]
}

/** The count of one combination of label values. */
export interface Count extends Tally {
  inc(): void
}

/** How often values were within each bound, for one combination of label values. */
export interface Distribution extends Tally {
  observe(value: number): void
}

export function createCount(labels: Labels): Count {
  let count = 0
  return {
    inc() {
      count++
    },
    samples: () => [{ labels, value: count }],
  }
}

/** `buckets`: upper bounds, ascending; a value that equals a bound is within it. */
export function createDistribution(name: string, buckets: readonly number[], labels: Labels): Distribution {
  // the last count is for values beyond all bounds
  const counts = new Array<number>(buckets.length + 1).fill(0)
  let sum = 0
  return {
    observe(value) {
      let bucket = 0
      while (bucket < buckets.length && value > (buckets[bucket] ?? 0)) bucket++
      counts[bucket] = (counts[bucket] ?? 0) + 1
      sum += value
    },
    samples() {
      let count = 0
      const within = counts.map((more, i) => {
        count += more
        return { labels: { ...labels, le: buckets[i] ?? '+Inf' }, value: count, metricName: `${name}_bucket` }
      })
      return [
        ...within,
        { labels, value: sum, metricName: `${name}_sum` },
        { labels, value: count, metricName: `${name}_count` },
      ]
    },
  }
}

/** The most combinations of label values of one metric; others count as `other`. There may be many provider ids. */
const MAX_COMBINATIONS = 1_000
const OTHER = 'other'

/** The tallies of one metric by their label values: the first `MAX_COMBINATIONS` of them, and one for all the others. */
export interface Tallies<Kept extends Tally> {
  of(values: readonly string[]): Kept
  samples(): readonly MetricSample[]
}

export function createTallies<Kept extends Tally>(
  names: readonly string[],
  make: (labels: Labels) => Kept,
): Tallies<Kept> {
  const kept = new Map<string, Kept>()

  function of(values: readonly string[]): Kept {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const known = kept.get(key)
    if (known !== undefined) return known
    const isFull = kept.size >= MAX_COMBINATIONS && values.some((value) => value !== OTHER)
    if (isFull) return of(names.map(() => OTHER))
    const made = make(Object.fromEntries(names.map((name, i) => [name, values[i] ?? ''])))
    kept.set(key, made)
    return made
  }

  // a metric without labels has one number, which is shown even while it is 0
  if (names.length === 0) of([])
  return { of, samples: () => [...kept.values()].flatMap((series) => series.samples()) }
}
