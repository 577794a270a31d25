import { appendFileSync } from 'node:fs'
import { PerformanceObserver, performance } from 'node:perf_hooks'
import { isMainThread } from 'node:worker_threads'
import type { Collection, Hold } from './holds.ts'

// Loaded into the measured process: writes down how much processor time its event loop took at a stretch, whenever that
// was much, and the collections of garbage that took long. Other processes on the machine make a stretch last longer, but
// do not add to its processor time.

const LOOK_MS = 5
const { BENCH_HOLDS: file } = process.env

if (isMainThread && file !== undefined) {
  const write = (line: Hold | Collection) => appendFileSync(file, `${JSON.stringify(line)}\n`)
  let from = performance.now()
  let before = used()
  setInterval(() => {
    const held = used() - before
    if (held > 2 * LOOK_MS) write({ kind: 'hold', from, to: performance.now(), ms: held })
    from = performance.now()
    before = used()
  }, LOOK_MS).unref()
  new PerformanceObserver((list) => {
    for (const { startTime: at, duration: ms } of list.getEntries())
      if (ms > LOOK_MS) write({ kind: 'collection', at, ms })
  }).observe({ entryTypes: ['gc'] })
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
