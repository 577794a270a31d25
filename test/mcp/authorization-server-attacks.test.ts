import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/domain/clock.ts'
import { UserAgent } from '../user-agent.ts'
import {
  type AuthorizationServerWorld,
  allow,
  answerIn,
  codeIn,
  REDIRECT_URI,
  redeem,
  refresh,
  startAuthorizationServer,
  toConsent,
} from './authorization-server-world.ts'

let ahead = 0
let world: AuthorizationServerWorld
beforeAll(async () => {
  world = await startAuthorizationServer({ now: () => systemClock() + ahead })
})
afterAll(() => world[Symbol.asyncDispose]())

/** How many records of a model the database has. */
function rowsOf(model: string): number {
  const database = new Database(world.gatepass.databasePath, { readonly: true })
  try {
    const rows = database.prepare('select count(*) as n from mcp_records where model = ?').get(model)
    return (rows as { n: number }).n
  } finally {
    database.close()
  }
}

/** An authorization request whose user has allowed it, with the code. */
async function allowed(more: Readonly<Record<string, string>> = {}) {
  const clientId = await world.newClient()
  const request = world.request(clientId, more)
  const code = codeIn(await allow(new UserAgent(), request))
  return { clientId, request, code, form: redeem(clientId, request, code) }
}

describe('a code', () => {
  test('is redeemed once; the second time ends what the first gave', async () => {
    const { form } = await allowed()
    const first = await world.token(form)
    expect(first.status).toBe(200)
    expect(await world.token(form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await world.verify(first.body.access_token, world.resource)).toEqual({
      outcome: 'refused',
      reason: 'revoked',
    })
  })

  test('that several requests redeem at once gives tokens to one at most', async () => {
    const { form } = await allowed()
    const statuses = (await Promise.all([1, 2, 3, 4].map(() => world.token(form)))).map(
      ({ status }) => status,
    )
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1)
  })

  test.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: 'https://client.example.test/other' }],
  ])('is refused with %s', async (_, change) => {
    const { form } = await allowed()
    expect(await world.token({ ...form, ...change })).toMatchObject({ status: 400 })
  })

  test('of one client is refused to another', async () => {
    const { form } = await allowed()
    const other = await world.newClient()
    expect(await world.token({ ...form, client_id: other })).toMatchObject({ status: 400 })
  })

  test('injected from another session does not fit the verifier of the client', async () => {
    const victim = await allowed()
    const mine = world.request(victim.clientId)
    const answer = await world.token({ ...victim.form, code_verifier: mine.codeVerifier })
    expect(answer).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })
})

