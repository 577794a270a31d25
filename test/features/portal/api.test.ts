import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newOwnedId, sha256 } from '../../../src/domain/ids.ts'
import { PORTAL_RIGHTS, type PortalRight } from '../../../src/features/portal/domain.ts'
import { providerBody, startWorld, type World } from '../../http/world.ts'
import { mcpConsent } from '../../store/fixtures.ts'
import { UserAgent } from '../../user-agent.ts'
import { csrfIn, enteredAs, portalLink } from './portal-world.ts'

// /me as programs and browsers meet it: who gets in, what each right allows, and what is left after a deletion.

let world: World
let clock = Math.floor(Date.now() / 1000)
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { now: () => clock } })
})
afterAll(() => world[Symbol.asyncDispose]())

const at = (path: string) => new URL(path, world.gatepass.url).href

async function connectionsOf(user: string) {
  return (await world.call('GET', `/v1/connections?user_id=${user}`)).body.items
}

/** A user with a connection, and the browser that has entered their page. */
async function connected(may?: readonly PortalRight[], more: Record<string, unknown> = {}) {
  const user = newUser()
  await world.connect(user)
  const browser = await enteredAs(world, user, may, more)
  const [connection] = await connectionsOf(user)
  const page = await browser.get(at('/me'))
  const send = (path: string, form: Record<string, string> = {}, options = {}) =>
    browser.post(at(path), { csrf: csrfIn(page.body), ...form }, options)
  return { user, browser, connection, page, send }
}

async function audited(user: string): Promise<string[]> {
  const { body } = await world.call('GET', `/v1/admin/audit?user_id=${user}&limit=1000`)
  return body.items.map(({ action }: { action: string }) => action)
}

