import { once } from 'node:events'
import { constants } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { type ConnectionRow, INSERT_CONNECTION } from './connection-rows.ts'
import { cpuMsOf } from './process.ts'
import type { SealingData, SealingOrder } from './sealing-thread.ts'
import { databaseIn, environmentFor, type Seeded, seed } from './seed.ts'

const BATCH = 1_000

/** A database with many connections, of which each figure gets a copy. */
export interface Million {
  readonly count: number
  readonly seeded: Seeded
  /** How long the seeding took, and how much processor time. */
  readonly seconds: number
  readonly cpuSeconds: number
  /** The database before its connections were added, and with them. */
  readonly empty: string
  readonly full: string
  /** A folder of its own with a copy. */
  copy(name: string): Promise<string>
}

/**
 * Seeds that many connections. Threads seal, with the product's own sealer; this one inserts, in the order of the users,
 * so that every index grows at its end.
 */
export async function seedMillion(folder: string, upstreamPort: number, count: number): Promise<Million> {
  const begun = performance.now()
  const cpuBefore = cpuMsOf(process.pid)
  const original = join(folder, 'million')
  await mkdir(original)
  const seeded = await seed(original, upstreamPort, 0)
  const { projectId, providerUid, identity } = seeded
  const empty = join(folder, 'million-empty.db')
  await copyFile(databaseIn(original), empty)
  const workerData: SealingData = {
    masterKey: environmentFor(folder, 0).GATEPASS_MASTER_KEY ?? '',
    entry: { uid: providerUid, projectId, identity },
  }
  const threads = Array.from(
    { length: cpus().length },
    () => new Worker(new URL('sealing-thread.ts', import.meta.url), { workerData }),
  )
  const database = new Database(databaseIn(original))
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -400000'])
    database.pragma(pragma)
  const insert = database.prepare(INSERT_CONNECTION)
  const sealed = (thread: Worker, from: number): Promise<readonly ConnectionRow[]> => {
    thread.postMessage({ from, to: Math.min(from + BATCH, count) } satisfies SealingOrder)
    return once(thread, 'message').then(([rows]) => rows)
  }
  database.exec('begin')
  // each thread seals its next batch while this one inserts
  const ahead = threads.map((thread, i) => sealed(thread, i * BATCH))
  for (let from = 0; from < count; from += BATCH) {
    const i = (from / BATCH) % threads.length
    const rows = (await ahead[i]) ?? []
    const next = from + threads.length * BATCH
    const thread = threads[i]
    if (next < count && thread !== undefined) ahead[i] = sealed(thread, next)
    for (const row of rows) insert.run(row)
  }
  database.exec('commit')
  database.pragma('journal_mode = wal')
  database.close()
  for (const thread of threads) await thread.terminate()
  return {
    count,
    seeded,
    seconds: (performance.now() - begun) / 1000,
    cpuSeconds: (cpuMsOf(process.pid) - cpuBefore) / 1000,
    empty,
    full: databaseIn(original),
    async copy(name) {
      const own = join(folder, name)
      await mkdir(own)
      await copyFile(databaseIn(original), databaseIn(own), constants.COPYFILE_FICLONE)
      return own
    },
  }
}
