import { describe, expect, test } from 'vitest'
import type { FakeAuthorizationServerOptions } from '../fake-authorization-server.ts'
import { type ProxyWorld, startProxyWorld } from '../http/proxy-world.ts'
import { type OAuth2, startScene } from './fixtures.ts'

interface Kept {
  readonly kept_values: Readonly<Record<string, object>>
  readonly api: (world: ProxyWorld) => object
  readonly as?: FakeAuthorizationServerOptions
}

const HERE = 'http://127\\.0\\.0\\.1:[0-9]+'

/** A world whose entry keeps these values and has this API. */
async function startKeeping({ kept_values, api, as }: Kept) {
  const world = await startProxyWorld({ ...(as && { as }), oauth2: {} })
  const change = (oauth2: OAuth2) => world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
  const changed = await change({ kept_values, api: null })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  const opened = await change({ api: api(world) })
  expect(opened.status, JSON.stringify(opened.body)).toBe(200)
  return Object.assign(world, { change, opened })
}

/** Salesforce: each organisation has its own host, which the token response tells. */
const salesforce = (more: Partial<Kept> = {}): Kept => ({
  kept_values: { instance_url: { from: 'token_response', pattern: HERE } },
  api: ({ api }) => ({ base_url: '{{instance_url}}/services/data', hosts: [api.host] }),
  ...more,
})

