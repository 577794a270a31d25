import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { TxtResult } from '../../../src/egress/txt-records.ts'
import { addProvider, approve, authorize, click, type Scene, startScene } from '../../flows/fixtures.ts'
import { startGatepass } from '../../gatepass.ts'
import { UserAgent } from '../../user-agent.ts'

// A project's own domain: how it is proved, and what its users see of it. The names end in `.localhost`, which is this
// machine.

const BRANDING = '/v1/admin/projects/default/branding'
const VERIFY = `${BRANDING}/domain/verify`
const HOST = 'auth.acme.localhost'

let scene: Scene
let otherKey: string
/** What DNS answers. */
let zone: Record<string, TxtResult>
/** What happens once, before DNS answers. */
let duringLookUp: (() => Promise<void>) | undefined
const lookUpTxt = async (name: string): Promise<TxtResult> => {
  const happening = duringLookUp
  duringLookUp = undefined
  await happening?.()
  return zone[name] ?? { outcome: 'found', values: [] }
}

beforeAll(async () => {
  scene = await startScene({ gatepass: { lookUpTxt } })
  otherKey = await scene.gatepass.makeKey('admin', 'other')
})
afterAll(() => scene[Symbol.asyncDispose]())
beforeEach(async () => {
  zone = {}
  await scene.call('PATCH', BRANDING, { domain: null })
  await ofOther('PATCH', '', { domain: null })
})

const port = () => new URL(scene.gatepass.url).port
const at = (path: string, host = HOST) => `http://${host}:${port()}${path}`
const ofOther = (method: string, path: string, body?: object) =>
  scene.call(method, `/v1/admin/projects/other/branding${path}`, body, { key: otherKey })
const publish = ({ name, value }: { name: string; value: string }, ...more: string[]) => {
  zone[name] = { outcome: 'found', values: ['v=spf1 -all', value, ...more] }
}

async function prove(name = HOST): Promise<void> {
  const { body } = await scene.call('PATCH', BRANDING, { domain: name })
  publish(body.domain.challenge)
  expect((await scene.call('POST', VERIFY)).status).toBe(200)
}

describe('a name', () => {
  test.each([
    ['a URL', 'https://auth.acme.example', 'host name alone'],
    ['a port', 'auth.acme.example:443', 'host name alone'],
    ['a path', 'auth.acme.example/x', 'host name alone'],
    ['credentials', 'a@auth.acme.example', 'host name alone'],
    ['a blank', 'auth.acme.example evil.example', 'host name alone'],
    ['a dot at the end', 'auth.acme.example.', 'dot'],
    ['a single label', 'intranet', 'must have a dot'],
    ['an IPv4 address', '192.0.2.1', 'not an IP address'],
    ['an IPv4 address in hexadecimal', '0x7f.0x1', 'not an IP address'],
    ['an IPv6 address', '[2001:db8::1]', 'host name alone'],
    ['a wildcard', '*.acme.example', 'labels'],
    ['an underscore', 'auth_1.acme.example', 'labels'],
    ['an empty label', 'auth..example', 'labels'],
    ['a hyphen at an edge', '-auth.example', 'labels'],
    ['a label that is too long', `${'a'.repeat(64)}.example`, 'labels'],
    ['a name that is too long', `${'a.'.repeat(120)}example`, 'at most'],
    ['nothing', '', 'labels'],
  ])('that is %s is refused', async (_, domain, why) => {
    const { status, body } = await scene.call('PATCH', BRANDING, { domain, app_name: 'Changed' })
    expect([status, body.errors[0].path]).toEqual([400, 'domain'])
    expect(body.message).toContain(why)
    expect((await scene.call('GET', BRANDING)).body.app_name).toBeUndefined()
  })

  test('that is the host of the public URL is refused', async () => {
    await using named = await startGatepass({ environment: { GATEPASS_PUBLIC_URL: 'https://gate.example' } })
    const { status, body } = await named.call('PATCH', BRANDING, { domain: 'GATE.example' })
    expect([status, body.errors[0].code]).toEqual([400, 'not_allowed'])
    // with the scheme and the port of the public URL, and international letters as punycode
    const set = await named.call('PATCH', BRANDING, { domain: 'Zugang.bücher.example' })
    expect(set.body.domain).toMatchObject({
      name: 'zugang.xn--bcher-kva.example',
      origin: 'https://zugang.xn--bcher-kva.example',
    })
  })
})