describe('a link to /me', () => {
  test('is made by a caller for a time, with rights, and refused for what it cannot have', async () => {
    const { call } = world
    const made = await call('POST', '/v1/users/ada%2Fb/portal', { seconds: 60, may: ['erase', 'view'] })
    expect(made.status).toBe(201)
    expect(Date.parse(made.body.expires_at) / 1000).toBe(clock + 60)
    expect(made.body.url).toMatch(new RegExp(`^${world.gatepass.url}/me/enter\\?ticket=gpp_[\\w-]{86}$`))
    const refused: [Record<string, unknown>, RegExp][] = [
      [{ may: ['disconnect'] }, /may.*view/],
      [{ may: [] }, /may/],
      [{ may: ['view', 'all'] }, /may/],
      [{ seconds: 29 }, /seconds/],
      [{ seconds: 3601 }, /seconds/],
      [
        { return_url: 'https://elsewhere.example/' },
        /return_url may not lead to https:\/\/elsewhere\.example/,
      ],
      [{ return_url: 'javascript:alert(1)' }, /return_url/],
      [{ user_display: 'a\u202Eb' }, /user_display/],
      [{ user_display: 'x'.repeat(81) }, /user_display/],
      [{ lang: 'not a tag' }, /lang/],
      [{ rights: ['view'] }, /rights/],
    ]
    for (const [body, message] of refused) {
      const answer = await call('POST', '/v1/users/ada/portal', body)
      expect([answer.status, answer.body.message], JSON.stringify(body)).toEqual([
        400,
        expect.stringMatching(message),
      ])
    }
    const readonly = await world.gatepass.makeKey('readonly')
    expect((await call('POST', '/v1/users/ada/portal', {}, { key: readonly })).status).toBe(403)
    const ofBob = await call('POST', '/v1/admin/keys', { name: 'bob', role: 'caller', user_id: 'bob' })
    const key = ofBob.body.key
    expect((await call('POST', '/v1/users/bob/portal', {}, { key })).status).toBe(201)
    expect((await call('POST', '/v1/users/ada/portal', {}, { key })).status).toBe(403)
  })

  test('works once, by its button: looking at it spends nothing', async () => {
    const user = newUser()
    const url = await portalLink(world, user, undefined, { user_display: 'Ada <b>L.' })
    const scanner = new UserAgent()
    for (const _ of [1, 2]) expect((await scanner.get(url)).status).toBe(200)
    const browser = new UserAgent()
    const page = await browser.get(url)
    expect(page.body).toContain('Ada &lt;b&gt;L.')
    expect(page.response.headers.get('set-cookie')).toBeNull()
    expect(page.response.headers.get('cache-control')).toBe('no-store')
    const entered = await browser.submitForm(page)
    expect([entered.status, entered.url]).toEqual([200, at('/me')])
    expect(entered.body).toContain('Ada &lt;b&gt;L.')
    // the ticket is gone, in this browser as in any other
    expect((await browser.get(url)).status).toBe(410)
    expect((await scanner.submitForm(await scanner.get(url).then(() => page))).status).toBe(410)
    expect(await audited(user)).toEqual(['portal.entered', 'portal.linked'])
    expect(world.gatepass.logLines.join('\n')).not.toContain(new URL(url).searchParams.get('ticket'))
  })

  test('that was given another user or more rights in the database is none', async () => {
    const { portalTickets } = world.gatepass.broker.store
    const url = await portalLink(world, newUser())
    const hash = sha256(new URL(url).searchParams.get('ticket') ?? '')
    const row = await portalTickets.spend(hash, clock)
    if (row === undefined) throw new Error('there is no ticket')
    for (const [change, status] of [
      [{ userId: newUser() }, 410],
      [{ may: PORTAL_RIGHTS }, 410],
      [{}, 200],
    ] as const) {
      await portalTickets.add({ ...row, ...change })
      expect((await new UserAgent().get(url)).status).toBe(status)
      await portalTickets.spend(hash, clock)
    }
  })

  test('of two browsers that spend it at once one gets in; after its time none does', async () => {
    const url = await portalLink(world, newUser())
    const browsers = [new UserAgent(), new UserAgent(), new UserAgent(), new UserAgent()]
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    const answers = await Promise.all(browsers.map((one) => one.post(at('/me/enter'), { ticket })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410])
    const late = await portalLink(world, newUser(), undefined, { seconds: 60 })
    const browser = new UserAgent()
    const page = await browser.get(late)
    clock += 61
    expect((await browser.submitForm(page)).status).toBe(410)
  })

  test('is not spent by another site, which could put its visitor into a session of somebody else', async () => {
    const url = await portalLink(world, newUser())
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    const victim = new UserAgent()
    const from = 'https://evil.example/'
    expect((await victim.post(at('/me/enter'), { ticket }, { from })).status).toBe(410)
    const bare = await fetch(at('/me/enter'), { method: 'POST', body: new URLSearchParams({ ticket }) })
    expect(bare.status).toBe(410)
    expect(victim.cookies(at('/me'))).toEqual({})
    expect((await victim.submitForm(await victim.get(url))).url).toBe(at('/me'))
  })
})

