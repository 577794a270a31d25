import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { issueApiKey } from '../../src/domain/api-key.ts'
import { sha256 } from '../../src/domain/ids.ts'
import { openPageSession } from '../../src/flows/page-session.ts'
import { startFakeIssuer } from '../fake-issuer.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { pending } from '../store/fixtures.ts'
import { type Page, UserAgent } from '../user-agent.ts'

const COOKIE = 'gatepass-console'
const start = () => testClock(Math.floor(Date.now() / 1000)) // ID tokens are checked against the machine's clock

const csrfIn = ({ body }: Page) => /name="csrf" value="([\w-]+)"/.exec(body)?.[1] ?? ''
const heading = ({ body }: Page) => /<h1>(?:<bdi>)?([^<]*)/.exec(body)?.[1]

async function auditActions(gatepass: Gatepass): Promise<readonly { action: string; actor: object }[]> {
  return (await gatepass.call('GET', '/v1/admin/audit')).body.items
}

describe('with an API key', () => {
  let clock: ReturnType<typeof testClock>
  let gatepass: Gatepass
  let browser: UserAgent

  beforeEach(async () => {
    clock = start()
    gatepass = await startGatepass({ now: clock })
    browser = new UserAgent()
  })
  afterEach(() => gatepass.close())

  const url = (path = '') => `${gatepass.url}/dashboard${path}`
  async function logIn(key: string, by = browser): Promise<Page> {
    const page = await by.follow(url())
    return by.submitForm(page, { key })
  }

  test('administrators and readonly keys get a session, which is new, bound to this browser and recorded', async () => {
    const asked = await browser.follow(url('/connections?status=active'))
    expect(new URL(asked.url).search).toBe('?next=%2Fconnections%3Fstatus%3Dactive')
    const page = await browser.submitForm(asked, { key: gatepass.apiKey }, { until: () => true })
    expect(page.hops.at(-1)?.location).toBe(url('/connections?status=active'))
    expect(page.response.headers.getSetCookie().join()).toMatch(
      /gatepass-console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax/,
    )
    expect(heading(await browser.follow(url()))).toBe('Overview')
    const readonly = new UserAgent()
    expect(heading(await logIn(await gatepass.makeKey('readonly'), readonly))).toBe('Overview')
    const [entry] = await auditActions(gatepass)
    expect(entry).toMatchObject({
      action: 'console.logged_in',
      actor: { kind: 'api_key', id: expect.stringMatching(/^key_/) },
      purpose: 'POST /dashboard/login',
    })
  })

  test.each([
    ['a key that does not exist', async () => 'gp_unknown', 401],
    ["a caller's key", () => gatepass.makeKey('caller'), 403],
    [
      'a key of one user',
      async () => {
        const { id: projectId } = await gatepass.broker.store.projects.ensure('default', 0)
        const order = { projectId, name: 'ada', role: 'readonly', createdAt: 0, userId: 'ada' } as const
        const { key, record } = issueApiKey(order)
        await gatepass.broker.store.apiKeys.add(record)
        return key
      },
      403,
    ],
  ])('%s gets none', async (_, key, status) => {
    const page = await logIn(await key())
    expect(page.status).toBe(status)
    expect(browser.cookies(url())[COOKIE]).toBeUndefined()
    expect(heading(await browser.follow(url()))).toBe('Log in to the console')
  })

  test('too many wrong keys are answered by 429, which locks nobody out', async () => {
    const page = await browser.follow(url())
    const statuses: number[] = []
    for (let i = 0; i < 22; i++) statuses.push((await browser.submitForm(page, { key: `gp_${i}` })).status)
    expect(statuses.at(0)).toBe(401)
    expect(statuses.at(-1)).toBe(429)
    expect(heading(await browser.submitForm(page, { key: gatepass.apiKey }))).toBe('Overview')
  })

  test('a login that another site sends, or a program without headers, is refused', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
    ]) {
      const page = await browser.post(url('/login'), { key: gatepass.apiKey }, { headers })
      expect(page.status).toBe(403)
    }
    const bare = await fetch(url('/login'), {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ key: gatepass.apiKey }),
    })
    // node's fetch sends `sec-fetch-mode` and neither `sec-fetch-site` nor `origin`
    expect(bare.status).toBe(403)
    expect(bare.headers.getSetCookie()).toEqual([])
  })

  test('a session ends when it was idle for half an hour, and after twelve hours', async () => {
    await logIn(gatepass.apiKey)
    clock.advance(29 * 60)
    expect(heading(await browser.follow(url()))).toBe('Overview')
    clock.advance(31 * 60)
    expect(heading(await browser.follow(url()))).toBe('Log in to the console')
    await logIn(gatepass.apiKey)
    for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
      expect(heading(await browser.follow(url()))).toBe('Overview')
      clock.advance(20 * 60)
    }
    expect(heading(await browser.follow(url()))).toBe('Log in to the console')
  })

  test('a script that asks at intervals does not keep a session alive', async () => {
    await logIn(gatepass.apiKey)
    const ask = async () => (await browser.get(url('/live/connections'))).status
    for (let minutes = 0; minutes < 30; minutes += 10) {
      expect(await ask()).toBe(200)
      clock.advance(600)
    }
    expect(await ask()).toBe(401)
  })

  test('a session ends with its key, and with a logout, for a copy of its cookie too', async () => {
    const key = await gatepass.makeKey('readonly')
    await logIn(key)
    const { id: projectId } = await gatepass.broker.store.projects.ensure('default', 0)
    const [made] = (await gatepass.broker.store.apiKeys.list(projectId)).filter(({ name }) => name === 'test')
    await gatepass.call('DELETE', `/v1/admin/keys/${made?.id}`)
    expect(heading(await browser.follow(url()))).toBe('Log in to the console')

    const page = await logIn(gatepass.apiKey)
    const cookie = `${COOKIE}=${browser.cookies(url())[COOKIE]}`
    const copy = () => fetch(url(), { headers: { cookie }, redirect: 'manual' })
    expect((await copy()).status).toBe(200)
    expect(heading(await browser.submitForm(page))).toBe('Log in to the console')
    expect((await copy()).status).toBe(303)
    expect((await auditActions(gatepass))[0]).toMatchObject({ action: 'console.logged_out' })
  })

  test('a token that was planted before the login is worth nothing after it, nor is one of the login before', async () => {
    await logIn(gatepass.apiKey)
    const planted = browser.cookies(url())[COOKIE]
    const page = await browser.get(url('/confirm'))
    expect(page.status).toBe(303) // the login is recent
    clock.advance(6 * 60)
    const confirm = await browser.get(url('/confirm?next=/keys'))
    expect(heading(confirm)).toBe('Confirm that it is you')
    expect((await browser.submitForm(confirm, { key: 'gp_another' })).status).toBe(403)
    const done = await browser.submitForm(confirm, { key: gatepass.apiKey }, { until: () => true })
    expect(done.hops.at(-1)?.location).toBe(url('/keys'))
    expect(browser.cookies(url())[COOKIE]).not.toBe(planted)
    const old = await fetch(url(), { headers: { cookie: `${COOKIE}=${planted}` }, redirect: 'manual' })
    expect(old.status).toBe(303)
  })

  test('a form needs the token of its own session, and comes from a page of this origin', async () => {
    const page = await logIn(gatepass.apiKey)
    const { csrf = '' } = /name="csrf" value="(?<csrf>[\w-]+)"/.exec(page.body)?.groups ?? {}
    const other = new UserAgent()
    const { csrf: foreign = '' } =
      /name="csrf" value="(?<csrf>[\w-]+)"/.exec((await logIn(gatepass.apiKey, other)).body)?.groups ?? {}
    for (const [form, headers] of [
      [{}, {}],
      [{ csrf: foreign }, {}],
      [{ csrf }, { 'sec-fetch-site': 'cross-site' }],
      [{ csrf }, { 'sec-fetch-site': 'same-site' }],
    ] as const)
      expect((await browser.post(url('/logout'), form, { headers })).status).toBe(403)
    expect(heading(await browser.follow(url()))).toBe('Overview')
    expect((await browser.post(url('/logout'), { csrf })).status).toBe(303)
  })

  test('a form of very many fields is refused before it is taken apart, which would hold up everyone', async () => {
    const body = 'a&'.repeat(200_000)
    const headers = { origin: gatepass.url, 'content-type': 'application/x-www-form-urlencoded' }
    const send = (path: string, cookie = '') =>
      fetch(url(path), { method: 'POST', headers: { ...headers, cookie }, body, redirect: 'manual' })
    expect((await send('/login')).status).toBe(413)
    await logIn(gatepass.apiKey)
    expect((await send('/project', `${COOKIE}=${browser.cookies(url())[COOKIE]}`)).status).toBe(413)
    const connect = { method: 'POST', headers, body: 'a&'.repeat(30_000) }
    expect((await fetch(`${gatepass.url}/connect/session`, connect)).status).toBe(413)
  })

  test('a session that was given another subject, kind or end in the database is none', async () => {
    const { store } = gatepass.broker
    await logIn(gatepass.apiKey)
    const token = browser.cookies(url())[COOKIE] ?? ''
    const row = await store.pageSessions.find('console', sha256(token), { now: clock(), seenSince: 0 })
    if (row === undefined) throw new Error('there is no session')
    for (const change of [
      { subject: 'key_another' },
      { kind: 'me' },
      { expiresAt: row.expiresAt + 1 },
    ] as const) {
      await store.pageSessions.add({ ...row, ...change }, row.id)
      const { kind } = { ...row, ...change }
      expect(await openPageSession(gatepass.broker, kind, token)).toBeUndefined()
    }
    await store.pageSessions.add(row, row.id)
    expect(await openPageSession(gatepass.broker, 'console', token)).toBeDefined()
  })

  test('a page leads back to no address outside the console after the login', async () => {
    for (const next of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/a b',
      '/x/../../me',
      '/x/%2e%2E/..?/dashboard/',
    ]) {
      const page = await browser.get(url(`/login?next=${encodeURIComponent(next)}`))
      const back = await browser.submitForm(page, { key: gatepass.apiKey }, { until: () => true })
      expect(back.hops.at(-1)?.location).toBe(url())
      browser.clearCookies()
    }
  })
})

