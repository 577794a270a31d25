import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import { newId } from '../../src/domain/ids.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { LISTENER } from '../../src/store/dialects/postgres/announcements.ts'
import { pendingMigrations } from '../../src/store/dialects/postgres/migrations.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import { BACKUP_FACT } from '../../src/store/facts.ts'
import type { Store } from '../../src/store/store.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { storeConformance } from './conformance.ts'
import { connected, inProject, pending, putTool, refreshed, tool } from './fixtures.ts'
import { announce, openTwice, type ReusedDatabase, reuseDatabase } from './reused-postgres.ts'

/** The tests share one database, one after the other: making one for each would take most of the time. */
let shared: FreshDatabase
let reused: ReusedDatabase

beforeAll(async () => {
  shared = await freshDatabase()
  reused = await reuseDatabase(shared)
})
afterAll(async () => {
  await reused.close()
  await shared[Symbol.asyncDispose]()
})

storeConformance('postgres', () => reused.open())

describe('on PostgreSQL, other nodes', () => {
  test('hear of a write by its notification, not only when they read again after a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] }) // so no second passes
    onTestFinished(() => void vi.useRealTimers())
    await using opened = await openTwice(shared)
    const { owner } = await inProject(opened.store)
    const { id } = await connected(opened.store, owner)
    await untilCaughtUp(opened.other)
    for (let generation = 1; generation <= 20; generation++) {
      const heard = nextChange(opened.other)
      await opened.store.connections.settleRefresh(id, generation, refreshed())
      expect(await heard).toEqual({ noun: 'connection', id, owner })
    }
  })

  test('hear of a write with a name of any length', async () => {
    await using opened = await reused.open()
    const { owner } = await inProject(opened.store)
    await untilCaughtUp(opened.other)
    const before = opened.other.catchUp()
    const heard = nextChange(opened.other, 'connection')
    const long = { ...owner, userId: 'a'.repeat(9_000) }
    const { id } = await connected(opened.store, long)
    expect(await heard).toEqual({ noun: 'connection', id, owner: long })
    expect(opened.other.catchUp()).toBe(before)
  })

  test('drop their caches when they lose the announcements, and soon receive them again', async () => {
    await using opened = await reused.open()
    const { store, other } = opened
    const both = [store, other]
    const { projectId } = await inProject(store)
    await untilCaughtUp(other)
    const before = both.map((one) => one.catchUp())
    expect(both.map((one) => one.catchUp())).toEqual(before)
    await runSql(
      shared.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = '${LISTENER}' and datname = current_database()`,
    )
    // the node may reconnect at once: then the number has changed only once
    await until(() => both.every((one, i) => one.catchUp() !== before[i]))
    await until(() => both.every((one) => !isDeaf(one)))
    const heard = nextChange(other)
    await putTool(store, tool({ projectId }))
    expect(await heard).toMatchObject({ noun: 'tool', projectId })
  })
})

test('on PostgreSQL, a write that its own condition refuses gives its connection back to the pool', async () => {
  await using opened = await reused.open()
  const { store } = opened
  const { owner } = await inProject(store)
  await store.authorizations.begin(pending(owner), 'share 1', 0)
  const refused = store.authorizations.begin(pending(owner), 'share 2', 0, 1)
  await expect(refused).rejects.toMatchObject({ code: 'too_many_pending' })
  // now and then the store uses one for itself
  await expect.poll(() => store.figures().connections?.used).toBe(0)
})

describe('on PostgreSQL, races', () => {
  test('of a sweep and a write keep what was written', async () => {
    await using opened = await reused.open()
    const { store } = opened
    const { url } = shared
    const { owner } = await inProject(store)
    const { projectId } = owner
    // both have run out: a claim of an Idempotency-Key, and the deadline of a held response
    const lapsed = { projectId, owner: 'the first', request: 'r', claimedBy: 'a process', seconds: -10 }
    await store.idempotencyKeys.claim('place', lapsed, 100)
    const { id } = await store.authorizations.begin(pending(owner), 'share', 0)
    await runSql(
      url,
      `update authorizations set status = 'confirming', response = 'r', deadline = 5 where id = '${id}'`,
    )
    const writer = new pg.Client({ connectionString: url })
    await writer.connect()
    await writer.query('begin')
    await writer.query("update answers set owner = 'the second', until = until + 1000")
    await writer.query("update authorizations set status = 'pending', response = null, state_hash = 'new'")

    const sweeping = Promise.all([store.idempotencyKeys.sweep(100), store.authorizations.forgetResponses(10)])
    const waiting = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`
    while ((await runSql(url, waiting)).rows.length < 2);
    await writer.query('commit')
    await writer.end()

    expect(await sweeping).toEqual([0, 0])
    expect(await store.idempotencyKeys.find('place')).toMatchObject({ owner: 'the second' })
    const { rows } = await runSql(url, 'select state_hash from authorizations')
    expect(rows).toEqual([{ state_hash: 'new' }])
  })

  test('of first connections of a user end in one default', async () => {
    await using opened = await reused.open()
    const { store, other } = opened
    const { owner } = await inProject(store)
    for (let round = 0; round < 5; round++) {
      const of = { ...owner, userId: `user ${round}` }
      await Promise.all(
        [store, other, store, other].map((one, i) =>
          connected(one, of, { account: { id: `${i}`, name: `${i}` } }, { makeDefault: i > 1 }),
        ),
      )
      const all = await store.connections.ofOwner(of)
      expect(all.map(({ isDefault }) => isDefault)).toEqual([true, false, false, false])
    }
  })

  test('of deletions and additions leave one default', async () => {
    await using opened = await reused.open()
    const { store, other } = opened
    const { owner } = await inProject(store)
    for (let round = 0; round < 5; round++) {
      const of = { ...owner, userId: `user ${round}` }
      const made = []
      for (const id of ['a', 'b', 'c']) made.push(await connected(store, of, { account: { id, name: id } }))
      const [a, b, c] = made
      await Promise.all([
        store.connections.delete(a?.id ?? ''),
        other.connections.delete(b?.id ?? ''),
        store.connections.makeDefault(c?.id ?? ''),
        connected(other, of, { account: { id: 'd', name: 'd' } }),
      ])
      const all = await store.connections.ofOwner(of)
      expect(all.map(({ isDefault }) => isDefault)).toEqual([true, false])
    }
  })

  test('of a consent and the deletion of its provider leave no connection behind', async () => {
    await using opened = await reused.open()
    const { store, other } = opened
    const { owner, projectId } = await inProject(store)
    const [stored] = await Promise.allSettled([
      connected(store, owner),
      other.providers.delete(projectId, 'demo'),
    ])
    expect(await store.connections.ofOwner(owner)).toEqual([])
    if (stored.status === 'rejected') expect(stored.reason).not.toBeInstanceOf(BrokerError)
  })

  test('for a lease are decided by the clock of the database, not by those of the nodes', async () => {
    await using opened = await reused.open()
    const { store, other } = opened
    const { url } = shared
    const { owner } = await inProject(store)
    const { id } = await connected(store, owner)
    const lease = { owner: 'me', seconds: 30 }
    expect(await store.connections.claimRefresh(id, 1, lease, 0)).toBeDefined()
    expect(await other.connections.claimRefresh(id, 1, lease, Number.MAX_SAFE_INTEGER)).toBeUndefined()
    const { rows } = await runSql(
      url,
      'select lease_until - extract(epoch from now()) as left from connections',
    )
    expect(Number(rows[0]?.left)).toBeGreaterThan(25)
    await runSql(url, 'update connections set lease_until = lease_until - 31')
    expect(await other.connections.claimRefresh(id, 1, lease, 0)).toBeDefined()
  })
})

