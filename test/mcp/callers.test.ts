import { createHash, randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import {
  Client,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { base64url, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { startWorld, type World } from '../http/world.ts'
import { listen } from '../loopback.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'
import { headersOf } from './clients.ts'
import { startTokenIssuer, type TokenIssuer } from './token-issuer.ts'

// Who may call /mcp: API keys and the access tokens of an issuer.

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'Demo_Echo', arguments: { text: 'hello' } },
}

/** A request of a client of 2025 without a session. */
async function post(
  { url }: Pick<Gatepass, 'url'>,
  headers: Readonly<Record<string, string>>,
  message: unknown = LIST,
  path = '/mcp',
) {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(message),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text }
}

describe('a token of the issuer at which users log in', () => {
  let issuer: OidcProvider
  let client: Awaited<ReturnType<typeof listen>>
  let world: World
  beforeAll(async () => {
    client = await listen((_, res) => void res.end('Done.'))
    issuer = await startOidcProvider({
      redirectUris: () => [`${world.gatepass.url}/login/callback`, `${client.url}/callback`],
      account: { sub: 'grace', name: 'Grace Hopper', email: 'grace@example.test' },
      resourceScopes: 'mcp mcp:read',
    })
    world = await startWorld({
      gatepass: {
        environment: {
          GATEPASS_USER_VERIFIER: `oidc:${issuer.issuer}`,
          GATEPASS_OIDC_CLIENT_ID: issuer.clientId,
          GATEPASS_OIDC_CLIENT_SECRET: issuer.clientSecret ?? '',
          GATEPASS_MCP_ISSUER: issuer.issuer,
        },
      },
    })
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await issuer.close()
    await client.close()
  })

  /** What an agent does that is registered at the issuer: the code flow with PKCE and the resource. */
  async function logInAtIssuer(resource: string): Promise<string> {
    const redirect_uri = `${client.url}/callback`
    const code_verifier = randomBytes(32).toString('base64url')
    const authorization = new URL(issuer.authorizationUrl)
    authorization.search = new URLSearchParams({
      response_type: 'code',
      client_id: issuer.clientId,
      redirect_uri,
      scope: 'openid mcp',
      resource,
      code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString()
    const { url } = await new UserAgent().follow(authorization)
    const code = new URL(url).searchParams.get('code') ?? ''
    const response = await fetch(issuer.tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${issuer.clientId}:${issuer.clientSecret}`)}` },
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri,
        code_verifier,
        resource,
      }),
    })
    return (await response.json()).access_token
  }

  test('calls tools for its user by the official client', async () => {
    const token = await logInAtIssuer(`${world.gatepass.url}/mcp`)
    const connected = new Client({ name: 'test', version: '1' })
    const requestInit = { headers: { authorization: `Bearer ${token}` } }
    await connected.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', world.gatepass.url), { requestInit }),
    )
    const called = await connected.callTool({ name: 'Demo_Echo', arguments: { text: 'hello' } })
    expect(called.content).toEqual([{ type: 'text', text: expect.stringContaining('hello') }])
    await connected.close()
    const { items } = (await world.call('GET', '/v1/executions?user_id=grace')).body
    expect(items).toMatchObject([{ user_id: 'grace', tool_name: 'Echo' }])
    expect(issuer.failures).toEqual([])
  })

  test('is one person with the token of Gatepass itself, which the official client gets from the 401 alone', async () => {
    let loginUrl: URL | undefined
    let tokens: Awaited<ReturnType<OAuthClientProvider['tokens']>>
    let registered: Awaited<ReturnType<OAuthClientProvider['clientInformation']>>
    let verifier = ''
    let discovered: OAuthDiscoveryState | undefined
    const redirectUrl = `${client.url}/callback`
    const authProvider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: { client_name: 'Official client', redirect_uris: [redirectUrl] },
      clientInformation: () => registered,
      saveClientInformation: (saved) => {
        registered = saved
      },
      tokens: () => tokens,
      saveTokens: (saved) => {
        tokens = saved
      },
      redirectToAuthorization: (url) => {
        loginUrl = url
      },
      saveCodeVerifier: (saved) => {
        verifier = saved
      },
      codeVerifier: () => verifier,
      saveDiscoveryState: (saved) => {
        discovered = saved
      },
      discoveryState: () => discovered,
    }
    const url = new URL('/mcp', world.gatepass.url)
    const first = new StreamableHTTPClientTransport(url, { authProvider })
    await new Client({ name: 'test', version: '1' }).connect(first).catch(() => {})
    const browser = new UserAgent()
    const asked = await browser.follow(loginUrl ?? '') // through the login at the issuer
    const allowed = await browser.submitForm(asked)
    await first.finishAuth(new URL(allowed.url).searchParams)
    const connected = new Client({ name: 'test', version: '1' })
    await connected.connect(new StreamableHTTPClientTransport(url, { authProvider }))
    const called = await connected.callTool({ name: 'Demo_WhoAmI', arguments: {} })
    expect(JSON.stringify(called)).toContain('/connect/auth_')
    await connected.close()
    const { items } = (await world.call('GET', '/v1/executions?user_id=grace')).body
    expect(items[0]).toMatchObject({ user_id: 'grace', tool_name: 'WhoAmI' })
  })

  test('is good for its own resource only', async () => {
    const token = await logInAtIssuer(`${world.gatepass.url}/mcp`)
    const authorization = `Bearer ${token}`
    expect((await post(world.gatepass, { authorization })).status).toBe(200)
    const elsewhere = await post(world.gatepass, { authorization }, LIST, '/mcp/other')
    expect(elsewhere.status).toBe(401)
    expect(elsewhere.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${world.gatepass.url}/.well-known/oauth-protected-resource/mcp/other", scope="mcp"`,
    )
    expect((await world.call('GET', '/v1/tools', undefined, { key: token })).status).toBe(401)
  })
})

