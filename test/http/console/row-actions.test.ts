import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testClock } from '../../gatepass.ts'
import { type Page, UserAgent } from '../../user-agent.ts'
import { startWorld, type World } from '../world.ts'

// What an operator sees and does in the rows of lists: logos, actions, and what an empty list says.

const clock = testClock(Math.floor(Date.now() / 1000))
let world: World
let admin: UserAgent
beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock } })
  const { call } = world
  await call('POST', '/v1/admin/auth_providers', { id: 'github', provider_id: 'github' })
  await call('POST', '/v1/admin/policies', { id: 'p', effect: 'deny', match: { tools: ['None.None'] } })
  await call('POST', '/v1/webhooks', { url: 'https://hooks.example.com/gatepass' })
  admin = await loggedIn(world.gatepass.apiKey)
})
afterAll(() => world?.[Symbol.asyncDispose]())

const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
const textOf = ({ body }: Page) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

async function loggedIn(key: string): Promise<UserAgent> {
  const agent = new UserAgent()
  await agent.submitForm(await agent.follow(at('')), { key })
  return agent
}

/** Sends the form of that action, which is in a row of the list. */
async function press(list: string, action: string): Promise<Page> {
  const page = await admin.get(at(list))
  const form = page.body
    .match(/<form .*?<\/form>/gs)
    ?.find((one) => one.includes(`action="/dashboard${action}"`))
  expect(form, `${action} in ${list}`).toBeDefined()
  return admin.submitForm({ url: page.url, body: form ?? '' })
}

describe('from the row of a list, which is shown again,', () => {
  test.each([
    ['/workers', '/workers/demo/enabled', 'demo was disabled', 'demo was enabled'],
    ['/providers', '/providers/github/status', 'github was disabled', 'github was enabled'],
    ['/policies', '/policies/p/enabled', 'p is no longer in force', 'p is in force'],
  ])('in %s, something is switched off and on by its own form', async (list, action, off, on) => {
    for (const said of [off, on]) {
      const page = await press(list, action)
      expect(new URL(page.url).pathname).toBe(`/dashboard${list}`)
      expect(textOf(page)).toContain(said)
    }
  })

  test('a webhook is disabled and enabled', async () => {
    const { id } = (await world.call('GET', '/v1/webhooks')).body.items[0]
    for (const enabled of [false, true]) {
      expect(new URL((await press('/webhooks', `/webhooks/${id}/enabled`)).url).pathname).toBe(
        '/dashboard/webhooks',
      )
      expect((await world.call('GET', `/v1/webhooks/${id}`)).body.enabled).toBe(enabled)
    }
  })

  test('a connection and a key are revoked', async () => {
    await world.connect('ada')
    const connection = (await world.call('GET', '/v1/connections?user_id=ada')).body.items[0].id
    expect(textOf(await press('/connections', `/connections/${connection}/revoke`))).toContain(
      'was deleted here',
    )
    expect((await world.call('GET', '/v1/connections?user_id=ada')).body.items).toEqual([])
    const key = (await world.call('POST', '/v1/admin/keys', { role: 'caller', name: 'backend' })).body.id
    expect(textOf(await press('/keys', `/keys/${key}/revoke`))).toContain(`${key} was revoked`)
    expect((await admin.get(at('/keys'))).body).not.toContain(`action="/dashboard/keys/${key}/revoke"`)
  })

  test('a scheduled run is cancelled', async () => {
    await world.connect('grace')
    const run_at = new Date((clock() + 3600) * 1000).toISOString()
    await world.execute('Demo.Whoami', { user_id: 'grace', run_at })
    const { id } = (await world.call('GET', '/v1/executions?status=scheduled')).body.items[0]
    const page = await press('/scheduled', `/runs/${id}/cancel`)
    expect(new URL(page.url).pathname).toBe('/dashboard/scheduled')
    expect(textOf(page)).toMatch(/It was canceled\. .*cancelled/)
  })
})

test('a readonly operator sees no action in any row, and theirs are refused', async () => {
  await world.connect('joan')
  const readonly = await loggedIn(await world.gatepass.makeKey('readonly'))
  for (const list of [
    '/connections',
    '/providers',
    '/workers',
    '/policies',
    '/webhooks',
    '/secrets',
    '/scheduled',
  ]) {
    const page = await readonly.get(at(list))
    expect(page.status).toBe(200)
    expect(page.body).not.toContain('Actions')
    expect(page.body.match(/<tbody.*<\/tbody>/s)?.[0] ?? '').not.toContain('<form')
  }
  const csrf = /name="csrf" value="([\w-]+)"/.exec((await readonly.get(at(''))).body)?.[1] ?? ''
  const form = { csrf, enabled: 'false', from: 'list' }
  expect((await readonly.post(at('/policies/p/enabled'), form)).status).toBe(403)
  expect((await world.call('GET', '/v1/admin/policies/p')).body.enabled).toBe(true)
})

test('what needs a recent login leads to its confirmation, which returns to the list', async () => {
  await world.connect('eve')
  clock.advance(301)
  const policies = await admin.get(at('/policies'))
  expect(policies.body).not.toContain('action="/dashboard/policies/p/enabled"')
  expect(policies.body).toMatch(/href="\/dashboard\/confirm\?next=%2Fpolicies">Disable/)
  expect((await admin.get(at('/workers'))).body).toContain('action="/dashboard/workers/demo/enabled"')
  const csrf = /name="csrf" value="([\w-]+)"/.exec(policies.body)?.[1] ?? ''
  expect((await admin.post(at('/policies/p/enabled'), { csrf, enabled: 'false' })).status).toBe(403)
  expect((await world.call('GET', '/v1/admin/policies/p')).body.enabled).toBe(true)
})

test('lists show the logo of a provider, or the first letter of its name', async () => {
  const cell = async (list: string, of: string) =>
    (await admin.get(at(list))).body.match(/<td.*?<\/td>/gs)?.find((one) => one.includes(of)) ?? ''
  expect(await cell('/providers', '/providers/github')).toMatch(
    /<img src="\/assets\/logo\/github-[0-9a-f]{12}\.svg"/,
  )
  for (const [list, of] of [
    ['/providers', '/providers/demo'],
    ['/connections', '/providers/demo'],
    ['/authorizations', '/providers/demo'],
    ['/tools', '/providers/demo'],
    ['/scheduled', 'Demo:WhoAmI'],
  ] as const)
    expect(await cell(list, of), list).toContain('<span class="logo" aria-hidden="true"><bdi>D</bdi></span>')
})

test('an empty list says what it is for, and has one button', async () => {
  const { gatepass } = world
  const other = await loggedIn(await gatepass.makeKey('admin', 'empty'))
  for (const list of ['connections', 'users', 'authorizations', 'providers', 'tools', 'runs', 'scheduled'])
    expect(emptyOf(await other.get(at(`/${list}`))), list).toMatch(
      /<p class="title">.*<p>.*<a class="button" href/s,
    )
  for (const list of ['chains', 'workers', 'policies', 'secrets', 'webhooks'])
    expect(emptyOf(await other.get(at(`/${list}`))), list).toMatch(
      /<p class="title">.*<p>.*<a class="button" href/s,
    )
  expect(textOf(await other.get(at('/connections?user=ada')))).toContain('No connection matches.')
})

const emptyOf = ({ body }: Page) => {
  const [empty = '', ...more] = body.match(/<div class="empty">.*?<\/div>/gs) ?? []
  expect(more).toEqual([])
  return empty.split('class="button"').length === 2 ? empty : ''
}
