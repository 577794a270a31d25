/** Loaded into `gatepass serve` by `node --import`: its clock is that many seconds ahead of the true time. */
const aheadMs = Number(process.env.TEST_CLOCK_AHEAD ?? 0) * 1000
const trueNow = Date.now
Date.now = () => trueNow() + aheadMs
