import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { unchangedRow } from '../../src/store/dialects/postgres/confirmations.ts'
import { until } from '../until.ts'
import {
  authorizeAt,
  processThatHasRead,
  sceneWithWorkers,
  startProcess,
  watchNames,
} from './stopped-worker.ts'

// How a release is checked in the distributed form: a connection is read once, and the feed of changes says whether it is
// still the same. So no token is released after a revocation, in this process or another.

const on = sceneWithWorkers()

const fetchToken = () => on.scene.authorize({ user_id: 'ada' })
const readsIn = (names: readonly (string | undefined)[]) =>
  names.filter((name) => name === 'confirm_connections').length

async function connectionId(): Promise<string> {
  return (await on.scene.call('GET', '/v1/connections?user_id=ada')).body.items[0].id
}

async function writer(): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: on.database.url })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

test('a connection whose token was released is not read again, also while its worker is stopped', async () => {
  // it is forgotten when the feed is silent for three seconds, which may be so on a slow machine
  await until(async () => {
    await on.database.startWorkers()
    if ((await fetchToken()).status !== 200) return false
    await on.database.stopWorkerOf('ada')
    const sent = watchNames()
    const before = sent().length
    const { status } = await fetchToken()
    const names = sent().slice(before)
    return status === 200 && names.includes('append_audit_block') && readsIn(names) === 0
  })
})

test.each<[string, string, Moment]>([
  ['right after the connection was read', 'confirm_connections', 'after'],
  ['before the audit trail is locked', 'lock_audit_head', 'before'],
])('a deletion by another process that was committed %s is seen', async (_, name, moment) => {
  await using asked = await processThatHasRead(on.scene, on.database, ['ada'])
  const deleted = await deletionOfAda()
  once(moment, name, deleted)
  expect((await authorizeAt(asked, 'ada')).body).toMatchObject({ status: 'pending' })
  expect(deleted).toHaveBeenCalledOnce()
})

test('a deletion by another process of a connection that is remembered is seen', async () => {
  await using asked = await startProcess(on.scene, on.database)
  const deleted = await deletionOfAda()
  expect((await authorizeAt(asked, 'ada')).body).toMatchObject({ status: 'completed' })
  once('before', 'lock_audit_head', deleted)
  expect((await authorizeAt(asked, 'ada')).body).toMatchObject({ status: 'pending' })
  expect(deleted).toHaveBeenCalledOnce()
})

test('a deletion may be among changes that were pruned since the connection was read', async () => {
  await using asked = await processThatHasRead(on.scene, on.database, ['ada'])
  const deleted = await deletionOfAda()
  once('before', 'lock_audit_head', async () => {
    await deleted()
    await on.database.sql('delete from changes')
    const xid = 'pg_current_xact_id()::text::bigint'
    await on.database.sql(
      `insert into changes (xid, writer, pruned_below) values (${xid}, 'another', ${xid})`,
    )
  })
  expect((await authorizeAt(asked, 'ada')).body).toMatchObject({ status: 'pending' })
  expect(deleted).toHaveBeenCalledOnce()
})

test('a deletion by this process, whose commit is not answered yet, is seen', async () => {
  const id = await connectionId()
  await fetchToken()
  const held = holdCommitAfter('delete from "connections"')
  const feed = watchNames()
  const deleting = on.scene.call('DELETE', `/v1/connections/${id}`)
  await held.arrived
  const passed = feed().length
  const reads = () =>
    feed()
      .slice(passed)
      .filter((name) => name === 'read_changes').length
  await until(() => reads() > 1) // the feed is past the deletion, which it does not repeat to this process
  const fetching = fetchToken()
  await until(() => feed().slice(passed).includes('lock_audit_head') || readsIn(feed().slice(passed)) > 0)
  held.release()
  expect((await deleting).status).toBe(200)
  const { status, body } = await fetching
  expect([status, body.status]).toEqual([200, 'pending'])
})

