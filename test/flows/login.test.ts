import { describe, expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import type { IssuerBehaviour } from '../fake-issuer.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import { addProvider, approve, click, startScene } from './fixtures.ts'
import {
  countConnections,
  type LoginOptions,
  startLoginScene,
  startLyingScene,
  upToLoginCallback,
  verifierOf,
} from './login-fixtures.ts'

describe('the broker’s own login', () => {
  test('comes after the click and before the provider; the right user goes straight on', async () => {
    await using scene = await startLoginScene()
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const connect = await browser.get(url)
    expect(connect.body).toContain(new URL(scene.oidc.issuer).host)
    const login = await upToLoginCallback(browser, connect)
    expect(scene.as.requests).toEqual([])
    const end = await browser.follow(login)
    expect(end.url).toBe(url)
    expect(end.status).toBe(200)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.oidc.tokenRequests).toHaveLength(1)
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect(scene.oidc.failures).toEqual([])
  })

  test('the request: code, S256, state, nonce, the scopes, and a redirect URI that is no provider’s', async () => {
    await using scene = await startLyingScene({}, { environment: { GATEPASS_OIDC_SCOPES: 'openid groups' } })
    await click((await scene.authorize()).body.url)
    await click((await scene.authorize({ user_id: 'u2' })).body.url)
    const [first, second] = scene.issuer.requestsTo('/authorize')
    expect(first?.params).toEqual({
      client_id: scene.issuer.clientId,
      response_type: 'code',
      redirect_uri: `${scene.gatepass.url}/login/callback`,
      scope: 'openid groups',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    for (const name of ['state', 'nonce', 'code_challenge'] as const)
      expect(first?.params[name]).not.toBe(second?.params[name])
  })

  test('another user: the authorization fails before anybody is asked, and the page names nobody', async () => {
    await using scene = await startLoginScene()
    scene.oidc.settings.account = { sub: 'mallory', name: 'Mallory', email: 'mallory@example.test' }
    const { id, url } = (await scene.authorize({ user_id: 'someone-with-a-name' })).body
    const browser = new UserAgent()
    const end = await click(url, browser)
    expect(end.url).toBe(url)
    expect(end.body).toContain('meant for someone else')
    for (const whose of ['someone-with-a-name', 'mallory', 'Mallory', 'demo'])
      expect(end.body).not.toContain(whose)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    expect(scene.as.requests).toEqual([])
    expect(await countConnections(scene)).toBe(0)
    await browser.follow(url)
    expect((await browser.get(url)).body).not.toContain('<form')
    expect(scene.gatepass.logLines.join()).not.toContain('mallory')
  })

  test('another user: only an operator’s test in the console gets its browser back', async () => {
    await using scene = await startLoginScene()
    scene.oidc.settings.account = { sub: 'mallory', name: 'Mallory', email: 'mallory@example.test' }
    const { url: origin } = scene.gatepass
    const endOf = async (next_uri: string) =>
      click((await scene.authorize({ next_uri })).body.url, new UserAgent())
    const test = `${origin}/dashboard/providers/demo/test-account`
    expect((await endOf(test)).body).toContain(`href="${test}?auth_id=`)
    expect((await endOf(`${origin}/dashboards`)).body).not.toContain('href="http')
  })

  test('user_id is compared as it stands', async () => {
    for (const sub of ['U1', 'u1 ', 'u', 'u11']) {
      await using scene = await startLyingScene({ claims: { sub } })
      const { body } = await scene.connect()
      expect(body, sub).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    }
  })

  test('cancelled: the link can still be used, and says so', async () => {
    await using scene = await startLoginScene({}, { interaction: 'form' })
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const cancelled = await browser.submitForm(await click(url, browser), {}, { button: 'Cancel' })
    expect(cancelled.url).toBe(`${url}?login=cancelled`)
    expect(cancelled.body).toContain('You did not log in')
    expect((await scene.status(id)).body.status).toBe('pending')
    expect(scene.oidc.tokenRequests).toEqual([])
    const loginAgain = await browser.submitForm(cancelled)
    await browser.submitForm(await browser.submitForm(loginAgain))
    expect((await scene.status(id)).body.status).toBe('completed')
    expect((await browser.get(`${url}?login=cancelled`)).body).not.toContain('You did not log in')
  })

  test('a public client', async () => {
    await using scene = await startLoginScene({}, { clientAuth: 'none' })
    expect((await scene.connect()).body.status).toBe('completed')
    expect(scene.oidc.tokenRequests[0]).toHaveProperty('code_verifier')
  })

  test('a client whose secret goes into the body', async () => {
    await using scene = await startLyingScene({
      metadata: { token_endpoint_auth_methods_supported: ['client_secret_post'] },
    })
    expect((await scene.connect()).body.status).toBe('completed')
    const [request] = scene.issuer.requestsTo('/token')
    expect(request?.headers.authorization).toBeUndefined()
    expect(request?.params.client_secret).toBe(scene.issuer.clientSecret)
  })

  test('`pass`: opening the link leads to the login, and a cancelled one to a page', async () => {
    await using scene = await startLoginScene({ environment: { GATEPASS_CONNECT_PAGE: 'pass' } })
    const { id, url } = (await scene.authorize()).body
    const end = await new UserAgent().follow(url)
    expect(end.url).toBe(url)
    expect(end.hops[0]?.location).toContain(`${scene.oidc.issuer}/auth?`)
    expect((await scene.status(id)).body.status).toBe('completed')

    scene.oidc.settings.interaction = 'form'
    const other = (await scene.authorize({ user_id: 'u2' })).body
    const browser = new UserAgent()
    const page = await browser.submitForm(await browser.follow(other.url), {}, { button: 'Cancel' })
    expect(page.url).toBe(`${other.url}?login=cancelled`)
    expect(page.body).toContain('<form')
  })

  test('a provider that was switched off meanwhile: the end is shown under a clean address', async () => {
    await using scene = await startLoginScene()
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const login = await upToLoginCallback(browser, await browser.get(url))
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
    const end = await browser.follow(login)
    expect(end.url).toBe(url)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_changed' })
    expect(scene.as.requests).toEqual([])
  })

  test('callers cannot confirm users', async () => {
    await using scene = await startLoginScene()
    const answer = await scene.call('POST', '/v1/auth/confirm_user', { flow_id: 'flow_x', user_id: 'u1' })
    expect(answer).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
    expect(answer.body.message).toContain(scene.oidc.issuer)
  })

  test('no code, secret or state of it stands in the log, the pages or the cookies in the clear', async () => {
    await using scene = await startLyingScene()
    const browser = new UserAgent()
    const { url } = (await scene.authorize()).body
    const login = await upToLoginCallback(browser, await browser.get(url))
    const cookies = JSON.stringify(browser.cookies(login))
    const end = await browser.follow(login)
    expect(end.status).toBe(200)
    const asked = scene.issuer.requestsTo('/authorize')[0]?.params
    const redeemed = scene.issuer.requestsTo('/token')[0]?.params
    const secrets = [
      asked?.state,
      asked?.nonce,
      redeemed?.code,
      redeemed?.code_verifier,
      scene.issuer.clientSecret,
    ]
    for (const secret of secrets)
      for (const place of [scene.gatepass.logLines.join(), end.body, end.url, cookies])
        expect(place.includes(secret ?? 'missing')).toBe(false)
  })
})

describe('once is enough', () => {
  test('for all steps of one authorization in one browser', async () => {
    await using scene = await startLoginScene()
    const { as, call } = scene
    await call('POST', '/v1/tools/import', {
      name: 'Two',
      version: '1.0.0',
      description: 'Needs two',
      parameters: { type: 'object', properties: {} },
      oauth: ['One', 'Another'].map((name) => ({
        name,
        version: '2.0',
        authorizationUrl: as.authorizationUrl,
        tokenUrl: as.tokenUrl,
        clientId: as.clientId,
        clientSecret: as.clientSecret,
        scopes: ['read'],
        responseType: 'code',
      })),
    })
    const { id, url } = (await call('POST', '/v1/tools/authorize', { tool_name: 'Two', user_id: 'u1' })).body
    const browser = new UserAgent()
    const second = await click(url, browser)
    expect(second.body).not.toContain('so that you can log in')
    // the second step in another browser is another matter
    scene.oidc.settings.account = { sub: 'mallory', name: 'Mallory', email: 'm@example.test' }
    await browser.submitForm(second)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.oidc.tokenRequests).toHaveLength(1)
  })

  test('for a second click within minutes, for this authorization and browser alone', async () => {
    await using scene = await startLoginScene({ environment: { GATEPASS_AUTHORIZATION_TTL: '3600' } })
    const logins = () => scene.oidc.tokenRequests.length
    const { url } = (await scene.authorize()).body
    const { browser } = await approve(url)
    expect(logins()).toBe(1)
    await approve(url, browser)
    expect(logins()).toBe(1)
    await approve((await scene.authorize({ scopes: ['write'] })).body.url, browser)
    expect(logins()).toBe(2)
    await approve(url, new UserAgent())
    expect(logins()).toBe(3)
  })

  test('for ten minutes', async () => {
    await using scene = await startLoginScene({ environment: { GATEPASS_AUTHORIZATION_TTL: '3600' } })
    const { url } = (await scene.authorize()).body
    const { browser } = await approve(url)
    scene.clock.advance(600)
    await approve(url, browser)
    expect(scene.oidc.tokenRequests).toHaveLength(2)
  })

  test('even if the database could not be reached: the browser sends the same response again', async () => {
    await using scene = await startLoginScene()
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const login = await upToLoginCallback(browser, await browser.get(url))
    const { authorizations } = scene.gatepass.broker.store
    const { find } = authorizations
    const away = new BrokerError('store_unavailable', 'The database cannot be used right now.')
    Object.assign(authorizations, { find: () => Promise.reject(away) })
    expect((await browser.get(login)).status).toBe(503)
    Object.assign(authorizations, { find })
    expect((await browser.follow(login)).status).toBe(200)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.oidc.tokenRequests).toHaveLength(1)
  })

  test('not under the proof of another browser or authorization', async () => {
    await using scene = await startLoginScene()
    const { url } = (await scene.authorize()).body
    const { browser } = await approve(url)
    const other = (await scene.authorize({ scopes: ['write'] })).body.url
    const cookies = browser.cookies(url)
    const thief = { cookie: `gatepass-user=${cookies['gatepass-user']}; gatepass=${'x'.repeat(43)}` }
    const whole = { cookie: `gatepass-user=${cookies['gatepass-user']}; gatepass=${cookies.gatepass}` }
    const goesTo = async (to: string, headers: Record<string, string>) => {
      const answer = await fetch(to, { method: 'POST', redirect: 'manual', headers })
      return new URL(answer.headers.get('location') ?? 'about:blank').origin
    }
    expect(await goesTo(url, thief)).toBe(scene.oidc.issuer)
    expect(await goesTo(other, whole)).toBe(scene.oidc.issuer)
    expect(await goesTo(url, { cookie: 'gatepass-user=v1.x.y.z.w' })).toBe(scene.oidc.issuer)
    expect(await goesTo(url, whole)).toBe(scene.as.url)
  })
})

