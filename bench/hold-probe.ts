import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

// Loaded into the measured process: writes down how much processor time its event loop took at a stretch, whenever that
// was much. Other processes on the machine make a stretch last longer, but do not add to its processor time.

const LOOK_MS = 5
const { BENCH_HOLDS: file } = process.env

if (isMainThread && file !== undefined) {
  let before = used()
  setInterval(() => {
    const now = used()
    const held = now - before
    if (held > 2 * LOOK_MS) appendFileSync(file, `${Date.now()} ${held.toFixed(1)}\n`)
    before = used()
  }, LOOK_MS).unref()
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
