import pg from 'pg'
import { describe, expect, test, vi } from 'vitest'
import { forgetResponses } from '../../src/flows/held-grant.ts'
import { refreshDue } from '../../src/flows/refresh/refresh-due.ts'
import { until } from '../until.ts'
import {
  authorizeAt,
  processThatHasRead,
  sceneWithWorkers,
  startProcess,
  watchNames,
} from './stopped-worker.ts'

// Users whose connections a stopped worker of the database holds fail alone, and all others are served. A worker that is
// back is asked again half a second after its last failure, so what follows is awaited.

/** As many requests as share a commit in a busy process. */
const AT_ONCE = 8
const LIFE = 3600
/** That much later than its last use, a use is written down again. */
const LATER = 70

const on = sceneWithWorkers()

const statuses = (answers: readonly { readonly status: number }[]) => answers.map(({ status }) => status)
const times = <T>(of: T): readonly T[] => Array.from({ length: AT_ONCE }, () => of)

const UNAVAILABLE = {
  status: 503,
  body: {
    name: 'store_unavailable',
    message: expect.stringContaining('A worker of the database does not answer'),
  },
}

async function releasesOf(user_id: string): Promise<number> {
  const { body } = await on.scene.call('GET', `/v1/admin/audit?user_id=${user_id}&action=token.released`)
  return body.items.length
}

