import { describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { digest } from '../digest.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { demoMcpTools, startFakeMcpServer } from '../fake-mcp-server.ts'
import { testClock } from '../gatepass.ts'
import { listen } from '../loopback.ts'
import { UserAgent } from '../user-agent.ts'
import { type McpWorld, type McpWorldOptions, startMcpWorld } from './mcp-world.ts'
import { approve, providerBody } from './world.ts'

const DAY = 86_400
const wantingOAuth = (options: McpWorldOptions = {}) => startMcpWorld({ ...options, wantsOAuth: true })

test('an MCP server that wants OAuth and is only tried out leaves no provider behind', async () => {
  await using world = await wantingOAuth()
  const { call, mcp } = world
  const ids = async () =>
    (await call('GET', '/v1/admin/auth_providers')).body.items.map(({ id }: { id: string }) => id)
  const before = await ids()
  const tried = () =>
    call('POST', '/v1/workers/test', { id: 'trial', mcp: { uri: mcp.url, timeout: 60, retry: 0 } })
  const { status, body } = await tried()
  expect([status, body.healthy, body.message]).toEqual([200, true, expect.stringContaining('authorization')])
  // one that lets anybody in, and wants OAuth only for its list of tools
  mcp.behaviour.as = undefined
  mcp.behaviour.intercept = async ({ body }, res) => {
    if (!body.includes('tools/list')) return false
    mcp.behaviour.as = world.as
    const where = new URL('/.well-known/oauth-protected-resource/mcp', mcp.url).href
    res.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` }).end()
    return true
  }
  expect((await tried()).status).toBe(200)
  expect(await ids()).toEqual(before)
})

const toolNames = async ({ call }: McpWorld) =>
  (await call('GET', '/v1/workers/demo/tools?limit=100')).body.items.map(({ name }: { name: string }) => name)

const providers = async ({ call }: McpWorld) => (await call('GET', '/v1/admin/auth_providers')).body.items

describe('a server that wants OAuth', () => {
  test('is found by its metadata, registered at, and approved by each user', async () => {
    await using world = await wantingOAuth({ mcp: { scopes: ['tools'] } })
    const { as, mcp, worker } = world
    expect(worker.status).toBe(201)
    expect(worker.body.sync_error).toContain('POST /v1/workers/demo/authorize?user_id=')
    expect(worker.body.status).toBe('unauthorized')
    expect(worker.body.requirements).toEqual({
      met: false,
      status_reason: expect.stringContaining('/authorize'),
      authorization: { met: false, oauth2: { met: false } },
    })
    expect(await toolNames(world)).toEqual([])

    expect((await world.authorize('operator')).body).toMatchObject({ status: 'completed', context: {} })
    expect(await toolNames(world)).toContain('who_am_i')
    expect((await world.call('GET', '/v1/workers/demo')).body).toMatchObject({
      mcp: {
        authorization: { user_id: 'operator', scopes: ['tools'] },
        oauth2: { client_secret: { exists: false } },
      },
      requirements: { met: true },
    })

    const seen = new Set<string>()
    for (const user_id of ['ada', 'bob']) {
      const asked = await world.execute('Demo.who_am_i', { user_id })
      expect(asked.status).toBe(403)
      const link = await world.call('POST', '/v1/tools/authorize', { tool_name: 'Demo.who_am_i', user_id })
      await approve(link.body.url)
      const { body } = await world.execute('Demo.who_am_i', { user_id })
      expect(body.output.value).toMatchObject({ header: expect.stringMatching(/^[0-9a-f]{64}$/), meta: null })
      seen.add(body.output.value.header)
    }
    expect(seen.size).toBe(2)
    const tokens = mcp.calls.map(({ token }) => token ?? '')
    expect(tokens.map((token) => as.grantOf(token))).toEqual(
      tokens.map(() => ({ resource: mcp.url, scopes: ['tools'] })),
    )
    expect(JSON.stringify(mcp.calls.map(({ args, meta }) => [args, meta]))).not.toContain('at_')

    const asked = as.requestsTo('/authorize').map(({ query }) => query)
    expect(
      asked.every(
        ({ resource, code_challenge_method }) => resource === mcp.url && code_challenge_method === 'S256',
      ),
    ).toBe(true)
    expect(as.tokenRequests().every(({ params }) => params.resource === mcp.url)).toBe(true)
    expect(as.requestsTo('/register')).toHaveLength(1)
    const [entry] = await providers(world)
    expect(as.requestsTo('/register')[0]?.json).toMatchObject({
      redirect_uris: [entry.oauth2.redirect_uri],
      grant_types: ['authorization_code', 'refresh_token'],
      application_type: 'native',
    })
    expect(entry).toMatchObject({ id: 'mcp-demo', oauth2: { issuer: as.url, pkce: { enabled: true } } })
  })

  test.each([
    ['', undefined],
    [', also after an administrator has changed the provider', { description: 'Tickets' }],
  ])(
    'keeps its key to itself: a tool of another source that names its provider gets no token of it%s',
    async (_, change) => {
      await using world = await wantingOAuth()
      await world.authorize('ada')
      if (change) await world.call('PATCH', '/v1/admin/auth_providers/mcp-demo', change)
      await using thief = await startFakeMcpServer({ name: 'thief' })
      const requirements = { authorization: [{ id: 'mcp-demo', scopes: [] }] }
      await world.call('POST', '/v1/workers', { id: 'thief', mcp: { uri: thief.url, requirements } })
      const { status, body } = await world.execute('Thief.who_am_i', { user_id: 'ada' })
      expect([status, body.name]).toEqual([400, 'provider_not_found'])
      expect(body.message).toContain('opens a remote MCP server')
      expect(thief.calls).toEqual([])
      const { body: tool } = await world.call('GET', '/v1/tools/Thief.who_am_i?user_id=ada')
      expect(tool.requirements).toMatchObject({ met: false, authorization: { status: 'inactive' } })
    },
  )

  test('lists its tools by itself once the operator has approved', async () => {
    await using world = await wantingOAuth()
    const { body } = await world.call('GET', '/v1/workers/demo/authorize?user_id=operator')
    expect(body).toMatchObject({ status: 'pending', provider_id: 'mcp-demo' })
    await approve(body.url)
    await syncWorkers(world.gatepass.broker)
    expect(await toolNames(world)).toContain('echo')
    expect((await world.call('GET', '/v1/workers/demo')).body.sync_error).toBeUndefined()
  })

  test('gets a refreshed token when it refuses one, and is called once', async () => {
    const clock = testClock()
    await using world = await wantingOAuth({ gatepass: { now: clock } })
    await world.authorize('ada')
    const first = await world.execute('Demo.who_am_i', { user_id: 'ada' })
    world.as.expireAccessTokens()
    clock.advance(120)
    const calls = world.mcp.calls.length
    const second = await world.execute('Demo.who_am_i', { user_id: 'ada' })
    expect(second.body.success).toBe(true)
    expect(second.body.output.value.header).not.toBe(first.body.output.value.header)
    expect(world.mcp.calls.length).toBe(calls + 1)
    const [refresh] = world.as.tokenRequests('refresh_token')
    expect(refresh?.params.resource).toBe(world.mcp.url)

    world.as.expireAccessTokens()
    clock.advance(120)
    await syncWorkers(world.gatepass.broker)
    expect((await world.call('GET', '/v1/workers/demo')).body.sync_error).toBeUndefined()
  })

  test('asks for more scopes for a tool that needs them', async () => {
    await using world = await wantingOAuth({ mcp: { scopes: ['tools'], toolScopes: { echo: ['write'] } } })
    await world.authorize('ada')
    expect((await world.execute('Demo.who_am_i', { user_id: 'ada' })).body.success).toBe(true)
    const asked = await world.call('POST', '/v1/tools/execute', { tool_name: 'Demo.echo', user_id: 'ada' })
    const { requires_authorization: needed } = asked.body.output
    expect([...needed.scopes].sort()).toEqual(['tools', 'write'])
    await approve(needed.url)
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
  })

  test('that announces a revocation endpoint later keeps its users, and hears when one disconnects', async () => {
    const clock = testClock()
    const as = { metadata: { revocation_endpoint: undefined } }
    await using world = await wantingOAuth({ as, gatepass: { now: clock } })
    await world.authorize('ada')
    const [entry, ...others] = await providers(world)
    expect([entry.oauth2.revocation_request, others]).toEqual([undefined, []])

    world.as.behaviour.metadata = {}
    clock.advance(601) // the cached metadata has expired
    const again = await world.call('POST', '/v1/workers/demo/authorize?user_id=ada')
    expect(again.body.status).toBe('completed')
    expect(await providers(world)).toMatchObject([
      { id: entry.id, oauth2: { revocation_request: { endpoint: world.as.revocationUrl } } },
    ])
    expect((await world.execute('Demo.who_am_i', { user_id: 'ada' })).body.success).toBe(true)
    const { body } = await world.call('GET', '/v1/connections?user_id=ada')
    const deleted = await world.call('DELETE', `/v1/connections/${body.items[0].id}`)
    expect(deleted.body.revocation).toBe('revoked')
  })

  test('sees no user’s token of another server, and another server none of its', async () => {
    await using world = await wantingOAuth()
    await using other = await startFakeMcpServer({ name: 'other', as: world.as })
    await world.authorize('ada')
    await world.call('POST', '/v1/workers', { id: 'other', mcp: { uri: other.url } })
    const path = '/v1/workers/other/authorize?user_id=ada'
    await approve((await world.call('POST', path)).body.url)
    await world.call('POST', path)
    for (const name of ['Demo.who_am_i', 'Other.who_am_i'])
      expect((await world.execute(name, { user_id: 'ada' })).body.success).toBe(true)
    const seenBy = (mcp: { calls: typeof other.calls }) => mcp.calls.map(({ token }) => digest(token ?? ''))
    expect(seenBy(other).filter((one) => seenBy(world.mcp).includes(one))).toEqual([])
    expect(JSON.stringify([other.requests, world.as.requestsTo('/introspect')])).not.toContain(
      world.mcp.calls[0]?.token,
    )
  })

  test('that begins to want it later says so, and its tools need it from then on', async () => {
    await using world = await startMcpWorld()
    world.mcp.behaviour.as = world.as
    const first = await world.execute('Demo.echo', { user_id: 'ada' })
    expect(first.body.output.error).toMatchObject({ kind: 'TOOL_REQUIREMENTS_NOT_MET', can_retry: true })
    await world.authorize('ada')
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
    expect((await world.execute('Demo.echo', { user_id: 'bob' })).status).toBe(403)
  })

  test('gets its own token in the header, and a third party’s for the tool in `_meta`', async () => {
    const _meta = {
      securitySchemes: { third: { type: 'oauth2' } },
      securityRequirements: [{ third: ['read'] }],
    }
    const tools = demoMcpTools().map((tool) => (tool.name === 'who_am_i' ? { ...tool, _meta } : tool))
    await using third = await startFakeAuthorizationServer()
    await using world = await wantingOAuth({ mcp: { tools } })
    await world.call('POST', '/v1/admin/auth_providers', providerBody('third', third))
    await world.authorize('operator')
    // its tools could not be listed before, so no administrator has accepted the other provider that they name
    const waits = await world.execute('Demo.who_am_i', { user_id: 'ada' })
    expect(waits.body.name).toBe('not_accepted')
    expect((await world.call('POST', '/v1/workers/demo/accept')).status).toBe(200)
    for (const user_id of ['ada', 'bob']) {
      const asked = await world.call('POST', '/v1/tools/authorize', { tool_name: 'Demo.who_am_i', user_id })
      await approve(asked.body.url)
      const { body } = await world.execute('Demo.who_am_i', { user_id })
      expect(body).toMatchObject({ success: true, output: { value: { user_id } } })
      const { token = '', meta } = world.mcp.calls.at(-1) ?? {}
      const context = meta?.arcade_context as { authorization: { token: string }; authorizations?: unknown } // Arcade's
      expect(world.as.isLive(token)).toBe(true)
      expect(third.isLive(context.authorization.token)).toBe(true)
      expect(context.authorizations).toBeUndefined()
      expect(JSON.stringify(meta)).not.toContain(token)
      expect(JSON.stringify(body)).not.toContain(token)
    }
    await world.execute('Demo.echo', { user_id: 'ada' })
    expect(world.mcp.calls.at(-1)?.meta).toEqual({})
  })

  test('without metadata of its own is found by the issuer that the operator names', async () => {
    await using world = await startMcpWorld()
    const { as, mcp, call } = world
    mcp.behaviour.as = as
    mcp.behaviour.challenge = ''
    mcp.behaviour.intercept = ({ path }, res) => {
      if (!path.startsWith('/.well-known')) return false
      res.writeHead(404).end()
      return true
    }
    const refused = await call('PATCH', '/v1/workers/demo', { enabled: true })
    expect(refused.body.sync_error).toContain('has no metadata (RFC 9728)')
    await call('PATCH', '/v1/workers/demo', { mcp: { oauth2: { authorization_url: as.url } } })
    expect((await world.authorize('ada')).body.status).toBe('completed')
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
  })

  test('that refuses a credential of the worker’s own is not authorized by users', async () => {
    await using world = await startMcpWorld()
    world.mcp.behaviour.as = world.as
    const headers = { Authorization: `Bearer \${secret:KEY}` }
    const { body } = await world.call('PATCH', '/v1/workers/demo', {
      mcp: { headers, secrets: { KEY: 'stale-credential' } },
    })
    expect(body.sync_error).toContain('refused the Authorization header')
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(false)
    expect(await providers(world)).toEqual([])
    const open = await world.call('PATCH', '/v1/workers/demo', { mcp: { headers: null } })
    expect(open.body.sync_error).toContain('POST /v1/workers/demo/authorize')
    world.mcp.behaviour.as = undefined
    const reset = await world.call('PATCH', '/v1/workers/demo', { mcp: { oauth2: null } })
    expect(reset.body).not.toHaveProperty('sync_error')
    expect((await world.execute('Demo.echo')).body.success).toBe(true)
  })

  test('wants it of administrators alone, and of MCP servers', async () => {
    await using world = await startMcpWorld()
    const key = await world.gatepass.makeKey('caller')
    const path = '/v1/workers/demo/authorize?user_id=ada'
    expect((await world.call('POST', path, undefined, { key })).status).toBe(403)
    expect(await world.call('POST', path)).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
  })
})

describe('the client', () => {
  test('is registered with a secret where the server gives one', async () => {
    await using world = await wantingOAuth({ as: { registration: 'secret', clientAuth: 'basic-only' } })
    expect((await world.authorize('ada')).body.status).toBe('completed')
    expect(JSON.stringify((await world.call('GET', '/v1/workers/demo')).body)).not.toMatch(/client-secret_/)
  })

  test('authenticates in the body at a server of the Python SDK, which wants client_id there', async () => {
    const clock = testClock()
    await using world = await wantingOAuth({
      as: {
        registration: 'as-asked',
        clientAuth: 'as-registered',
        metadata: {
          token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
          revocation_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
        },
        refresh: 'rotate',
        now: () => clock() * 1000,
      },
      gatepass: { now: clock },
    })
    const { as, call } = world
    expect((await world.authorize('ada')).body.status).toBe('completed')
    expect(await toolNames(world)).toContain('echo')
    clock.advance(3600)
    expect((await world.execute('Demo.echo', { user_id: 'ada' })).body.success).toBe(true)
    const [connection] = (await call('GET', '/v1/connections?user_id=ada')).body.items
    expect((await call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe('revoked')
    const sent = [...as.tokenRequests(), ...as.requestsTo('/revoke')]
    expect(new Set(sent.map(({ path, params }) => params.grant_type ?? path))).toEqual(
      new Set(['authorization_code', 'refresh_token', '/revoke']),
    )
    for (const { headers, params } of sent) {
      expect(params.client_secret).toMatch(/^client-secret_/)
      expect(headers.authorization).toBeUndefined()
    }
  })

  test.each([
    ['the secret has expired', 30 * DAY, 'registered again'],
    ['it never expires', 0, 'kept'],
  ])('is registered again when its tokens cannot be refreshed because %s', async (_, life, outcome) => {
    const clock = testClock()
    await using world = await wantingOAuth({
      as: {
        registration: 'secret',
        clientAuth: 'basic-only',
        clientSecretExpiresAt: life && clock() + life,
        now: () => clock() * 1000,
      },
      gatepass: { now: clock },
    })
    const { as, call } = world
    const clientId = async () => (await providers(world))[0].oauth2.client_id
    const doctor = async () => JSON.stringify((await call('GET', '/v1/admin/diagnosis')).body)
    await world.authorize('ada')
    const first = await clientId()
    const change = { description: 'Tickets', oauth2: { client_id: first } }
    expect((await call('PATCH', '/v1/admin/auth_providers/mcp-demo', change)).status).toBe(200)

    clock.advance(30 * DAY)
    as.behaviour.refresh = 'invalid_client'
    const refused = await world.execute('Demo.who_am_i', { user_id: 'ada' })
    expect(JSON.stringify(refused.body)).toContain('invalid_client')
    const found = await doctor()
    expect(found).toContain('wrong_client_secret')
    expect(found).toContain('DELETE /v1/admin/auth_providers/mcp-demo')
    expect(found.includes('expired at')).toBe(outcome === 'registered again')

    as.behaviour.clientSecretExpiresAt = 0
    await syncWorkers(world.gatepass.broker)
    expect((await clientId()) === first).toBe(outcome === 'kept')
    expect(as.requestsTo('/register')).toHaveLength(outcome === 'kept' ? 1 : 2)
    if (outcome === 'kept') return
    expect((await call('GET', '/v1/workers/demo')).body.sync_error).toContain('/v1/workers/demo/authorize')
    expect(await doctor()).not.toContain('expired at')
    as.behaviour.refresh = 'static'
    expect((await world.authorize('ada')).body.status).toBe('completed')
    expect((await world.execute('Demo.who_am_i', { user_id: 'ada' })).body.success).toBe(true)
  })

  test('is the operator’s where it is said', async () => {
    await using as = await startFakeAuthorizationServer({ requirePkce: 'S256', clientAuth: 'basic-only' })
    await using mcp = await startFakeMcpServer({ as })
    await using world = await startMcpWorld()
    const { body } = await world.call('POST', '/v1/workers', {
      id: 'own',
      mcp: { uri: mcp.url, namespace: 'Own' },
    })
    const [, redirectUri] = /redirect URI (\S+?),/.exec(body.sync_error) ?? []
    expect(redirectUri).toBe(body.mcp?.oauth2?.redirect_uri ?? redirectUri)
    expect(body.sync_error).toContain('PATCH /v1/workers/own')
    const oauth2 = { client_id: as.clientId, client_secret: as.clientSecret }
    const patched = await world.call('PATCH', '/v1/workers/own', { mcp: { oauth2 } })
    expect(patched.body.mcp.oauth2).toMatchObject({ client_id: as.clientId, client_secret: { exists: true } })
    expect(JSON.stringify(patched.body)).not.toContain(as.clientSecret)
    const path = '/v1/workers/own/authorize?user_id=ada'
    await approve((await world.call('POST', path)).body.url)
    expect((await world.call('POST', path)).body.status).toBe('completed')
    expect((await world.execute('Own.echo', { user_id: 'ada' })).body.success).toBe(true)
    expect(as.requestsTo('/authorize').map(({ query }) => query.redirect_uri)).toEqual([redirectUri])
  })

  test('is the URL of its metadata where both sides can, and is not registered', async () => {
    const values: string[] = []
    await using world = await wantingOAuth({
      as: { clientIdUrls: true, registration: 'public' },
      gatepass: {
        environment: { GATEPASS_PUBLIC_URL: 'https://gatepass.example.test' },
        lookUpTxt: async () => ({ outcome: 'found', values }),
      },
    })
    const [entry] = await providers(world)
    const { client_id: clientId, redirect_uri: redirectUri } = entry.oauth2
    expect(clientId).toMatch(/^https:\/\/gatepass\.example\.test\/oauth\/client\/prov_/)
    const { pathname } = new URL(clientId)
    const { status, body, headers } = await world.call('GET', pathname, undefined, { key: null })
    expect(status).toBe(200)
    expect(headers.get('content-type')).toContain('application/json')
    expect(body).toEqual({
      client_id: clientId,
      client_name: 'Gatepass',
      client_uri: 'https://gatepass.example.test',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'web',
    })
    expect(world.as.requestsTo('/register')).toEqual([])
    expect((await world.call('GET', '/oauth/client/prov_unknown', undefined, { key: null })).status).toBe(404)

    // a domain that an administrator has only named may be another's, who would get codes of this client
    const branding = '/v1/admin/projects/default/branding'
    const named = await world.call('PATCH', branding, { domain: 'auth.example.test' })
    const document = async () => (await world.call('GET', pathname, undefined, { key: null })).body
    expect((await document()).redirect_uris).toEqual([redirectUri])
    values.push(named.body.domain.challenge.value)
    expect((await world.call('POST', `${branding}/domain/verify`)).status).toBe(200)
    const own = new URL(redirectUri)
    own.hostname = 'auth.example.test'
    expect((await document()).redirect_uris).toEqual([redirectUri, own.href])
  })

  test('has no metadata document that is not its id', async () => {
    await using world = await wantingOAuth({ as: { clientIdUrls: true } })
    const [entry] = await providers(world)
    const uid = new URL(entry.oauth2.redirect_uri).pathname.split('/').at(-1)
    expect((await world.call('GET', `/oauth/client/${uid}`, undefined, { key: null })).status).toBe(404)
    expect(world.as.requestsTo('/register')).toHaveLength(1)
  })
})

describe('what a hostile server says of its authorization', () => {
  test.each<[string, (world: McpWorld, elsewhere: string) => unknown, RegExp]>([
    [
      'a resource of another host',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { resource: 'https://bank.test/mcp' }),
      /it is of the resource "https:\/\/bank\.test/,
    ],
    [
      'a resource beside it',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { resource: `${mcp.origin}/mc` }),
      /it is of the resource/,
    ],
    [
      'a resource with a placeholder',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { resource: `${mcp.origin}/{{client_secret}}` }),
      /it is of the resource/,
    ],
    [
      'metadata at another host',
      ({ mcp }, elsewhere) => (mcp.behaviour.challenge = `Bearer resource_metadata="${elsewhere}/internal"`),
      /at another host/,
    ],
    [
      'no authorization server',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { authorization_servers: [] }),
      /names no authorization server/,
    ],
    [
      'an authorization server inside',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { authorization_servers: ['http://10.0.0.1/'] }),
      /has to be https/,
    ],
    [
      'an authorization server that is a script',
      ({ mcp }) => (mcp.behaviour.resourceMetadata = { authorization_servers: ['javascript:alert(1)'] }),
      /has to be https/,
    ],
    [
      'metadata of another issuer',
      ({ as }) => (as.behaviour.metadata = { issuer: 'https://bank.test' }),
      /it is of the issuer "https:\/\/bank\.test"/,
    ],
    [
      'a token endpoint without TLS',
      ({ as }) => (as.behaviour.metadata = { token_endpoint: 'http://token.test/' }),
      /its token_endpoint has to be https/,
    ],
    [
      'an authorization endpoint that is a script',
      ({ as }) => (as.behaviour.metadata = { authorization_endpoint: 'javascript:alert(1)' }),
      /its authorization_endpoint has to be https/,
    ],
    [
      'no PKCE',
      ({ as }) => (as.behaviour.metadata = { code_challenge_methods_supported: undefined }),
      /does not announce PKCE/,
    ],
    [
      'plain PKCE',
      ({ as }) => (as.behaviour.metadata = { code_challenge_methods_supported: ['plain'] }),
      /does not announce PKCE/,
    ],
    [
      'a registration inside',
      ({ as }) => (as.behaviour.metadata = { registration_endpoint: 'http://169.254.169.254/latest' }),
      /its registration_endpoint has to be https/,
    ],
    [
      'a registration of nobody',
      ({ as }) => (as.behaviour.metadata = { registration_endpoint: `${as.url}/userinfo` }),
      /refused to register/,
    ],
  ])('is refused: %s', async (_, turn, fault) => {
    await using elsewhere = await listen((_, res) => void res.end('{}'))
    await using world = await startMcpWorld()
    world.mcp.behaviour.as = world.as
    turn(world, elsewhere.url)
    const mcp = { uri: world.mcp.url, timeout: 60, namespace: 'Again' }
    const { status, body } = await world.call('POST', '/v1/workers', { id: 'again', mcp })
    expect(status).toBe(201)
    expect(body.sync_error).toMatch(fault)
    expect((await world.call('GET', '/v1/workers/again/tools')).body.items).toEqual([])
    expect(await world.call('POST', '/v1/workers/again/authorize?user_id=ada')).toMatchObject({
      body: {
        name: expect.stringMatching(/provider_(incomplete|unavailable)/),
        message: expect.stringMatching(fault),
      },
    })
  })

  test('metadata is not read through a redirect', async () => {
    await using inside = await listen((_, res) => void res.end('{}'))
    await using world = await startMcpWorld()
    let reached = 0
    world.mcp.behaviour.as = world.as
    world.mcp.behaviour.intercept = ({ path }, res) => {
      if (!path.startsWith('/.well-known')) return false
      reached++
      res.writeHead(302, { location: inside.url }).end()
      return true
    }
    const { body } = await world.call('PATCH', '/v1/workers/demo', { enabled: true })
    expect(body.sync_error).toContain('has no metadata (RFC 9728)')
    expect(reached).toBeGreaterThan(0)
  })

  test('one that names another authorization server gets another entry, and that one no token of the first', async () => {
    await using world = await wantingOAuth()
    await world.authorize('ada')
    await using thief: FakeAuthorizationServer = await startFakeAuthorizationServer({
      registration: 'public',
      requirePkce: 'S256',
    })
    world.mcp.behaviour.as = thief
    await syncWorkers(world.gatepass.broker)
    const entries = await providers(world)
    expect(entries.map(({ id }: { id: string }) => id)).toEqual(['mcp-demo', 'mcp-demo-2'])
    expect((await world.call('GET', '/v1/workers/demo')).body.sync_error).toContain('mcp-demo-2')
    const asked = await world.execute('Demo.echo', { user_id: 'ada' })
    expect(asked.body.success).not.toBe(true)
    const secrets = world.as.secrets()
    const said = JSON.stringify(thief.requests)
    expect(secrets.filter((one) => said.includes(one))).toEqual([])
  })

  test('one that names another authorization server gets the operator’s client shown to neither, until they say which', async () => {
    await using as = await startFakeAuthorizationServer({ requirePkce: 'S256', clientAuth: 'basic-only' })
    await using thief = await startFakeAuthorizationServer({ requirePkce: 'S256', clientAuth: 'either' })
    await using mcp = await startFakeMcpServer({ as })
    await using world = await startMcpWorld()
    const oauth2 = { client_id: as.clientId, client_secret: as.clientSecret }
    await world.call('POST', '/v1/workers', { id: 'own', mcp: { uri: mcp.url, namespace: 'Own', oauth2 } })
    const path = '/v1/workers/own/authorize?user_id=ada'
    await approve((await world.call('POST', path)).body.url)
    expect((await world.call('POST', path)).body.status).toBe('completed')

    mcp.behaviour.as = thief
    await syncWorkers(world.gatepass.broker)
    const { body } = await world.call('POST', '/v1/workers/own/authorize?user_id=bob')
    expect([body.url, body.name]).toEqual([undefined, 'provider_incomplete'])
    expect((await world.call('GET', '/v1/workers/own')).body.sync_error).toContain('authorization_url')
    expect(thief.requests).toEqual([])

    const now = { client_id: thief.clientId, client_secret: thief.clientSecret, authorization_url: thief.url }
    await world.call('PATCH', '/v1/workers/own', { mcp: { oauth2: now } })
    await approve((await world.call('POST', path)).body.url)
    expect((await world.call('POST', path)).body.status).toBe('completed')
    expect(JSON.stringify(thief.requests)).not.toContain(as.clientSecret)
  })

  test('one that names several keeps the one where users have approved', async () => {
    await using world = await wantingOAuth()
    await using other = await startFakeAuthorizationServer({ registration: 'public', requirePkce: 'S256' })
    world.mcp.behaviour.resourceMetadata = { authorization_servers: [other.url, world.as.url] }
    await syncWorkers(world.gatepass.broker)
    expect(await providers(world)).toHaveLength(1)
    expect(other.requests).toEqual([])
  })

  test('ever new authorization servers come to an end', async () => {
    await using world = await wantingOAuth()
    const others = await Promise.all(
      Array.from({ length: 6 }, () => startFakeAuthorizationServer({ registration: 'public' })),
    )
    for (const as of others) {
      world.mcp.behaviour.as = as
      await syncWorkers(world.gatepass.broker)
    }
    expect(await providers(world)).toHaveLength(5)
    expect((await world.call('GET', '/v1/workers/demo')).body.sync_error).toContain('names yet another')
    for (const as of others) await as.close()
  })

  test('a link that is forwarded binds to the browser that opened it, as ever', async () => {
    await using world = await wantingOAuth()
    const { body } = await world.call('POST', '/v1/workers/demo/authorize?user_id=ada')
    const page = await new UserAgent().get(body.url)
    expect(page.body).toContain('demo')
    expect(page.body).not.toContain('evil')
  })
})

describe('settings on the wire', () => {
  test('are answered and changed one by one, and no secret is', async () => {
    await using world = await startMcpWorld({
      settings: {
        headers: { 'X-Tenant': 'acme', Authorization: `Bearer \${secret:KEY}` },
        secrets: { KEY: 'a-secret-of-the-worker', OTHER: 'another-secret' },
        token_meta: 'context',
        providers: ['github'],
        requirements: { authorization: [{ provider_id: 'github', scopes: ['repo'] }], tools: { echo: {} } },
        oauth2: { client_id: 'abc', client_secret: 'the-client-secret', external_id: 'ext' },
      },
    })
    const mcp = {
      uri: world.mcp.url,
      timeout: 60,
      retry: 0,
      headers: { 'X-Tenant': 'acme', Authorization: `Bearer \${secret:KEY}` },
      secrets: { KEY: { exists: true }, OTHER: { exists: true } },
      token_meta: 'context',
      providers: ['github'],
      requirements: { authorization: [{ provider_id: 'github', scopes: ['repo'] }], tools: { echo: {} } },
      oauth2: { client_id: 'abc', client_secret: { exists: true }, external_id: 'ext' },
      external_id: 'ext',
    }
    expect(world.worker.body.mcp).toMatchObject(mcp)
    const changed = await world.call('PATCH', '/v1/workers/demo', {
      mcp: { token_meta: null, secrets: { OTHER: null }, oauth2: { client_secret: null }, retry: 4 },
    })
    const { token_meta: _, ...rest } = mcp
    expect(changed.body.mcp).toMatchObject({
      ...rest,
      retry: 4,
      secrets: { KEY: { exists: true } },
      oauth2: { client_id: 'abc', client_secret: { exists: false } },
    })
    expect(changed.body.mcp).not.toHaveProperty('token_meta')
    expect(changed.body.mcp.secrets).not.toHaveProperty('OTHER')
    const said = JSON.stringify([world.worker.body, changed.body, world.gatepass.logLines])
    expect(said).not.toMatch(/a-secret-of-the-worker|another-secret|the-client-secret/)
  })

  test.each([
    ['a literal credential', { headers: { Authorization: 'Bearer abcdefgh' } }],
    ['a header of the protocol', { headers: { 'Mcp-Session-Id': 'x' } }],
    ['a header that is two', { headers: { 'X-A': 'b\r\nX-C: d' } }],
    ['a header name that is none', { headers: { 'X A': 'b' } }],
    ['a namespace that is none', { namespace: 'a b' }],
    ['a requirement of no provider', { requirements: { authorization: [{ scopes: [] }] } }],
    ['a URL with credentials', { uri: 'https://a:b@example.test/mcp' }],
    ['a URL that is none', { uri: 'mcp' }],
  ])('are refused: %s', async (_, settings) => {
    await using world = await startMcpWorld()
    const mcp = { uri: world.mcp.url, ...settings }
    expect(await world.call('POST', '/v1/workers', { id: 'x', mcp })).toMatchObject({
      status: 400,
      body: { name: 'invalid_request' },
    })
  })

  test('a host that may not be reached is refused', async () => {
    await using world = await startMcpWorld()
    const mcp = { uri: 'http://169.254.169.254/mcp' }
    expect((await world.call('POST', '/v1/workers', { id: 'x', mcp })).body.name).toBe('host_not_allowed')
  })

  test('at another URL the server is asked anew what it wants', async () => {
    await using world = await wantingOAuth()
    await world.authorize('ada')
    await using open = await startFakeMcpServer()
    const { body } = await world.call('PATCH', '/v1/workers/demo', { mcp: { uri: open.url } })
    expect(body.mcp).not.toHaveProperty('authorization')
    expect((await world.execute('Demo.who_am_i', { user_id: 'ada' })).body.output.value).toMatchObject({
      header: null,
    })
  })
})