test('over https the cookie is of this host alone, of TLS and of no script', async () => {
  await using gatepass = await startGatepass({
    environment: { GATEPASS_PUBLIC_URL: 'https://gatepass.example.com' },
  })
  const response = await fetch(`${gatepass.url}/dashboard/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ key: gatepass.apiKey }),
  })
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-gatepass-console=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
  ])
  for (const [name, value] of Object.entries({
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  }))
    expect(response.headers.get(name)).toBe(value)
})

test('the console can be left out', async () => {
  await using gatepass = await startGatepass({ environment: { GATEPASS_DASHBOARD: 'off' } })
  for (const path of ['/dashboard', '/dashboard/login'])
    expect((await fetch(gatepass.url + path)).status).toBe(404)
})

describe('at an issuer', () => {
  let oidc: OidcProvider
  let gatepass: Gatepass
  let clock: ReturnType<typeof testClock>
  let browser: UserAgent

  async function begin(roles: string) {
    let redirectUri = ''
    clock = start()
    clock.advance(-360) // the issuer says by the machine's clock when its users logged in
    browser = new UserAgent()
    oidc = await startOidcProvider({
      redirectUris: () => [redirectUri],
      account: { sub: 'op-1', name: 'Olga', email: 'olga@example.test', email_verified: true },
    })
    gatepass = await startGatepass({
      now: clock,
      environment: {
        GATEPASS_DASHBOARD_ISSUER: oidc.issuer,
        GATEPASS_DASHBOARD_CLIENT_ID: oidc.clientId,
        GATEPASS_DASHBOARD_CLIENT_SECRET: oidc.clientSecret ?? '',
        GATEPASS_DASHBOARD_SCOPES: 'openid email',
        GATEPASS_DASHBOARD_ROLES: roles,
      },
    })
    redirectUri = `${gatepass.url}/dashboard/callback`
  }
  afterEach(async () => {
    expect(oidc.failures).toEqual([])
    await gatepass.close()
    await oidc.close()
  })

  const url = (path = '') => `${gatepass.url}/dashboard${path}`
  const logIn = async () => browser.submitForm(await browser.follow(url()))

  test('the rules say who is let in, with which role and in which projects', async () => {
    await begin('email=olga@example.test readonly on *, sub=op-1 admin on acme, sub=op-2 admin')
    await gatepass.broker.store.projects.ensure('acme', 0)
    const page = await logIn()
    expect(heading(page)).toBe('Overview')
    expect(page.body).toContain('olga@example.test')
    expect(page.body).toMatch(/readonly<\/span>/)
    const acme = (await gatepass.broker.store.projects.findByName('acme'))?.id ?? ''
    const csrf = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
    await browser.post(url('/project'), { csrf, project: acme })
    expect((await browser.follow(url())).body).toMatch(/admin<\/span>/)
    const [entry] = await auditActions(gatepass)
    expect(entry).toMatchObject({
      action: 'console.logged_in',
      actor: { kind: 'operator', id: 'op-1' },
      detail: 'olga@example.test',
    })
  })

  test.each([
    ['no rule', 'sub=op-2 admin'],
    ['a rule for a project that does not exist', 'sub=op-1 admin on nowhere'],
  ])('%s lets no one in', async (_, roles) => {
    await begin(roles)
    const page = await logIn()
    expect(page.status).toBe(403)
    expect(page.body).toContain('no rule lets you in')
    expect(heading(await browser.follow(url()))).toBe('Log in to the console')
  })

  test('an address that the issuer does not vouch for counts for no rule', async () => {
    await begin('email=olga@example.test admin')
    Object.assign(oidc.settings.account, { email_verified: false })
    expect((await logIn()).status).toBe(403)
  })

  test('another project than the rules name cannot be chosen', async () => {
    await begin('sub=op-1 admin')
    const other = await gatepass.broker.store.projects.ensure('other', 0)
    const page = await logIn()
    const csrf = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
    expect((await browser.post(url('/project'), { csrf, project: other.id })).status).toBe(404)
  })

  test('a form of a page that showed another project changes nothing, unless it is about the session', async () => {
    await begin('sub=op-1 admin on *')
    const { projects, secrets } = gatepass.broker.store
    const staging = await projects.ensure('staging', 0)
    const production = await projects.ensure('production', 0)
    const choose = (page: Page, { id }: { id: string }) =>
      browser.post(url('/project'), { csrf: csrfIn(page), project: id })
    const set = (page: Page) =>
      browser.post(url('/secrets'), { csrf: csrfIn(page), key: 'API_KEY', value: 'secret-of-the-tests' })
    await choose(await logIn(), staging)
    const old = await browser.get(url('/secrets'))
    await choose(old, production)

    const refused = await set(old)
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.stringContaining(
        'This page showed the project staging; the console now shows production. Nothing was changed.',
      ),
    ])
    const boundary = 'x'.repeat(30)
    const uploaded = await browser.post(
      url('/branding/logo'),
      `--${boundary}\r\ncontent-disposition: form-data; name="csrf"\r\n\r\n${csrfIn(old)}\r\n--${boundary}--\r\n`,
      { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } },
    )
    expect(uploaded.body).toContain('This page showed the project staging')
    expect(await secrets.list(production.id)).toEqual([])

    expect((await set(await browser.get(url('/secrets')))).status).toBe(303)
    expect(await secrets.list(production.id)).toHaveLength(1)
    expect((await choose(old, staging)).status).toBe(303)
    expect((await set(old)).status).toBe(303)
    expect(await secrets.list(staging.id)).toHaveLength(1)
    await choose(old, production)
    expect((await browser.post(url('/logout'), { csrf: csrfIn(old) })).status).toBe(303)
  })

  test('a list that showed another project does not count the rows of this one, and says so', async () => {
    await begin('sub=op-1 admin on *')
    const { authorizations, projects } = gatepass.broker.store
    const staging = await projects.ensure('staging', 0)
    const production = await projects.ensure('production', 0)
    const ask = ({ id: projectId }: { id: string }, userId: string) =>
      authorizations.begin(pending({ projectId, userId, providerUid: 'prov_1' }), userId, 0)
    const choose = async ({ id: project }: { id: string }) =>
      browser.post(url('/project'), { csrf: csrfIn(await browser.get(url())), project })
    await logIn()
    await choose(staging)
    await ask(staging, 'ada')
    const { body } = await browser.get(url('/authorizations?status=pending'))
    const path = /data-live="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const text = async () => JSON.parse((await browser.get(gatepass.url + path)).body).text
    await choose(production)
    await ask(production, 'grace')

    expect(await text()).toBe('The console now shows the project production: reload this page.')
    await choose(staging)
    expect(await text()).toBe('')
    await ask(staging, 'joan')
    expect(await text()).toBe('1 newer: show')
  })

  test('a project is not chosen when another request changes the session at the same time, and the page says so', async () => {
    await begin('sub=op-1 admin on *')
    const { pageSessions, projects } = gatepass.broker.store
    const { id: project } = await projects.ensure('production', 0)
    const csrf = csrfIn(await logIn())
    const changing = vi.spyOn(pageSessions, 'change').mockResolvedValueOnce(false)
    const refused = await browser.post(url('/project'), { csrf, project })
    changing.mockRestore()
    expect([refused.status, refused.body]).toEqual([
      503,
      expect.stringContaining('The project was not chosen'),
    ])
    expect((await browser.post(url('/project'), { csrf, project })).status).toBe(303)
  })

  test('a callback counts in the browser that began it, and once', async () => {
    await begin('sub=op-1 admin')
    const until = ({ pathname }: URL) => pathname === '/dashboard/callback'
    const stopped = await browser.submitForm(await browser.follow(url()), {}, { until })
    const callback = stopped.hops.at(-1)?.location ?? ''
    const victim = new UserAgent()
    expect((await victim.follow(callback)).status).toBe(403)
    expect(heading(await victim.follow(url()))).toBe('Log in to the console')
    expect(heading(await browser.follow(callback))).toBe('Overview')
    expect((await browser.follow(callback)).status).toBe(403)
  })

  test('a login is confirmed by the same person, whom the issuer asks again', async () => {
    await begin('sub=op-1 admin, sub=op-2 admin')
    await logIn()
    expect((await browser.get(url('/confirm'))).status).toBe(303) // the login is recent
    clock.advance(360)
    const confirm = await browser.get(url('/confirm?next=/keys'))
    expect(heading(confirm)).toBe('Confirm that it is you')
    const asked = await browser.submitForm(confirm, {}, { until: ({ pathname }) => pathname === '/auth' })
    const request = new URL(asked.hops.at(-1)?.location ?? '').searchParams
    expect([request.get('prompt'), request.get('max_age')]).toEqual(['login', '0'])
    oidc.settings.account = { sub: 'op-2', name: 'Oscar', email: 'oscar@example.test' }
    // the provider ends its session of the other person by a form that a script sends
    const switched = async (page: Page) => browser.submitForm(await browser.submitForm(page))
    expect((await switched(confirm)).body).toContain('The person who logged in is not the one')
    oidc.settings.account = { sub: 'op-1', name: 'Olga', email: 'olga@example.test' }
    const done = await switched(await browser.get(url('/confirm?next=/keys')))
    expect(done.url).toBe(url('/keys'))
    expect((await browser.get(url('/confirm?next=/keys'))).status).toBe(303)
  })
})

test('a rule for the email of the ID token lets in an operator whose user info has none', async () => {
  const email = 'olga@example.test'
  await using issuer = await startFakeIssuer({
    claims: { email, email_verified: true },
    userInfo: { sub: 'u1' },
  })
  await using gatepass = await startGatepass({
    environment: {
      GATEPASS_DASHBOARD_ISSUER: issuer.issuer,
      GATEPASS_DASHBOARD_CLIENT_ID: issuer.clientId,
      GATEPASS_DASHBOARD_CLIENT_SECRET: issuer.clientSecret,
      GATEPASS_DASHBOARD_ROLES: `groups=admins admin, email=${email} readonly`,
    },
  })
  const browser = new UserAgent()
  const login = await browser.follow(`${gatepass.url}/dashboard`)
  expect(heading(await browser.submitForm(login))).toBe('Overview')
  expect(issuer.requestsTo('/userinfo')).toHaveLength(1)
})
