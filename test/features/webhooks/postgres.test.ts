import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase, runSql } from '../../postgres.ts'
import { connection, defined, inProject } from '../../store/fixtures.ts'
import { openTwice } from '../../store/reused-postgres.ts'
import { until } from '../../until.ts'
import { webhook } from './fixtures.ts'

let shared: FreshDatabase
beforeAll(async () => {
  shared = await freshDatabase()
})
afterAll(() => shared[Symbol.asyncDispose]())

test('on PostgreSQL, an erasure and a new event of its user leave the event to be delivered, without the user', async () => {
  await using opened = await openTwice(shared)
  const { store, other, url } = opened
  const { projectId, owner } = await inProject(store)
  const hook = webhook({ projectId })
  await store.webhooks.add(hook, 10)
  const made = connection(owner)
  await store.connections.addImported(made, { replaces: false, makeDefault: false })
  const claim = async () =>
    defined((await store.deliveries.claim(hook, { owner: 'node', seconds: 30 }, 0, { limit: 1 }))[0])
  const delivered = { state: 'delivered', status: 204 } as const
  await store.deliveries.settle(await claim(), delivered, { health: 'answers' }, 0)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select from deliveries for update')

  const forgetting = store.events.forgetUser(projectId, owner.userId, 0)
  const waiting = `select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`
  while ((await runSql(url, waiting)).rows.length === 0);
  await other.connections.delete(made.id)
  await holder.query('commit')
  await holder.end()

  await forgetting
  const { type, data } = JSON.parse((await claim()).body)
  expect([type, data.id]).toEqual(['connection.deleted', made.id])
  expect(data).not.toHaveProperty('user_id')
  expect((await runSql(url, 'select id from events')).rows).toHaveLength(1)
})

test('on PostgreSQL, an erasure and a replay of its user’s events leave no delivery of a deleted event', async () => {
  await using opened = await openTwice(shared)
  const { store, other, url } = opened
  const { projectId, owner } = await inProject(store)
  const first = webhook({ projectId })
  await store.webhooks.add(first, 10)
  await store.connections.addImported(connection(owner), { replaces: false, makeDefault: false })
  const [one] = await store.deliveries.claim(first, { owner: 'node', seconds: 30 }, 0, { limit: 1 })
  const delivered = { state: 'delivered', status: 204 } as const
  await store.deliveries.settle(defined(one), delivered, { health: 'answers' }, 0)
  const hook = webhook({ projectId })
  await store.webhooks.add(hook, 10)
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query('begin')
  // the replay has read the event, and waits for this row of the same key
  await holder.query(
    `insert into deliveries (webhook_id, event_id, key, key_seq, state, attempt, created_at)
      select '${hook.id}', id, key, key_seq, 'waiting', 0, at from events`,
  )
  const waiting = async () =>
    (
      await runSql(
        url,
        `select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`,
      )
    ).rows.length

  const all = { since: 0, until: Number.MAX_SAFE_INTEGER, onlyFailed: false }
  const replaying = store.events.replay(hook, all, 0, { limit: 10 })
  await until(async () => (await waiting()) === 1)
  let isForgotten = false
  const forgetting = other.events.forgetUser(projectId, owner.userId, 0).then(() => {
    isForgotten = true
  })
  await until(async () => isForgotten || (await waiting()) === 2)
  await holder.query('rollback')
  await holder.end()

  await Promise.all([replaying, forgetting])
  const orphans = 'select event_id from deliveries where event_id not in (select id from events)'
  expect((await runSql(url, orphans)).rows).toEqual([])
})