describe('a request', () => {
  let approved: string
  let browser: UserAgent
  beforeAll(async () => {
    const client = await world.connect()
    approved = client.clientId
    browser = client.browser
  })

  test.each([
    ['that no user has allowed', async () => world.newClient(), () => new UserAgent()],
    ['that the user of this browser has not allowed', async () => world.newClient(), () => browser],
    ['that a user of another browser has allowed', async () => approved, () => new UserAgent()],
  ])('of a client %s redirects nowhere without a page', async (_, clientId, agent) => {
    const request = world.request(await clientId(), { prompt: 'none' })
    const page = await toConsent(agent(), request)
    expect([page.status, page.response.headers.get('location')]).toEqual([400, null])
    expect(page.body).toContain('consent_required')
    expect(page.body).toContain('client.example.test')
    expect(page.body).toContain(`href="${REDIRECT_URI}?error=consent_required`)
  })

  test.each([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['for a resource of another server', { resource: 'https://other.example.test/mcp' }, 'invalid_target'],
    ['for a resource that is none', { resource: `${'http://127.0.0.1'}/v1` }, 'invalid_target'],
    ['with an answer in a form', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['without a login that may show a page', { prompt: 'none' }, 'consent_required'],
  ])('%s is refused to the client, with the issuer named', async (_, change, error) => {
    const request = world.request(approved, change)
    const answer = answerIn(await toConsent(browser, request))
    expect(answer.get('error')).toBe(error)
    expect(answer.get('iss')).toBe(world.gatepass.url)
    expect(answer.get('state')).toBe(request.state)
    expect(answer.get('code')).toBeNull()
  })

  test('for a token from the authorization endpoint is refused: there is no implicit grant', async () => {
    const request = world.request(approved, { response_type: 'token' })
    const page = await toConsent(browser, request)
    expect(page.response.headers.get('location')).toContain('error=unsupported_response_type')
  })

  test.each([
    ['another path', `${REDIRECT_URI}/x`],
    ['a prefix as host', 'https://client.example.test.evil.test/callback'],
    ['another scheme', 'http://client.example.test/callback'],
    ['a query', `${REDIRECT_URI}?x=1`],
    ['credentials', 'https://client.example.test@evil.test/callback'],
    ['the loopback interface', 'http://127.0.0.1:1234/callback'],
    ['javascript', 'javascript:alert(1)'],
  ])(
    'with a redirect URI that is not registered (%s) shows a page and goes nowhere',
    async (_, redirect_uri) => {
      const request = world.request(await world.newClient(), { redirect_uri })
      const page = await new UserAgent().get(request.url)
      expect(page.status).toBe(400)
      expect(page.response.headers.get('location')).toBeNull()
      expect(page.body).toContain('invalid_redirect_uri')
      expect(page.response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    },
  )

  test('of an unknown client shows a page and goes nowhere', async () => {
    const page = await new UserAgent().get(world.request('mcpcl_unknown').url)
    expect(page.status).toBe(400)
    expect(page.body).toContain('invalid_client')
  })
})

describe('the consent page', () => {
  test('counts no click of another site, without its token, or in another browser', async () => {
    const browser = new UserAgent()
    const request = world.request(await world.newClient())
    const page = await toConsent(browser, request)
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    const elsewhere = await browser.post(
      page.url,
      { csrf, decision: 'allow' },
      { from: 'https://evil.test/' },
    )
    expect(elsewhere.status).toBe(400)
    const forged = await browser.post(page.url, { csrf: `${csrf}x`, decision: 'allow' })
    expect(forged.response.headers.get('location')).not.toContain('/authorize')
    const foreign = await new UserAgent().post(page.url, { csrf, decision: 'allow' })
    expect(foreign.status).toBe(400)
    const back = await browser.submitForm(
      page,
      {},
      { button: 'allow', until: (to) => to.href.startsWith(REDIRECT_URI) },
    )
    expect(codeIn(back)).not.toBe('')
  })

  test('counts no click of another user’s page', async () => {
    const [first, second] = [world.request(await world.newClient()), world.request(await world.newClient())]
    const browser = new UserAgent()
    const page = await toConsent(browser, first)
    const other = await toConsent(new UserAgent(), second)
    const csrf = /name="csrf" value="([^"]+)"/.exec(other.body)?.[1] ?? ''
    const answer = await browser.post(page.url, { csrf, decision: 'allow' })
    expect(answer.response.headers.get('location')).not.toContain('/authorize')
  })

  test('asks again for another client, another redirect URI and a wider scope, not for the same request', async () => {
    const browser = new UserAgent()
    const uris = [REDIRECT_URI, 'https://client.example.test/second']
    const clientId = await world.newClient(REDIRECT_URI, { redirect_uris: uris })
    expect((await allow(browser, world.request(clientId, { scope: 'mcp:read' }))).status).toBe(303)
    const isAsked = async (id: string, more: Readonly<Record<string, string>> = {}) =>
      (await toConsent(browser, world.request(id, more))).status === 200
    expect(await isAsked(clientId, { scope: 'mcp:read' })).toBe(false)
    expect(await isAsked(clientId, { scope: 'mcp' })).toBe(true)
    expect(await isAsked(clientId, { scope: 'mcp:read', redirect_uri: uris[1] ?? '' })).toBe(true)
    expect(await isAsked(clientId, { scope: 'mcp:read', resource: `${world.resource}/mail` })).toBe(true)
    expect(await isAsked(clientId, { scope: 'mcp:read', prompt: 'consent' })).toBe(true)
    // an old cookie of this browser gives a client of an attacker nothing (confused deputy)
    expect(
      await isAsked(await world.newClient('https://evil.test/callback'), {
        redirect_uri: 'https://evil.test/callback',
      }),
    ).toBe(true)
  })

  test('an approval that is given again lasts its whole lifetime', async () => {
    const { mcpConsents, mcpRecords } = world.gatepass.broker.store
    const browser = new UserAgent()
    const clientId = await world.newClient()
    const endOfGrant = async () => {
      expect((await allow(browser, world.request(clientId, { prompt: 'consent' }))).status).toBe(303)
      const consents = await mcpConsents.ofUser(world.projectId, 'ada')
      const { grantId = '' } = consents.find((one) => one.clientId === clientId) ?? {}
      return (await mcpRecords.find('Grant', grantId, 0))?.expiresAt ?? 0
    }
    const first = await endOfGrant()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
    try {
      expect((await endOfGrant()) - first).toBeGreaterThanOrEqual(600)
    } finally {
      vi.useRealTimers()
    }
  })

  test('lets a user allow 200 clients', async () => {
    world.signIn('collector')
    const { mcpConsents } = world.gatepass.broker.store
    for (let i = 0; i < 200; i++)
      await mcpConsents.put({
        id: `mcpc_full${i}`,
        projectId: world.projectId,
        userId: 'collector',
        clientId: `https://client.example.test/${i}.json`,
        redirectUri: REDIRECT_URI,
        clientName: 'One of many',
        scopes: ['mcp'],
        createdAt: 1,
      })
    const browser = new UserAgent()
    const page = await allow(browser, world.request(await world.newClient()))
    expect(page.status).toBe(400)
    expect(page.body).toContain('/me/clients')
    await mcpConsents.delete(world.projectId, 'mcpc_full0')
    expect(codeIn(await allow(browser, world.request(await world.newClient())))).toBeDefined()
    world.signIn('ada')
  })

  test('tells the client when the user cancels', async () => {
    const request = world.request(await world.newClient())
    const answer = answerIn(await allow(new UserAgent(), request, 'cancel'))
    expect(answer.get('error')).toBe('access_denied')
    expect(answer.get('iss')).toBe(world.gatepass.url)
  })

  test('cannot be framed, runs no script, and escapes the name of the client', async () => {
    const clientId = await world.newClient(REDIRECT_URI, { client_name: '<script>alert(1)</script>\u202e' })
    const page = await toConsent(new UserAgent(), world.request(clientId))
    expect(page.body).not.toContain('<script>')
    expect(page.body).not.toContain('\u202e')
    const policy = page.response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('script-src')
    expect(page.response.headers.get('cache-control')).toBe('no-store')
  })
})