test('on PostgreSQL, what changes all connections needs no statement that takes long with many of them', async () => {
  await using database = await freshDatabase()
  const { url } = database
  const store = await openPostgresStore(url)
  const { owner, entry } = await inProject(store)
  const { id, providerIdentity } = await connected(store, owner)
  await runSql(
    url,
    `insert into connections select added.* from connections as one, generate_series(1, 5000) as i,
       jsonb_populate_record(one, jsonb_build_object('id', one.id || i, 'user_id', 'user ' || i)) as added`,
  )
  await runSql(
    url,
    `create function refuse_many() returns trigger language plpgsql as $$ begin
       if (select count(*) from changed) > 5000 then raise 'one statement changed too many rows'; end if;
       return null;
     end $$;
     create trigger refuse_many after update on connections referencing new table as changed
       for each statement execute function refuse_many()`,
  )
  await store.facts.put(BACKUP_FACT, '3')
  expect(await store.settleRestore('restored', 5)).toMatchObject({ connections: 5001 })
  expect(await store.connections.reidentify(owner, { from: [providerIdentity], to: 'second' })).toBe(5001)
  await store.providers.change(entry, { ...entry, description: 'x' }, undefined, {
    from: ['second'],
    to: 'third',
  })
  const { rows } = await runSql(
    url,
    `select count(*)::int as count from connections where unanswered_refreshes = 1 and provider_identity = 'third'`,
  )
  expect(rows).toEqual([{ count: 5001 }])
  expect(await store.connections.find(id)).toMatchObject({ providerIdentity: 'third' })
  await store.close()
})