test('a domain that has become the host of the public URL takes nothing from it', async () => {
  await prove()
  await using moved = await startGatepass({
    databasePath: scene.gatepass.databasePath,
    environment: { GATEPASS_PUBLIC_URL: `http://${HOST}` },
    now: scene.clock,
    lookUpTxt,
  })
  const at = await new UserAgent().get(`${moved.url}/openapi.json`, { headers: { host: HOST } })
  expect(at.status).toBe(200)
})

describe('the proof', () => {
  test('is a TXT record, which the answer names with all that has to be registered before', async () => {
    const set = await scene.call('PATCH', BRANDING, { domain: HOST })
    const { body: entry } = await scene.call('GET', '/v1/admin/auth_providers/demo')
    const uid = new URL(entry.oauth2.redirect_uri).pathname
    expect(set.body.domain).toEqual({
      name: HOST,
      status: 'unproved',
      challenge: {
        type: 'TXT',
        name: `_gatepass-challenge.${HOST}`,
        value: expect.stringMatching(/^gatepass-domain=[\w-]{43}$/),
      },
      origin: at('').replace(/\/$/, ''),
      redirect_uris: [{ provider_id: 'demo', redirect_uri: at(uid) }],
    })
    // the same name again keeps its challenge; another one, and the same after it, get another
    const { value } = set.body.domain.challenge
    expect((await scene.call('PATCH', BRANDING, { domain: HOST })).body.domain.challenge.value).toBe(value)
    await scene.call('PATCH', BRANDING, { domain: 'other.localhost' })
    const again = await scene.call('PATCH', BRANDING, { domain: HOST })
    expect(again.body.domain.challenge.value).not.toBe(value)
    publish({ ...again.body.domain.challenge, value })
    expect((await scene.call('POST', VERIFY)).status).toBe(400)
  })

  test.each([
    [
      'no record',
      { outcome: 'found', values: [] },
      400,
      `There is no TXT record at _gatepass-challenge.${HOST}`,
    ],
    ['another record', { outcome: 'found', values: ['x\u0007y'] }, 400, 'a TXT record with "x?y", and none'],
    ['no answer', { outcome: 'no answer', why: 'ESERVFAIL' }, 503, 'DNS gave no answer'],
  ] as const)('fails with %s, and users see the public URL', async (_, answer, status, why) => {
    await scene.call('PATCH', BRANDING, { domain: HOST })
    zone[`_gatepass-challenge.${HOST}`] = answer
    const refused = await scene.call('POST', VERIFY)
    expect(refused.status).toBe(status)
    expect(refused.body.message).toContain(why)
    expect((await scene.call('GET', BRANDING)).body.domain.status).toBe('unproved')
    const { url } = (await scene.authorize()).body
    expect(new URL(url).hostname).toBe('127.0.0.1')
    // an unproved name is like any unknown host
    expect((await new UserAgent().get(at(new URL(url).pathname))).status).toBe(200)
  })

  test('is refused to a project without a domain, and to keys that are no administrators', async () => {
    expect((await scene.call('POST', VERIFY)).status).toBe(404)
    for (const role of ['readonly', 'caller'] as const)
      expect(
        (await scene.call('POST', VERIFY, undefined, { key: await scene.gatepass.makeKey(role) })).status,
      ).toBe(403)
  })

  test('that another request has made during the lookup counts for both', async () => {
    const { body } = await scene.call('PATCH', BRANDING, { domain: HOST })
    publish(body.domain.challenge)
    let first: number | undefined
    duringLookUp = async () => {
      first = (await scene.call('POST', VERIFY)).status
    }
    const second = await scene.call('POST', VERIFY)
    expect([first, second.status, second.body.domain?.status]).toEqual([200, 200, 'proved'])
  })

  test('is one of each name: the records that are there decide, and each step is on record', async () => {
    await prove()
    const mine = (await scene.call('GET', BRANDING)).body.domain
    expect([mine.status, typeof mine.proved_at]).toEqual(['proved', 'string'])
    // another project may claim the name; its own record proves nothing while the first is there
    const theirs = (await ofOther('PATCH', '', { domain: HOST })).body.domain
    expect(theirs.challenge.value).not.toBe(mine.challenge.value)
    expect((await ofOther('POST', '/domain/verify')).status).toBe(400)
    publish(mine.challenge, theirs.challenge.value)
    expect((await ofOther('POST', '/domain/verify')).status).toBe(409)
    expect((await scene.authorize()).body.url).toContain(HOST)

    publish(theirs.challenge)
    expect((await ofOther('POST', '/domain/verify')).body.domain.status).toBe('proved')
    expect((await scene.call('GET', BRANDING)).body.domain.status).toBe('unproved')
    expect((await scene.authorize()).body.url).not.toContain(HOST)

    const { body } = await scene.call('GET', '/v1/admin/audit?limit=1000')
    const actions = body.items
      .filter(
        ({ action, detail }: { action: string; detail?: string }) =>
          action.startsWith('branding.domain') && detail === HOST,
      )
      .map(({ action, reason }: { action: string; reason?: string }) =>
        [action, reason].filter(Boolean).join(' '),
      )
    expect(actions.slice(0, 3).sort()).toEqual([
      'branding.domain_proved',
      'branding.domain_removed proved_by_another_project',
      'branding.domain_set',
    ])
  })

  test('counts only as Gatepass has recorded it: a row that was written past it is ignored', async () => {
    await prove()
    const { store } = scene.gatepass.broker
    const { id } = await store.projects.ensure('other', 1)
    const [proved] = (await store.domains.page('', 10)).rows
    expect(proved?.name).toBe(HOST)
    const { default: Sqlite } = await import('better-sqlite3')
    const file = new Sqlite(scene.gatepass.databasePath)
    file
      .prepare('insert into brandings (project_id, updated_at) values (?, 1) on conflict do nothing')
      .run(id)
    file
      .prepare(
        "update brandings set domain = 'evil.localhost', domain_challenge = 'x', domain_proved_at = 5, domain_mac = ? where project_id = ?",
      )
      .run(proved?.mac, id)
    file.close()
    expect(await store.domains.findProved(id)).toBeUndefined()
    expect((await store.domains.page('', 10)).rows.map(({ name }) => name)).toEqual([HOST])
    expect(scene.gatepass.broker.altered.seen.get(`brandings ${id} evil.localhost`)).toBeDefined()
    await ofOther('PATCH', '', { domain: null })
  })
})

