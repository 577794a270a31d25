import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { execution, mcpConsent, scheduledRun } from '../store/fixtures.ts'
import { startWorld, type World } from './world.ts'

// Lists that grow with the users of an installation are read by cursors, which cost the same on every page.

let world: World
let projectId: string

beforeAll(async () => {
  world = await startWorld()
  const { store } = world.gatepass.broker
  projectId = (await store.projects.ensure('default', 0)).id
  for (const user of ['ada', 'bob', 'cleo', 'dora', 'eve']) {
    await world.connect(user)
    await store.mcpConsents.put(mcpConsent({ projectId, userId: user }))
    await store.executions.add([
      execution({ projectId, userId: user }),
      scheduledRun({ projectId, runAt: 2 ** 40 }),
    ])
    await world.call('POST', '/v1/admin/keys', { name: user, role: 'caller' })
  }
})

afterAll(() => world[Symbol.asyncDispose]())

const LISTS = [
  '/v1/connections',
  '/v1/admin/user_connections',
  '/v1/executions',
  '/v1/scheduled_tools',
  '/v1/admin/mcp_clients',
  '/v1/admin/keys',
]

async function get(path: string) {
  const { status, body } = await world.call('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body
}

interface ListPage {
  readonly items: readonly { readonly id: string }[]
  readonly next_cursor?: string
}

const idsOf = (page: ListPage) => page.items.map(({ id }) => id)

/** All pages from this one on, by their cursors. */
async function* pagesFrom(path: string, first: ListPage) {
  for (let page = first; ; page = await get(`${path}cursor=${page.next_cursor}`)) {
    yield page
    if (page.next_cursor === undefined) return
  }
}

describe.each(LISTS)('%s', (path) => {
  test('is walked through by cursors, in the order of its offsets', async () => {
    const all = await get(`${path}?limit=100`)
    expect(all.items.length).toBeGreaterThanOrEqual(5)
    expect(all).not.toHaveProperty('next_cursor')
    const ids: string[] = []
    for await (const page of pagesFrom(`${path}?limit=2&`, await get(`${path}?limit=2`))) {
      expect(page).toMatchObject({ offset: ids.length, limit: 2, total_count: all.items.length })
      ids.push(...idsOf(page))
    }
    expect(ids).toEqual(idsOf(all))
    expect(idsOf(await get(`${path}?limit=2&offset=3`))).toEqual(ids.slice(3, 5))
  })

  test('takes no cursor of another list, of other filters or of nobody', async () => {
    const { next_cursor } = await get(`${path}?limit=2`)
    const other = LISTS.find((one) => one !== path)
    const filtered = path.includes('keys') || path.includes('scheduled') ? [] : [`${path}?user_id=ada&`]
    const wrong = [...filtered, `${other}?`].map((target) => `${target}cursor=${next_cursor}`)
    const made = Buffer.from('[1,2,3]').toString('base64url')
    for (const target of [...wrong, `${path}?cursor=${made}`, `${path}?cursor=%00`, `${path}?cursor=e30`]) {
      const { status, body } = await world.call('GET', target)
      expect([status, body.errors?.[0]?.path], target).toEqual([400, 'cursor'])
      expect(body.message).toContain('Start again without a cursor')
    }
    const both = await world.call('GET', `${path}?limit=2&offset=2&cursor=${next_cursor}`)
    expect([both.status, both.body.message]).toEqual([400, expect.stringContaining('leave "offset" out')])
  })
})

test('an item that goes between two pages makes none be left out', async () => {
  const ids = idsOf(await get('/v1/executions?limit=100'))
  const first = await get('/v1/executions?limit=2')
  await world.gatepass.broker.store.executions.add([execution({ projectId, userId: 'late' })])
  const rest: string[] = []
  for await (const page of pagesFrom('/v1/executions?limit=2&', first)) rest.push(...idsOf(page))
  expect(rest).toEqual(ids)
})

test('a cursor holds in its own project alone', async () => {
  const { next_cursor } = await get('/v1/executions?limit=2')
  const other = await world.call('POST', '/v1/admin/keys', { name: 'x', role: 'admin', project: 'others' })
  const path = `/v1/executions?cursor=${next_cursor}`
  expect((await world.call('GET', path, undefined, { key: other.body.key })).status).toBe(400)
})

test('a long list is counted up to a bound, and left by offset with a word about cursors', async () => {
  const database = new Database(world.gatepass.databasePath)
  database.function('new_id', { deterministic: false }, () => newId('exec'))
  const columns = database.pragma('table_info(executions)') as { name: string }[]
  const [id, ...others] = columns.map(({ name }) => name)
  const copied = others.map((name) => (name === 'user_id' ? "'many'" : name)).join()
  database.exec(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < 10100)
     insert into executions (${[id, ...others].join()})
     select new_id(), ${copied} from n, (select * from executions where type = 'immediate' limit 1)`,
  )
  database.close()
  const path = '/v1/executions?user_id=many&limit=100'
  expect(await get(path)).toMatchObject({ total_count: 10_000, total_count_is_minimum: true })
  const far = await get(`${path}&offset=10000`)
  expect(far).toMatchObject({ total_count: 10_100, total_count_is_minimum: true, page_count: 100 })
  expect(far).not.toHaveProperty('next_cursor')
  const { status, body } = await world.call('GET', `${path}&offset=10001`)
  expect([status, body.errors]).toMatchObject([400, [{ path: 'offset', code: 'too_large' }]])
  expect(body.message).toContain('cursor')
})
