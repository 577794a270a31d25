import { appendFileSync } from 'node:fs'
import { PerformanceObserver, performance } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import type { Collection, Hold } from './holds.ts'

// Loaded into the measured process: records each time that its event loop took much processor time without a pause, and
// each long garbage collection. Other processes on the machine make such a hold last longer, but do not add to its
// processor time.

const INTERVAL_MS = 5
const { BENCH_HOLDS: file } = process.env

if (isMainThread && file !== undefined) {
  const write = (line: Hold | Collection) => appendFileSync(file, `${JSON.stringify(line)}\n`)
  let from = performance.now()
  let before = cpuMs()
  setInterval(() => {
    const held = cpuMs() - before
    if (held > 2 * INTERVAL_MS) write({ kind: 'hold', from, to: performance.now(), ms: held })
    from = performance.now()
    before = cpuMs()
  }, INTERVAL_MS).unref()
  new PerformanceObserver((list) => {
    for (const { startTime: at, duration: ms } of list.getEntries())
      if (ms > INTERVAL_MS) write({ kind: 'collection', at, ms })
  }).observe({ entryTypes: ['gc'] })
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
