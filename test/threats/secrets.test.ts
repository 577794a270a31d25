import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { oauth2For } from '../flows/fixtures.ts'
import { testClock } from '../gatepass.ts'
import { startWorld, type World } from '../http/world.ts'

// The whole life of a connection: consent, a tool run, a refresh, revocation. The tests then check what was sent.

let world: World
const clock = testClock()
/** Calls of the global fetch that did not come from the tests. */
const strayFetches: string[] = []

beforeAll(async () => {
  const own = globalThis.fetch
  vi.stubGlobal('fetch', (...request: Parameters<typeof own>) => {
    const stack = new Error().stack ?? ''
    if (!/\/test\//.test(stack.split('\n').slice(2).join('\n'))) strayFetches.push(stack)
    return own(...request)
  })
  world = await startWorld({ as: { now: () => clock() * 1000 }, gatepass: { now: clock } })
  world.as.behaviour.tokenFormat = 'no-scope' // so that the scopes come from introspection
  const blocks = {
    ...oauth2For(world.as),
    token_introspection_request: {
      endpoint: world.as.introspectionUrl,
      method: 'POST',
      auth_method: 'client_secret_basic',
      params: { token: '{{access_token}}' },
      triggers: { on_token_grant: true },
    },
  }
  const { status, body } = await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: blocks })
  expect([status, body.message]).toEqual([200, undefined])
  await world.connect('ada')
  const run = () => world.execute('Demo.WhoAmI', { user_id: 'ada' })
  expect((await run()).body.success).toBe(true)
  clock.advance(4000)
  expect((await run()).body.success).toBe(true)
  const [{ id }] = (await world.call('GET', '/v1/connections?user_id=ada')).body.items
  expect((await world.call('DELETE', `/v1/connections/${id}`)).status).toBeLessThan(300)
  world.as.behaviour.exchange = 'invalid_client'
  world.as.behaviour.errorDescription = `The secret ${world.as.clientSecret} is wrong.`
  await world.connect('eve').catch(() => {}) // the exchange fails, and its error is logged
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  vi.unstubAllGlobals()
})

describe('threat 12: tokens and secrets in URLs or logs', () => {
  test('each endpoint of the authorization server got a request', () => {
    const paths = new Set(world.as.requests.map(({ path }) => path))
    expect([...paths].sort()).toEqual(['/authorize', '/introspect', '/revoke', '/token', '/userinfo'])
    expect(world.as.tokenRequests('refresh_token')).toHaveLength(1)
    expect(world.as.secrets().length).toBeGreaterThan(4)
  })

  test('no URL holds a secret, and token and revocation requests are POST', () => {
    const secrets = world.as.secrets()
    for (const { path, search } of [...world.as.requests, ...world.worker.requests])
      for (const secret of secrets) expect(`${path}${search}`).not.toContain(encodeURIComponent(secret))
    for (const { method } of world.as.requests.filter(({ path }) => path === '/token' || path === '/revoke'))
      expect(method).toBe('POST')
  })

  test('a client secret is in one place of a request, and tokens go to no worker endpoint but the tool call', () => {
    for (const request of world.as.requests) {
      const basic = request.headers.authorization?.startsWith('Basic ') === true
      expect(basic && request.params.client_secret !== undefined, request.path).toBe(false)
    }
    const tokens = world.as.secrets().filter((one) => one !== world.as.clientSecret)
    const atWorker = world.worker.requests.filter(({ path }) => path !== '/worker/tools/invoke')
    for (const secret of tokens) expect(JSON.stringify(atWorker)).not.toContain(secret)
    expect(JSON.stringify(world.worker.requests)).not.toContain(world.as.clientSecret)
  })

  test('no log line holds a token or a secret', () => {
    expect(world.gatepass.logLines.length).toBeGreaterThan(0)
    for (const secret of [...world.as.secrets(), world.gatepass.apiKey])
      expect(world.gatepass.logLines.join('\n')).not.toContain(secret)
  })

  test.each([
    'token_request',
    'refresh_request',
    'user_info_request',
    'token_introspection_request',
    'revocation_request',
  ])('a %s that would put a secret or a token in its URL is refused', async (block) => {
    const url = `${world.as.url}/x`
    for (const template of ['{{client_secret}}', '{{access_token}}', '{{refresh_token}}']) {
      const request = {
        endpoint: url,
        method: 'GET',
        params: { x: template },
        triggers: { on_token_grant: true },
      }
      const { status } = await world.call('PATCH', '/v1/admin/auth_providers/demo', {
        oauth2: { [block]: request },
      })
      expect(status, template).toBe(400)
    }
  })
})

test('threat 14: every request is sent by the guarded client', () => {
  expect(strayFetches).toEqual([])
})
