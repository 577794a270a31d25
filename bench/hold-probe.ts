import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// Loaded into the measured process: writes down how much processor time its event loop took at a stretch, whenever that
// was much. Other processes on the machine make a stretch last longer, but do not add to its processor time.

const LOOK_MS = 5
const { BENCH_HOLDS: file } = process.env

if (isMainThread && file !== undefined) {
  let before = used()
  let last = performance.now()
  setInterval(() => {
    const now = used()
    const held = now - before
    const wall = performance.now() - last
    if (held > 2 * LOOK_MS || wall > 100) appendFileSync(file, `${Date.now()} ${held.toFixed(1)} ${wall.toFixed(0)}\n`)
    before = used()
    last = performance.now()
  }, LOOK_MS).unref()
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
