import Database from 'better-sqlite3'
import { openBroker } from '../src/open-broker.ts'
import { identityOf } from '../src/providers/identity.ts'
import { readConfig } from '../src/read-config.ts'
import { adminOf } from './admin.ts'
import { appendEntries } from './audit-seed.ts'
import type { Bench } from './bench.ts'
import { connectionRows, INSERT_CONNECTION, valueAt } from './connection-rows.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { importedTool } from './many-tools.ts'
import { isQuick } from './pace.ts'
import { databaseIn, environmentFor, SILENT } from './seed.ts'

/** Entries of the audit trail for each connection. */
const ENTRIES_EACH = 5
const few = (count: number) => (isQuick ? Math.ceil(count / 50) : count)
const TOOLS = few(2_000)
const KEYS = few(10_000)
const SECRETS = few(500)
const POLICIES = few(100)
const PROJECTS = few(200)
const WORKERS = few(20)
const RECEIVERS = ['https://one.example/hook', 'https://two.example/hook', 'https://three.example/hook']
const CATALOGUE = [
  'github',
  'google',
  'gitlab',
  'notion',
  'linear',
  'discord',
  'spotify',
  'dropbox',
  'asana',
  'zoom',
]
export const OWN_CONNECTIONS = 50
export const OWN_USER = 'has-many@example.com'

/**
 * A copy of the database with a million connections, and what a large installation has besides: for each connection a
 * user, an authorization, a run, an event with its delivery, and five audit entries; what administrators make, over the API.
 */
export async function seedConsole({ million }: Bench, name: string): Promise<string> {
  const { copy, count } = await million()
  const folder = await copy(name)
  await appendEntries(folder, count * ENTRIES_EACH)
  await addConsoleRows(folder)
  return folder
}

/** All but the audit entries. */
export async function addConsoleRows(folder: string): Promise<void> {
  {
    await using gatepass = await startGatepass(folder)
    await administer(gatepass)
  }
  await connectMany(folder)
  addGrownRows(folder)
}

/** Adds what administrators make: tools, provider entries, keys, secrets, policies, projects, webhooks, workers. */
async function administer({ port }: Gatepass): Promise<void> {
  const admin = adminOf(port)
  const each = async (count: number, make: (index: number) => Promise<unknown>) => {
    for (let from = 0; from < count; from += 50)
      await Promise.all(Array.from({ length: Math.min(50, count - from) }, (_, i) => make(from + i)))
  }
  for (let from = 0; from < TOOLS; from += 500) {
    const names = Array.from({ length: Math.min(500, TOOLS - from) }, (_, i) => `Tool${from + i}`)
    await admin(
      'POST',
      '/v1/tools/import',
      names.map((one) => importedTool(one)),
    )
  }
  for (const id of CATALOGUE)
    await admin('POST', '/v1/admin/auth_providers', {
      id,
      provider_id: id,
      oauth2: { client_id: 'of-the-bench', client_secret: 'of-the-bench' },
    })
  await each(KEYS, (i) => admin('POST', '/v1/admin/keys', { role: 'caller', name: `backend ${i}` }))
  await each(SECRETS, (i) => admin('POST', `/v1/admin/secrets/SECRET_${i}`, { value: `value ${i}` }))
  await each(POLICIES, (i) =>
    admin('POST', '/v1/admin/policies', { id: `p${i}`, effect: 'deny', match: { users: [`nobody-${i}`] } }),
  )
  await each(PROJECTS, (i) => admin('POST', '/v1/admin/projects', { name: `project-${i}` }))
  for (const url of RECEIVERS) await admin('POST', '/v1/webhooks', { url })
  // nothing listens there
  await each(WORKERS, (i) =>
    admin('POST', '/v1/workers', {
      id: `down-${i}`,
      http: { uri: 'http://127.0.0.1:9', secret: 'of-the-bench', timeout: 1, retry: 0 },
    }),
  )
}

/** A user with many connections, at several providers. */
async function connectMany(folder: string): Promise<void> {
  const broker = await openBroker(readConfig(environmentFor(folder, 8400), 'serve'), { log: SILENT })
  const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
  const entries = await broker.store.providers.list(projectId)
  const database = new Database(databaseIn(folder))
  const insert = database.prepare(INSERT_CONNECTION)
  for (let i = 0; i < OWN_CONNECTIONS; i++) {
    const entry = entries[i % entries.length]
    if (entry === undefined) throw new Error('there are no providers')
    const { uid, provider, clientId } = entry
    const rowOf = connectionRows({
      sealing: broker,
      entry: { uid, projectId, identity: identityOf(provider, clientId) },
    })
    const values: Record<number, unknown> = {
      [valueAt('accountId')]: `account-${i}`,
      [valueAt('accountName')]: `Account ${i}`,
      [valueAt('isDefault')]: i < entries.length ? 1 : 0,
    }
    insert.run(rowOf(OWN_USER).map((value, column) => values[column] ?? value))
  }
  database.close()
  await broker.close()
}