describe('from the proof on', () => {
  test('the link, the click, the callback and both redirect URIs are at the domain', async () => {
    await prove()
    const { body } = await scene.authorize()
    expect(new URL(body.url).origin).toBe(new URL(at('')).origin)
    const browser = new UserAgent()
    const page = await browser.get(body.url)
    expect(page.body).toContain(`${HOST}:${port()}/me`)
    const approved = await approve(body.url, browser)
    expect(approved.callback.host).toBe(`${HOST}:${port()}`)
    // the callback at the public URL has not the cookie of the click
    const elsewhere = new URL(approved.callback)
    elsewhere.hostname = '127.0.0.1'
    expect((await browser.get(elsewhere)).body).toContain('wrong_browser')
    const ended = await browser.follow(approved.callback)
    expect(ended.url).toBe(body.url)
    expect((await scene.status(body.id)).body.status).toBe('completed')
    const redeemed = scene.as.requestsTo('/token').at(-1)
    expect(redeemed?.params.redirect_uri).toBe(`${approved.callback.origin}${approved.callback.pathname}`)
    const { body: entry } = await scene.call('GET', '/v1/admin/auth_providers/demo')
    expect(entry.oauth2.redirect_uri).toBe(redeemed?.params.redirect_uri)
  })

  test('an attempt that began before the switch ends where it began', async () => {
    const before = await scene.approve({ user_id: 'before' })
    const opened = new UserAgent()
    const { body: link } = await scene.authorize({ user_id: 'opened' })
    await opened.get(link.url)
    await prove()
    expect(before.callback.hostname).toBe('127.0.0.1')
    const ended = await before.browser.follow(before.callback)
    expect([ended.status, new URL(ended.url).hostname]).toEqual([200, HOST])
    expect((await scene.status(before.id)).body.status).toBe('completed')
    // a page that was opened before asks to open the link again, at the domain
    const clicked = await opened.post(link.url, {})
    expect(clicked.status).toBe(403)
    expect(clicked.body).toContain(`href="${at(new URL(link.url).pathname)}"`)
    expect((await scene.status(link.id)).body.status).toBe('pending')
    // and an attempt at the domain ends there after the domain was taken away
    const within = await scene.approve({ user_id: 'within' })
    await scene.call('PATCH', BRANDING, { domain: null })
    await within.browser.get(within.callback)
    expect((await scene.status(within.id)).body.status).toBe('completed')
  })

  test('a link of the public URL leads to the domain, and a HEAD request too', async () => {
    const { body } = await scene.authorize({ user_id: 'moved' })
    await prove()
    const moved = await new UserAgent().get(`${body.url}?lang=de`)
    expect([moved.status, moved.response.headers.get('location')]).toEqual([
      303,
      at(`${new URL(body.url).pathname}?lang=de`),
    ])
    expect((await click(at(new URL(body.url).pathname))).status).toBe(200)
    expect((await scene.status(body.id)).body.status).toBe('completed')
  })

  test('the domain of one project shows nothing of another', async () => {
    await prove()
    await addProvider(
      { ...scene.gatepass, call: (m, p, b) => scene.call(m, p, b, { key: otherKey }) },
      scene.as,
    )
    const ofOtherProject = {
      ...scene.gatepass,
      call: (m: string, p: string, b?: unknown) => scene.call(m, p, b, { key: otherKey }),
    }
    const { body } = await authorize(ofOtherProject, { user_id: 'b' })
    const path = new URL(body.url).pathname
    expect(new URL(body.url).hostname).toBe('127.0.0.1')
    expect((await new UserAgent().get(at(path))).status).toBe(404)
    expect((await new UserAgent().post(at(path), {})).status).toBe(404)
    expect((await new UserAgent().post(at(`${path}/cancel`), {})).status).toBe(404)
    expect((await new UserAgent().get(at(`${path}/finish?confirmation=x`))).status).toBe(404)
    const approved = await approve(body.url)
    const stolen = new URL(approved.callback)
    stolen.hostname = HOST
    expect((await approved.browser.get(stolen)).body).toContain('unknown_state')
    const portal = await scene.call('POST', '/v1/users/b/portal', {}, { key: otherKey })
    const enter = new URL(portal.body.url)
    expect((await new UserAgent().get(at(enter.pathname + enter.search))).status).toBe(410)
    const session = await ofOtherProject.call('POST', '/v1/connect_sessions', {
      user_id: 'b',
      provider_id: 'demo',
      allowed_origin: 'https://app.example',
    })
    const headers = {
      authorization: `Bearer ${session.body.session_token}`,
      origin: 'https://app.example',
    }
    const current = '/v1/connect_sessions/current'
    expect((await new UserAgent().get(at(current), { headers })).status).toBe(401)
    expect((await new UserAgent().get(`${scene.gatepass.url}${current}`, { headers })).status).toBe(200)
    await approved.browser.follow(approved.callback)
    const status = await scene.call('GET', `/v1/auth/status?id=${body.id}`, undefined, { key: otherKey })
    expect(status.body.status).toBe('completed')
  })

  test('a form opens a connect session at the domain alone, and the log says so', async () => {
    await prove()
    const origin = 'https://app.example'
    const { body: session } = await scene.call('POST', '/v1/connect_sessions', {
      user_id: 'posted',
      provider_id: 'demo',
      scopes: ['read'],
      allowed_origin: origin,
    })
    const browser = new UserAgent()
    const post = (host?: string) =>
      browser.post(
        at('/connect/session', host),
        { session_token: session.session_token, opened_in: 'tab' },
        { from: `${origin}/`, headers: { origin } },
      )
    const elsewhere = await post('127.0.0.1')
    expect([elsewhere.status, elsewhere.response.headers.get('set-cookie')]).toEqual([403, null])
    expect(elsewhere.body).toContain('refused_request')
    expect(scene.gatepass.logLines.filter((line) => line.includes(session.id))).toEqual([
      expect.stringContaining(`"connectPage":"${new URL(at('')).origin}"`),
    ])
    expect((await post()).response.headers.get('location')).toBe(session.url)
    expect((await browser.get(session.url)).status).toBe(200)
  })

  test('only users’ pages are served at the domain, and the Host header chooses nothing else', async () => {
    await prove()
    const get = (path: string, headers: Record<string, string> = {}) =>
      new UserAgent().get(at(path), { headers })
    for (const path of [
      '/dashboard',
      '/docs',
      '/openapi.json',
      '/authorize',
      '/.well-known/oauth-authorization-server',
      '/oauth/client/prov_x',
      '/login/open',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404])
    const key = { authorization: `Bearer ${scene.gatepass.apiKey}`, accept: 'application/json' }
    for (const path of [
      '/v1/tools',
      '/v1/admin/keys',
      '/metrics',
      '/mcp',
      '/ready',
      '/v1/connect_sessions',
    ]) {
      const refused = await get(path, key)
      expect([path, refused.status]).toEqual([path, 404])
      expect(JSON.parse(refused.body).message).toContain(scene.gatepass.url)
    }
    const root = await get('/')
    expect([root.status, root.response.headers.get('location')]).toEqual([303, '/me'])
    expect((await get('/health')).status).toBe(200)
    expect((await get('/v1/connect_sessions/current')).status).toBe(401)
    // a host that no project has is taken for the public URL, and links come from the store
    const { body } = await scene.authorize({ user_id: 'host' })
    const path = new URL(body.url).pathname
    for (const host of ['evil.example', `${HOST}.evil.example`, 'x'.repeat(300)]) {
      const unknown = await new UserAgent().get(`${scene.gatepass.url}${path}`, { headers: { host } })
      expect(unknown.response.headers.get('location')).toBe(body.url)
    }
    const forwarded = await new UserAgent().get(`${scene.gatepass.url}${path}`, {
      headers: { 'x-forwarded-host': HOST },
    })
    expect(forwarded.status).toBe(303)
    const cased = await new UserAgent().get(`${scene.gatepass.url}${path}`, {
      headers: { host: HOST.toUpperCase() },
    })
    expect(cased.status).toBe(200)
  })

  test('a form of the public URL is another site’s, and a cookie of one host is unknown at the other', async () => {
    await prove()
    const { body } = await scene.authorize({ user_id: 'cross' })
    const browser = new UserAgent()
    await browser.get(body.url)
    const crossed = await browser.post(body.url, {}, { from: `${scene.gatepass.url}/` })
    expect(crossed.status).toBe(403)
    const byOrigin = { 'sec-fetch-site': undefined }
    for (const [from, status] of [
      [`${scene.gatepass.url}/`, 403],
      [at('/'), 303],
    ] as const)
      expect((await browser.post(body.url, {}, { from, headers: byOrigin })).status).toBe(status)
  })

  test('the user’s own page is at the domain, and a link that was made before leads there', async () => {
    await scene.connect({ user_id: 'portal' })
    const before = await scene.call('POST', '/v1/users/portal/portal', { may: ['view', 'connect'] })
    await prove()
    const enter = new URL(before.body.url)
    expect(enter.hostname).toBe('127.0.0.1')
    const browser = new UserAgent()
    const page = await browser.follow(before.body.url)
    expect(page.url).toBe(at(enter.pathname + enter.search))
    const me = await browser.submitForm(page)
    expect([me.status, me.url]).toEqual([200, at('/me')])
    const after = await scene.call('POST', '/v1/users/portal/portal', {})
    expect(new URL(after.body.url).host).toBe(`${HOST}:${port()}`)
    // one more account: the connect page and the way back are at the domain too
    const form = /action="(\/me\/connections\/conn_\w+\/another)"/.exec(me.body)?.[1] ?? ''
    const csrf = /name="csrf" value="([^"]+)"/.exec(me.body)?.[1] ?? ''
    const asked = await browser.post(at(form), { csrf })
    expect(asked.response.headers.get('location')).toContain(at('/connect/auth_'))
    const ended = await click(asked.response.headers.get('location') ?? '', browser)
    expect(ended.url).toContain(at('/me?'))
  })

  test('a session of /me at the public URL is none: its page could not lead to the connect page', async () => {
    const open = async () => {
      const link = await scene.call('POST', '/v1/users/moving/portal', { may: ['view', 'connect'] })
      const browser = new UserAgent()
      return { browser, page: await browser.get(link.body.url) }
    }
    const entered = await open()
    const me = await entered.browser.submitForm(entered.page)
    expect(me.url).toBe(`${scene.gatepass.url}/me`)
    const opened = await open()
    await prove()
    expect((await entered.browser.get(me.url)).status).toBe(403)
    // nor does the button of a link's page, which was opened there before, spend the link
    expect((await opened.browser.submitForm(opened.page)).status).toBe(410)
    const moved = await opened.browser.submitForm(await opened.browser.follow(opened.page.url))
    expect([moved.status, moved.url]).toEqual([200, at('/me')])
  })

  test('another node follows', async () => {
    await using node = await startGatepass({
      databasePath: scene.gatepass.databasePath,
      environment: { GATEPASS_PUBLIC_URL: scene.gatepass.url },
      now: scene.clock,
      lookUpTxt,
    })
    await prove()
    const hosts = async () => new URL((await authorize(node, { user_id: 'node' })).body.url).hostname
    await vi.waitFor(async () => expect(await hosts()).toBe(HOST), 300_000)
    const { body } = await authorize(node, { user_id: 'node' })
    const there = `${node.url}${new URL(body.url).pathname}`
    expect((await new UserAgent().get(there)).response.headers.get('location')).toBe(body.url)
    expect((await new UserAgent().get(there, { headers: { host: HOST } })).status).toBe(200)
    await scene.call('PATCH', BRANDING, { domain: null })
    await vi.waitFor(async () => expect(await hosts()).toBe('127.0.0.1'), 300_000)
  })
})

