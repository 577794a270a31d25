import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { addAuthorizations } from './authorizations.ts'
import type { Bench } from './bench.ts'
import { isQuick } from './pace.ts'
import { startScript } from './process.ts'
import { type Figure, whole } from './report.ts'
import { databaseIn, seed } from './seed.ts'

const AUTHORIZATIONS = isQuick ? 50_000 : 1_000_000
/** One in this many is old enough to be deleted. */
const DUE = 20
/** How long a server keeps them. */
export const KEPT_SECONDS = 7 * 24 * 3600
const MOST_MS = 10

/** The sweep of settled authorizations, most of which are kept. */
export async function sweep({ folder, upstream }: Bench): Promise<Figure[]> {
  const own = join(folder, 'sweep')
  await mkdir(own)
  const { providerUid } = await seed(own, upstream.port, 10)
  await addAuthorizations(own, providerUid, AUTHORIZATIONS)
  const database = new Database(databaseIn(own))
  const old = Math.floor(Date.now() / 1000) - 2 * KEPT_SECONDS
  const due = database
    .prepare('update authorizations set expires_at = ?, completed_at = ? where rowid % ? = 0')
    .run(old, old, DUE)
  database.pragma('wal_checkpoint(truncate)')
  const swept = await probe(own)
  const left = database.prepare('select count(*) from authorizations').pluck().get()
  database.close()
  if (left !== AUTHORIZATIONS - due.changes) throw new Error(`${left} authorizations are left`)
  const idle = await probe(own)
  const name = `sweep of ${whole(AUTHORIZATIONS)} settled authorizations`
  const row = (what: string, { longestMs, ms }: { longestMs: number; ms: number }): Figure => ({
    name: `${name}, ${what}: processor time of the event loop at a stretch`,
    value: `${longestMs.toFixed(1)} ms (${whole(ms)} ms in all)`,
    target: `< ${MOST_MS} ms`,
    met: longestMs < MOST_MS,
  })
  return [row(`${whole(due.changes)} of them due`, swept), row('none due', idle)]
}

async function probe(folder: string): Promise<{ longestMs: number; ms: number }> {
  await using started = startScript('sweep-probe.ts', [databaseIn(folder)])
  const [answer] = await once(started.child, 'message')
  return answer
}
