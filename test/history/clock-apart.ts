// Loaded into `gatepass serve` by `node --import`: the clock of the process is ahead of the true time by the seconds of
// TEST_CLOCK_AHEAD and by those in the file TEST_CLOCK_FILE, which a test may change.

import { readFileSync } from 'node:fs'

const READ_MS = 10

const aheadMs = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000
const file = process.env.TEST_CLOCK_FILE
let movedMs = 0
if (file !== undefined) {
  const read = () => {
    const seconds = Number(readFileSync(file, 'utf8'))
    if (Number.isFinite(seconds)) movedMs = seconds * 1000
  }
  read()
  setInterval(read, READ_MS).unref()
}
const trueNow = Date.now
Date.now = () => trueNow() + aheadMs + movedMs
