import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eraseUser } from '../../../src/flows/erase-user.ts'
import type { AnyJson } from '../../any-json.ts'
import { authorize, click, type Scene, startScene } from '../../flows/fixtures.ts'
import type { Answer, Gatepass } from '../../gatepass.ts'
import { metadata, oauthEntry } from '../../http/world.ts'
import { UserAgent } from '../../user-agent.ts'

// A page of an application lets its user connect: the session's token, its origin, and the browser that opened it.

const APP = 'https://app.example'
let scene: Scene

beforeAll(async () => {
  scene = await startScene({ gatepass: { environment: { GATEPASS_NEXT_URIS: APP } } })
})
afterAll(() => scene[Symbol.asyncDispose]())

let users = 0
const newUser = () => `user-${users++}`

interface Session {
  readonly id: string
  readonly session_token: string
  readonly auth_id: string
  readonly url: string
  readonly status: string
}

async function begin(more: Record<string, unknown> = {}, of: Gatepass = scene.gatepass): Promise<Session> {
  const answer = await of.call('POST', '/v1/connect_sessions', {
    user_id: newUser(),
    provider_id: 'demo',
    scopes: ['read'],
    allowed_origin: APP,
    ...more,
  })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

function ask(
  { session_token }: Pick<Session, 'session_token'>,
  { path = '', method = 'GET', origin = APP as string | null } = {},
): Promise<Answer> {
  return scene.call(method, `/v1/connect_sessions/current${path}`, undefined, {
    key: session_token,
    headers: origin === null ? {} : { origin },
  })
}

/** The form of the application's page, in this browser. */
function open(
  { session_token }: Pick<Session, 'session_token'>,
  browser = new UserAgent(),
  { origin = APP, openedIn = 'popup', headers = {} as Record<string, string>, of = scene.gatepass } = {},
) {
  return browser.post(
    `${of.url}/connect/session`,
    { session_token, opened_in: openedIn },
    { from: `${APP}/`, headers: { origin, ...headers } },
  )
}

async function openAndClick(session: Session, browser = new UserAgent()) {
  const opened = await open(session, browser)
  expect(opened.status).toBe(303)
  return click(opened.response.headers.get('location') ?? '', browser)
}

describe('a session', () => {
  test('is opened by its token, and its page hears how it ends', async () => {
    const session = await begin()
    expect(session).toMatchObject({
      id: expect.stringMatching(/^cs_/),
      session_token: expect.stringMatching(/^gps_[\w-]{43}$/),
      url: `${scene.gatepass.url}/connect/${session.auth_id}`,
      status: 'pending',
    })
    const waiting = ask(session, { path: '?wait=30' })
    await openAndClick(session)
    const ended = await waiting
    expect(ended.body).toMatchObject({
      id: session.id,
      auth_id: session.auth_id,
      status: 'completed',
      connection: { id: expect.stringMatching(/^conn_/), provider_id: 'demo' },
    })
    expect(ended.headers.get('access-control-allow-origin')).toBe(APP)
    expect(ended.headers.get('access-control-allow-credentials')).toBeNull()
    expect(ended.headers.get('vary')).toContain('Origin')
    expect(JSON.stringify(ended.body)).not.toMatch(/token|user_id|account/)
  })

  test('names the user on the page as the caller does, in the language that it says', async () => {
    const session = await begin({ user_display: 'Ada L.', lang: 'de' })
    const browser = new UserAgent()
    await open(session, browser)
    const { body } = await browser.get(session.url)
    expect(body).toContain('Ada L.')
    expect(body).toContain('<html lang="de"')
  })

  test('is over, and not completed, once all that is kept of its user was deleted', async () => {
    const user_id = newUser()
    const session = await begin({ user_id })
    const { id: projectId } = await scene.gatepass.broker.store.projects.ensure('default', 0)
    await eraseUser(scene.gatepass.broker, { projectId, userId: user_id })
    expect(await ask(session)).toMatchObject({ status: 401, body: { name: 'invalid_authorization' } })
  })

  test('is kept as a hash, and its token reaches no log and no audit entry', async () => {
    const session = await begin()
    await openAndClick(session)
    await ask(session)
    const { session_token: token } = session
    expect(scene.gatepass.logLines.join('\n')).not.toContain(token)
    expect(await auditText(scene.gatepass)).not.toContain(token)
  })

  test('leaves an entry when it is made, opened, cancelled and begun again', async () => {
    const user_id = newUser()
    const session = await begin({ user_id })
    await open(session)
    await ask(session, { path: '/cancel', method: 'POST' })
    await ask(session, { path: '/restart', method: 'POST' })
    const { body } = await scene.call('GET', `/v1/admin/audit?user_id=${user_id}`)
    const of = ({ action, actor, subject }: AnyJson) => [action, actor.kind, subject]
    expect(body.items.map(of)).toEqual([
      ['connect_session.restarted', 'user', session.id],
      ['authorization.failed', 'user', undefined],
      ['connect_session.cancelled', 'user', session.id],
      ['connect_session.opened', 'user', session.id],
      ['connect_session.created', 'api_key', session.id],
    ])
  })

  test('is completed from the start where a connection covers the need, and no token is released', async () => {
    const user_id = newUser()
    await openAndClick(await begin({ user_id }))
    const session = await begin({ user_id })
    expect(session).toMatchObject({
      status: 'completed',
      connection: { provider_id: 'demo' },
      auth_id: expect.stringMatching(/^conn_/),
    })
    expect(session.url).toBeUndefined()
    expect((await ask(session)).body).toMatchObject({
      status: 'completed',
      connection: { provider_id: 'demo' },
    })
    expect((await open(session)).body).toContain('Connected')
    expect(await auditText(scene.gatepass)).not.toMatch(new RegExp(`token\\.released[^\\n]*"${user_id}"`))
  })

  test('shares its authorization with nobody', async () => {
    const user_id = newUser()
    const need = { user_id, provider: 'demo', scopes: ['read'] }
    const ids = [
      (await begin({ user_id })).auth_id,
      (await begin({ user_id })).auth_id,
      (await authorize(scene.gatepass, need)).body.id,
    ]
    expect(new Set(ids).size).toBe(3)
  })

  test('asks again for a connection, which must be approved by its account, with more scopes', async () => {
    const user_id = newUser()
    await openAndClick(await begin({ user_id }))
    const [connection] = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items
    const named = { user_id, provider_id: undefined, scopes: ['write'], connection_id: connection.id }
    const session = await begin(named)
    expect(session.status).toBe('pending')
    await openAndClick(session)
    expect((await ask(session)).body).toMatchObject({
      status: 'completed',
      connection: { id: connection.id },
    })
    const after = await scene.call('GET', `/v1/connections/${connection.id}`)
    expect(after.body.scopes.toSorted()).toEqual(['read', 'write'])
  })

  test('ends after 15 minutes, and 60 seconds after its authorization', async () => {
    await using timed = await startScene()
    const body = { user_id: 'u', provider_id: 'demo', allowed_origin: APP }
    const askTimed = (session: Session) =>
      timed.call('GET', '/v1/connect_sessions/current', undefined, {
        key: session.session_token,
        headers: { origin: APP },
      })
    const session: Session = (await timed.call('POST', '/v1/connect_sessions', body)).body
    const opened = await open(session, undefined, { of: timed.gatepass })
    expect(opened.status).toBe(303)
    timed.clock.advance(599)
    expect((await askTimed(session)).body).toMatchObject({ status: 'pending' })
    timed.clock.advance(1)
    expect((await askTimed(session)).body).toMatchObject({ status: 'failed', reason: 'expired' })
    timed.clock.advance(59)
    expect((await askTimed(session)).status).toBe(200)
    timed.clock.advance(1)
    const over = await askTimed(session)
    expect(over).toMatchObject({ status: 401, body: { name: 'invalid_authorization' } })
    expect(over.body.message).toContain('over')
    // the page must be able to read that it is over
    expect(over.headers.get('access-control-allow-origin')).toBe(APP)
    expect((await open(session, undefined, { of: timed.gatepass })).status).toBe(410)
  })

  test('is cancelled by its page, and begins again after a failure', async () => {
    const session = await begin()
    const cancelled = await ask(session, { method: 'POST', path: '/cancel' })
    expect(cancelled.body).toMatchObject({ status: 'failed', reason: 'access_denied' })
    expect((await ask(session, { method: 'POST', path: '/cancel' })).body).toEqual(cancelled.body)
    expect((await scene.status(session.auth_id)).body).toMatchObject({
      status: 'failed',
      reason: 'access_denied',
    })
    expect(await auditText(scene.gatepass)).toMatch(
      new RegExp(`authorization\\.failed[^\\n]*${session.auth_id}[^\\n]*access_denied`),
    )
    const again = await ask(session, { method: 'POST', path: '/restart' })
    expect(again.body).toMatchObject({
      status: 'pending',
      auth_id: expect.not.stringMatching(session.auth_id),
    })
    expect((await ask(session, { method: 'POST', path: '/restart' })).body.auth_id).toBe(again.body.auth_id)
    await openAndClick(session)
    expect((await ask(session)).body).toMatchObject({ status: 'completed', auth_id: again.body.auth_id })
    expect((await ask(session, { method: 'POST', path: '/restart' })).body.status).toBe('completed')
  })

  test('tells its page by events too, and a HEAD request for them does not wait', async () => {
    const session = await begin()
    const events = (method: string) =>
      fetch(`${scene.gatepass.url}/v1/connect_sessions/current/events`, {
        method,
        headers: { authorization: `Bearer ${session.session_token}`, origin: APP },
      })
    // as many as may wait
    for (let i = 0; i < 4; i++) {
      const { status, headers } = await events('HEAD')
      expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    }
    const response = await events('GET')
    expect(response.headers.get('cache-control')).toBe('no-store')
    const text = response.text()
    await openAndClick(session)
    const statuses = [...(await text).matchAll(/^data: (.*)$/gm)].map(
      ([, data]) => JSON.parse(data ?? '').status,
    )
    expect(statuses).toEqual(['pending', 'completed'])
  })

  test('brings all that a tool needs', async () => {
    const oauth = ['Alpha', 'Beta'].map((name) => oauthEntry(name, scene.as))
    const imported = await scene.call('POST', '/v1/tools/import', metadata('Both of them', { oauth }))
    expect(imported.status, JSON.stringify(imported.body)).toBe(200)
    const tool = imported.body.items[0].name
    const session = await begin({ provider_id: undefined, scopes: undefined, tool })
    const browser = new UserAgent()
    const first = await openAndClick(session, browser)
    expect((await ask(session)).body.status).toBe('pending')
    await browser.submitForm(first)
    expect((await ask(session)).body).toMatchObject({
      status: 'completed',
      connection: { provider_id: 'alpha' },
      connections: [{ provider_id: 'alpha' }, { provider_id: 'beta' }],
    })
  })

  test('that begins again after some consents names all its connections at the end', async () => {
    const oauth = ['Epsilon', 'Zeta', 'Eta'].map((name) => oauthEntry(name, scene.as))
    const imported = await scene.call('POST', '/v1/tools/import', metadata('Three of them', { oauth }))
    const session = await begin({
      provider_id: undefined,
      scopes: undefined,
      tool: imported.body.items[0].name,
    })
    for (const left of [2, 1]) {
      await openAndClick(session)
      await ask(session, { method: 'POST', path: '/cancel' })
      const again = await ask(session, { method: 'POST', path: '/restart' })
      expect((await scene.call('GET', `/v1/auth/${again.body.auth_id}/explain`)).body.providers).toHaveLength(
        left,
      )
    }
    await openAndClick(session)
    expect((await ask(session)).body).toMatchObject({
      status: 'completed',
      auth_id: expect.stringMatching(/^auth_\w+$/),
      connection: { provider_id: 'epsilon' },
      connections: [{ provider_id: 'epsilon' }, { provider_id: 'zeta' }, { provider_id: 'eta' }],
    })
  })

  test('that connections at several providers cover names them all', async () => {
    const user_id = newUser()
    const oauth = ['Gamma', 'Delta'].map((name) => oauthEntry(name, scene.as))
    const imported = await scene.call('POST', '/v1/tools/import', metadata('Both again', { oauth }))
    const need = { user_id, provider_id: undefined, scopes: undefined, tool: imported.body.items[0].name }
    const browser = new UserAgent()
    await browser.submitForm(await openAndClick(await begin(need), browser))
    const session = await begin(need)
    const covered = {
      status: 'completed',
      auth_id: expect.stringMatching(/^conn_\w+$/),
      connection: { provider_id: 'gamma' },
      connections: [{ provider_id: 'gamma' }, { provider_id: 'delta' }],
    }
    expect(session).toMatchObject(covered)
    expect((await ask(session)).body).toMatchObject(covered)
    expect((await open(session)).body).toContain('Connected')
  })
})

/** The newest entries of the trail, one a line. */
async function auditText({ call }: Gatepass): Promise<string> {
  const { body } = await call('GET', '/v1/admin/audit?limit=100')
  return body.items.map((entry: unknown) => JSON.stringify(entry)).join('\n')
}

describe('what is refused at its creation', () => {
  test.each([
    ['no provider', { provider_id: undefined }, 'provider_id', /one of provider_id, tool, connection_id/],
    ['two of them', { tool: 'Demo.Echo' }, 'tool', /provider_id and tool are given/],
    [
      'an account beside a connection',
      { provider_id: undefined, connection_id: 'conn_1', account: 'a' },
      'account',
      /connection_id/,
    ],
    [
      'scopes beside a tool',
      { provider_id: undefined, tool: 'Demo.Echo' },
      'scopes',
      /determines what it needs/,
    ],
    [
      'an origin with a path',
      { allowed_origin: `${APP}/page` },
      'allowed_origin',
      /Write "https:\/\/app\.example"/,
    ],
    ['an origin without TLS', { allowed_origin: 'http://app.example' }, 'allowed_origin', /https/],
    ['every origin', { allowed_origin: '*' }, 'allowed_origin', /location\.origin/],
    ['no origin', { allowed_origin: 'null' }, 'allowed_origin', /location\.origin/],
    ['another site as next_uri', { next_uri: 'https://evil.example/' }, 'next_uri', /GATEPASS_NEXT_URIS/],
    ['an unknown member', { origin: APP }, 'origin', /allowed_origin|not known/],
  ])('%s', async (_, more, member, message) => {
    const body = { user_id: newUser(), provider_id: 'demo', scopes: ['read'], allowed_origin: APP, ...more }
    const answer = await scene.call('POST', '/v1/connect_sessions', body)
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: member }] } })
    expect(answer.body.message).toMatch(message)
  })

  test('another user’s connection, and a key of another user', async () => {
    const user_id = newUser()
    await openAndClick(await begin({ user_id }))
    const [{ id: connection_id }] = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items
    const stolen = { user_id: newUser(), connection_id, allowed_origin: APP }
    expect((await scene.call('POST', '/v1/connect_sessions', stolen)).status).toBe(404)
    const key = (await scene.call('POST', '/v1/admin/keys', { name: 'k', role: 'caller', user_id: 'ada' }))
      .body.key
    const foreign = { user_id: 'bob', provider_id: 'demo', allowed_origin: APP }
    expect((await scene.call('POST', '/v1/connect_sessions', foreign, { key })).status).toBe(403)
    const own = { provider_id: 'demo', allowed_origin: APP }
    expect((await scene.call('POST', '/v1/connect_sessions', own, { key })).status).toBe(201)
    const readonly = await scene.gatepass.makeKey('readonly')
    expect((await scene.call('POST', '/v1/connect_sessions', foreign, { key: readonly })).status).toBe(403)
  })
})