describe('values kept of a connection', () => {
  test('of the token response are the base URL of its API (Salesforce instance_url)', async () => {
    await using world = await startKeeping(salesforce())
    expect(world.opened.body.oauth2).toMatchObject({
      kept_values: { instance_url: { from: 'token_response', at: '$.instance_url', pattern: HERE } },
      api: { base_url: '{{instance_url}}/services/data', hosts: [world.api.host] },
    })
    world.as.behaviour.tokenMembers = { instance_url: world.api.url }
    expect((await world.send('GET', '/proxy/demo/v60.0/sobjects')).json).toMatchObject({
      name: 'authorization_required',
    })
    await world.connect()
    expect((await world.send('GET', '/proxy/demo/v60.0/sobjects')).status).toBe(200)
    expect(world.api.seen.map(({ url }) => url)).toEqual(['/services/data/v60.0/sobjects'])

    // a refresh that does not tell it leaves it
    world.as.behaviour.tokenMembers = {}
    world.clock.advance(4000)
    expect((await world.send('GET', '/proxy/demo/again')).status).toBe(200)
    expect(world.as.tokenRequests('refresh_token')).toHaveLength(1)
  })

  test.each([
    ['that its pattern refuses', 'http://127.0.0.1.evil.example:80', 'kept_values'],
    ['whose host the entry does not name', 'http://127.0.0.1:1', '127.0.0.1:1'],
    ['that is absent', undefined, 'kept_values'],
  ])('a base URL %s is sent no token', async (_, instance_url, named) => {
    await using world = await startKeeping(salesforce({ as: { tokenMembers: { instance_url } } }))
    await world.connect()
    const refused = await world.send('GET', '/proxy/demo/x')
    expect(refused).toMatchObject({ status: 400, json: { name: 'host_not_allowed' } })
    expect(refused.text).toContain(named)
    expect(world.api.seen).toEqual([])
  })

  test('of the authorization response are in the path, if they fit (QuickBooks realmId)', async () => {
    await using world = await startKeeping({
      kept_values: { realmId: { from: 'authorization_response', pattern: '[0-9]{1,20}' } },
      api: ({ api }) => ({ base_url: `${api.url}/v3/company/{{realmId}}` }),
      as: { callbackExtras: { realmId: '9341' } },
    })
    expect(world.opened.body.oauth2.api.hosts).toEqual([world.api.host])
    await world.connect()
    await world.send('GET', '/proxy/demo/query')
    expect(world.api.seen.map(({ url }) => url)).toEqual(['/v3/company/9341/query'])

    const { browser, callback } = await world.approve({ user_id: 'u2' })
    callback.searchParams.set('realmId', '../../admin')
    await browser.get(callback.href)
    expect((await world.send('GET', '/proxy/demo/query', { user: 'u2' })).status).toBe(400)
    expect(world.api.seen).toHaveLength(1)
  })

  test('of the user info are part of the host (Mailchimp dc), and of headers (Xero tenant)', async () => {
    await using world = await startKeeping({
      kept_values: {
        dc: { from: 'user_info', pattern: '[a-z0-9.]{1,20}' },
        tenant: { from: 'user_info', at: '$.tenants[0].id', pattern: '[a-z0-9-]+' },
      },
      api: ({ api }) => ({
        base_url: `http://{{dc}}:${new URL(api.url).port}/3.0`,
        hosts: [api.host],
        headers: { 'Xero-Tenant-Id': '{{tenant}}' },
      }),
      as: {
        account: {
          sub: 'u',
          name: 'A',
          email: 'a@a.test',
          login: 'a',
          dc: '127.0.0.1',
          tenants: [{ id: 't-1' }],
        },
      },
    })
    await world.connect()
    await world.send('GET', '/proxy/demo/lists')
    expect(world.api.seen).toMatchObject([{ url: '/3.0/lists', headers: { 'xero-tenant-id': 't-1' } }])
  })

  test('are sent again at refreshes where the entry says so (VK device_id)', async () => {
    await using scene = await startScene({ as: { callbackExtras: { device_id: 'd-1' }, refresh: 'rotate' } })
    const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: {
        kept_values: { device_id: { from: 'authorization_response', pattern: '[\\w-]+' } },
        refresh_request: { params: { device_id: '{{device_id}}' } },
      },
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    await scene.connect()
    for (const _ of [1, 2]) {
      scene.clock.advance(4000)
      expect((await scene.authorize()).body.status).toBe('completed')
    }
    expect(scene.as.tokenRequests('refresh_token').map(({ params }) => params.device_id)).toEqual([
      'd-1',
      'd-1',
    ])
  })

  test('of the token response are never read from the browser’s request', async () => {
    await using world = await startKeeping(salesforce())
    await world.change({ callback_members: { instance_url: '.*' } })
    const { browser, callback } = await world.approve()
    callback.searchParams.set('instance_url', world.api.url)
    await browser.get(callback.href)
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(400)
    expect(world.api.seen).toEqual([])
  })

  test('are checked by the pattern that the entry has now', async () => {
    await using world = await startKeeping(salesforce())
    world.as.behaviour.tokenMembers = { instance_url: world.api.url }
    await world.connect()
    await world.change({ kept_values: { instance_url: { from: 'token_response', pattern: 'https://.*' } } })
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(400)
  })

  test('that a refresh changes send nothing to the former host', async () => {
    await using world = await startKeeping(
      salesforce({ api: ({ api }) => ({ base_url: '{{instance_url}}', hosts: [api.host, '127.0.0.1:1'] }) }),
    )
    world.as.behaviour.tokenMembers = { instance_url: world.api.url }
    await world.connect()
    world.as.behaviour.tokenMembers = { instance_url: 'http://127.0.0.1:1' }
    world.clock.advance(4000)
    const held = await world.send('GET', '/proxy/demo/x')
    expect(held).toMatchObject({ status: 503, json: { name: 'provider_unavailable' } })
    expect(world.api.seen).toEqual([])
    world.as.behaviour.tokenMembers = { instance_url: world.api.url }
    world.clock.advance(4000)
    await world.send('GET', '/proxy/demo/x')
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(200)
  })

  test('a policy about hosts sees the connection’s own', async () => {
    await using world = await startKeeping(salesforce())
    world.as.behaviour.tokenMembers = { instance_url: world.api.url }
    await world.connect()
    const policy = { id: 'no', effect: 'deny', match: { uses: ['proxy'], hosts: [world.api.host] } }
    expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    expect((await world.send('GET', '/proxy/demo/x')).json).toMatchObject({ name: 'denied_by_policy' })
    expect(world.api.seen).toEqual([])
  })

  test.each<[string, OAuth2, string]>([
    [
      'has no regular expression',
      { kept_values: { a: { from: 'user_info', pattern: '(' } } },
      'kept_values.a.pattern',
    ],
    [
      'has no expression',
      { kept_values: { a: { from: 'user_info', at: 'a b', pattern: '.' } } },
      'kept_values.a.at',
    ],
    ['has a placeholder’s name', { kept_values: { scopes: { from: 'user_info', pattern: '.' } } }, 'scopes'],
    ['is told elsewhere', { kept_values: { a: { from: 'userinfo', pattern: '.' } } }, 'kept_values.a.from'],
    ['is named in a header', { kept_values: null }, 'oauth2.api.headers.x-h'],
    [
      'is a variable too',
      { kept_values: { v: { from: 'user_info', pattern: '.' } }, api: null },
      'kept_values.v',
    ],
    ['is not declared', { api: { base_url: '{{b}}', hosts: ['a.example'] } }, '{{b}}'],
    ['leaves the host open', { api: { base_url: '{{a}}', hosts: [] } }, 'oauth2.api needs hosts'],
    ['is in no URL', { api: { base_url: 'x{{a}}', hosts: ['a.example'] } }, 'oauth2.api.base_url'],
    ['is a query', { api: { base_url: 'https://a.example/?{{a}}' } }, 'oauth2.api.base_url'],
    ['is in a token endpoint', { token_request: { endpoint: 'https://{{a}}/token' } }, '{{a}}'],
  ])('a change whose value %s is refused', async (_, oauth2, named) => {
    await using scene = await startScene({
      oauth2: {
        variables: { v: { pattern: '.+', value: 'v' } },
        kept_values: {
          a: { from: 'token_response', pattern: '.+' },
          h: { from: 'user_info', pattern: '.+' },
        },
        api: { hosts: ['a.example'], headers: { 'x-h': '{{h}}' } },
      },
    })
    const refused = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2,
    })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain(named)
  })
})
