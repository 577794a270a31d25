import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId } from '../../src/domain/ids.ts'
import { testClock } from '../gatepass.ts'
import { execution } from '../store/fixtures.ts'
import { type Page, UserAgent } from '../user-agent.ts'
import { consoleParts } from './console-part.ts'
import { startWorld, type World } from './world.ts'

let world: World
let admin: UserAgent
let readonly: UserAgent

beforeAll(async () => {
  world = await startWorld()
  for (const user of ['ada', 'grace', 'joan']) await world.connect(user)
  admin = await loggedIn(world.gatepass.apiKey)
  readonly = await loggedIn(await world.gatepass.makeKey('readonly'))
  await world.gatepass.broker.activity.flush()
})
afterAll(() => world?.[Symbol.asyncDispose]())

const url = (path = '') => `${world.gatepass.url}/dashboard${path}`

async function loggedIn(key: string): Promise<UserAgent> {
  const browser = new UserAgent()
  await browser.submitForm(await browser.follow(url()), { key })
  return browser
}

const rows = ({ body }: Page) => (body.match(/<tbody[^>]*>.*<\/tbody>/s)?.[0].match(/<tr[ >]/g) ?? []).length
const csrfIn = ({ body }: Page) => /name="csrf" value="([\w-]+)"/.exec(body)?.[1] ?? ''

let isFilled = false
/** More than two pages of runs and keys, and of what features list of runs; the second time there is nothing to do. */
async function fillLists(): Promise<void> {
  const { store, now } = world.gatepass.broker
  if (isFilled) return
  isFilled = true
  const { id: projectId } = await store.projects.ensure('default', 0)
  for (const { longLists } of consoleParts) await longLists?.begin(world)
  const failed = { projectId, userId: 'lister', status: 'failed', outcome: 'error' } as const
  await store.executions.add(Array.from({ length: 120 }, () => execution(failed)))
  for (let i = 0; i < 110; i++) {
    const id = newId('key')
    await store.apiKeys.add({ id, projectId, name: '', role: 'caller', hash: id, createdAt: now() })
  }
}

async function connectionOf(user: string): Promise<string> {
  return (await world.call('GET', `/v1/connections?user_id=${user}`)).body.items[0].id
}

describe('lists', () => {
  test.each([
    ['/connections', 3],
    ['/connections?user=ada', 1],
    ['/connections?provider=demo', 3],
    ['/connections?provider=unknown', 0],
    ['/connections?status=active', 3],
    ['/connections?status=needs_authorization', 0],
    ['/connections?user=ada&status=active', 1],
    ['/connections?user=ada&status=needs_authorization', 0],
    ['/connections?date=2020-01-01', 0],
    ['/connections?date=2090-01-01', 3],
    ['/users', 3],
    ['/authorizations', 3],
    ['/authorizations?status=completed', 3],
    ['/authorizations?status=failed', 0],
    ['/authorizations?user=grace', 1],
  ])('%s has %i rows', async (path, count) => {
    const page = await admin.get(url(path))
    expect(page.status).toBe(200)
    expect(rows(page)).toBe(count)
  })

  test('pages follow each other by key, in both directions', async () => {
    const { broker } = world.gatepass
    const { id: projectId } = await broker.store.projects.ensure('default', 0)
    const { connections } = broker.store.consoleLists
    const first = await connections(projectId, {}, {}, 2)
    expect(first).toMatchObject({ rows: [{ userId: 'joan' }, { userId: 'grace' }] })
    expect(first.newer).toBeUndefined()
    const second = await connections(projectId, {}, { before: first.older ?? '' }, 2)
    expect(second).toMatchObject({ rows: [{ userId: 'ada' }] })
    expect(second.older).toBeUndefined()
    const back = await connections(projectId, {}, { after: second.newer ?? '' }, 2)
    expect(back.rows).toEqual(first.rows)
    expect(back.newer).toBeUndefined()
  })

  test.each([
    '/runs',
    '/runs?status=failed',
    '/runs?user=lister&status=failed',
    '/keys',
    ...consoleParts.flatMap(({ longLists }) => longLists?.paths ?? []),
  ])('%s goes on to older rows and back, and says no total', async (path) => {
    await fillLists()
    const seen: string[][] = []
    const next = (page: Page, rel: string) =>
      new RegExp(`<a rel="${rel}" href="([^"]+)"`).exec(page.body)?.[1]?.replaceAll('&amp;', '&')
    const cells = ({ body }: Page) =>
      (body.match(/<tbody[^>]*>.*<\/tbody>/s)?.[0] ?? '').split('</tr>').slice(0, -1)
    let page = await admin.get(url(path))
    expect(next(page, 'prev')).toBeUndefined()
    for (let pages = 0; pages < 10; pages++) {
      expect(page.status).toBe(200)
      seen.push(cells(page))
      const older = next(page, 'next')
      if (older === undefined) break
      page = await admin.get(new URL(older, url()).href)
    }
    expect(seen.length).toBeGreaterThan(2)
    expect(new Set(seen.slice(0, -1).map(({ length }) => length))).toEqual(new Set([50]))
    const newer = await admin.get(new URL(next(page, 'prev') ?? '', url()).href)
    expect(rows(newer)).toBe(50)
    expect(newer.body).not.toMatch(/\b(of|in all|total) 1\d\d\b/)
  })

  test('another project is never shown', async () => {
    const other = await loggedIn(await world.gatepass.makeKey('admin', 'other'))
    expect(rows(await other.get(url('/connections')))).toBe(0)
    expect(rows(await other.get(url('/connections?user=ada')))).toBe(0)
    expect(rows(await other.get(url('/users')))).toBe(0)
    const id = await connectionOf('ada')
    expect((await other.get(url(`/connections/${id}`))).status).toBe(404)
    const csrf = csrfIn(await other.get(url('/connections')))
    expect((await other.post(url(`/connections/${id}/revoke`), { csrf })).status).toBe(404)
    expect(await connectionOf('ada')).toBe(id)
  })
})