describe('a token', () => {
  test.each([
    ['another origin', 'https://evil.example'],
    ['a subdomain', 'https://x.app.example'],
    ['the same host without TLS', 'http://app.example'],
    ['another port', 'https://app.example:8443'],
    ['an opaque origin', 'null'],
    ['no origin', null],
  ])('is of no use from %s, which can read nothing', async (_, origin) => {
    const session = await begin()
    for (const path of ['', '/cancel', '/restart', '/events']) {
      const method = path === '/cancel' || path === '/restart' ? 'POST' : 'GET'
      const answer = await ask(session, { origin, path, method })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    if (origin === null) return
    const page = await open(session, undefined, { origin })
    expect(page.status).toBe(403)
    expect(page.response.headers.get('set-cookie')).toBeNull()
    expect((await ask(session)).body.status).toBe('pending')
  })

  test('is no API key, and an API key is no token', async () => {
    const { session_token } = await begin()
    expect((await scene.call('GET', '/v1/connections', undefined, { key: session_token })).status).toBe(401)
    expect((await ask({ session_token: scene.gatepass.apiKey })).status).toBe(401)
  })

  test('that was made up is refused, and too many of them are', async () => {
    const made = { session_token: `gps_${'A'.repeat(43)}` }
    expect(await ask(made)).toMatchObject({ status: 401, body: { name: 'invalid_authorization' } })
    expect((await open(made)).status).toBe(410)
    const guesses = await Promise.all(Array.from({ length: 150 }, () => ask(made)))
    expect(guesses.some(({ status }) => status === 429)).toBe(true)
  })

  test('may ask ten times a second', async () => {
    const session = await begin()
    const statuses = await Promise.all(Array.from({ length: 99 }, async () => (await ask(session)).status))
    expect(statuses).toContain(429)
  })

  test('is not asked for by a preflight request, which allows no cookies', async () => {
    const preflight = await fetch(`${scene.gatepass.url}/v1/connect_sessions/current/cancel`, {
      method: 'OPTIONS',
      headers: {
        origin: APP,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization',
      vary: 'Origin',
    })
    expect(preflight.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

describe('the browser', () => {
  test('that did not open the session can neither see its page nor click', async () => {
    const session = await begin()
    await open(session)
    const victim = new UserAgent()
    const seen = await victim.get(session.url)
    expect(seen.status).toBe(403)
    expect(seen.body).toContain('wrong_browser')
    expect(seen.body).not.toContain('<form')
    const clicked = await victim.post(session.url)
    expect(clicked.status).toBe(403)
    expect(clicked.response.headers.get('location')).toBeNull()
    const explained = await scene.call('GET', `/v1/auth/${session.auth_id}/explain`)
    expect(JSON.stringify(explained.body)).toContain('wrong_browser')
    // a link that no session has begun is for any browser
    const link = (await authorize(scene.gatepass, { user_id: newUser() })).body
    expect((await new UserAgent().get(link.url)).status).toBe(200)
  })

  test('that opens the session last has it; an earlier one loses it', async () => {
    const session = await begin()
    const [first, second] = [new UserAgent(), new UserAgent()]
    await open(session, first)
    await open(session, second)
    expect((await first.get(session.url)).status).toBe(403)
    await click(session.url, second)
    expect((await ask(session)).body.status).toBe('completed')
  })

  test('may be let in by a link alone in `pass` mode only where it opened the session', async () => {
    await using passing = await startScene({ gatepass: { environment: { GATEPASS_CONNECT_PAGE: 'pass' } } })
    const session = await begin({}, passing.gatepass)
    expect((await new UserAgent().get(session.url)).status).toBe(403)
    const browser = new UserAgent()
    await open(session, browser, { of: passing.gatepass })
    expect((await browser.get(session.url)).response.headers.get('location')).toContain(
      passing.as.authorizationUrl,
    )
  })

  test('has the cookies of a few sessions, however many it opens', async () => {
    const browser = new UserAgent()
    const opened: Session[] = []
    for (let i = 0; i < 20; i++) {
      const session = await begin()
      await open(session, browser)
      await browser.get(session.url)
      opened.push(session)
    }
    const names = Object.keys(browser.cookies(scene.gatepass.url)).filter((name) => name.includes('open'))
    expect(names.length).toBeLessThanOrEqual(16)
    await click(opened.at(-1)?.url ?? '', browser)
    expect((await ask(opened.at(-1) as Session)).body.status).toBe('completed')
  })

  test.each([
    [
      'Android WebView',
      'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Chrome/130.0 Mobile',
      true,
    ],
    ['iOS web view', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) AppleWebKit/605.1.15 Mobile/15E148', true],
    [
      'Chrome on Android',
      'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36',
      false,
    ],
    [
      'Safari',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
      false,
    ],
    [
      'Chrome on iOS',
      'Mozilla/5.0 (iPad; CPU OS 17_0) AppleWebKit/605.1.15 CriOS/130.0 Mobile/15E148 Safari/604.1',
      false,
    ],
  ])('inside another app is told what to open instead: %s', async (_, userAgent, isInside) => {
    const headers = { 'user-agent': userAgent }
    const link = (await authorize(scene.gatepass, { user_id: newUser() })).body.url
    const page = await new UserAgent().get(link, { headers })
    expect(page.body.includes(`<input readonly value="${link}"`)).toBe(isInside)
    // the link of a session works in no other browser
    const session = await begin()
    const browser = new UserAgent()
    await open(session, browser, { openedIn: 'tab' })
    const own = await browser.get(session.url, { headers })
    expect(own.body.includes(`<input readonly value="${APP}"`)).toBe(isInside)
  })

  test('in a frame opens nothing', async () => {
    const session = await begin()
    const framed = await open(session, undefined, { headers: { 'sec-fetch-dest': 'iframe' } })
    expect(framed.status).toBe(403)
    expect(framed.response.headers.get('set-cookie')).toBeNull()
  })

  test('without a referrer opens a session only where a verifier finds out who the user is', async () => {
    const session = await begin()
    expect((await open(session, undefined, { origin: 'null' })).status).toBe(403)
    await using verified = await startScene({
      gatepass: { environment: { GATEPASS_USER_VERIFIER: 'http://localhost:9/verify' } },
    })
    const vouched = await begin({}, verified.gatepass)
    const browser = new UserAgent()
    expect((await open(vouched, browser, { origin: 'null', of: verified.gatepass })).status).toBe(303)
    expect((await browser.get(vouched.url)).status).toBe(200)
  })
})
