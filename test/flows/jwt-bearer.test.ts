import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { answer, type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'
import { type AssertionRules, JWT_BEARER, registerJwtBearer } from '../oidc-grants.ts'
import { startOidcProvider } from '../oidc-provider.ts'

// Tokens by an assertion that the client signs (RFC 7523 section 2.1), for the project and in the name of users.

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const pem = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** An authorization server that takes assertions of one client as RFC 7523 section 3 says, and the API of its tokens. */
async function startAssertionServer(now: () => number) {
  const state = {
    key: rsa.publicKey,
    algorithm: 'RS256',
    issuer: 'robot@acme.iam',
    audience: '',
    error: undefined as string | undefined,
    known: (_subject: string | undefined) => true,
    seen: new Set<string>(),
    asked: [] as RecordedRequest[],
    called: [] as RecordedRequest[],
  }
  async function refusalOf({ params }: RecordedRequest): Promise<string | undefined> {
    if (state.error !== undefined) return state.error
    if (params.grant_type !== GRANT) return 'unsupported_grant_type'
    try {
      const { payload } = await jwtVerify(params.assertion ?? '', state.key, {
        algorithms: [state.algorithm],
        issuer: state.issuer,
        audience: state.audience,
        currentDate: new Date(now() * 1000),
        requiredClaims: ['exp', 'iat', 'jti'],
      })
      if (state.seen.has(payload.jti ?? '')) return 'invalid_grant'
      state.seen.add(payload.jti ?? '')
      return state.known(payload.sub) ? undefined : 'invalid_grant'
    } catch {
      return 'invalid_grant'
    }
  }
  const server: Loopback = await listen(async (req, res) => {
    const request = await record(req)
    if (!request.path.startsWith('/token')) {
      state.called.push(request)
      return answer(res, 200, 'application/json', '{"ok":true}')
    }
    state.asked.push(request)
    const refusal = await refusalOf(request)
    if (refusal !== undefined) return answer(res, 400, 'application/json', JSON.stringify({ error: refusal }))
    const token = `t-${state.asked.length}`
    const body = { access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: 'unused' }
    return answer(res, 200, 'application/json', JSON.stringify(body))
  })
  state.audience = `${server.url}/token`
  return Object.assign(state, { server })
}

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let google: Awaited<ReturnType<typeof startAssertionServer>>
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string

  beforeAll(async () => {
    google = await startAssertionServer(clock)
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await google.server.close()
  })
  beforeEach(() => {
    const audience = `${google.server.url}/token`
    Object.assign(google, {
      key: rsa.publicKey,
      algorithm: 'RS256',
      audience,
      error: undefined,
      known: () => true,
    })
    entry = `robot-${++entries}`
    google.asked.length = 0
    google.called.length = 0
  })

  const bodyOf = (oauth2: object = {}) => ({
    id: entry,
    oauth2: {
      grant: { type: 'jwt_bearer' },
      client_id: 'robot@acme.iam',
      client_secret: pem(rsa.privateKey),
      token_request: { endpoint: `${google.server.url}/token` },
      assertion: {
        algorithm: 'RS256',
        key_id: 'k-1',
        subject: '',
        claims: { scope: '{{scopes}}', box: true },
      },
      api: { base_url: `${google.server.url}/api` },
      ...oauth2,
    },
  })
  const add = async (oauth2: object = {}) => {
    const added = await call('POST', '/v1/admin/auth_providers', bodyOf(oauth2))
    expect(added).toMatchObject({ status: 201 })
    return added.body
  }
  const IMPERSONATING = {
    assertion: { algorithm: 'RS256', subject: '{{user_id}}', claims: { scope: '{{scopes}}' } },
    impersonation: { pattern: '[a-z]+@acme\\.com' },
  }
  const share = (more: object = {}) =>
    call('POST', '/v1/admin/connections', {
      provider_id: entry,
      owner: 'project',
      name: 'Drive',
      shared_with: { users: ['*'] },
      ...more,
    })
  const proxy = (userId = 'ada@acme.com', scopes = '') =>
    call('GET', `/proxy/${entry}/files`, undefined, {
      headers: { 'x-gatepass-user': userId, ...(scopes !== '' && { 'x-gatepass-scopes': scopes }) },
    })
  const assertions = () => google.asked.map(({ params }) => params.assertion ?? '')
  const trail = async () =>
    (await call('GET', `/v1/admin/audit?action=token.released&provider_id=${entry}`)).body.items

  test('the client signs an assertion for each token, and sends neither its key nor its id', async () => {
    expect(await add()).toMatchObject({
      owner: 'project',
      oauth2: {
        grant: { type: 'jwt_bearer' },
        assertion: { algorithm: 'RS256', key_id: 'k-1', subject: '', lifetime: 300, claims: { box: true } },
        token_request: { auth_method: 'none' },
      },
    })
    expect((await share({ scopes: ['read', 'write'] })).status).toBe(201)
    const [request] = google.asked
    expect(Object.keys(request?.params ?? {}).sort()).toEqual(['assertion', 'grant_type'])
    expect(request?.headers.authorization).toBeUndefined()
    const [assertion = ''] = assertions()
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k-1' })
    const now = clock()
    expect(decodeJwt(assertion)).toEqual({
      iss: 'robot@acme.iam',
      aud: `${google.server.url}/token`,
      iat: now - 30,
      exp: now + 270,
      jti: expect.any(String),
      scope: 'read write',
      box: true,
    })
    const calls = await Promise.all(Array.from({ length: 100 }, (_, i) => proxy(`user-${i}`)))
    expect(calls.map(({ status }) => status)).toEqual(Array(100).fill(200))
    expect(google.asked).toHaveLength(1)
    clock.advance(3600)
    expect((await proxy()).status).toBe(200)
    // the server refuses an assertion that it has seen before
    expect(new Set(assertions().map((jwt) => decodeJwt(jwt).jti)).size).toBe(2)
    expect((await proxy('bob', 'read')).status).toBe(200)
    expect(decodeJwt(assertions()[2] ?? '')).toMatchObject({ scope: 'read' })
  })

  test('an assertion names the endpoint that it is for, so no other takes it', async () => {
    await add()
    google.audience = 'https://other.example/token'
    expect(await share()).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { assertion: { algorithm: 'RS256', audience: 'https://other.example/token' } },
    })
    clock.advance(60)
    expect((await share()).status).toBe(201)
  })

  test('the client may authenticate by the same key', async () => {
    google.algorithm = 'ES256'
    google.key = p256.publicKey
    await add({
      client_secret: pem(p256.privateKey),
      assertion: { algorithm: 'ES256' },
      token_request: { endpoint: `${google.server.url}/token`, auth_method: 'private_key_jwt' },
      client_assertion: { algorithm: 'ES256' },
    })
    expect((await share({ scopes: ['read'] })).status).toBe(201)
    const params = google.asked[0]?.params ?? {}
    expect(params).toMatchObject({ scope: 'read', client_assertion: expect.any(String) })
    expect(decodeJwt(params.assertion ?? '').sub).toBe('robot@acme.iam')
  })

  test('a key that the server does not take works once it is replaced', async () => {
    await add()
    await share()
    clock.advance(3600)
    google.key = other.publicKey
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(JSON.stringify(refused.body)).not.toMatch(/connect\/|eyJ|PRIVATE KEY/)
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { client_secret: pem(other.privateKey) },
    })
    clock.advance(60)
    expect((await proxy()).status).toBe(200)
  })

  test('impersonation: each user has a token in their own name, which the trail names', async () => {
    expect(await add(IMPERSONATING)).toMatchObject({ owner: 'user', oauth2: IMPERSONATING })
    expect((await proxy('ada@acme.com', 'read')).status).toBe(200)
    expect((await proxy('bob@acme.com', 'read')).status).toBe(200)
    expect((await proxy('ada@acme.com', 'read')).status).toBe(200)
    expect(assertions().map((jwt) => decodeJwt(jwt).sub)).toEqual(['ada@acme.com', 'bob@acme.com'])
    expect(google.called.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer t-1',
      'Bearer t-2',
      'Bearer t-1',
    ])
    expect((await trail())[0]).toMatchObject({ user_id: 'ada@acme.com', subject: 'ada@acme.com' })
    clock.advance(3600)
    await Promise.all(Array.from({ length: 20 }, () => proxy('ada@acme.com', 'read')))
    expect(google.asked).toHaveLength(3)
    const { body } = await call('GET', '/v1/connections?user_id=ada@acme.com')
    expect(body.items.filter(({ provider_id: id }: { provider_id: string }) => id === entry)).toHaveLength(1)
    expect(await share()).toMatchObject({ status: 400, body: { errors: [{ path: 'owner' }] } })
  })

  test('impersonation: nobody beyond the pattern, also none who was within it', async () => {
    await add(IMPERSONATING)
    expect((await proxy('ada@acme.com')).status).toBe(200)
    for (const user of ['ada@acme.com.evil.example', 'x ada@acme.com', 'ADA@acme.com', 'ada@acme.org'])
      expect(await proxy(user)).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect(google.asked).toHaveLength(1)
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { impersonation: { pattern: 'bob@acme\\.com' } },
    })
    expect(await proxy('ada@acme.com')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { impersonation: null, assertion: { algorithm: 'RS256' } },
    })
    const refused = await proxy('ada@acme.com')
    expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(JSON.stringify(refused.body)).not.toContain('/connect/')
  })

  test('impersonation: an id in other forms of letters names nobody, since a server may read it as another', async () => {
    await add({ ...IMPERSONATING, impersonation: { pattern: '(?i).*@acme\\.com' } })
    const ask = async (user_id: string) =>
      (await call('POST', '/v1/auth/authorize', { auth_requirement: { id: entry }, user_id })).status
    // full-width a, Kelvin sign, ligature
    for (const user of ['\uff41da@acme.com', '\u212aim@acme.com', 'e\ufb03e@acme.com'])
      expect(await ask(user)).toBe(403)
    expect(google.asked).toHaveLength(0)
    expect(await ask('zoë@acme.com')).toBe(200)
  })

  test('impersonation: a user whom the server does not know gets no link', async () => {
    await add(IMPERSONATING)
    google.known = (subject) => subject !== 'eve@acme.com'
    for (let tries = 0; tries < 2; tries++) {
      const refused = await proxy('eve@acme.com')
      expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
      expect(JSON.stringify(refused.body)).not.toContain('/connect/')
    }
    const asked = await call('POST', '/v1/auth/authorize', {
      user_id: 'eve@acme.com',
      auth_requirement: { provider_id: entry },
      account: 'new',
    })
    expect(asked.status).toBe(403)
    expect((await proxy('ada@acme.com')).status).toBe(200)
  })

  test('neither the key nor an assertion is logged, recorded or answered, also where they are refused', async () => {
    await add(IMPERSONATING)
    const answers = [await proxy()]
    google.error = 'invalid_client'
    clock.advance(3600)
    answers.push(await proxy())
    google.error = 'invalid_request'
    clock.advance(3600)
    answers.push(await proxy())
    expect(answers.map(({ status }) => status)).toEqual([200, 502, 502])
    const entryNow = await call('GET', `/v1/admin/auth_providers/${entry}`)
    const recorded = await call('GET', '/v1/admin/audit')
    const told = JSON.stringify([answers, entryNow, recorded, gatepass.logLines])
    expect(gatepass.logLines.join('')).toContain('a refresh failed')
    for (const secret of [...assertions(), ...assertions().flatMap((jwt) => jwt.split('.')), 'PRIVATE KEY'])
      expect(told).not.toContain(secret)
  })

  test.each([
    [{ client_secret: 'a-text' }, 'oauth2.client_secret'],
    [{ client_secret: pem(p256.privateKey) }, 'oauth2.client_secret'],
    [{ assertion: { algorithm: 'HS256' } }, 'oauth2.assertion.algorithm'],
    // `iat` is 30 seconds earlier, so the assertion would have expired
    [{ assertion: { algorithm: 'RS256', lifetime: 39 } }, 'oauth2.assertion.lifetime'],
    [{ assertion: { algorithm: 'RS256', claims: { aud: 'x' } } }, 'oauth2.assertion.claims.aud'],
    [{ assertion: { algorithm: 'RS256', subject: '{{user_id}}' } }, 'oauth2.assertion.subject'],
    [{ impersonation: { pattern: '.*' } }, 'oauth2.assertion.subject'],
    [{ ...IMPERSONATING, impersonation: { pattern: '(' } }, 'oauth2.impersonation.pattern'],
    [{ grant: { type: 'client_credentials' }, client_secret: 's' }, 'oauth2.assertion'],
    [
      { token_request: { endpoint: 'https://idp.example/token', auth_method: 'client_secret_post' } },
      'oauth2.token_request.auth_method',
    ],
  ])('the entry refuses %j', async (oauth2, path) => {
    expect(await call('POST', '/v1/admin/auth_providers', bodyOf(oauth2))).toMatchObject({
      status: 400,
      body: { errors: [{ path }] },
    })
  })

  test('the certified oidc-provider takes it, with a grant that verifies each assertion', async () => {
    const publicJwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'k-1', alg: 'RS256', use: 'sig' }
    const oidc = await startOidcProvider({
      ...{ redirectUris: [], clientAuth: 'private_key_jwt', clientKey: publicJwk, clientId: 'robot' },
      ...{ grantTypes: [JWT_BEARER], scopes: ['read', 'write'] },
    })
    const rules: AssertionRules = {
      key: publicJwk,
      checks: { algorithms: ['RS256'], issuer: 'robot', audience: oidc.tokenUrl, subject: 'robot' },
    }
    registerJwtBearer(oidc, rules)
    const now = clock()
    Object.assign(rules.checks, { currentDate: new Date(now * 1000) })
    await add({
      client_id: 'robot',
      token_request: { endpoint: oidc.tokenUrl, auth_method: 'private_key_jwt' },
      client_assertion: { algorithm: 'RS256', key_id: 'k-1', audience: oidc.issuer },
      assertion: { algorithm: 'RS256', key_id: 'k-1' },
    })
    expect((await share({ scopes: ['read', 'write'] })).body).toMatchObject({ name: 'Drive' })
    expect(oidc.tokenRequests.at(-1)).toMatchObject({ grant_type: JWT_BEARER, scope: 'read write' })
    expect((await proxy()).status).toBe(200)
    const sent = google.called.at(-1)?.headers.authorization?.replace('Bearer ', '') ?? ''
    expect(await oidc.isLive(sent)).toBe(true)
    // refused: another key, another audience, another issuer
    for (const [at, wrong] of [
      { key: { ...other.publicKey.export({ format: 'jwk' }), alg: 'RS256' } },
      { checks: { ...rules.checks, audience: 'https://other.example' } },
      { checks: { ...rules.checks, issuer: 'another' } },
      { checks: { ...rules.checks, currentDate: new Date((now + 3600) * 1000) } },
    ].entries()) {
      const right = { ...rules }
      Object.assign(rules, wrong)
      const refused = await call('POST', '/v1/admin/connections', {
        ...{ provider_id: entry, owner: 'project', name: `Wrong ${at}`, scopes: ['read'] },
        shared_with: { users: ['*'] },
      })
      expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
      Object.assign(rules, right)
    }
    expect(oidc.failures).toEqual([])
    await oidc.close()
  })
})