describe('while the worker of one user is stopped', () => {
  test('fetches of one commit fail for that user, and succeed for others with an entry each', async () => {
    const before = { ada: await releasesOf('ada'), grace: await releasesOf('grace') }
    await using other = await processThatHasRead(on.scene, on.database, ['ada', 'grace'])
    await on.database.stopWorkerOf('ada')
    const answers = await Promise.all(
      [...times('ada'), ...times('grace')].map((user) => authorizeAt(other, user)),
    )
    for (const answer of answers.slice(0, AT_ONCE)) expect(answer).toMatchObject(UNAVAILABLE)
    expect(answers[0]?.headers.get('retry-after')).toBe('5')
    expect(statuses(answers.slice(AT_ONCE))).toEqual(times(200))
    await on.database.startWorkers()
    expect(await releasesOf('ada')).toBe(before.ada)
    expect(await releasesOf('grace')).toBe(before.grace + AT_ONCE)
    await until(async () => (await authorizeAt(other, 'ada')).status === 200)
  })

  test('the same in a process that has cached nothing: reads that share a statement fail alone', async () => {
    await on.database.stopWorkerOf('ada')
    await using other = await startProcess(on.scene, on.database)
    const answers = await Promise.all(
      [...times('ada'), ...times('grace')].map((user) => authorizeAt(other, user)),
    )
    for (const answer of answers.slice(0, AT_ONCE)) expect(answer).toMatchObject(UNAVAILABLE)
    expect(statuses(answers.slice(AT_ONCE))).toEqual(times(200))
  })

  test('a failed fetch asks the worker for a moment only, and does not lock the chain of the audit trail', async () => {
    await using other = await processThatHasRead(on.scene, on.database, ['ada'])
    await on.database.stopWorkerOf('ada')
    const sent = watchNames()
    expect(await authorizeAt(other, 'ada')).toMatchObject(UNAVAILABLE)
    expect(sent()).toContain('confirm_connections')
    expect(sent()).not.toContain('lock_audit_head')
  })

  test('its failures close no connection to the coordinator', async () => {
    await using other = await processThatHasRead(on.scene, on.database, ['ada'])
    const backends = async () => {
      const { rows } = await on.database.sql(
        "select pid from pg_stat_activity where application_name = 'gatepass' and datname = current_database()",
      )
      return rows.map(({ pid }) => pid)
    }
    const before = await backends()
    await on.database.stopWorkerOf('ada')
    for (const _ of times('ada')) expect(await authorizeAt(other, 'ada')).toMatchObject(UNAVAILABLE)
    expect(await backends()).toEqual(expect.arrayContaining(before))
  })

  test('others begin, list and disconnect; lists over all users say what is wrong', async () => {
    await on.database.stopWorkerOf('ada')
    expect((await on.scene.connect({ user_id: 'joan' })).body.status).toBe('completed')
    expect((await on.scene.call('GET', '/v1/connections?user_id=joan')).body.items).toHaveLength(1)
    const [connection] = (await on.scene.call('GET', '/v1/connections?user_id=joan')).body.items
    expect((await on.scene.call('DELETE', `/v1/connections/${connection.id}`)).status).toBe(200)
    for (const of of ['/v1/connections?user_id=ada', '/v1/connections', '/v1/connections?provider_id=demo'])
      expect(await on.scene.call('GET', of), of).toMatchObject(UNAVAILABLE)
    expect(await on.scene.authorize({ user_id: 'ada', scopes: ['write'] })).toMatchObject(UNAVAILABLE)
    expect((await on.scene.call('GET', '/ready')).status).toBe(200)
  })

  test('the limit of pending authorizations goes on with its last count', async () => {
    await on.scene.authorize({ user_id: 'ada', scopes: ['write'] })
    await on.database.stopWorkerOf('ada')
    on.scene.clock.advance(20) // the count is old
    expect((await on.scene.authorize({ user_id: 'grace', scopes: ['write'] })).body.status).toBe('pending')
  })

  test('the jobs in the background go on for all others', async () => {
    const { broker } = on.scene.gatepass
    const { store, uses } = broker
    const idOf = async (user: string) =>
      (await on.scene.call('GET', `/v1/connections?user_id=${user}`)).body.items[0].id
    const ids = [await idOf('ada'), await idOf('grace')]
    await on.database.stopWorkerOf('ada')
    on.scene.clock.advance(LATER)
    for (const id of ids) uses.used('connections', id, on.scene.clock())
    await uses.flush()
    const usedAt = async (user: string) =>
      (await on.database.sql(`select last_used_at::int as at from connections where user_id = '${user}'`))
        .rows[0].at
    expect(await usedAt('grace')).toBe(on.scene.clock())
    expect(await usedAt('ada')).not.toBe(on.scene.clock())

    on.scene.clock.advance(LIFE - LATER - 120)
    await refreshDue(broker)
    expect(on.scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    await forgetResponses(broker)
    await store.processes.declareDead(60_000)
    const rows = async () =>
      (await on.database.sql('select distinct user_id from authorizations order by user_id')).rows.map(
        (row) => row.user_id,
      )
    expect(await rows()).toEqual(expect.arrayContaining(['ada', 'grace']))
    await store.authorizations.sweep(on.scene.clock() + LIFE)
    expect(await rows()).toEqual(['ada'])
    await on.database.startWorkers()
    await until(async () => {
      await store.authorizations.sweep(on.scene.clock() + LIFE)
      return (await rows()).length === 0
    })
  })
})

/** While a worker fails each statement, it is sent one in this time (docs/operate/operation.md). */
const ASKED_EACH_MS = 500

test('a worker that has failed three times is sent a statement now and then, and all else is refused unsent', async () => {
  const [{ id }] = (await on.scene.call('GET', '/v1/connections?user_id=ada')).body.items
  await using other = await processThatHasRead(on.scene, on.database, ['ada', 'grace'])
  const fetchAll = (users: readonly string[]) => Promise.all(users.map((user) => authorizeAt(other, user)))
  await on.database.stopWorkerOf('ada')
  for (let failed = 0; failed < 3; failed++)
    expect(await authorizeAt(other, 'ada')).toMatchObject(UNAVAILABLE)

  const sent = vi.spyOn(pg.Client.prototype, 'query')
  const began = performance.now()
  for (let round = 0; round < 8; round++) {
    const answers = await fetchAll([...times('ada'), ...times('grace')])
    for (const answer of answers.slice(0, AT_ONCE)) expect(answer).toMatchObject(UNAVAILABLE)
    expect(statuses(answers.slice(AT_ONCE))).toEqual(times(200))
  }
  const turns = 1 + Math.floor((performance.now() - began) / ASKED_EACH_MS)
  const isAboutAda = new RegExp(`connections.*("ada"|${id})`) // its text, then its values
  const asked = sent.mock.calls.filter(([statement]) => isAboutAda.test(JSON.stringify(statement)))
  expect(asked.length).toBeLessThanOrEqual(turns)

  await on.database.startWorkers()
  await until(async () => (await authorizeAt(other, 'ada')).status === 200)
  expect(statuses(await fetchAll(times('ada')))).toEqual(times(200))
})
