import { describe, expect, test } from 'vitest'
import { startProxyWorld } from '../http/proxy-world.ts'
import { type OAuth2, oauth2For, startScene } from './fixtures.ts'

describe('headers of an entry', () => {
  test('go with each request that has them (Reddit, Trovo, Notion)', async () => {
    await using scene = await startScene({ oauth2: false })
    const { as } = scene
    const userAgent = { 'User-Agent': 'web:example.gatepass:1.0 (by /u/ada)' }
    const token = { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' }
    const added = await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: oauth2For(as, {
        token_request: { ...token, headers: { ...userAgent, 'Client-ID': '{{client_id}}' } },
        refresh_request: { ...token, headers: userAgent },
        user_info_request: {
          endpoint: as.userInfoUrl,
          headers: { 'Notion-Version': '2022-06-28', accept: 'application/vnd.api+json' },
          triggers: { on_token_grant: true },
        },
      }),
    })
    expect(added.body.oauth2.user_info_request.headers).toEqual({
      'notion-version': '2022-06-28',
      accept: 'application/vnd.api+json',
    })
    await scene.connect()
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('completed')
    const [exchange, refresh] = as.tokenRequests().map(({ headers }) => headers)
    expect(exchange).toMatchObject({ 'user-agent': userAgent['User-Agent'], 'client-id': as.clientId })
    expect(refresh?.['user-agent']).toBe(userAgent['User-Agent'])
    expect(refresh).not.toHaveProperty('client-id')
    expect(as.requestsTo('/userinfo')[0]?.headers).toMatchObject({
      'notion-version': '2022-06-28',
      accept: 'application/vnd.api+json',
      authorization: expect.stringMatching(/^Bearer /),
      'user-agent': 'gatepass',
    })
  })

  test('may carry the refresh token, beside the client in the body (Cal.com)', async () => {
    await using scene = await startScene({ oauth2: false })
    const { as } = scene
    const refresh_request = {
      endpoint: as.tokenUrl,
      auth_method: 'client_secret_post',
      headers: { Authorization: 'Bearer {{refresh_token}}' },
    }
    const token_request = { endpoint: as.tokenUrl, auth_method: 'client_secret_post' }
    await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: oauth2For(as, { token_request, refresh_request }),
    })
    await scene.connect()
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('completed')
    const [refresh] = as.tokenRequests('refresh_token')
    expect(refresh?.headers.authorization).toBe(`Bearer ${refresh?.params.refresh_token}`)
    expect(refresh?.params.client_secret).toBe(as.clientSecret)
  })

  test('may be the client’s authentication, in one place (Square)', async () => {
    await using scene = await startScene({
      oauth2: { revocation_request: undefined },
    })
    const { as } = scene
    const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: {
        revocation_request: {
          endpoint: as.revocationUrl,
          auth_method: 'none',
          headers: { Authorization: 'Client {{client_secret}}' },
        },
      },
    })
    expect(changed.body.oauth2.revocation_request).toMatchObject({ auth_method: 'none' })
    const { id } = (await scene.connect()).body
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
    await scene.call('DELETE', `/v1/connections/${connection.id}`)
    const [revoked] = as.requestsTo('/revoke')
    expect(revoked?.headers.authorization).toBe(`Client ${as.clientSecret}`)
    expect(revoked?.params).not.toHaveProperty('client_secret')
    expect(id).toMatch(/^auth_/)
  })

  const token = (more: object) => ({ token_request: { auth_method: 'client_secret_basic', ...more } })
  test.each<[string, OAuth2]>([
    ['the connection', token({ headers: { Host: 'evil.example' } })],
    ['the body', token({ headers: { 'Content-Length': '3' } })],
    ['cookies', { user_info_request: { headers: { cookie: 'a=b' } } }],
    ['a second line', token({ headers: { 'x-a': 'b\r\nx-c: d' } })],
    ['no header name', token({ headers: { 'x a': 'b' } })],
    ['a name in two spellings', token({ headers: { 'X-A': '1', 'x-a': '2' } })],
    ['a placeholder without a value', token({ headers: { 'x-a': '{{refresh_token}}' } })],
    ['a second authentication', token({ headers: { authorization: 'Basic x' } })],
    ['the secret a second time', token({ headers: { 'x-secret': '{{client_secret}}' } })],
    ['the token’s place at the API', { api: { hosts: ['a.example'], headers: { Authorization: 'x' } } }],
    ['the secret at the API', { api: { hosts: ['a.example'], headers: { 'x-s': '{{client_secret}}' } } }],
  ])('that set %s are refused', async (_, oauth2) => {
    await using scene = await startScene()
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })).status).toBe(400)
  })

  test('of the API go to its hosts, in place of the caller’s (Twitch, PagerDuty)', async () => {
    await using world = await startProxyWorld()
    const change = (api: object) => world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })
    const headers = { 'Client-Id': '{{client_id}}', Accept: 'application/vnd.pagerduty+json;version=2' }
    expect((await change({ headers })).body.oauth2.api).toMatchObject({
      base_url: `${world.api.url}/base`,
      headers: { 'client-id': '{{client_id}}', accept: headers.Accept },
    })
    await world.connect()
    await world.send('GET', '/proxy/demo/x', { headers: { accept: '*/*', 'client-id': 'of the caller' } })
    expect(world.api.seen.at(-1)?.headers).toMatchObject({
      'client-id': world.as.clientId,
      accept: headers.Accept,
      authorization: expect.stringMatching(/^Bearer /),
    })
  })

  test('of the API may carry the token in place of Authorization (Shopify)', async () => {
    await using world = await startProxyWorld({ oauth2: {} })
    const headers = { 'X-Shopify-Access-Token': '{{access_token}}' }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { headers } } })
    const { context } = (await world.connect()).body
    world.api.answer = (request, response) => response.end(String(request.headers['x-shopify-access-token']))
    const { text } = await world.send('GET', '/proxy/demo/x')
    const [seen] = world.api.seen
    expect(seen?.headers).toMatchObject({ 'x-shopify-access-token': context.token })
    expect(seen?.headers).not.toHaveProperty('authorization')
    expect(text).not.toContain(context.token) // masked in the answer
  })
})
