/** Loaded into `gatepass serve` by `node --expose-gc --import`: says over IPC what it holds after a garbage collection. */

declare const gc: () => void

process.on('message', (question: unknown) => {
  if (question !== 'heap?') return
  gc()
  gc() // what the first one has finalized
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  process.send?.({ heapUsed, external, arrayBuffers })
})
process.on('disconnect', () => process.exit(1)) // the test that started this process has died
process.channel?.unref()