describe('an access token', () => {
  test('is for one resource alone', async () => {
    const { form } = await allowed()
    const { body } = await world.token(form)
    const { verify, resource } = world
    expect(await verify(body.access_token, resource)).toMatchObject({ outcome: 'valid' })
    expect(await verify(body.access_token, `${resource}/mail`)).toMatchObject({ reason: 'other_audience' })
    expect(await verify(`${body.access_token}x`, resource)).toMatchObject({ reason: 'altered' })
    expect(await verify('gp_key', resource)).toMatchObject({ reason: 'not_issued_here' })
  })

  test('of a toolset is not for all tools, and cannot be refreshed into one that is', async () => {
    const own = { resource: `${world.resource}/mail` }
    const { clientId, form } = await allowed(own)
    const { body } = await world.token(form)
    expect(await world.verify(body.access_token, own.resource)).toMatchObject({ outcome: 'valid' })
    expect(await world.verify(body.access_token, world.resource)).toMatchObject({ reason: 'other_audience' })
    const wider = { ...refresh({ clientId, refreshToken: body.refresh_token }), resource: world.resource }
    expect(await world.token(wider)).toMatchObject({ status: 400, body: { error: 'invalid_target' } })
  })
})

describe('a refresh token', () => {
  test('may be used again for 120 seconds, by processes that race, and ends the grant after that', async () => {
    const client = await world.connect()
    const { clientId } = client
    const race = await Promise.all([1, 2, 3].map(() => world.token(refresh(client))))
    expect(race.map(({ status }) => status)).toEqual([200, 200, 200])
    // all get the same successor, so that they stay one family
    const [successor, ...others] = new Set(race.map(({ body }) => body.refresh_token))
    expect(others).toEqual([])
    ahead = 118
    try {
      expect((await world.token(refresh(client))).body.refresh_token).toBe(successor)
      const next = await world.token(refresh({ clientId, refreshToken: successor }))
      expect(next).toMatchObject({ status: 200 })
      expect((await world.token(refresh(client))).body.refresh_token).toBe(successor)
      ahead = 121
      expect(await world.token(refresh(client))).toMatchObject({
        status: 400,
        body: { error: 'invalid_grant' },
      })
      for (const refreshToken of [successor, next.body.refresh_token])
        expect(await world.token(refresh({ clientId, refreshToken }))).toMatchObject({ status: 400 })
      expect(await world.verify(client.accessToken, world.resource)).toMatchObject({ reason: 'revoked' })
    } finally {
      ahead = 0
    }
    const trail = await world.gatepass.call('GET', '/v1/admin/audit?action=mcp_client.revoked')
    expect(trail.body.items[0]).toMatchObject({ reason: 'token_reused', subject: client.clientId })
  })

  test('leaves one row however often it is refreshed, and is recognised long after its use', async () => {
    const client = await world.connect()
    const { clientId } = client
    const count = () => rowsOf('RefreshToken')
    const before = count()
    let { refreshToken } = client
    for (let i = 0; i < 10; i++) {
      const { status, body } = await world.token(refresh({ clientId, refreshToken }))
      expect([status, body.refresh_token === refreshToken]).toEqual([200, false])
      refreshToken = body.refresh_token
      ahead += 200
    }
    try {
      expect(count()).toBe(before)
      for (const forged of [
        `${refreshToken}x`,
        refreshToken.replace('.10.', '.11.'),
        `${client.refreshToken}.1.`,
      ])
        expect(await world.token(refresh({ clientId, refreshToken: forged }))).toMatchObject({ status: 400 })
      expect((await world.token(refresh({ clientId, refreshToken }))).status).toBe(200)
      expect((await world.token(refresh(client))).status).toBe(400)
      expect(await world.verify(client.accessToken, world.resource)).toMatchObject({ reason: 'revoked' })
      expect(count()).toBe(before - 1)
    } finally {
      ahead = 0
    }
  })

  test('that was stolen is of no use to another client', async () => {
    const client = await world.connect()
    const thief = await world.newClient()
    const { refreshToken } = client
    expect(await world.token(refresh({ clientId: thief, refreshToken }))).toMatchObject({ status: 400 })
    expect(await world.token(refresh(client))).toMatchObject({ status: 200 })
  })

  test('is given to clients that registered for it, and to no others', async () => {
    const clientId = await world.newClient(REDIRECT_URI, { grant_types: ['authorization_code'] })
    const request = world.request(clientId)
    const { body } = await world.token(
      redeem(clientId, request, codeIn(await allow(new UserAgent(), request))),
    )
    expect(body.access_token).toBeDefined()
    expect(body.refresh_token).toBeUndefined()
  })

  test('that a client revokes ends its access', async () => {
    const client = await world.connect()
    const revoked = await fetch(new URL('/revoke', world.gatepass.url), {
      method: 'POST',
      body: new URLSearchParams({ token: client.refreshToken, client_id: client.clientId }),
    })
    expect(revoked.status).toBe(200)
    expect(await world.verify(client.accessToken, world.resource)).toMatchObject({ reason: 'revoked' })
    expect(await world.token(refresh(client))).toMatchObject({ status: 400 })
  })
})

