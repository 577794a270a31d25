import cluster, { type Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createClusterMetrics } from '../../src/cluster/metrics.ts'
import { runPrimary } from '../../src/cluster/primary.ts'
import { readConfig } from '../../src/read-config.ts'
import { createMetrics } from '../../src/services/metrics.ts'
import { freePort } from '../ports.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** A worker whose process the system did not start: Node then says `error`, and never `exit`. */
function unstartedWorker(): Worker {
  const members = { process: { pid: undefined, kill: () => false }, isConnected: () => false }
  const worker = Object.assign(new EventEmitter(), members)
  process.nextTick(() => worker.emit('error', new Error('spawn EAGAIN')))
  return worker as unknown as Worker // the primary uses nothing else of it
}

function failedFork(): Worker {
  throw new Error('spawn ENOMEM')
}

test.each([
  ['spawn EAGAIN', 'an event', unstartedWorker],
  ['spawn ENOMEM', 'an error of the call', failedFork],
])(
  'a process that cannot be started (%s, which is %s) is tried again, and given up like one that exits at once',
  async (how, _, start) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-primary-'))
    const before = SIGNALS.map((signal) => process.listeners(signal))
    const fork = vi.spyOn(cluster, 'fork').mockImplementation(start)
    try {
      const environment = {
        GATEPASS_PORT: String(await freePort()),
        GATEPASS_DATABASE_URL: `file:${join(folder, 'gatepass.db')}`,
        GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        GATEPASS_USER_VERIFIER: 'open',
        GATEPASS_PUBLIC_URL: 'http://localhost',
      }
      const nothing = () => {}
      const error = vi.fn()
      const running = runPrimary({
        processes: 1,
        config: readConfig(environment, 'serve'),
        environment,
        log: { debug: nothing, info: nothing, warn: nothing, error },
        onServing: nothing,
      })
      await expect(running).rejects.toThrow(`the last with ${how}`)
      expect(fork).toHaveBeenCalledTimes(5)
      expect(error).toHaveBeenLastCalledWith(
        expect.objectContaining({ worker: 1, how }),
        'a worker has ended; it is started again',
      )
    } finally {
      fork.mockRestore()
      for (const [i, signal] of SIGNALS.entries())
        for (const listener of process.listeners(signal))
          if (!before[i]?.includes(listener)) process.removeListener(signal, listener)
      await rm(folder, { recursive: true })
    }
  },
)

test('metrics that a worker sent before it exited, and that come after its exit, count once and as those of an exited worker', async () => {
  const metrics = createClusterMetrics()
  const channel = { isOpen: true }
  const worker = Object.assign(new EventEmitter(), { isConnected: () => channel.isOpen }) as unknown as Worker
  const sent = createMetrics()
  const refreshed = sent.counter('gatepass_tests_total', 'Tests', [])
  for (const message of ['early', 'late']) {
    refreshed.increment()
    if (message === 'late') metrics.exited(worker)
    metrics.received(worker, await sent.families())
  }
  channel.isOpen = false
  worker.emit('disconnect')
  const all = (await metrics.gather([])).flat().filter(({ name }) => name === 'gatepass_tests_total')
  expect(all.map(({ values }) => values.map(({ value }) => value))).toEqual([[2]])
})