describe('an access token', () => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let issuer: TokenIssuer
  let key: Awaited<ReturnType<TokenIssuer['addKey']>>
  let world: World
  let audience: string
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    key = await issuer.addKey('k1')
    world = await startWorld({
      gatepass: {
        now: clock,
        environment: {
          GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
          GATEPASS_MCP_ISSUER: issuer.issuer,
          GATEPASS_MCP_USER_CLAIM: 'employee',
          GATEPASS_RATE_LIMIT: '50',
        },
      },
    })
    audience = `${world.gatepass.url}/mcp`
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await issuer.close()
  })

  const claims = (more: JWTPayload = {}): JWTPayload => ({
    iss: issuer.issuer,
    aud: audience,
    sub: 's-1',
    employee: 'ada',
    client_id: 'agent',
    iat: clock(),
    exp: clock() + 300,
    ...more,
  })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const statusOf = async (more: JWTPayload, message: unknown = LIST) =>
    (await post(world.gatepass, bearer(await key.sign(claims(more))), message)).status

  test('is taken whose claims and signature are right', async () => {
    expect(await statusOf({})).toBe(200)
    expect(await statusOf({ aud: ['https://other.example', audience] })).toBe(200)
    expect(await statusOf({ scope: 'openid mcp' }, CALL)).toBe(200)
    expect(await statusOf({ scp: ['mcp'] }, CALL)).toBe(200)
    const history = (await world.call('GET', '/v1/executions')).body.items
    expect(history).toContainEqual(expect.objectContaining({ user_id: 'ada', tool_name: 'Echo' }))
  })

  test.each<[string, (given: JWTPayload) => JWTPayload]>([
    ['of another audience', (given) => ({ ...given, aud: 'https://other.example/mcp' })],
    ['of the server’s origin', (given) => ({ ...given, aud: new URL(audience).origin })],
    ['of a toolset', (given) => ({ ...given, aud: `${audience}/other` })],
    ['without an audience', ({ aud: _, ...given }) => given],
    ['of another issuer', (given) => ({ ...given, iss: 'https://login.example.test' })],
    ['without an issuer', ({ iss: _, ...given }) => given],
    ['that has expired', (given) => ({ ...given, exp: clock() - 61 })],
    ['that never expires', ({ exp: _, ...given }) => given],
    ['that is not valid yet', (given) => ({ ...given, nbf: clock() + 61 })],
    ['without the claim of the user', ({ employee: _, ...given }) => given],
    ['whose user is no text', (given) => ({ ...given, employee: { $ne: '' } })],
    ['whose user is blank', (given) => ({ ...given, employee: ' ' })],
    ['that is an ID token', (given) => ({ ...given, nonce: 'n' })],
    ['that is bound to a key of the client', (given) => ({ ...given, cnf: { jkt: 'thumbprint' } })],
  ])('is refused %s, and the answer does not say why', async (_, change) => {
    const { status, text } = await post(world.gatepass, bearer(await key.sign(change(claims()))))
    expect({ status, body: JSON.parse(text) }).toEqual({
      status: 401,
      body: { name: 'invalid_authorization', message: 'This access token is not valid here.' },
    })
  })

  test('within the skew of clocks is taken', async () => {
    expect(await statusOf({ exp: clock() - 30, nbf: clock() - 300 })).toBe(200)
    expect(await statusOf({ nbf: clock() + 30 })).toBe(200)
  })

  test('with a signature that proves nothing is refused', async () => {
    const good = await key.sign(claims())
    const [header = '', payload = '', signature = ''] = good.split('.')
    const part = (value: object) => base64url.encode(JSON.stringify(value))
    const other = await issuer.addKey('k1', { isPublished: false })
    const forged = {
      unsigned: `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
      'unsigned, with a signature': `${part({ alg: 'none' })}.${payload}.${signature}`,
      'by a public key as a secret': await new SignJWT(claims())
        .setProtectedHeader({ alg: 'HS256', kid: 'k1', typ: 'at+jwt' })
        .sign(Buffer.from(JSON.stringify(key.jwk))),
      'by a key that is not published': await other.sign(claims()),
      'by a key of its own header': await other.sign(claims(), { jwk: other.jwk }),
      'by a key at its own address': await other.sign(claims(), { jku: 'https://evil.example/jwks' }),
      altered: `${header}.${part({ ...claims(), employee: 'bob' })}.${signature}`,
      'of another type': await key.sign(claims(), { typ: 'logout+jwt' }),
      'no JWT': 'aaa.bbb.ccc',
    }
    for (const [how, token] of Object.entries(forged))
      expect([how, (await post(world.gatepass, bearer(token))).status]).toEqual([how, 401])
    expect((await post(world.gatepass, bearer(good))).status).toBe(200)
  })

  test('that only reads lists tools, and a call says which scope is needed', async () => {
    expect(await statusOf({ scope: 'mcp:read' })).toBe(200)
    const refused = await post(world.gatepass, bearer(await key.sign(claims({ scope: 'mcp:read' }))), CALL)
    expect(refused).toMatchObject({ status: 403 })
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", resource_metadata="${world.gatepass.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`,
    )
    expect(await statusOf({ scope: 'openid profile' })).toBe(403)
    expect(await statusOf({ scope: '' })).toBe(403)
  })

  test('says who the user is; no header, query, argument or _meta does', async () => {
    const token = await key.sign(claims())
    const other = await post(world.gatepass, { ...bearer(token), 'x-gatepass-user': 'bob' }, CALL)
    expect(other.status).toBe(403)
    const params = { ...CALL.params, _meta: { user_id: 'bob', arcade_context: { user_id: 'bob' } } }
    const called = await post(world.gatepass, bearer(token), { ...CALL, params }, '/mcp?user_id=bob')
    expect(called.status).toBe(200)
    const { items } = (await world.call('GET', '/v1/executions?user_id=bob')).body
    expect(items).toEqual([])
    expect((await post(world.gatepass, {}, LIST, `/mcp?access_token=${token}`)).status).toBe(401)
    const trail = (await world.call('GET', '/v1/executions?limit=1')).body.items
    expect(trail).toMatchObject([{ user_id: 'ada' }])
  })

  test('of a new key is taken once the keys are read again, and unknown keys cause few requests', async () => {
    clock.advance(31)
    const next = await issuer.addKey('k2')
    expect((await post(world.gatepass, bearer(await next.sign(claims())))).status).toBe(200)
    const before = issuer.keyRequests
    const unknown = await issuer.addKey('k3', { isPublished: false })
    for (let i = 0; i < 20; i++)
      expect((await post(world.gatepass, bearer(await unknown.sign(claims())))).status).toBe(401)
    expect(issuer.keyRequests).toBe(before)
    clock.advance(31)
    for (let i = 0; i < 5; i++) await post(world.gatepass, bearer(await unknown.sign(claims())))
    expect(issuer.keyRequests).toBe(before + 1)
  })

  test('of a key that was withdrawn is refused after ten minutes', async () => {
    const old = issuer.published.shift()
    clock.advance(601)
    expect(await statusOf({})).toBe(401)
    issuer.published.unshift(old ?? {})
    clock.advance(601)
    expect(await statusOf({})).toBe(200)
  })

  test('is neither taken nor refused while the issuer cannot be asked for its keys', async () => {
    issuer.behaviour.fails = true
    clock.advance(1200)
    expect(await statusOf({})).toBe(200) // the keys that it had within the hour
    clock.advance(3600)
    const answer = await post(world.gatepass, bearer(await key.sign(claims())))
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.headers.get('www-authenticate')).toBeNull()
    issuer.behaviour.fails = false
    clock.advance(31)
    expect(await statusOf({})).toBe(200)
  })

  test('never leaves Gatepass, and is in no log', async () => {
    const token = await key.sign(claims())
    await post(world.gatepass, bearer(token), CALL)
    const invoked = world.worker.requests.at(-1)
    expect(invoked?.path).toContain('/invoke')
    expect(JSON.stringify(invoked)).not.toContain(token)
    expect(world.gatepass.logLines.join('\n')).not.toContain(token.split('.')[2])
  })

  test('has a limit of its own for each user and client', async () => {
    const token = await key.sign(claims({ employee: 'busy' }))
    // eight times the rate, in few requests
    const batch = Array.from({ length: 20 }, (_, id) => ({ ...LIST, id }))
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => post(world.gatepass, bearer(token), batch)),
    )
    const limited = answers.filter(({ status }) => status === 429)
    expect(limited.length).toBeGreaterThan(0)
    expect(limited[0]?.headers.get('retry-after')).toBe('1')
    expect(await statusOf({ employee: 'ada' })).toBe(200)
  })

  test('that has expired is always 401, after which its client refreshes it', async () => {
    const token = await key.sign(claims({ exp: clock() - 3600 }))
    const statuses = new Set<number>()
    for (let i = 0; i < 110; i++) statuses.add((await post(world.gatepass, bearer(token))).status)
    expect(statuses).toEqual(new Set([401]))
  })

  test('that is refused too often from one address is answered 429', async () => {
    const token = await key.sign(claims({ aud: 'https://other.example' }))
    const statuses = new Set<number>()
    for (let i = 0; i < 110; i++) statuses.add((await post(world.gatepass, bearer(token))).status)
    expect(statuses).toEqual(new Set([401, 429]))
    expect(await statusOf({})).toBe(200)
  })
})