describe('the session of /me', () => {
  test('ends by log-out, after 30 idle minutes and after 8 hours; without one no page is shown', async () => {
    const { browser, send } = await connected()
    const isIn = async () => (await browser.get(at('/me'))).status === 200
    for (let minutes = 0; minutes < 8 * 60 - 20; minutes += 20) {
      expect(await isIn()).toBe(true)
      clock += 20 * 60
    }
    clock += 20 * 60
    expect(await isIn()).toBe(false)
    const idle = await connected()
    clock += 31 * 60
    expect((await idle.browser.get(at('/me'))).status).toBe(403)
    expect((await send('/me/erase', { understood: 'yes' })).response.headers.get('location')).toBe('/me')
    const out = await connected()
    await out.send('/me/logout')
    expect((await out.browser.get(at('/me'))).status).toBe(403)
    for (const path of ['/me/data', '/me/erase', `/me/connections/${out.connection.id}/disconnect`])
      expect((await new UserAgent().get(at(path))).response.headers.get('location')).toBe('/me')
  })

  test('has a cookie that no script reads', async () => {
    const browser = new UserAgent()
    const url = await portalLink(world, newUser())
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    const { response } = await browser.post(at('/me/enter'), { ticket })
    expect(response.headers.get('set-cookie')).toMatch(
      /^gatepass-me=[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Lax$/,
    )
  })

  test('of another user replaces the one before, which is worth nothing then', async () => {
    const { browser } = await connected()
    const before = browser.cookies(at('/me'))['gatepass-me'] ?? ''
    const page = await browser.get(await portalLink(world, newUser()))
    await browser.submitForm(page)
    const old = await fetch(at('/me'), { headers: { cookie: `gatepass-me=${before}` } })
    expect(old.status).toBe(403)
  })
})

test('pages have the name and the colours of their project', async () => {
  const { broker } = world.gatepass
  const { id: projectId } = await broker.store.projects.ensure('branded', 0)
  await broker.store.brandings.replace(undefined, {
    projectId,
    appName: 'Acme',
    accent: '#0b57d0',
    styleHash: 'h',
    updatedAt: 1,
  })
  const key = await world.gatepass.makeKey('caller', 'branded')
  const { body } = await world.call('POST', '/v1/users/ada/portal', { may: ['view', 'erase'] }, { key })
  const browser = new UserAgent()
  const link = await browser.get(body.url)
  const page = await browser.submitForm(link)
  for (const one of [link, page, await browser.get(at('/me/erase'))]) {
    expect(one.body).toContain('Acme')
    expect(one.body).toContain('href="/assets/brand/h.css?v=2"')
  }
})

describe('a form of /me', () => {
  test.each([
    { name: 'without the token', form: { csrf: '' }, options: {} },
    { name: 'with the token of another session', form: 'foreign', options: {} },
    { name: 'of another site', form: {}, options: { headers: { 'sec-fetch-site': 'cross-site' } } },
    { name: 'of another origin', form: {}, options: { from: 'https://evil.example/' } },
  ])('$name changes nothing', async ({ form, options }) => {
    const { user, connection, send } = await connected(PORTAL_RIGHTS)
    const given = form === 'foreign' ? { csrf: csrfIn((await connected()).page.body) } : (form as object)
    for (const path of [`/me/connections/${connection.id}/disconnect`, '/me/erase', '/me/export'])
      expect((await send(path, { understood: 'yes', ...given }, options)).status).toBe(303)
    expect(await connectionsOf(user)).toHaveLength(1)
    expect(await audited(user)).not.toContain('user.exported')
  })

  test('about another user’s connection changes nothing, as about an unknown one', async () => {
    const { send } = await connected(PORTAL_RIGHTS)
    const other = await connected()
    const sentTo = async (id: string, what: string) =>
      (await send(`/me/connections/${id}/${what}`)).response.headers.get('location') ?? ''
    for (const what of ['default', 'reconnect', 'another'])
      for (const id of [other.connection.id, 'conn_unknown']) expect(await sentTo(id, what)).toBe('/me')
    const gone = await sentTo('conn_unknown', 'disconnect')
    expect(gone).toContain('note=disconnected_before')
    expect(await sentTo(other.connection.id, 'disconnect')).toBe(gone)
    expect(await connectionsOf(other.user)).toEqual([expect.objectContaining({ id: other.connection.id })])
  })

  test('without the right changes nothing, and the page has no such button', async () => {
    const { user, connection, page, send } = await connected(['view'])
    expect(page.body).not.toMatch(/<form method="post" action="\/me\/(?!logout)/)
    expect(page.body).not.toContain('/disconnect')
    for (const what of ['disconnect', 'default', 'reconnect', 'another'])
      for (const id of [connection.id, 'conn_unknown'])
        expect((await send(`/me/connections/${id}/${what}`)).response.headers.get('location')).toBe('/me')
    await send('/me/erase', { understood: 'yes' })
    expect((await send('/me/export')).response.headers.get('location')).toBe('/me/data')
    expect(await connectionsOf(user)).toHaveLength(1)
    expect((await audited(user)).filter((one) => /^(user|connection)\./.test(one))).toEqual([])
  })

  test('tells of nothing that it did not do: a note is signed for its session', async () => {
    const { browser, connection, send } = await connected()
    const { response } = await send(`/me/connections/${connection.id}/disconnect`)
    const location = at(response.headers.get('location') ?? '')
    expect((await browser.get(location)).body).toContain('role="status"')
    const other = await connected()
    expect((await other.browser.get(location)).body).not.toContain('role="status"')
    expect((await browser.get(location.replace('about=', 'about=x'))).body).not.toContain('role="status"')
  })
})

describe('on /me a user', () => {
  test('sees accounts, permissions and the tools that used them, and disconnects one', async () => {
    const user = newUser()
    await world.connect(user)
    const { body } = await world.execute('Demo.WhoAmI', { user_id: user })
    expect(body.success, JSON.stringify(body)).toBe(true)
    await world.gatepass.broker.uses.flush()
    const browser = await enteredAs(world, user, undefined, {
      return_url: at('/docs'),
      user_display: 'Ada L.',
    })
    const page = await browser.get(at('/me'))
    for (const part of ['demo', 'WhoAmI', 'read', 'Ada L.', `href="${at('/docs')}"`])
      expect(page.body).toContain(part)
    const [{ id }] = await connectionsOf(user)
    const question = await browser.get(at(`/me/connections/${id}/disconnect`))
    const done = await browser.submitForm(question)
    expect(done.body).toContain('role="status"')
    expect(await connectionsOf(user)).toEqual([])
    const { body: trail } = await world.call(
      'GET',
      `/v1/admin/audit?user_id=${user}&action=connection.deleted`,
    )
    expect(trail.items).toEqual([
      expect.objectContaining({
        actor: { kind: 'user', id: user },
        purpose: 'POST /me/connections/{id}/disconnect',
        connection_id: id,
      }),
    ])
  })

  test('who clicks twice is told to look at the service, since only the second answer is shown', async () => {
    const { browser, connection, send } = await connected()
    const disconnect = () => send(`/me/connections/${connection.id}/disconnect`)
    expect((await disconnect()).response.headers.get('location')).toContain('note=disconnected_here&')
    const again = await browser.get(at((await disconnect()).response.headers.get('location') ?? ''))
    expect(again.body).toContain('Check your account with the service to see whether access has ended there')

    const other = await connected(['view', 'erase'])
    const question = await other.browser.get(at('/me/erase'))
    await world.call('DELETE', `/v1/connections/${other.connection.id}`) // as the first click does
    const erased = await other.browser.submitForm(question, { understood: 'yes' })
    expect(erased.body).toContain(
      'Check your account with each service to see whether access has ended there',
    )
  })

  test('sees what was not used for 90 days', async () => {
    const user = newUser()
    await world.connect(user)
    clock += 89 * 24 * 3600
    const browser = await enteredAs(world, user)
    expect((await browser.get(at('/me'))).body).not.toContain('Not used since')
    clock += 24 * 3600
    expect((await (await enteredAs(world, user)).get(at('/me'))).body).toContain('Not used since')
  })

  test('reads the page in the language that the caller chose', async () => {
    const user = newUser()
    const browser = await enteredAs(world, user, undefined, { lang: 'de' })
    const page = await browser.get(at('/me'), { headers: { 'accept-language': 'fr' } })
    expect(page.response.headers.get('content-language')).toBe('de')
    expect(page.body).toContain('<html lang="de"')
  })

  test('adds another account by the connect page, and makes it the default', async () => {
    const { user, browser, connection, send } = await connected(['view', 'connect'])
    Object.assign(world.as.account, { sub: 'second', name: 'Second' })
    const connect = await browser.follow(
      at((await send(`/me/connections/${connection.id}/another`)).response.headers.get('location') ?? ''),
    )
    expect(new URL(connect.url).pathname).toMatch(/^\/connect\/auth_/)
    const back = await browser.submitForm(connect)
    expect(new URL(back.url).pathname).toBe('/me')
    expect(back.body).toContain('The account is connected.')
    const two = await connectionsOf(user)
    expect(two).toHaveLength(2)
    const other = two.find((one: { default: boolean }) => !one.default)
    await send(`/me/connections/${other.id}/default`)
    expect((await connectionsOf(user)).find((one: { default: boolean }) => one.default).id).toBe(other.id)
  })

  test('makes another account the default, also if the present one is on another page', async () => {
    const { user, browser, connection } = await connected(['view', 'connect'])
    const { connections, providers } = world.gatepass.broker.store
    const stored = await connections.find(connection.id)
    if (stored === undefined) throw new Error('no connection')
    await world.call('POST', '/v1/admin/auth_providers', providerBody('many', world.as))
    const many = await providers.findById(stored.projectId, 'many')
    if (many === undefined) throw new Error('no provider')
    const add = async (providerUid: string, account: string) => {
      const id = newOwnedId('conn', stored.projectId, user)
      const more = { id, providerUid, account: { id: account, name: account }, isDefault: false }
      await connections.addImported({ ...stored, ...more }, { replaces: false, makeDefault: false })
      return id
    }
    for (let i = 0; i < 50; i++) await add(many.uid, `account-${i}`)
    const other = await add(stored.providerUid, 'other')
    const page = await browser.get(at('/me'))
    const [, next = ''] = /href="([^"]*after=[^"]+)"/.exec(page.body) ?? []
    const last = await browser.get(at(next.replaceAll('&amp;', '&')))
    expect([page.body.includes(other), last.body.includes(connection.id)]).toEqual([false, false])
    expect(last.body).toContain(`action="/me/connections/${other}/default"`)
  })

  test('reconnects what broke', async () => {
    const { user, browser, connection, send } = await connected(['view', 'connect'])
    const { broker } = world.gatepass
    const stored = await broker.store.connections.find(connection.id)
    if (stored === undefined) throw new Error('no connection')
    await broker.store.connections.needsAuthorization(stored.id, stored.generation, 'refresh_refused')
    const page = await browser.get(at('/me'))
    expect(page.body).toContain('no longer accepts this access')
    const { response } = await send(`/me/connections/${connection.id}/reconnect`)
    const back = await browser.submitForm(await browser.follow(at(response.headers.get('location') ?? '')))
    expect(back.body).toContain('The account is connected.')
    expect(await connectionsOf(user)).toEqual([
      expect.objectContaining({ id: connection.id, status: 'active' }),
    ])
  })

  test('cannot connect an account at an inactive provider, and is told so on the page', async () => {
    const { browser, connection, send } = await connected(['view', 'connect'])
    const { connections } = world.gatepass.broker.store
    const stored = await connections.find(connection.id)
    if (stored === undefined) throw new Error('no connection')
    const told = async (what: string) => {
      const { response } = await send(`/me/connections/${connection.id}/${what}`)
      return (await browser.get(at(response.headers.get('location') ?? ''))).body
    }
    const demo = '/v1/admin/auth_providers/demo'
    expect((await world.call('PATCH', demo, { status: 'inactive' })).status).toBe(200)
    try {
      expect(await told('another')).toContain('The account was not connected.')
      await connections.needsAuthorization(stored.id, stored.generation, 'refresh_refused')
      expect(await told('reconnect')).toContain('The account was not connected.')
    } finally {
      await world.call('PATCH', demo, { status: 'active' })
    }
  })

  test('ends the access of one application, or of all, and of no one else’s', async () => {
    const { user, browser, send } = await connected()
    const { mcpConsents, projects } = world.gatepass.broker.store
    const { id: projectId } = await projects.ensure('default', 0)
    const consents = ['a', 'b', 'c'].map((clientId) =>
      mcpConsent({
        projectId,
        userId: user,
        clientId,
        clientName: `App ${clientId}`,
        grantId: `${user} ${clientId}`,
      }),
    )
    const foreign = mcpConsent({ projectId, userId: `${user}x`, clientId: 'f', grantId: `${user} f` })
    for (const one of [...consents, foreign]) await mcpConsents.put(one)
    expect((await browser.get(at('/me'))).body).toContain('App b')
    await send(`/me/applications/${foreign.id}/end`)
    await send(`/me/applications/${consents[0]?.id}/end`)
    expect(await mcpConsents.ofUser(projectId, user)).toHaveLength(2)
    expect(await mcpConsents.ofUser(projectId, `${user}x`)).toHaveLength(1)
    await send('/me/applications/end-all')
    expect(await mcpConsents.ofUser(projectId, user)).toEqual([])
    expect((await audited(user)).filter((one) => one === 'mcp_client.revoked')).toHaveLength(3)
  })

  test('downloads what is kept, without any token', async () => {
    const { user, send } = await connected(['view', 'export'])
    await world.execute('Demo.WhoAmI', { user_id: user })
    const { broker } = world.gatepass
    await broker.uses.flush()
    await broker.history.flush()
    const { response, body } = await send('/me/export')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="my-data.json"')
    const data = JSON.parse(body)
    expect(data).toMatchObject({
      user_id: user,
      connections: [
        { provider_id: 'demo', scopes: ['read'], tools: [{ tool: expect.stringContaining('WhoAmI') }] },
      ],
      authorizations: [{ status: 'completed' }],
      applications: [],
      runs: [{ outcome: 'value' }],
    })
    expect(data.audit.map((one: { action: string }) => one.action)).toContain('user.exported')
    for (const token of world.as.secrets()) expect(body).not.toContain(token)
  })

  test('deletes everything: only the trail is left', async () => {
    const { user, browser, send } = await connected(['view', 'erase'])
    await world.execute('Demo.WhoAmI', { user_id: user })
    const pending = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes: ['more'] } },
      user_id: user,
    })
    const ownKey = await world.call('POST', '/v1/admin/keys', { role: 'caller', user_id: user })
    const { key } = ownKey.body
    expect((await world.call('GET', '/v1/tools', undefined, { key })).status).toBe(200)
    const waiting = world.call('GET', `/v1/auth/status?id=${pending.body.id}&wait=30`)
    const elsewhere = await enteredAs(world, user)
    const question = await browser.get(at('/me/erase'))
    expect(question.body).toContain('activity log is kept')
    const unanswered = (await send('/me/erase')).response.headers
    expect(unanswered.get('location')).toBe('/me/erase')
    expect(unanswered.get('referrer-policy')).toBe('no-referrer')
    expect(await connectionsOf(user)).toHaveLength(1)
    const done = await browser.submitForm(question, { understood: 'yes' })
    expect(done.body).toContain('Everything was deleted')
    expect(done.body).not.toContain('Check your account with each service')
    expect((await waiting).body.status ?? 'gone').toMatch(/failed|gone/)
    expect(await connectionsOf(user)).toEqual([])
    const { store } = world.gatepass.broker
    const { id: projectId } = await store.projects.ensure('default', 0)
    expect((await store.executions.list(projectId, { userId: user }, { offset: 0, limit: 9 })).items).toEqual(
      [],
    )
    expect(await store.authorizations.ofUser(projectId, user, { limit: 9 })).toEqual([])
    expect(await store.connectionTools.ofUser(projectId, user, 9)).toEqual([])
    expect(await store.users.find(projectId, user)).toBeUndefined()
    expect(await audited(user)).toEqual(
      expect.arrayContaining(['user.erased', 'authorization.failed', 'connection.deleted']),
    )
    for (const one of [browser, elsewhere]) expect((await one.get(at('/me'))).status).toBe(403)
    expect((await world.call('GET', '/v1/tools', undefined, { key })).status).toBe(401)
  })
})
