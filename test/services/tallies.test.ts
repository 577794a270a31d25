import { Counter, Histogram } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../src/services/metrics.ts'

interface Sample {
  readonly labels: object
  readonly value: number
  readonly metricName?: string
}

/** Samples in one order, whichever way their labels are ordered. */
function sorted(values: readonly Sample[]): string[] {
  const flat = values.map(({ labels, value, metricName, ...rest }: Sample) => {
    expect(Object.keys(rest).filter((name) => name !== 'exemplar')).toEqual([])
    return JSON.stringify([metricName ?? '', Object.entries(labels).sort(), value])
  })
  return flat.sort()
}

async function familyOf(metrics: ReturnType<typeof createMetrics>, name: string) {
  const family = (await metrics.families()).find((one) => one.name === name)
  if (family === undefined) throw new Error(`no metric ${name}`)
  return family
}

describe('counters and histograms give the numbers that prom-client would', () => {
  test('a histogram: bounds belong to their bucket, buckets hold those below them', async () => {
    const [name, help, buckets] = ['gatepass_test_seconds', 'A test', [0.1, 1, 5]]
    const reference = new Histogram({ name, help, buckets, labelNames: ['kind'], registers: [] })
    const metrics = createMetrics()
    const own = metrics.histogram(name, help, { labels: ['kind'], buckets })
    for (const value of [0, 0.1, 0.100001, 1, 4.9, 5, 5.1, 60])
      for (const kind of value > 1 ? ['slow'] : ['slow', 'quick']) {
        reference.labels(kind).observe(value)
        own.observe(value, kind)
      }
    const family = await familyOf(metrics, name)
    expect(sorted(family.values)).toEqual(sorted((await reference.get()).values))
    expect(family).toMatchObject({ type: 'histogram', help, aggregator: 'sum' })
  })

  test('a counter: each combination of labels for itself', async () => {
    const [name, help] = ['gatepass_test_total', 'A test']
    const reference = new Counter({ name, help, labelNames: ['kind', 'end'], registers: [] })
    const metrics = createMetrics()
    const own = metrics.counter(name, help, ['kind', 'end'])
    for (const [kind, end] of [
      ['a', 'b'],
      ['a', 'b'],
      ['a', 'c'],
      ['', 'b'],
    ] as const) {
      reference.labels(kind, end).inc()
      own.increment(kind, end)
    }
    expect(sorted((await familyOf(metrics, name)).values)).toEqual(sorted((await reference.get()).values))
  })

  test('without labels both are shown from the start', async () => {
    const metrics = createMetrics()
    metrics.counter('gatepass_some_total', 'A test')
    metrics.histogram('gatepass_some_seconds', 'A test', { buckets: [1] })
    const counter = new Counter({ name: 'gatepass_some_total', help: 'A test', registers: [] })
    const histogram = new Histogram({
      name: 'gatepass_some_seconds',
      help: 'A test',
      buckets: [1],
      registers: [],
    })
    expect(sorted((await familyOf(metrics, 'gatepass_some_total')).values)).toEqual(
      sorted((await counter.get()).values),
    )
    expect(sorted((await familyOf(metrics, 'gatepass_some_seconds')).values)).toEqual(
      sorted((await histogram.get()).values),
    )
  })

  test('beyond a thousand combinations of labels the others count together', async () => {
    const metrics = createMetrics()
    const own = metrics.counter('gatepass_many_total', 'A test', ['provider', 'outcome'])
    for (let i = 0; i < 1_010; i++) own.increment(`provider-${i}`, 'ready')
    const { values } = await familyOf(metrics, 'gatepass_many_total')
    expect(values).toHaveLength(1_001)
    expect(values.at(-1)).toEqual({ labels: { provider: 'other', outcome: 'other' }, value: 10 })
  })
})
