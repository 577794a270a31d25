import { mkdtemp, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCheckpoints } from '../../src/store/dialects/sqlite/checkpoints.ts'
import { openDatabase } from '../../src/store/dialects/sqlite/file.ts'

class RefusedThread {
  constructor() {
    throw new Error('the system allows no further thread')
  }
}

/**
 * Calls `act` while no thread can be started. A mock of the module would have no effect if another test file of this process
 * has loaded `checkpoints.ts` before, and would remain in the modules that this file loads first.
 */
function withoutThreads(act: () => void): void {
  const threads = process.getBuiltinModule('node:worker_threads')
  const { Worker } = threads
  Object.assign(threads, { Worker: RefusedThread })
  syncBuiltinESMExports()
  try {
    act()
  } finally {
    Object.assign(threads, { Worker })
    syncBuiltinESMExports()
  }
}

test('without a thread for checkpoints SQLite makes its own, and writes go on', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-checkpoints-'))
  const client = openDatabase(join(folder, 'gatepass.db'))
  let paused = 0
  const pauseWrites = () => {
    paused++
    return () => void paused--
  }
  const checkpoints = createCheckpoints(client, pauseWrites)
  expect(client.pragma('wal_autocheckpoint', { simple: true })).toBe(0)
  client.exec('create table large (bytes blob); insert into large values (zeroblob(20000000))')
  withoutThreads(() => {
    checkpoints.beginIfDue()
    checkpoints.beginIfDue()
  })
  expect(client.pragma('wal_autocheckpoint', { simple: true })).toBe(1_000)
  expect(paused).toBe(0)
  await checkpoints.stop()
  client.close()
  await rm(folder, { recursive: true, force: true })
})