test('a proxy asks for which names it may get a certificate, without a key', async () => {
  const ask = async (query: string) =>
    (await scene.call('GET', `/domains/proved${query}`, undefined, { key: null })).status
  await scene.call('PATCH', BRANDING, { domain: HOST })
  expect(await ask(`?domain=${HOST}`)).toBe(404)
  await prove()
  expect(await ask(`?domain=${HOST.toUpperCase()}`)).toBe(200)
  for (const other of ['', '?domain=', '?domain=evil.example', `?domain=x.${HOST}`, `?domain=${HOST}.`])
    expect([other, await ask(other)]).toEqual([other, 404])
})

test('doctor says what is missing of a domain', async () => {
  const told = async () => {
    const { body } = await scene.call('GET', '/v1/admin/diagnosis')
    return body.checks.filter(({ name }: { name: string }) => name === `domain ${HOST}`)
  }
  expect(await told()).toEqual([])
  await scene.call('PATCH', BRANDING, { domain: HOST })
  expect(await told()).toMatchObject([{ status: 'warning', message: expect.stringContaining('not proved') }])
  await prove()
  // the system's resolver, by which the check goes, need not know names below localhost
  expect(JSON.stringify(await told())).not.toContain('no longer')
  zone = {}
  expect(JSON.stringify(await told())).toContain(`no longer at _gatepass-challenge.${HOST}`)
})