describe('the claim', () => {
  const email: LoginOptions = { environment: { GATEPASS_OIDC_USER_CLAIM: 'email' } }
  const need = { user_id: 'ada@example.test' }

  test.each<[string, LoginOptions, Partial<IssuerBehaviour>, string]>([
    ['email, verified', email, { claims: { email: need.user_id, email_verified: true } }, 'completed'],
    ['email, not verified', email, { claims: { email: need.user_id, email_verified: false } }, 'pending'],
    [
      'email, verified as text',
      email,
      { claims: { email: need.user_id, email_verified: 'true' } },
      'pending',
    ],
    ['email, and nothing about it', email, { claims: { email: need.user_id } }, 'pending'],
    ['no email', email, { claims: { sub: need.user_id } }, 'pending'],
    ['another email', email, { claims: { email: 'Ada@example.test', email_verified: true } }, 'failed'],
    [
      'email by user info',
      email,
      { userInfo: { sub: 'u1', email: need.user_id, email_verified: true } },
      'completed',
    ],
    [
      'email by the ID token, its verification by user info',
      email,
      {
        claims: { email: 'm@example.test' },
        userInfo: { sub: 'u1', email: need.user_id, email_verified: true },
      },
      'completed',
    ],
    [
      'email by the ID token, and user info without an email',
      email,
      { claims: { email: need.user_id }, userInfo: { sub: 'u1', email_verified: true } },
      'pending',
    ],
    [
      'user info of another sub',
      email,
      { userInfo: { sub: 'x', email: need.user_id, email_verified: true } },
      'pending',
    ],
    [
      'one of the issuer’s own',
      { environment: { GATEPASS_OIDC_USER_CLAIM: 'https://example.test/login' } },
      { claims: { 'https://example.test/login': need.user_id } },
      'completed',
    ],
    [
      'one that is no text',
      { environment: { GATEPASS_OIDC_USER_CLAIM: 'groups' } },
      { claims: { groups: [need.user_id] } },
      'pending',
    ],
    [
      'one of no claim but of every object',
      { environment: { GATEPASS_OIDC_USER_CLAIM: 'constructor' } },
      {},
      'pending',
    ],
  ])('%s', async (_, options, behaviour, status) => {
    await using scene = await startLyingScene(behaviour, options)
    expect((await scene.connect(need)).body.status).toBe(status)
    expect(scene.as.requestsTo('/authorize')).toHaveLength(status === 'completed' ? 1 : 0)
  })

  test('email of the certified oidc-provider, asked for by itself', async () => {
    const account = { sub: 'x', name: 'Ada', email: 'ada@example.test', email_verified: true }
    await using scene = await startLoginScene(email, { account })
    expect((await scene.connect(need)).body.status).toBe('completed')
  })
})