/** Adds the rows that users and runs leave, copied from the connections in the order of their keys. */
function addGrownRows(folder: string): void {
  const database = new Database(databaseIn(folder))
  for (const pragma of ['journal_mode = off', 'synchronous = off', 'cache_size = -400000'])
    database.pragma(pragma)
  const now = Math.floor(Date.now() / 1000)
  const hour = Math.floor(now / 3600) * 3600
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
insert into connection_tools (project_id, user_id, connection_id, tool, last_used_at)
  select project_id, user_id, connections.id, 'many:Tool' || (connections.rowid % ${TOOLS} + t.value) || ':1.0.0', ${now}
  from connections, json_each(case when user_id = '${OWN_USER}' then '[0,1,2,3,4,5,6,7,8,9]' else '[0]' end) t;
insert into counters (project_id, hour, name, label, count)
  with recursive hours(h) as (select 0 union all select h + 1 from hours where h < 720)
  select projects.id, ${hour} - h * 3600, n.value, l.value, 100 + h % 50
  from projects, hours, json_each('["consents","fetches","refreshes","runs","latency"]') n, json_each('["a","b","c","d","e"]') l
  where projects.name = 'default';
insert into executions (id, project_id, user_id, tool_id, type, entry_point, status, outcome, error_kind, run_at,
    created_at, updated_at, started_at, finished_at, duration_ms, attempts)
  select 'exec_' || substr(id, 6), project_id, user_id, 'many:Tool' || (rowid % ${TOOLS}) || ':1.0.0',
    case when rowid % 100 = 1 then 'scheduled' else 'immediate' end, 'execute',
    case when rowid % 200 = 1 then 'scheduled' when rowid % 50 = 0 then 'failed' else 'completed' end,
    case when rowid % 200 = 1 then null when rowid % 50 = 0 then 'error' else 'value' end,
    case when rowid % 200 <> 1 and rowid % 50 = 0 then 'TOOL_RUNTIME_FATAL' end,
    case when rowid % 100 = 1 then ${now} + 8640000 end,
    ${now} - rowid, ${now} - rowid, ${now} - rowid, case when rowid % 200 <> 1 then ${now} - rowid end, 20, 1
  from connections;
insert into events (id, project_id, type, key, key_seq, body, at)
  select 'evt_' || substr(id, 6), project_id, 'connection.created', id, 1,
    json_object('type', 'connection.created', 'data', json_object('id', id, 'sequence', 1, 'user_id', user_id)), ${now} - rowid
  from connections;
insert into deliveries (webhook_id, event_id, key, key_seq, state, attempt, last_status, created_at, ended_at)
  select (select min(id) from webhooks), 'evt_' || substr(id, 6), id, 1,
    case when rowid % 1000 = 1 then 'waiting' when rowid % 100 = 0 then 'failed' else 'delivered' end, 1,
    case when rowid % 100 = 0 then 500 else 204 end, ${now} - rowid, ${now} - rowid
  from connections;
insert into chains (id, project_id, state, expires_at)
  select 'chain_' || substr(id, 6), project_id, 'not read', ${now} + 864000 + rowid from connections where rowid % 100 = 0;
commit`)
  database.pragma('journal_mode = wal')
  database.close()
}

/** Ids of rows that pages show. */
export interface ConsoleRows {
  readonly connection: string
  readonly run: string
  readonly delivery: string
  readonly key: string
  readonly webhook: string
  /** The number of an entry in the middle of the audit trail. */
  readonly entry: string
}

export function rowsIn(folder: string): ConsoleRows {
  const database = new Database(databaseIn(folder), { readonly: true })
  const one = (select: string) => String(database.prepare(select).pluck().get())
  const connection = one(
    'select id from connections order by id desc limit 1 offset (select min(5000, count(*) / 2) from connections)',
  )
  const rows = {
    connection,
    run: `exec_${connection.slice(5)}`,
    delivery: `evt_${connection.slice(5)}`,
    key: one(
      'select id from api_keys order by id desc limit 1 offset (select min(70, count(*) / 2) from api_keys)',
    ),
    webhook: one('select min(id) from webhooks'),
    entry: one('select max(first_seq) / 2 from audit_blocks'),
  }
  database.close()
  return rows
}
