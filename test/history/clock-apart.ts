// Loaded into `gatepass serve` by `node --import`: the clock of the process is TEST_CLOCK_AHEAD seconds ahead.

const aheadMs = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000
const trueNow = Date.now
Date.now = () => trueNow() + aheadMs
