import type { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createClusterMetrics } from '../../src/cluster/metrics.ts'
import type { MetricFamily } from '../../src/services/metrics.ts'

const NAME = 'gatepass_test_total'

const counted = (value: number): MetricFamily[] => [
  { name: NAME, help: 'A test', type: 'counter', aggregator: 'sum', values: [{ labels: {}, value }] },
]

function fakeWorker() {
  let isConnected = true
  const events = Object.assign(new EventEmitter(), { isConnected: () => isConnected })
  return {
    worker: events as unknown as Worker, // the metrics use nothing else of a worker
    disconnect() {
      isConnected = false
      events.emit('disconnect')
    },
  }
}

test.each([
  ['before', true],
  ['after', false],
])('the final metrics that arrive %s the exit count once', async (_, isBefore) => {
  const metrics = createClusterMetrics()
  const { worker, disconnect } = fakeWorker()
  metrics.received(worker, counted(1))
  if (isBefore) {
    metrics.received(worker, counted(2))
    disconnect()
    metrics.exited(worker)
  } else {
    metrics.exited(worker)
    metrics.received(worker, counted(2))
    disconnect()
  }
  const all = (await metrics.gather([])).flat().filter(({ name }) => name === NAME)
  expect(all.flatMap(({ values }) => values.map(({ value }) => value))).toEqual([2])
})