test('a token for GATEPASS_MCP_AUDIENCE needs scopes or the type of an access token: it could be an ID token', async () => {
  const issuer = await startTokenIssuer()
  const key = await issuer.addKey('k1')
  await using world = await startWorld({
    gatepass: {
      environment: {
        GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
        GATEPASS_MCP_ISSUER: issuer.issuer,
        GATEPASS_MCP_USER_CLAIM: 'sub',
        GATEPASS_MCP_AUDIENCE: 'a-client-id',
      },
    },
  })
  const statusOf = async (more: JWTPayload, typ = 'JWT') => {
    const now = Math.floor(Date.now() / 1000)
    const claims = { iss: issuer.issuer, aud: 'a-client-id', sub: 'ada', iat: now, exp: now + 300 }
    const token = await key.sign({ ...claims, ...more }, { typ })
    return (await post(world.gatepass, { authorization: `Bearer ${token}` }, LIST)).status
  }
  expect(await statusOf({ scope: 'mcp' })).toBe(200)
  expect(await statusOf({ scp: ['mcp:read'] })).toBe(200)
  expect(await statusOf({})).toBe(401)
  expect(await statusOf({}, 'at+jwt')).toBe(200)
  await issuer.close()
})

describe('an API key', () => {
  let gatepass: Gatepass
  beforeAll(async () => {
    gatepass = await startGatepass({
      environment: { GATEPASS_USER_VERIFIER: 'https://app.example.test/verify' },
    })
  })
  afterAll(() => gatepass.close())

  const keyOf = async (body: object) =>
    (await gatepass.call('POST', '/v1/admin/keys', body)).body.key as string

  test('of one user acts for that user, and is refused another', async () => {
    const key = await keyOf({ role: 'caller', user_id: 'ada' })
    expect((await post(gatepass, headersOf(key, null))).status).toBe(200)
    expect((await post(gatepass, headersOf(key, 'ada'))).status).toBe(200)
    const refused = await post(gatepass, headersOf(key, 'bob'))
    expect({ status: refused.status, name: JSON.parse(refused.text).name }).toEqual({
      status: 403,
      name: 'user_not_allowed',
    })
  })

  test('may name its user in either header, in UTF-8, and in one of them only', async () => {
    const key = await keyOf({ role: 'caller' })
    const authorization = `Bearer ${key}`
    expect((await post(gatepass, { authorization, 'arcade-user-id': 'ada' })).status).toBe(200)
    expect(
      (await post(gatepass, { authorization, 'arcade-user-id': 'ada', 'x-gatepass-user': 'bob' })).status,
    ).toBe(400)
    expect((await post(gatepass, { authorization, 'x-gatepass-user': '\xff' })).status).toBe(400)
    expect((await post(gatepass, { authorization })).status).toBe(200)
  })

  test('of GATEPASS_API_KEY may have dots, as a token has', async () => {
    const key = 'a-key.of-the.operator'
    await using dotted = await startGatepass({
      environment: { GATEPASS_USER_VERIFIER: 'https://app.example.test/verify', GATEPASS_API_KEY: key },
    })
    expect((await post(dotted, headersOf(key, 'ada'))).status).toBe(200)
    expect((await post(dotted, headersOf('a-key.of-the.guesser', 'ada'))).status).toBe(401)
  })

  test('of the role readonly lists, and calls nothing', async () => {
    const headers = headersOf(await keyOf({ role: 'readonly' }), 'ada')
    expect((await post(gatepass, headers)).status).toBe(200)
    const refused = await post(gatepass, headers, CALL)
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toBeNull()
  })

  test('that is unknown, and no credential, are 401 with the way to log in', async () => {
    const metadata = `resource_metadata="${gatepass.url}/.well-known/oauth-protected-resource/mcp", scope="mcp"`
    const challengeFor = async (headers: Readonly<Record<string, string>>) => {
      const { status, headers: answered } = await post(gatepass, headers)
      expect(answered.get('access-control-expose-headers')).toBe('WWW-Authenticate, Mcp-Session-Id')
      return [status, answered.get('www-authenticate')]
    }
    expect(await challengeFor({})).toEqual([401, `Bearer ${metadata}`])
    expect(await challengeFor({ authorization: 'Bearer gp_unknown' })).toEqual([
      401,
      `Bearer error="invalid_token", ${metadata}`,
    ])
  })
})

