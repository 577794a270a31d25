// Loaded into `gatepass serve` by `node --expose-gc --import`. The process reports over IPC how much memory it uses
// after a garbage collection.

declare const gc: () => void

process.on('message', (question: unknown) => {
  if (question !== 'heap?') return
  gc()
  gc() // frees the objects whose finalizers the first one has run
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  process.send?.({ heapUsed, external, arrayBuffers })
})
process.on('disconnect', () => process.exit(1)) // the test that started this process has died
process.channel?.unref()