describe('the user', () => {
  test('who has logged in for a client need not log in again at the connect page; another user is stopped before the provider', async () => {
    const { gatepass } = world
    const { browser } = await world.connect()
    const endpoint = `${world.issuer.issuer}/provider`
    await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: {
        client_id: 'c',
        client_secret: 's',
        authorize_request: { endpoint },
        token_request: { endpoint: `${world.issuer.issuer}/token` },
      },
    })
    const link = async (user_id: string) => {
      const auth_requirement = { provider_id: 'demo', oauth2: { scopes: ['read'] } }
      return (await gatepass.call('POST', '/v1/auth/authorize', { auth_requirement, user_id })).body
    }
    const own = await link('ada')
    const page = await browser.get(own.url)
    expect(page.body).not.toContain('so that you can log in')
    const sent = await browser.submitForm(page, {}, { until: (to) => to.href.startsWith(endpoint) })
    expect(sent.response.headers.get('location')).toMatch(new RegExp(`^${endpoint}\\?`))

    const foreign = await link('bob')
    const shown = await browser.get(foreign.url)
    expect(shown.status).toBe(403)
    expect(shown.body).toContain('user_mismatch')
    expect(shown.body).not.toContain('bob')
    const status = async () => (await gatepass.call('GET', `/v1/auth/status?id=${foreign.id}`)).body
    expect(await status()).toMatchObject({ status: 'pending' })
    const clicked = await browser.post(foreign.url)
    expect(clicked.response.headers.get('location')).toBeNull()
    expect(await status()).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
  })

  test('of another session logs in as the right one, and goes on', async () => {
    const { gatepass } = world
    const { browser } = await world.connect()
    const auth_requirement = { provider_id: 'demo', oauth2: { scopes: ['read'] } }
    const { body } = await gatepass.call('POST', '/v1/auth/authorize', { auth_requirement, user_id: 'bob' })
    world.signIn('bob')
    try {
      const shown = await browser.get(body.url)
      const endpoint = `${world.issuer.issuer}/provider`
      const sent = await browser.submitForm(shown, {}, { until: (to) => to.href.startsWith(endpoint) })
      expect(sent.response.headers.get('location')).toMatch(new RegExp(`^${endpoint}\\?`))
      const [login] = world.issuer.requestsTo('/authorize').slice(-1)
      expect(login?.params.prompt).toBe('login')
    } finally {
      world.signIn('ada')
    }
  })
})