describe('a PostgreSQL database', () => {
  test('that is empty may be opened by many nodes at once', async () => {
    await using database = await freshDatabase()
    const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(database.url)))
    const projects = await Promise.all(stores.map((store) => store.projects.ensure('shared', 1)))
    expect(new Set(projects.map(({ id }) => id)).size).toBe(1)
    await Promise.all(stores.map((store) => store.probe()))
    expect(await pendingMigrations(database.url)).toBe(0)
    await Promise.all(stores.map((store) => store.close()))
  })

  test('of a newer release is refused, and not changed', async () => {
    await using database = await freshDatabase()
    await (await openPostgresStore(database.url)).close()
    await runSql(database.url, "insert into schema_migrations values ('of tomorrow', 1)")
    await expect(openPostgresStore(database.url)).rejects.toThrow(
      /newer release of Gatepass.*(Start that release|restore a backup)/,
    )
    const { rows } = await runSql(database.url, 'select hash from schema_migrations where created_at = 1')
    expect(rows).toHaveLength(1)
  })

  test('is checked before anything is written to it', async () => {
    await using database = await freshDatabase()
    const admit = () => {
      throw new BrokerError('store_unavailable', 'not with this key')
    }
    await expect(openPostgresStore(database.url, { admit })).rejects.toThrow('not with this key')
    expect(await pendingMigrations(database.url)).toBeGreaterThan(0)
    const { rows } = await runSql(database.url, "select to_regclass('schema_migrations') as begun")
    expect(rows).toEqual([{ begun: null }])
  })

  test('that would lose commits in a crash is refused', async () => {
    await using database = await freshDatabase()
    const name = new URL(database.url).pathname.slice(1)
    await runSql(database.url, `alter database ${name} set synchronous_commit = off`)
    await expect(openPostgresStore(database.url)).rejects.toThrow(/synchronous_commit/)
  })

  test.each<[string, (url: URL) => void]>([
    ['the password is wrong', (url) => Object.assign(url, { password: 'sesame-wrong' })],
    ['there is no such database', (url) => Object.assign(url, { pathname: '/nowhere', password: 'sesame' })],
    ['no server listens', (url) => Object.assign(url, { port: '1', password: 'sesame' })],
    [
      'there is no such host',
      (url) => Object.assign(url, { hostname: 'nowhere.invalid', password: 'sesame' }),
    ],
  ])('is named without its password when %s', async (_, change) => {
    const url = new URL(shared.url)
    change(url)
    const error = await openPostgresStore(url.href).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toMatchObject({ code: 'store_unavailable' })
    expect(String(error)).toContain(`postgres://postgres@${url.host}`)
    expect(inspectAll(error)).not.toContain('sesame')
  })

  test('that lacks a table is answered store_unavailable, and the error holds no values', async () => {
    await using database = await freshDatabase()
    const store = await openPostgresStore(database.url)
    await runSql(database.url, 'drop table facts')
    const error = await store.facts.settle('check', 'sesame').catch((reason: unknown) => reason)
    await store.close()
    expect(error).toMatchObject({ code: 'store_unavailable', retryAfter: 5 })
    expect(inspectAll(error)).not.toContain('sesame')
  })

  test('refuses a value that it cannot store as invalid_request', async () => {
    await using opened = await reused.open()
    await expect(opened.store.projects.ensure('with \u0000 in it', 1)).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('rounds an expiry with a fraction down to whole seconds', async () => {
    await using opened = await reused.open()
    const { owner } = await inProject(opened.store)
    const { id } = await connected(opened.store, owner, { expiresAt: 3600.75 })
    expect(await opened.store.connections.find(id)).toMatchObject({ expiresAt: 3600 })
  })

  test('keeps JSON with its members in the order in which they were written', async () => {
    await using opened = await reused.open()
    const { projectId } = await inProject(opened.store)
    const inputSchema = { type: 'object', properties: { z: {}, a: { const: '\u0000' } }, $id: 'x', b: 1.5 }
    const one = tool({ projectId, inputSchema })
    await putTool(opened.store, one)
    const [kept] = await opened.store.tools.list(projectId)
    expect(JSON.stringify(kept?.inputSchema)).toBe(JSON.stringify(inputSchema))
  })
})

/** Whether the store receives no announcements: then every `catchUp` says that changes may have been missed. */
function isDeaf(store: Store): boolean {
  const before = store.catchUp()
  return store.catchUp() !== before
}

function nextChange(store: Store, noun?: StoreChange['noun']): Promise<StoreChange> {
  return new Promise((resolve) =>
    store.onChange((change) => (noun ?? change.noun) === change.noun && resolve(change)),
  )
}

/** Waits until the store has received every earlier announcement. */
async function untilCaughtUp(store: Store): Promise<void> {
  const id = newId('auth')
  const heard = new Promise<void>((resolve) =>
    store.onChange((change) => change.noun === 'authorization' && change.id === id && resolve()),
  )
  await announce(shared, id)
  await heard
}

/** The error with its causes and members, as a careless log would print it. */
function inspectAll(error: unknown): string {
  const seen: string[] = []
  for (let one = error; one instanceof Error; one = one.cause)
    seen.push(String(one.stack), JSON.stringify(one), ...Object.values(one).map(String))
  return seen.join('\n')
}