test('names from outside are text', async () => {
  const evil = '"><script>alert(1)</script>'
  await world.connect(evil)
  await world.gatepass.broker.activity.flush()
  for (const path of ['/connections', '/users', `/users/details?${new URLSearchParams({ id: evil })}`]) {
    const page = await admin.get(url(path))
    expect(page.status).toBe(200)
    expect(page.body).not.toContain('<script>')
    expect(page.body).toContain('&lt;script&gt;')
  }
})

describe('what an operator does with a connection', () => {
  test('is in the audit trail with the operator, as over the API', async () => {
    const id = await connectionOf('grace')
    const page = await admin.get(url(`/connections/${id}`))
    const csrf = csrfIn(page)
    const refreshed = await admin.post(url(`/connections/${id}/refresh`), { csrf })
    expect(refreshed.response.headers.get('location')).toBe(`/dashboard/connections/${id}`)
    expect((await admin.post(url(`/connections/${id}/revoke`), { csrf })).status).toBe(303)
    expect((await admin.get(url(`/connections/${id}`))).status).toBe(404)
    const { items } = (await world.call('GET', `/v1/admin/audit?connection_id=${id}`)).body
    expect(items[0]).toMatchObject({
      action: 'connection.deleted',
      actor: { kind: 'api_key', id: expect.stringMatching(/^key_/) },
      purpose: 'POST /dashboard/connections/:id/revoke',
    })
  })

  test('a readonly operator sees no form, and what they send is refused and recorded', async () => {
    const id = await connectionOf('ada')
    const page = await readonly.get(url(`/connections/${id}`))
    expect(page.status).toBe(200)
    expect(page.body).not.toMatch(/action="\/dashboard\/connections/)
    const csrf = csrfIn(page)
    for (const what of ['refresh', 'default', 'revoke'])
      expect((await readonly.post(url(`/connections/${id}/${what}`), { csrf })).status).toBe(403)
    expect(await connectionOf('ada')).toBe(id)
    const { items } = (await world.call('GET', '/v1/admin/audit?action=access.refused')).body
    expect(items[0]).toMatchObject({ reason: 'insufficient_role' })
  })

  test('a form without its token or from another site changes nothing', async () => {
    const id = await connectionOf('ada')
    const csrf = csrfIn(await admin.get(url(`/connections/${id}`)))
    for (const [form, headers] of [
      [{}, {}],
      [{ csrf: csrfIn(await readonly.get(url())) }, {}],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'none' }],
    ] as const)
      expect((await admin.post(url(`/connections/${id}/revoke`), form, { headers })).status).toBe(403)
    expect(await connectionOf('ada')).toBe(id)
  })
})

test('the overview counts what happened, and says what needs attention first', async () => {
  await world.call('POST', '/v1/admin/auth_providers', {
    id: 'unfinished',
    oauth2: {
      client_id: '',
      authorize_request: { endpoint: world.as.authorizationUrl },
      token_request: { endpoint: world.as.tokenUrl },
    },
  })
  const { body } = await admin.get(url())
  expect(body).toMatch(/Consents by outcome.*completed 4/s)
  expect(body).toContain('<svg viewBox')
  for (const span of ['7d', '30d', 'nonsense'])
    expect((await admin.get(url(`?span=${span}`))).status).toBe(200)
})

