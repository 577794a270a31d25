// A process that sweeps settled authorizations. It reports how long the sweep took, and the longest time for which the event
// loop computed without a pause.

import { openStore } from '../src/store/open-store.ts'
import { KEPT_SECONDS } from './sweep.ts'

const [path = ''] = process.argv.slice(2)
const store = await openStore({ kind: 'sqlite', path })
const used = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
let longestMs = 0
let before = used()
let watching = true
const look = () => {
  const now = used()
  longestMs = Math.max(longestMs, now - before)
  before = now
  if (watching) setImmediate(look)
}
look()
const begun = performance.now()
await store.authorizations.sweep(Math.floor(Date.now() / 1000) - KEPT_SECONDS)
const ms = performance.now() - begun
look()
watching = false
await store.close()
process.send?.({ longestMs, ms })
process.disconnect?.()
