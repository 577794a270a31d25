import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import {
  type AuthorizationServerWorld,
  allow,
  answerIn,
  codeIn,
  redeem,
  startAuthorizationServer,
  toConsent,
} from './authorization-server-world.ts'

let world: AuthorizationServerWorld
/** Documents that hosts of clients publish, by URL. */
const published = new Map<string, { readonly body: string; readonly status?: number }>()
let fetched: string[] = []

beforeAll(async () => {
  world = await startAuthorizationServer()
  // hosts of clients answer over https, which no server of a test can do; what may be fetched is decided before
  const { clientDocuments } = world.gatepass.broker
  const stream = clientDocuments.stream.bind(clientDocuments)
  vi.spyOn(clientDocuments, 'stream').mockImplementation(async (request) => {
    const url = String(request.url)
    const document = published.get(url)
    if (document === undefined) return stream(request)
    fetched.push(url)
    return {
      status: document.status ?? 200,
      headers: { 'content-type': 'application/json' },
      body: new Blob([document.body]).stream(),
    }
  })
})
afterAll(async () => {
  vi.restoreAllMocks()
  await world[Symbol.asyncDispose]()
})

const BOTH = ['authorization_code', 'refresh_token']

/** Dynamic registrations as the clients send them, and a redirect URI that each then uses. */
const REGISTRATIONS: readonly (readonly [string, Record<string, unknown>, string])[] = [
  [
    'Claude',
    {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'claudeai',
    },
    'https://claude.com/api/mcp/auth_callback',
  ],
  [
    'Claude Code',
    {
      client_name: 'Claude Code (gatepass)',
      redirect_uris: ['http://localhost/callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    'http://localhost:54545/callback',
  ],
  [
    'ChatGPT',
    {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/abc_123'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
      logo_uri: 'http://not-https.example.test/logo.png',
    },
    'https://chatgpt.com/connector/oauth/abc_123',
  ],
  [
    'Cursor',
    {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    'cursor://anysphere.cursor-mcp/oauth/callback',
  ],
  [
    'Visual Studio Code',
    {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      grant_types: [...BOTH, 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    'http://127.0.0.1:60123/',
  ],
  [
    'OpenCode',
    {
      client_name: 'OpenCode',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      grant_types: BOTH,
      response_types: ['code'],
    },
    'http://127.0.0.1:19877/mcp/oauth/callback',
  ],
  [
    'Goose',
    { client_name: 'Goose', redirect_uris: ['http://[::1]:9999/oauth_callback'], grant_types: BOTH },
    'http://[::1]:4321/oauth_callback',
  ],
  [
    'Inspector',
    {
      client_name: 'MCP Inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      grant_types: BOTH,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'mcp openid offline_access',
    },
    'http://localhost:6274/oauth/callback',
  ],
]

describe('a client that registers itself', () => {
  test.each(REGISTRATIONS)('%s gets tokens that it can refresh', async (name, metadata, redirect_uri) => {
    const { status, body } = await world.register(metadata)
    expect(body).toMatchObject({ redirect_uris: metadata.redirect_uris, token_endpoint_auth_method: 'none' })
    expect(status).toBe(201)
    expect(body.client_secret).toBeUndefined()
    const request = world.request(body.client_id, { redirect_uri, scope: undefined })
    const page = await toConsent(new UserAgent(), request)
    expect(page.body).toContain(name)
    expect(page.body).toContain('Unverified')
    const back = await allow(new UserAgent(), request)
    const tokens = await world.token(redeem(body.client_id, request, codeIn(back)))
    expect(tokens.body).toMatchObject({ scope: 'mcp' })
    expect(tokens.body.refresh_token).toBeDefined()
  })

  test.each([
    ['no redirect URI', { redirect_uris: [] }, 'invalid_redirect_uri'],
    ['http to a host', { redirect_uris: ['http://client.example.test/cb'] }, 'invalid_redirect_uri'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['a setting of the system', { redirect_uris: ['ms-settings:privacy'] }, 'invalid_redirect_uri'],
    ['a search of a share', { redirect_uris: ['search-ms:query=x&crumb=location'] }, 'invalid_redirect_uri'],
    ['a fragment', { redirect_uris: ['https://client.example.test/cb#x'] }, 'invalid_redirect_uri'],
    ['credentials', { redirect_uris: ['https://u:p@client.example.test/cb'] }, 'invalid_redirect_uri'],
    [
      '100 of them',
      { redirect_uris: Array.from({ length: 100 }, (_, i) => `https://c.test/${i}`) },
      'invalid_redirect_uri',
    ],
    [
      'a key client without keys',
      { redirect_uris: ['https://c.test/'], token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
    ],
  ])('with %s is refused', async (_, metadata, error) => {
    expect(await world.register(metadata)).toMatchObject({ status: 400, body: { error } })
  })

  test.each([
    ['\u202e\u200b', undefined],
    ['\u202eMy \u0000client ', 'My client'],
    ['💎'.repeat(201), '💎'.repeat(200)],
  ])('its name has visible characters only, and is shortened between two of them: %j', async (sent, kept) => {
    const metadata = { client_name: sent, redirect_uris: ['https://client.example.test/cb'] }
    const { status, body } = await world.register(metadata)
    expect([status, body.client_name]).toEqual([201, kept])
  })

  test('is not served where registration is off; clients with a document of their own need none', async () => {
    await using closed = await startAuthorizationServer({ environment: { GATEPASS_MCP_REGISTRATION: 'off' } })
    const metadata = await closed.gatepass.call('GET', '/.well-known/oauth-authorization-server')
    expect(metadata.body.registration_endpoint).toBeUndefined()
    expect(metadata.body.client_id_metadata_document_supported).toBe(true)
    expect((await closed.register({ redirect_uris: ['https://client.example.test/'] })).status).toBe(404)
  })
})

describe('a client with a metadata document', () => {
  const CLAUDE_CODE = 'https://claude.ai/oauth/claude-code-client-metadata'

  test('Claude Code is verified by its host, warned of, and asked for each time on the loopback interface', async () => {
    published.set(CLAUDE_CODE, {
      body: JSON.stringify({
        client_id: CLAUDE_CODE,
        client_name: 'Claude Code',
        redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
        grant_types: BOTH,
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      }),
    })
    fetched = []
    const browser = new UserAgent()
    for (const redirect_uri of ['http://localhost:3118/callback', 'http://localhost:3119/callback']) {
      const request = world.request(CLAUDE_CODE, { redirect_uri })
      const page = await toConsent(browser, request)
      expect(page.body).toContain('claude.ai')
      expect(page.body).toContain('Any program on this computer')
      const tokens = await world.token(redeem(CLAUDE_CODE, request, codeIn(await allow(browser, request))))
      expect(tokens.status).toBe(200)
    }
    expect(fetched).toEqual([CLAUDE_CODE])
    const list = await world.gatepass.call('GET', '/v1/admin/mcp_clients?user_id=ada&limit=100')
    expect(
      list.body.items.filter((one: { client_id: string }) => one.client_id === CLAUDE_CODE),
    ).toHaveLength(1)
  })

  test('ChatGPT authenticates with its private key', async () => {
    const id = 'https://chatgpt.com/oauth/client.json'
    const jwksUri = 'https://chatgpt.com/oauth/jwks.json'
    const redirect_uri = 'https://chatgpt.com/connector/oauth/xyz'
    const keys = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }
    published.set(jwksUri, { body: JSON.stringify({ keys: [jwk] }) })
    published.set(id, {
      body: JSON.stringify({
        client_id: id,
        client_name: 'ChatGPT',
        redirect_uris: [redirect_uri],
        grant_types: BOTH,
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks_uri: jwksUri,
      }),
    })
    const request = world.request(id, { redirect_uri })
    const browser = new UserAgent()
    const form = redeem(id, request, codeIn(await allow(browser, request)))
    expect(await world.token(form)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    const assertion = (audience: string, key = keys.privateKey) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(id)
        .setSubject(id)
        .setAudience(audience)
        .setJti(Math.random().toString(36))
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key)
    const signed = async (jwt: string) =>
      world.token({
        ...form,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: jwt,
      })
    const { privateKey: other } = await generateKeyPair('ES256')
    expect((await signed(await assertion(world.gatepass.url, other))).status).toBe(401)
    expect((await signed(await assertion('https://other.example.test'))).status).toBe(401)
    const good = await assertion(world.gatepass.url)
    expect(await signed(good)).toMatchObject({ status: 200 })
    expect((await signed(good)).status).not.toBe(200)
    // an https redirect URI and a verified host: the same request needs no second click
    expect(answerIn(await toConsent(browser, world.request(id, { redirect_uri }))).get('code')).not.toBeNull()
  })

  const document = (id: string, more: object = {}) => ({
    body: JSON.stringify({
      client_id: id,
      client_name: 'X',
      redirect_uris: ['https://client.example.test/callback'],
      ...more,
    }),
  })
  test.each([
    ['of another client', document('https://other.example.test/client')],
    ['with a secret', document('https://hosted.example.test/1', { client_secret: 's' })],
    [
      'that wants a secret',
      document('https://hosted.example.test/2', { token_endpoint_auth_method: 'client_secret_basic' }),
    ],
    ['that is no JSON', { body: '<html>' }],
    ['that is a redirect', { body: '', status: 302 }],
  ])('%s is refused', async (_, published_) => {
    const id = `https://hosted.example.test/${(/"client_id":"[^"]*\/(\d)"/.exec(published_.body) ?? [])[1] ?? 'x'}`
    published.set(id, published_)
    const page = await new UserAgent().get(world.request(id).url)
    expect(page.status).toBe(400)
    expect(page.response.headers.get('location')).toBeNull()
  })

  test.each([
    'https://127.0.0.1/client',
    'https://10.0.0.1/client',
    'https://[::1]/client',
    'https://localhost./client',
  ])('%s is not fetched', async (id) => {
    // what the tests may reach does not matter: these have no port of theirs
    const page = await new UserAgent().get(world.request(id).url)
    expect(page.status).toBe(400)
  })
})

describe('a client in a browser', () => {
  test.each([
    ['/.well-known/oauth-authorization-server', 'GET'],
    ['/.well-known/openid-configuration', 'GET'],
    ['/jwks', 'GET'],
    ['/register', 'POST'],
    ['/token', 'POST'],
    ['/revoke', 'POST'],
  ])('may call %s from its own origin', async (path, method) => {
    const response = await fetch(new URL(path, world.gatepass.url), {
      method: 'OPTIONS',
      headers: {
        origin: 'http://localhost:6274',
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type, mcp-protocol-version',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-methods')).toContain(method)
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain(
      'mcp-protocol-version',
    )
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
  })
})