describe('the figures of the overview', () => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let own: World
  let operator: UserAgent
  beforeAll(async () => {
    own = await startWorld({ gatepass: { now: clock } })
    operator = new UserAgent()
    const { apiKey, url } = own.gatepass
    await operator.submitForm(await operator.follow(`${url}/dashboard`), { key: apiKey })
  })
  afterAll(() => own?.[Symbol.asyncDispose]())

  async function figures(span = ''): Promise<Record<string, string>> {
    await own.gatepass.broker.activity.flush()
    const { body } = await operator.get(`${own.gatepass.url}/dashboard${span}`)
    const list = /<dl class="figures">(.*?)<\/dl>/s.exec(body)?.[1] ?? ''
    const plain = (html = '') => html.replaceAll(/<[^>]+>/g, '')
    return Object.fromEntries(
      [...list.matchAll(/<div><dt>(.*?)<\/dt><dd>(.*?)<\/dd><dd class="change">(.*?)<\/dd><\/div>/gs)].map(
        ([, term, value, change]) => [plain(term), `${value}: ${plain(change)}`],
      ),
    )
  }

  test('say what there is, what is new, and how it compares with the time before', async () => {
    for (const user of ['ada', 'grace']) await own.connect(user)
    await own.execute('Demo.Whoami', { user_id: 'ada' })
    expect(await figures()).toEqual({
      Connections: '2: 2 new, none in the 24 hours before',
      Users: '2: 2 new, none in the 24 hours before',
      'Consents that succeeded': '2: none in the 24 hours before',
      'Tool runs': '1: none in the 24 hours before',
    })
    const { store } = own.gatepass.broker
    const { id: projectId } = await store.projects.ensure('default', 0)
    const hour = clock() - (clock() % 3600)
    const add = (name: 'runs' | 'users', label: string, count: number, hours: number) =>
      store.counters.add(hour - hours * 3600, [{ projectId, name, byLabel: new Map([[label, count]]) }])
    await add('runs', 'TOOL_RUNTIME_FATAL', 3, 30)
    await add('runs', 'value', 7, 60) // before that
    await add('users', 'new', 2, 30)
    expect(await figures()).toMatchObject({
      Users: '2: 2 new, as many as in the 24 hours before',
      'Tool runs': '1: 67% fewer than in the 24 hours before',
    })
    await add('runs', 'value', 8, 0)
    expect(await figures()).toMatchObject({
      'Tool runs': '9: 3 times as many as in the 24 hours before',
    })
    expect(await figures('?span=7d')).toMatchObject({ 'Tool runs': '19: none in the 7 days before' })
  })

  test('stop counting at ten thousand, and say so', async () => {
    const { store } = own.gatepass.broker
    const counting = vi.spyOn(store.consoleLists, 'countConnections').mockResolvedValue(10_001)
    expect(await figures()).toMatchObject({
      Connections: 'over 10,000: over 10,000 new, too many to compare',
    })
    counting.mockRestore()
  })
})

test('an unknown page says so in the console, and without a session asks for a login', async () => {
  expect((await admin.get(url('/nothing'))).status).toBe(404)
  expect((await new UserAgent().get(url('/nothing'))).status).toBe(303)
})

describe('what the script of the pages asks for', () => {
  const text = async (browser: UserAgent, path: string) => {
    const page = await browser.get(url(path))
    return page.status === 200 ? JSON.parse(page.body).text : page.status
  }

  test('is how many rows are newer, and needs a session', async () => {
    const list = await admin.get(url('/connections'))
    const path = /data-live="\/dashboard([^"]+)"/.exec(list.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(await text(admin, path)).toBe('')
    await world.connect('later')
    expect(await text(admin, path)).toBe('1 newer: show')
    expect(await text(readonly, path)).toBe('1 newer: show')
    expect(await text(new UserAgent(), path)).toBe(401)
    const searched = await admin.get(url('/connections?user=ada&status=active'))
    expect(searched.body).not.toContain('data-live')
  })

  test('comes from a script of at most 2 kB that sets texts alone', async () => {
    const src = /<script src="([^"]+)" defer>/.exec((await admin.get(url())).body)?.[1] ?? ''
    const script = await admin.get(`${world.gatepass.url}${src}`)
    expect(script.status).toBe(200)
    expect(script.body.length).toBeLessThanOrEqual(2048)
    expect(script.body).not.toMatch(/innerHTML|insertAdjacent|DOMParser|eval|Function\(/)
  })

  test('is the new status of an authorization', async () => {
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'waits' }
    const { body } = await world.call('POST', '/v1/auth/authorize', need)
    const page = await admin.get(url(`/authorizations/${body.id}`))
    const path = /data-live="\/dashboard([^"]+)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect(await text(admin, path)).toBe('')
    await world.connect('waits')
    expect(await text(admin, path)).toContain('“completed”')
  })
})
