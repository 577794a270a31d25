import Database from 'better-sqlite3'
import { startPostgres } from '../test/postgres-cluster.ts'
import { appendEntries } from './audit-seed.ts'
import type { Bench } from './bench.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { API_KEY, userName } from './people.ts'
import { copyToPostgres } from './postgres.ts'
import { type Figure, quantile, whole } from './report.ts'
import { databaseIn } from './seed.ts'

const MOST_PAGE_MS = 200
const REQUESTS = 20
/** Entries of the audit trail for each connection. */
const ENTRIES_EACH = 5

/** The console's pages with many connections, as many users and authorizations, and five times the audit entries. */
export async function consolePages(bench: Bench): Promise<Figure[]> {
  const folder = await seededCopy(bench, 'million-console')
  await using gatepass = await startGatepass(folder)
  return await pagesOf(bench, 'SQLite', gatepass, connectionIn(folder))
}

export async function consolePagesPostgres(bench: Bench): Promise<Figure[]> {
  const folder = await seededCopy(bench, 'million-console-postgres')
  await using postgres = await startPostgres({ durable: true })
  const url = await copyToPostgres(postgres, databaseIn(folder))
  await using gatepass = await startGatepass(folder, { database: url })
  // awaited here: the server is stopped when this function returns
  return await pagesOf(bench, 'PostgreSQL', gatepass, connectionIn(folder))
}

async function seededCopy({ million }: Bench, name: string): Promise<string> {
  const { copy, count, seeded } = await million()
  const folder = await copy(name)
  const database = new Database(databaseIn(folder))
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -400000'])
    database.pragma(pragma)
  const hour = Math.floor(Date.now() / 3_600_000) * 3600
  database.exec(`begin;
update connections set status = 'needs_authorization', status_reason = 'refresh_refused',
  trail = '{"at":1,"step":"refresh_failed","details":{"error":"invalid_grant"}}' || char(10) where rowid % 1000 = 0;
insert into authorizations (id, project_id, user_id, status, steps, step, reason, message, created_at, expires_at, completed_at)
  select 'auth_' || substr(id, 6), project_id, user_id,
    case when rowid % 7 = 0 then 'failed' else 'completed' end,
    json_array(json_object('providerUid', provider_uid, 'scopes', json_array('read'), 'connectionId', id)), 0,
    case when rowid % 7 = 0 then 'access_denied' end, case when rowid % 7 = 0 then 'The user said no.' end,
    created_at, created_at + 600, created_at + 30 from connections;
insert into users (project_id, user_id, last_seen_at) select project_id, user_id, created_at + rowid % 86400 from connections where true
  on conflict do nothing;
insert into counters (project_id, hour, name, label, count)
  with recursive hours(h) as (select 0 union all select h + 1 from hours where h < 720)
  select '${seeded.projectId}', ${hour} - h * 3600, n.value, l.value, 100 + h % 50
  from hours, json_each('["consents","fetches","refreshes","runs","latency"]') n, json_each('["a","b","c","d","e"]') l;
commit`)
  database.pragma('journal_mode = wal')
  database.close()
  await appendEntries(folder, count * ENTRIES_EACH)
  return folder
}

function connectionIn(folder: string): string {
  const database = new Database(databaseIn(folder), { readonly: true })
  const id = database.prepare('select id from connections order by id desc limit 1 offset 5000').pluck().get()
  database.close()
  return String(id)
}

async function pagesOf(
  { million }: Bench,
  name: string,
  { port }: Gatepass,
  connectionId: string,
): Promise<Figure[]> {
  const { count } = await million()
  const base = `http://127.0.0.1:${port}/dashboard`
  const cookie = await logIn(base)
  const user = new URLSearchParams({ id: userName(4_711) })
  const pages = {
    overview: '',
    'overview of 30 days': '?span=30d',
    connections: '/connections',
    'connections below one': `/connections?before=${connectionId}`,
    'connections of a user': `/connections?user=${encodeURIComponent(userName(4_711))}`,
    'connections of a provider that need a consent': '/connections?provider=bench&status=needs_authorization',
    'connections by status': '/connections?status=needs_authorization',
    'connections at a date': `/connections?date=${new Date().toISOString().slice(0, 10)}`,
    'one connection': `/connections/${connectionId}`,
    users: '/users',
    'one user': `/users/details?${user}`,
    authorizations: '/authorizations',
    'failed authorizations': '/authorizations?status=failed',
    'authorizations of a user, searched': `/authorizations?user=${encodeURIComponent(userName(4_711))}`,
    'one authorization': `/authorizations/auth_${connectionId.slice(5)}`,
  }
  const figures: Figure[] = []
  for (const [page, path] of Object.entries(pages)) {
    const times: number[] = []
    for (let i = 0; i < REQUESTS; i++) {
      const begun = performance.now()
      const response = await fetch(base + path, { headers: { cookie, accept: 'text/html' } })
      const body = await response.text()
      times.push(performance.now() - begun)
      if (response.status !== 200 || !body.includes('<main'))
        throw new Error(`${path}: ${response.status} ${body.slice(0, 300)}`)
    }
    const first = times[0] ?? 0
    const p50 = quantile(times, 0.5)
    figures.push({
      name: `console on ${name}, ${page}, ${whole(count)} connections: first; p50, slowest`,
      value: `${first.toFixed(0)} ms; ${p50.toFixed(0)} ms, ${Math.max(...times).toFixed(0)} ms`,
      target: `p50 < ${MOST_PAGE_MS} ms`,
      met: p50 < MOST_PAGE_MS,
    })
  }
  return figures
}

async function logIn(base: string): Promise<string> {
  const response = await fetch(`${base}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ key: API_KEY }),
  })
  const [cookie = ''] = (response.headers.getSetCookie()[0] ?? '').split(';')
  if (response.status !== 303 || cookie === '') throw new Error(`no login: ${response.status}`)
  return cookie
}
