import { describe, expect, test } from 'vitest'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startProxyWorld } from '../http/proxy-world.ts'
import { type OAuth2, startScene } from './fixtures.ts'

const subdomain = { label: 'Subdomain', pattern: '127\\.0\\.0\\.1:[0-9]+', example: 'acme' }

/** Zendesk: every account has its own host, for the endpoints as for the API. The test's hosts are `address:port`. */
function zendesk(host: string, more: OAuth2 = {}): OAuth2 {
  const at = (path: string) => ({
    endpoint: `http://{{subdomain}}${path}`,
    auth_method: 'client_secret_post',
  })
  return {
    variables: { subdomain: { ...subdomain, value: host } },
    authorize_request: { endpoint: 'http://{{subdomain}}/authorize', params: { response_type: 'code' } },
    token_request: at('/token'),
    refresh_request: at('/token'),
    revocation_request: at('/revoke'),
    user_info_request: { endpoint: 'http://{{ subdomain }}/userinfo', triggers: { on_token_grant: true } },
    ...more,
  }
}

/** A scene whose entry `zendesk` is of the account at the fake server, and a second server with another account. */
async function startZendesk(more: OAuth2 = {}) {
  const scene = await startScene({ oauth2: false })
  const other = await startFakeAuthorizationServer({
    clientId: scene.as.clientId,
    clientSecret: scene.as.clientSecret,
  })
  const [host, otherHost] = [new URL(scene.as.url).host, new URL(other.url).host]
  const add = (oauth2: OAuth2) =>
    scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: { client_id: scene.as.clientId, client_secret: scene.as.clientSecret, ...oauth2 },
    })
  const change = (oauth2: OAuth2) => scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
  const added = await add(zendesk(host, more))
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return Object.assign(scene, {
    other,
    host,
    otherHost,
    change,
    read: () => scene.call('GET', '/v1/admin/auth_providers/demo'),
    [Symbol.asyncDispose]: async () => {
      await scene.gatepass.close()
      await scene.as.close()
      await other.close()
    },
  })
}

describe('variables of URLs (Zendesk)', () => {
  test('are put into every endpoint, through consent, refresh and revocation', async () => {
    await using scene = await startZendesk()
    const connected = await scene.connect()
    expect(connected.body.status).toBe('completed')
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(1)
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
    expect(connection.account.name).toBe(scene.as.account.email)
    const gone = await scene.call('DELETE', `/v1/connections/${connection.id}`)
    expect(gone.body.revocation).toBe('revoked')
  })

  test('are answered as they were given, and can be sent back', async () => {
    await using scene = await startZendesk({ api: { base_url: 'http://{{subdomain}}/api' } })
    const { body } = await scene.read()
    expect(body.oauth2.variables).toEqual({ subdomain: { ...subdomain, value: scene.host } })
    expect(body.oauth2.token_request.endpoint).toBe('http://{{subdomain}}/token')
    expect(body.oauth2.api).toEqual({ base_url: 'http://{{subdomain}}/api', hosts: [scene.host] })
    const { client_secret: _, ...oauth2 } = body.oauth2
    const again = await scene.change(oauth2)
    expect(again.status, JSON.stringify(again.body)).toBe(200)
    expect(again.body.oauth2).toEqual(body.oauth2)
  })

  test('are the identity: tokens of one account are never sent to another, and its users consent again', async () => {
    await using scene = await startZendesk({ strict_rotation: true, scope_aliases: { a: 'b' } })
    await scene.connect()
    const changed = await scene.change({ variables: { subdomain: { value: scene.otherHost } } })
    expect(changed.body.oauth2).toMatchObject({
      variables: { subdomain: { label: 'Subdomain', value: scene.otherHost } },
      strict_rotation: true, // it is the same provider still
      scope_aliases: { a: 'b' },
    })
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(scene.other.requests).toEqual([])
    expect((await scene.connect()).body.status).toBe('completed')
    expect(scene.other.tokenRequests('authorization_code')).toHaveLength(1)
  })

  test.each([
    ['the pattern refuses', 'acme', 'oauth2.variables.subdomain.value'],
    ['leaves the host', '127.0.0.1:1/..', 'oauth2.variables.subdomain.value'],
    ['begins a query', '127.0.0.1:1?x', 'oauth2.variables.subdomain.value'],
    ['names a user', 'a@127.0.0.1:1', 'oauth2.variables.subdomain.value'],
  ])('a value that %s is refused', async (_, value, path) => {
    await using scene = await startZendesk()
    const pattern = value === 'acme' ? subdomain.pattern : '.*'
    const refused = await scene.change({ variables: { subdomain: { pattern, value } } })
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toMatchObject([{ path }])
    expect(refused.body.message).toContain('Subdomain, such as acme')
    expect((await scene.read()).body.oauth2.variables.subdomain.value).toBe(scene.host)
  })

  test.each<[string, OAuth2, string]>([
    ['names no declared variable', { token_request: { endpoint: 'http://{{sub}}/token' } }, '{{subdomain}}'],
    ['is taken away while URLs name it', { variables: null }, 'oauth2.authorize_request.endpoint'],
    [
      'makes a URL of a host that may not be reached',
      { variables: { subdomain: { pattern: '.*', value: '10.0.0.1' } } },
      '10.0.0.1',
    ],
    ['has no pattern', { variables: { region: { value: 'eu' } } }, 'oauth2.variables.region.pattern'],
    [
      'has no pattern, and a name that every object has',
      { variables: { constructor: { value: 'abc' } } },
      'oauth2.variables.constructor.pattern',
    ],
    [
      'has a placeholder’s name',
      { variables: { client_secret: { pattern: '.*', value: 'x' } } },
      'client_secret',
    ],
    ['is named in the issuer', { issuer: 'https://{{subdomain}}/x' }, 'oauth2.issuer'],
  ])('a change that %s is refused', async (_, oauth2, named) => {
    await using scene = await startZendesk()
    const refused = await scene.change(oauth2)
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain(named)
  })

  test('of the API alone are the identity too, and its former host gets no token any more', async () => {
    const variables = { region: { pattern: '[a-z0-9.]+', value: '127.0.0.1' } }
    await using world = await startProxyWorld({ oauth2: { variables } })
    const { port } = new URL(world.api.url)
    const set = await world.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { api: { base_url: `http://{{region}}:${port}/base`, hosts: [] } },
    })
    expect(set.body.oauth2.api).toMatchObject({ hosts: [`127.0.0.1:${port}`] })
    await world.connect()
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(200)
    expect(world.api.seen.at(-1)?.url).toBe('/base/x')

    const moved = { variables: { region: { value: 'localhost' } } }
    const changed = await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: moved })
    expect(changed.body.oauth2.api.hosts).toEqual([`localhost:${port}`])
    expect((await world.authorize()).body.status).toBe('pending')
    const elsewhere = { 'x-gatepass-base-url': `${world.api.url}/base` }
    expect((await world.send('GET', '/proxy/demo/x', { headers: elsewhere })).status).toBe(400)
  })
})
