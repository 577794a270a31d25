// A second process on the same database that commits something every 100 ms, as another Gatepass would.

import { openSqliteStore } from '../src/store/dialects/sqlite/open.ts'

const [path = '', keyId = ''] = process.argv.slice(2)
const store = openSqliteStore(path)
let at = Math.floor(Date.now() / 1000)
let writing: NodeJS.Timeout | undefined

process.on('message', (order: 'write' | 'rest') => {
  clearInterval(writing)
  if (order === 'write') writing = setInterval(() => void store.apiKeys.used(new Map([[keyId, at++]])), 100)
  process.send?.(order)
})
process.on('disconnect', () => process.exit())