test('a row that an open transaction writes is waited for: it may be committed already', async () => {
  await using other = await processThatHasRead(on.scene, on.database, ['ada', 'grace'])
  await using client = await writer()
  await client.query("begin; update connections set generation = generation + 1 where user_id = 'ada'")
  const sent = watchNames()
  let isAnswered = false
  const fetching = authorizeAt(other, 'ada').finally(() => {
    isAnswered = true
  })
  await until(() => readsIn(sent()) > 1)
  expect(isAnswered).toBe(false)
  expect((await authorizeAt(other, 'grace')).status).toBe(200)
  await client.query('rollback')
  expect([200, 503]).toContain((await fetching).status) // a slow machine may give up first
})

test('a row that was locked, and is not any more, is read once', async () => {
  await using other = await processThatHasRead(on.scene, on.database, ['ada'])
  await using client = await writer()
  await client.query("begin; select from connections where user_id = 'ada' for update; commit")
  const sent = watchNames()
  expect((await authorizeAt(other, 'ada')).status).toBe(200)
  expect(readsIn(sent())).toBe(1)
})

test('a position of another server, or of the same one before it was started again, confirms nothing', async () => {
  await fetchToken()
  const { store } = on.scene.gatepass.broker
  const [connection] = await store.connections.ofOwner(await ownerOfAda())
  if (connection === undefined || store.audit.confirm === undefined) throw new Error('no connection')
  const release = {
    connection,
    projectId: connection.projectId,
    line: '',
    entry: undefined as never,
    rules: [],
  }
  const confirmed = await store.audit.confirm(release)
  const { server } = confirmed.position
  expect(unchangedRow({ ...release, confirmed }, { server, later: [] })).toEqual(confirmed.row)
  expect(unchangedRow({ ...release, confirmed }, { server: 'another', later: [] })).toBeUndefined()
})

async function ownerOfAda() {
  const { store } = on.scene.gatepass.broker
  const { id: projectId } = await store.projects.ensure('default', 0)
  const [{ provider_uid }] = (
    await on.database.sql("select provider_uid from connections where user_id = 'ada'")
  ).rows as [{ provider_uid: string }]
  return { projectId, providerUid: provider_uid, userId: 'ada' }
}

type Query = (this: pg.Client, ...args: unknown[]) => unknown

/** A function that deletes ada's connection in the scene's process. */
async function deletionOfAda() {
  const id = await connectionId()
  return vi.fn(async () => {
    expect((await on.scene.call('DELETE', `/v1/connections/${id}`)).status).toBe(200)
  })
}

type Moment = 'before' | 'after'

/** Runs `act` before the next statement of this name is sent, or after the answer to it. */
function once(moment: Moment, name: string, act: () => Promise<void>): void {
  const query: Query = pg.Client.prototype.query
  let isDue = true
  const instead: Query = function (...args) {
    const [asked] = args as [{ readonly name?: string }]
    if (!isDue || asked.name !== name) return query.apply(this, args)
    isDue = false
    if (moment === 'before') return act().then(() => query.apply(this, args))
    return (query.apply(this, args) as Promise<unknown>).then(async (result) => {
      await act()
      return result
    })
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(instead as typeof pg.Client.prototype.query)
}

/** Holds the answer to the next commit after such a statement. The server has committed when `arrived` resolves. */
function holdCommitAfter(begin: string) {
  const query: Query = pg.Client.prototype.query
  const arrived = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  let isDue = true
  let writing: pg.Client | undefined
  const instead: Query = function (...args) {
    const [asked] = args as [string | { readonly text?: string }]
    const answer = query.apply(this, args)
    if (typeof asked === 'object' && asked.text?.startsWith(begin)) writing = this
    if (!isDue || asked !== 'commit' || this !== writing) return answer
    isDue = false
    return (answer as Promise<unknown>).then(async (result) => {
      arrived.resolve()
      await released.promise
      return result
    })
  }
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(instead as typeof pg.Client.prototype.query)
  return { arrived: arrived.promise, release: () => released.resolve() }
}