describe('a web page', () => {
  let issuer: TokenIssuer
  let gatepass: Gatepass
  beforeAll(async () => {
    issuer = await startTokenIssuer()
    gatepass = await startGatepass({
      environment: {
        GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
        GATEPASS_MCP_ISSUER: issuer.issuer,
        GATEPASS_MCP_USER_CLAIM: 'sub',
        GATEPASS_MCP_ORIGINS: 'https://chat.example.test',
      },
    })
  })
  afterAll(async () => {
    await gatepass.close()
    await issuer.close()
  })

  const from = async (origin: string, path = '/mcp') =>
    post(gatepass, { ...headersOf(gatepass.apiKey, 'ada'), origin }, LIST, path)

  test.each([
    'https://chat.example.test',
    'http://localhost:6274',
    'http://127.0.0.1:1',
    'http://[::1]:5173',
  ])('of %s may call and read the answers', async (origin) => {
    for (const path of ['/mcp', '/mcp/unknown']) {
      const { headers } = await from(origin, path)
      expect(headers.get('access-control-allow-origin')).toBe(origin)
      expect(headers.get('access-control-expose-headers')).toBe('WWW-Authenticate, Mcp-Session-Id')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  test.each([
    'https://evil.example',
    'null',
    'https://chat.example.test.evil.example',
    'http://chat.example.test',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'file://',
  ])('of %s may not', async (origin) => {
    const { status, headers } = await from(origin)
    expect(status).toBe(403)
    expect(headers.get('access-control-allow-origin')).toBeNull()
    const asked = await fetch(new URL('/mcp', gatepass.url), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(asked.status).toBe(403)
  })

  test.each(['/mcp', '/mcp/any', '/.well-known/oauth-protected-resource/mcp'])(
    'asks first at %s, without a credential',
    async (path) => {
      const answer = await fetch(new URL(path, gatepass.url), {
        method: 'OPTIONS',
        headers: {
          origin: 'http://localhost:6274',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization, mcp-protocol-version, mcp-param-a',
        },
      })
      expect(answer.status).toBe(204)
      expect(answer.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
      expect(answer.headers.get('access-control-allow-methods')).toContain('DELETE')
    },
  )

  test('cannot reach a server of the loopback interface by a name of its own', async () => {
    const statusFor = (host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { host, ...headersOf(gatepass.apiKey, 'ada'), 'content-type': 'application/json' }
        httpRequest(new URL('/mcp', gatepass.url), { method: 'POST', headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end(JSON.stringify(LIST))
      })
    const { port } = new URL(gatepass.url)
    expect(await statusFor(`evil.example:${port}`)).toBe(403)
    expect(await statusFor(`127.0.0.1.evil.example:${port}`)).toBe(403)
    expect(await statusFor(`localhost:${port}`)).not.toBe(403)
  })

  test('reads the metadata of a resource, which is the same whether a toolset exists or not', async () => {
    for (const path of ['/mcp', '/mcp/any']) {
      const answer = await fetch(new URL(`/.well-known/oauth-protected-resource${path}`, gatepass.url))
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(await answer.json()).toEqual({
        resource: `${gatepass.url}${path}`,
        authorization_servers: [gatepass.url, issuer.issuer],
        scopes_supported: ['mcp'],
        bearer_methods_supported: ['header'],
        resource_name: 'Gatepass',
      })
    }
    const wrong = await fetch(new URL('/.well-known/oauth-protected-resource/mcp/..%2fx', gatepass.url))
    expect(wrong.status).toBe(404)
  })
})

test('with the verifier open, /mcp is not served, and its metadata neither', async () => {
  await using gatepass = await startGatepass()
  const answer = await post(gatepass, headersOf(gatepass.apiKey, 'ada'))
  expect(answer.status).toBe(501)
  expect(answer.text).toContain('GATEPASS_USER_VERIFIER')
  const metadata = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', gatepass.url))
  expect(metadata.status).toBe(404)
  const setup = await fetch(new URL('/docs/mcp', gatepass.url))
  expect(await setup.text()).toContain('This server does not serve /mcp')
})