describe('an issuer that lies, or fails', () => {
  const past = Math.floor(Date.now() / 1000) - 600
  test.each<[string, Partial<IssuerBehaviour>]>([
    ['an ID token for another client', { claims: { aud: 'another-client' } }],
    ['an ID token of another issuer', { claims: { iss: 'https://accounts.google.com' } }],
    ['an ID token that was made for another party', { claims: { azp: 'another-client' } }],
    ['an ID token of a time to come', { claims: { iat: past + 600 + 300 } }],
    ['an ID token that ran out', { claims: { exp: past } }],
    ['another nonce', { claims: { nonce: 'of-another-login' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['no sub', { claims: { sub: undefined } }],
    ['a signature of another key', { signature: 'other key' }],
    ['no signature', { signature: 'none' }],
    ['a signature with the client secret', { signature: 'HS256' }],
    ['another iss in its answer', { iss: 'https://evil.example' }],
    [
      'no iss although it announces one',
      { metadata: { authorization_response_iss_parameter_supported: true } },
    ],
    ['an unknown error', { error: 'invalid_scope' }],
    ['a token endpoint that refuses', { fails: { path: '/token', status: 401 } }],
  ])('%s: nobody goes on, and the link stands', async (_, behaviour) => {
    await using scene = await startLyingScene(behaviour)
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const page = await click(url, browser)
    expect(page.url).toBe(`${url}?login=failed`)
    expect(page.body).toContain('The login failed')
    expect((await scene.status(id)).body.status).toBe('pending')
    expect(scene.as.requests).toEqual([])
    expect(scene.gatepass.logLines.join()).toContain('could not log in')
    const claim = Object.keys(behaviour.claims ?? {})[0]
    if (claim !== undefined) expect(scene.gatepass.logLines.join()).toContain(`\\"${claim}\\"`)

    Object.assign(scene.issuer.behaviour, {
      claims: {},
      signature: 'good',
      iss: true,
      error: undefined,
      fails: undefined,
    })
    await browser.submitForm(page)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each<[string, Partial<IssuerBehaviour>]>([
    [
      'its own iss, announced',
      { iss: true, metadata: { authorization_response_iss_parameter_supported: true } },
    ],
    ['its own iss, unannounced', { iss: true }],
    ['a clock a little ahead', { claims: { iat: Math.floor(Date.now() / 1000) + 20 } }],
    ['itself as the authorized party', { claims: { azp: 'gatepass-client' } }],
    ['no iss, unannounced', {}],
  ])('%s is fine', async (_, behaviour) => {
    await using scene = await startLyingScene(behaviour)
    expect((await scene.connect()).body.status).toBe('completed')
  })

  test.each(['access_denied', 'login_required', 'interaction_required'])(
    '%s is a cancelled login',
    async (error) => {
      await using scene = await startLyingScene({ error })
      const { url } = (await scene.authorize()).body
      expect((await click(url)).url).toBe(`${url}?login=cancelled`)
      expect(scene.issuer.requestsTo('/token')).toEqual([])
    },
  )

  test.each<[string, Partial<IssuerBehaviour>]>([
    ['temporarily_unavailable', { error: 'temporarily_unavailable' }],
    ['a token endpoint that is down', { fails: { path: '/token', status: 503 } }],
    ['keys that cannot be fetched', { fails: { path: '/jwks', status: 503 } }],
  ])('%s: try again later', async (_, behaviour) => {
    await using scene = await startLyingScene(behaviour)
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const page = await click(url, browser)
    expect(page.url).toBe(`${url}?login=unavailable`)
    expect(page.status).toBe(503)
    expect((await scene.status(id)).body.status).toBe('pending')
    Object.assign(scene.issuer.behaviour, { error: undefined, fails: undefined })
    await browser.submitForm(page)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each<[string, Partial<IssuerBehaviour>]>([
    ['that is down', { fails: { path: '/.well-known/openid-configuration', status: 503 } }],
    ['that has no metadata', { fails: { path: '/.well-known/openid-configuration', status: 404 } }],
    ['whose metadata is another issuer’s', { metadata: { issuer: 'https://accounts.google.com' } }],
    ['whose metadata has a slash more', { metadata: { issuer: 'http://127.0.0.1/' } }],
    ['whose keys are on a private host', { metadata: { jwks_uri: 'https://169.254.169.254/jwks' } }],
    ['whose token endpoint is on a private host', { metadata: { token_endpoint: 'http://10.0.0.1/token' } }],
    ['whose login is a script', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
  ])('a click at one %s gets a page, and the next one works', async (_, behaviour) => {
    await using scene = await startLyingScene(behaviour)
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const page = await click(url, browser)
    expect(page.status).toBe(503)
    expect(page.body).toContain('You cannot log in right now')
    expect(scene.gatepass.logLines.join()).toContain('could not be sent to log in')
    Object.assign(scene.issuer.behaviour, { fails: undefined, metadata: {} })
    await browser.submitForm(page)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('one without keys for its ID tokens is of no use', async () => {
    await using scene = await startLyingScene({ metadata: { jwks_uri: null } })
    expect((await click((await scene.authorize()).body.url)).status).toBe(503)
    expect(scene.gatepass.logLines.join()).toContain('jwks_uri')
  })

  test('one that nobody allowed is not asked', async () => {
    await using scene = await startLyingScene(
      {},
      { oauth2: false, environment: { GATEPASS_ALLOWED_HOSTS: '' } },
    )
    await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      provider_id: 'github',
      oauth2: { client_id: 'x', client_secret: 'y' },
    })
    const page = await click((await scene.authorize()).body.url)
    expect(page.status).toBe(503)
    expect(scene.issuer.requests).toEqual([])
    expect(scene.gatepass.logLines.join()).toContain('GATEPASS_ALLOWED_HOSTS')
  })

  test('its metadata and keys are asked for once in ten minutes, however many log in', async () => {
    await using scene = await startLyingScene()
    const urls = await Promise.all(
      ['read', 'write', 'a', 'b', 'c'].map(
        async (one) => (await scene.authorize({ scopes: [one] })).body.url,
      ),
    )
    await Promise.all(urls.map((url) => click(url)))
    const path = '/.well-known/openid-configuration'
    expect(scene.issuer.requestsTo(path)).toHaveLength(1)
    expect(scene.issuer.requestsTo('/jwks').length).toBeLessThanOrEqual(urls.length)
    scene.clock.advance(600)
    await click((await scene.authorize({ scopes: ['later'] })).body.url)
    expect(scene.issuer.requestsTo(path)).toHaveLength(2)
  })
})

test('an attempt from before users had to log in is not taken: the next click asks for it', async () => {
  const clock = testClock()
  await using before = await startScene({ gatepass: { now: clock } })
  const { id, url, browser, callback } = await before.approve()
  const { databasePath } = before.gatepass
  await using scene = await startLoginScene()
  await using after = await startGatepass({
    now: clock,
    databasePath,
    environment: { ...verifierOf(scene.oidc), GATEPASS_PUBLIC_URL: before.gatepass.url },
  })
  const here = (to: string | URL) => String(to).replace(before.gatepass.url, after.url)
  const cookie = Object.entries(browser.cookies(url))
    .map(([name, value]) => `${name}=${value}`)
    .join('; ')
  const answer = await fetch(here(callback), { redirect: 'manual', headers: { cookie } })
  expect(answer.headers.get('location')).toBe(url)
  expect(before.as.tokenRequests()).toEqual([])
  expect((await after.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('pending')
  const clicked = await fetch(here(url), { method: 'POST', redirect: 'manual', headers: { cookie } })
  expect(clicked.headers.get('location')).toContain(scene.oidc.issuer)
})

test('a provider entry and the login may share one server, and are not mixed up', async () => {
  await using scene = await startLoginScene({ oauth2: false })
  const { oidc } = scene
  await addProvider(scene.gatepass, scene.as, { issuer: oidc.issuer })
  const { url } = (await scene.authorize()).body
  const browser = new UserAgent()
  const login = await upToLoginCallback(browser, await browser.get(url))
  const entry = (await scene.call('GET', '/v1/admin/auth_providers/demo')).body.oauth2
  const elsewhere = new URL(entry.redirect_uri)
  elsewhere.search = login.search
  expect((await browser.get(elsewhere)).status).toBe(400)
  expect(oidc.tokenRequests).toEqual([])
  expect(scene.as.tokenRequests()).toEqual([])
})
