import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { newId, sha256 } from '../src/domain/ids.ts'
import { type AuditLog, createAuditLog } from '../src/services/audit-log.ts'
import { inContext } from '../src/services/request-context.ts'
import { openStore } from '../src/store/open-store.ts'
import type { Store } from '../src/store/store.ts'
import { runSql, startPostgres } from '../test/postgres-cluster.ts'
import { addAuthorizations } from './authorizations.ts'
import type { Bench } from './bench.ts'
import { userName } from './people.ts'
import { copyToPostgres } from './postgres.ts'
import { type Figure, whole } from './report.ts'
import { databaseIn, seed } from './seed.ts'

const ROWS = 100_000
const BATCH = 32
const BLOCKS = 1_000
const REFRESHES = 2_000
const AT_ONCE = 16
const USES = 200
const USE_COMMITS = 100
/** How many commits are measured for their write-ahead log: few, because SQLite starts its log again after 1,000 pages. */
const SAMPLE = 50
const USE_SAMPLE = 3
const SOME_ROWS = 20_000

/** The size of rows on the disk, and how much one client can write to each database: the figures of docs/operate/scaling.md. */
export async function storeFigures({ folder, upstream }: Bench): Promise<Figure[]> {
  const own = join(folder, 'store')
  await mkdir(own)
  const { providerUid } = await seed(own, upstream.port, ROWS)
  await addAuthorizations(own, providerUid, ROWS)
  await using postgres = await startPostgres({ durable: true })
  const begun = performance.now()
  const url = await copyToPostgres(postgres, databaseIn(own))
  const copied = (2 * ROWS * 1000) / (performance.now() - begun)

  const sqlite = sqliteDisk(databaseIn(own))
  const server = postgresDisk(url)
  return [
    { name: 'moved from SQLite to PostgreSQL and compared', value: `${whole(copied)} rows/s` },
    ...(await figuresOf('SQLite', await openStore({ kind: 'sqlite', path: databaseIn(own) }), sqlite)),
    ...(await figuresOf('PostgreSQL', await openStore({ kind: 'postgres', url }), server)),
  ]
}

/** Measures a database from outside. */
interface Disk {
  /** The bytes of the table's rows, and of its indexes. */
  sizeOf(table: string): Promise<{ readonly rows: number; readonly indexes: number }>
  /** The bytes of the write-ahead log that `run` adds, which must be few. */
  writtenAheadBy(run: () => Promise<unknown>): Promise<number>
}

async function figuresOf(name: string, store: Store, disk: Disk): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const table of ['connections', 'authorizations']) {
    const { rows, indexes } = await disk.sizeOf(table)
    const value = `${whole((rows + indexes) / ROWS)} bytes, ${whole(indexes / ROWS)} of them indexes`
    figures.push({ name: `${name}: one of ${whole(ROWS)} ${table}`, value })
  }
  const project = await store.projects.ensure('default', 0)
  const audit = createAuditLog(store, Buffer.alloc(32), () => Math.floor(Date.now() / 1000))
  for (const count of [1, BATCH]) {
    const before = await disk.sizeOf('audit_blocks')
    let lengths = 0
    const written = await measure(disk, BLOCKS, 1, () => {
      const lines = Array.from({ length: count }, () => releaseLine(audit, project.id))
      lengths += lines.join('\n').length
      return store.audit.append({ ...audit.of(project.id, { action: 'token.released' }), lines })
    })
    const after = await disk.sizeOf('audit_blocks')
    const grown = after.rows + after.indexes - before.rows - before.indexes
    const entries = BLOCKS * count
    figures.push({
      name: `${name}: audit entries of ${whole(lengths / entries)} bytes, ${count} a commit, one commit after the other`,
      value: `${whole(written.perSecond)} commits/s, ${whole(written.perSecond * count)} entries/s, ${whole(grown / entries)} bytes each, ${whole(written.walBytes)} bytes written ahead a commit`,
    })
  }
  const { items } = await store.connections.list(project.id, {}, { offset: 0, limit: SOME_ROWS })
  let next = 0
  const written = await measure(disk, REFRESHES, AT_ONCE, async () => {
    const one = items[next++]
    if (one === undefined) throw new Error('there are fewer connections')
    const { id, generation, access, refresh, tokenType, scopes, receivedAt } = one
    const claimed = await store.connections.claimRefresh(id, generation, { owner: 'bench', seconds: 60 }, 0)
    const settled = await store.connections.settleRefresh(
      id,
      generation,
      { access, tokenType, scopes, receivedAt, expiresAt: receivedAt + 3600, ...(refresh && { refresh }) },
      audit.of(project.id, { action: 'connection.refreshed', connectionId: id }),
    )
    if (claimed === undefined || settled === undefined) throw new Error('not refreshed')
  })
  figures.push({
    name: `${name}: refreshes stored (2 commits each), ${AT_ONCE} at a time`,
    value: `${whole(written.perSecond)}/s, ${whole(written.walBytes)} bytes written ahead each`,
  })
  let at = Math.floor(Date.now() / 1000)
  const used = await measure(
    disk,
    USE_COMMITS,
    1,
    () => {
      // rows that are not neighbours, like those of users who come at the same time
      const some = Array.from({ length: USES }, () => items[(at++ * 7) % items.length])
      return store.connections.used(new Map(some.map((one) => [one?.id ?? '', at])))
    },
    USE_SAMPLE,
  )
  figures.push({
    name: `${name}: last-used times, ${USES} a commit`,
    value: `${whole(used.perSecond * USES)}/s, ${whole(used.walBytes / USES)} bytes written ahead each`,
  })
  await store.close()
  return figures
}

/** The audit line of a token's release to a random user. */
function releaseLine(audit: AuditLog, projectId: string): string {
  const user = Math.floor(Math.random() * ROWS)
  const context = {
    actor: { kind: 'api_key', id: newId('key') },
    purpose: 'POST /v1/auth/authorize',
    requestId: `${sha256(String(user)).slice(0, 12)}-${user.toString(36)}`,
  } as const
  const event = {
    action: 'token.released',
    userId: userName(user),
    providerId: 'bench',
    connectionId: newId('conn'),
    fingerprint: audit.fingerprint(String(Math.random())),
  } as const
  const [line = ''] = inContext(context, () => audit.of(projectId, event)).lines
  return line
}

async function measure(
  disk: Disk,
  count: number,
  lanes: number,
  act: () => Promise<unknown>,
  sample = SAMPLE,
) {
  const run = async (times: number) => {
    let left = times
    const lane = async () => {
      while (left-- > 0) await act()
    }
    await Promise.all(Array.from({ length: lanes }, lane))
  }
  const walBytes = await disk.writtenAheadBy(() => run(sample))
  const begun = performance.now()
  await run(count - sample)
  return {
    perSecond: ((count - sample) * 1000) / (performance.now() - begun),
    walBytes: walBytes / sample,
  }
}

function sqliteDisk(path: string): Disk {
  return {
    async sizeOf(table) {
      const client = new Database(path, { readonly: true })
      const pages = client
        .prepare<[string], { kind: string; bytes: number }>(
          `select s.type as kind, sum(d.pgsize) as bytes from dbstat d join sqlite_schema s on s.name = d.name
            where s.tbl_name = ? group by s.type`,
        )
        .all(table)
      client.close()
      const of = (kind: string) => pages.find((one) => one.kind === kind)?.bytes ?? 0
      return { rows: of('table'), indexes: of('index') }
    },
    async writtenAheadBy(run) {
      const client = new Database(path)
      client.pragma('wal_checkpoint(truncate)')
      client.close()
      await run()
      return (await stat(`${path}-wal`)).size // SQLite starts the log again only after 1,000 pages
    },
  }
}

function postgresDisk(url: string): Disk {
  const number = async (sql: string, values: unknown[] = []) =>
    Number((await runSql(url, `select (${sql})::text as value`, values)).rows[0]?.value)
  return {
    sizeOf: async (table) => ({
      rows: await number('pg_table_size($1::regclass)', [table]),
      indexes: await number('pg_indexes_size($1::regclass)', [table]),
    }),
    async writtenAheadBy(run) {
      await runSql(url, 'checkpoint') // every page that is changed after it is written whole once
      const before = await number("pg_current_wal_lsn() - '0/0'")
      await run()
      return (await number("pg_current_wal_lsn() - '0/0'")) - before
    },
  }
}
