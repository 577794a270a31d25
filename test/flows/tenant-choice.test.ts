import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eraseUser } from '../../src/flows/erase-user.ts'
import { forgetResponses } from '../../src/flows/held-grant.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { startPostgres } from '../postgres.ts'
import { CLOUD, startTenantServer, type TenantServer } from '../tenant-server.ts'
import { UserAgent } from '../user-agent.ts'

// Providers whose API needs a tenant (Atlassian, Xero): the user chooses one of those that the provider lists.

const ACME = { id: CLOUD(1), name: 'Acme', url: 'https://acme.example' }
const GLOBEX = { id: CLOUD(2), name: 'Globex', url: 'https://globex.example' }
const VICTIM = { id: CLOUD(6), name: 'Victim', url: 'https://victim.example' }

describe.each(onBothDatabases)('on %s', (kind, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let provider: TenantServer
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string

  beforeAll(async () => {
    provider = await startTenantServer()
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await provider.server.close()
  })
  beforeEach(async () => {
    entry = `sites-${++entries}`
    Object.assign(provider, {
      user: 'ada',
      tenants: [ACME, GLOBEX],
      listStatus: 200,
      perPage: 100,
      echoes: false,
    })
    for (const list of [provider.redeemed, provider.listed, provider.revoked, provider.called])
      list.length = 0
    provider.live.clear()
  })

  const add = async (oauth2: object = {}) => {
    const body = { id: entry, oauth2: provider.entry(oauth2) }
    const added = await call('POST', '/v1/admin/auth_providers', body)
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    return added.body
  }
  const begin = async (more: object = {}) => {
    const { body } = await call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: entry, oauth2: { scopes: ['read'] } },
      user_id: 'u1',
      ...more,
    })
    expect(body.status, JSON.stringify(body)).toBe('pending')
    return body as { id: string; url: string }
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/auth/status?id=${id}`)).body
  const causeOf = async (id: string) => (await call('GET', `/v1/auth/${id}/explain`)).body.cause
  /** To the page after the consent. */
  const walk = async (url: string, browser = new UserAgent()) => browser.submitForm(await browser.get(url))
  const connect = async (more: object = {}, choice?: string) => {
    const { id, url } = await begin(more)
    const browser = new UserAgent()
    await walk(url, browser)
    if (choice !== undefined) await browser.post(url, { choice })
    return statusOf(id)
  }
  const connections = async (userId = 'u1') =>
    (await call('GET', `/v1/connections?user_id=${userId}`)).body.items.filter(
      ({ provider_id: id }: { provider_id: string }) => id === entry,
    )
  const proxied = async (account?: string) => {
    const headers = { 'x-gatepass-user': 'u1', ...(account && { 'x-gatepass-account': account }) }
    const { status } = await call('GET', `/proxy/${entry}/issues`, undefined, { headers })
    return [status, provider.called.at(-1)?.path]
  }
  /** A grant that waits for its user's choice. */
  const held = async () => {
    await add()
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await walk(url, browser)
    expect(provider.live.size).toBe(2)
    return { id, url, browser, page }
  }

  test('the only tenant is taken: its value is kept, used, and the account is the tenant of the person', async () => {
    provider.tenants = [ACME]
    expect(await add()).toMatchObject({
      oauth2: {
        choices_request: { at: '$.items', id: '$.id', name: '$.name', detail: '$.url', method: 'GET' },
        kept_values: { cloud_id: { from: 'choice', at: '$.id' } },
      },
    })
    expect(await connect()).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { id: `${ACME.id}:ada`, name: 'Acme' } }])
    expect(await proxied()).toEqual([200, `/ex/${ACME.id}/issues`])
    expect(provider.called[0]?.headers['x-region']).toBe('eu')
  })

  test('of several, the browser that approved chooses one of the list; no other browser, and nothing else', async () => {
    const { id, url, browser, page } = await held()
    for (const { name, url: site } of [ACME, GLOBEX]) {
      expect(page.body).toContain(name)
      expect(page.body).toContain(site)
    }
    expect((await statusOf(id)).status).toBe('pending')
    expect(await connections()).toEqual([])
    expect(await causeOf(id)).toMatchObject({ code: 'not_chosen', who: 'user' })

    const stranger = new UserAgent()
    expect((await stranger.get(url)).body).not.toContain('Globex')
    expect((await stranger.post(url, { choice: GLOBEX.id })).status).toBe(403)
    expect((await browser.post(url, { choice: VICTIM.id })).status).toBe(403)
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    expect((await browser.post(url, { choice: GLOBEX.id }, { headers: foreign })).status).toBe(403)
    expect((await statusOf(id)).status).toBe('pending')
    expect(provider.live.size).toBe(2)

    expect((await browser.post(url, { choice: GLOBEX.id })).status).toBe(303)
    expect(await statusOf(id)).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { id: `${GLOBEX.id}:ada`, name: 'Globex' } }])
    expect(await proxied()).toEqual([200, `/ex/${GLOBEX.id}/issues`])
    expect(provider.called[0]?.headers['x-region']).toBe('eu')
    expect(provider.redeemed).toHaveLength(1)
    expect(provider.revoked).toEqual([])

    // a second answer changes nothing
    await browser.post(url, { choice: ACME.id })
    expect(await connections()).toMatchObject([{ account: { name: 'Globex' } }])
    const { body } = await call('GET', '/v1/admin/audit?action=authorization.completed')
    expect(body.items.filter(({ provider_id: of }: { provider_id: string }) => of === entry)).toHaveLength(1)
  })

  test('two answers at the same time store one connection', async () => {
    const { url, browser } = await held()
    await Promise.all([ACME, GLOBEX, ACME].map(({ id: choice }) => browser.post(url, { choice })))
    expect(await connections()).toHaveLength(1)
    expect(provider.revoked).toEqual([])
  })

  test('without a tenant nothing is stored, the grant is revoked, and page and explanation say why', async () => {
    provider.tenants = []
    await add()
    const { id, url } = await begin()
    const page = await walk(url)
    expect(await statusOf(id)).toMatchObject({ status: 'failed', reason: 'nothing_to_choose' })
    expect(page.body).toContain('There is nothing to connect yet')
    expect(await causeOf(id)).toMatchObject({ code: 'nothing_to_choose' })
    expect(provider.live.size).toBe(0)
  })

  test.each([
    [500, 'provider_unavailable'],
    [403, 'provider_bad_response'],
  ])(
    'a list with the status %i ends the authorization as %s, and the grant is revoked',
    async (status, reason) => {
      provider.listStatus = status
      await add()
      expect(await connect()).toMatchObject({ status: 'failed', reason })
      expect(provider.live.size).toBe(0)
      const { id } = await begin()
      expect((await statusOf(id)).status).toBe('pending')
    },
  )

  test('a tenant whose value is not allowed is not offered', async () => {
    provider.tenants = [{ ...VICTIM, id: '../../admin' }, ACME]
    await add()
    expect(await connect()).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { name: 'Acme' } }])
  })

  test('a tenant whose name repeats the token is offered by its id', async () => {
    provider.echoes = true
    await add()
    const { url } = await begin()
    const page = await walk(url)
    expect(page.body).toContain(`<bdi>${GLOBEX.id}</bdi>`)
    for (const token of provider.live.keys()) expect(page.body).not.toContain(token)
  })

  test('the list goes on at the next page of the same endpoint', async () => {
    provider.perPage = 1
    await add()
    const { url } = await begin()
    expect((await walk(url)).body).toContain('Globex')
    expect(provider.listed).toHaveLength(2)
  })

  test('a refresh keeps the value', async () => {
    await add()
    await connect({}, GLOBEX.id)
    clock.advance(3600)
    expect(await proxied()).toEqual([200, `/ex/${GLOBEX.id}/issues`])
    expect(provider.refreshed).toBeGreaterThan(0)
    expect(await connections()).toMatchObject([{ status: 'active', account: { name: 'Globex' } }])
  })

  test('another person at a refresh ends the connection', async () => {
    await add()
    await connect({}, GLOBEX.id)
    clock.advance(3600)
    provider.user = 'eve'
    await proxied()
    expect(await connections()).toMatchObject([
      { status: 'needs_authorization', status_reason: 'account_changed' },
    ])
  })

  test('a second consent may choose another tenant, which is another account', async () => {
    await add()
    await connect({}, ACME.id)
    expect(await connect({ account: 'new' }, GLOBEX.id)).toMatchObject({ status: 'completed' })
    expect(await proxied('Acme')).toEqual([200, `/ex/${ACME.id}/issues`])
    expect(await proxied('Globex')).toEqual([200, `/ex/${GLOBEX.id}/issues`])
    // the same tenant again renews its connection
    await connect({ account: 'new' }, GLOBEX.id)
    expect(await connections()).toHaveLength(2)

    // a revocation would end the other tenant's access too
    const ofAcme = (await connections()).find(
      ({ account }: { account: { name: string } }) => account.name === 'Acme',
    )
    expect((await call('DELETE', `/v1/connections/${ofAcme.id}`)).body.revocation).toBe('unsupported')
    expect(provider.revoked).toEqual([])
    const [last] = await connections()
    expect((await call('DELETE', `/v1/connections/${last.id}`)).body.revocation).toBe('revoked')
  })

  test.each([
    ['its name', () => 'Globex'],
    ['its connection', ({ id }: { id: string }) => id],
    ['its account', ({ account }: { account: { id: string } }) => account.id],
  ])('the tenant that is asked for by %s is taken without a choice', async (by, nameOf) => {
    await add()
    if (by !== 'its name') await connect({}, GLOBEX.id)
    const [known] = await connections()
    const needs = { auth_requirement: { id: entry, oauth2: { scopes: ['read', 'write'] } } }
    expect(await connect({ account: nameOf(known), ...needs })).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { name: 'Globex' } }])
  })

  test('a tenant that is asked for and not listed is another account', async () => {
    await add()
    expect(await connect({ account: 'Initech' })).toMatchObject({
      status: 'failed',
      reason: 'account_mismatch',
    })
    expect(provider.live.size).toBe(0)
  })

  test('a provider that does not name the person: the tenant is the account, until it does', async () => {
    await add()
    provider.user = ''
    await connect({}, ACME.id)
    expect(await connections()).toMatchObject([{ account: { id: ACME.id, name: 'Acme' } }])
    provider.user = 'ada'
    await connect({ auth_requirement: { id: entry, oauth2: { scopes: ['write'] } } }, ACME.id)
    expect(await connections()).toMatchObject([{ account: { id: `${ACME.id}:ada`, name: 'Acme' } }])
  })

  describe('a grant that waits for a choice is revoked', () => {
    test('when the link expires', async () => {
      const { id, browser, url } = await held()
      clock.advance(3600)
      expect((await browser.post(url, { choice: ACME.id })).status).toBe(410)
      await forgetResponses(gatepass.broker)
      expect(provider.live.size).toBe(0)
      expect(await statusOf(id)).toMatchObject({ status: 'failed', reason: 'expired' })
      expect(await causeOf(id)).toMatchObject({ code: 'not_chosen' })
    })

    test('when the user cancels', async () => {
      const { id, browser, url } = await held()
      await browser.post(`${url}/cancel`, {}, { from: url })
      expect(await statusOf(id)).toMatchObject({ status: 'failed', reason: 'access_denied' })
      expect(provider.live.size).toBe(0)
    })

    test('when the user approves once more', async () => {
      const { browser, url } = await held()
      await browser.post(url)
      expect(provider.live.size).toBe(0)
    })

    test('when the user is erased', async () => {
      const { id, browser, url } = await held()
      const { projectId } = (await gatepass.broker.store.authorizations.find(id)) ?? expect.fail('no row')
      await eraseUser(gatepass.broker, { projectId, userId: 'u1' })
      expect(provider.live.size).toBe(0)
      await browser.post(url, { choice: ACME.id })
      expect(await connections()).toEqual([])
    })

    test('when the entry is deleted', async () => {
      const { browser, url } = await held()
      await call('DELETE', `/v1/admin/auth_providers/${entry}`)
      expect(provider.live.size).toBe(0)
      expect((await browser.post(url, { choice: ACME.id })).status).toBeLessThan(500)
    })

    test('unless it may be that of a connection of the user', async () => {
      await add()
      await connect({}, ACME.id)
      const { url } = await begin({ account: 'new' })
      const browser = new UserAgent()
      await walk(url, browser)
      await browser.post(`${url}/cancel`, {}, { from: url })
      expect(provider.revoked).toEqual([])
      expect(await proxied()).toEqual([200, `/ex/${ACME.id}/issues`])
    })

    test('but not after a change of the entry, whose choice is refused', async () => {
      const { id, browser, url } = await held()
      const oauth2 = { token_request: { endpoint: `${provider.server.url}/other` } }
      await call('PATCH', `/v1/admin/auth_providers/${entry}`, { oauth2 })
      await browser.post(url, { choice: ACME.id })
      expect(await statusOf(id)).toMatchObject({ status: 'failed', reason: 'provider_changed' })
      expect(provider.revoked).toEqual([])
      expect(await connections()).toEqual([])
    })
  })

  test('no response of the provider takes the place of the choice', async () => {
    const { id, browser, page } = await held()
    const [back] = page.hops.filter(({ url }) => url.includes('/callback/'))
    const forged = new URL(back?.url ?? '')
    for (const [name, value] of [
      ['choice', VICTIM.id],
      [
        'grant',
        JSON.stringify({ accessToken: 'forged', tokenType: 'Bearer', account: { id: 'eve', name: '' } }),
      ],
    ] as const)
      forged.searchParams.set(name, value)
    await browser.get(forged)
    expect((await statusOf(id)).status).toBe('pending')
    expect(await connections()).toEqual([])
  })

  test('tokens that wait are in no URL, page, answer, event, log line, trail or audit entry', async () => {
    const { id, url, browser, page } = await held()
    const tokens = [...provider.live.keys()]
    const shown = [
      ...page.hops.map(({ location }) => location),
      page.body,
      (await browser.get(url)).body,
      JSON.stringify(await statusOf(id)),
      JSON.stringify((await call('GET', `/v1/auth/${id}/explain`)).body),
    ]
    await browser.post(url, { choice: ACME.id })
    shown.push(
      JSON.stringify((await call('GET', `/v1/auth/${id}/explain`)).body),
      JSON.stringify((await call('GET', '/v1/admin/audit')).body),
      ...gatepass.logLines,
    )
    if (kind === 'SQLite')
      for (const file of [gatepass.databasePath, `${gatepass.databasePath}-wal`])
        shown.push((await readFile(file).catch(() => Buffer.alloc(0))).toString('latin1'))
    const found = [...tokens, 'the-client-secret'].filter((secret) => shown.join('\n').includes(secret))
    expect(found).toEqual([])
  })

  test.each([
    [{ kept_values: undefined, api: undefined }, 'oauth2.choices_request'],
    [{ choices_request: undefined }, 'oauth2.kept_values.cloud_id.from'],
    [
      { choices_request: { endpoint: 'https://api.example/tenants', scopes: '$.scopes' } },
      'oauth2.choices_request.scopes',
    ],
    [
      { choices_request: { endpoint: 'https://api.example/tenants', at: '$..x' } },
      'oauth2.choices_request.at',
    ],
    [{ grant: { type: 'device_code' } }, 'oauth2.choices_request'],
  ])('the entry refuses %j', async (oauth2, path) => {
    const body = { id: entry, oauth2: provider.entry(oauth2) }
    const refused = await call('POST', '/v1/admin/auth_providers', body)
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toContain(path)
  })
})

describe('two processes on one database', () => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'on %s the choice is made at the other one, after the first was stopped',
    async (kind) => {
      const provider = await startTenantServer()
      closing.push(() => provider.server.close())
      provider.tenants = [ACME, GLOBEX]
      const environment: Record<string, string> = {}
      if (kind === 'PostgreSQL') {
        const postgres = await startPostgres()
        closing.push(() => postgres.close())
        environment.GATEPASS_DATABASE_URL = postgres.url
      }
      const first = await startGatepass({ environment })
      const second = await startGatepass({
        environment,
        ...(kind === 'SQLite' && { databasePath: first.databasePath }),
      })
      closing.push(() => second.close())
      await first.call('POST', '/v1/admin/auth_providers', { id: 'sites', oauth2: provider.entry() })
      const { body } = await first.call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'sites', oauth2: { scopes: [] } },
        user_id: 'u1',
      })
      const browser = new UserAgent()
      await browser.submitForm(await browser.get(body.url))
      await first.close()

      const elsewhere = body.url.replace(first.url, second.url)
      // cookies of a test's browser belong to a port
      const [cookie] = Object.entries(browser.cookies(body.url))
      const headers = { cookie: `${cookie?.[0]}=${cookie?.[1]}` }
      const other = new UserAgent()
      expect((await other.get(elsewhere, { headers })).body).toContain('Globex')
      await other.post(elsewhere, { choice: GLOBEX.id }, { headers })
      expect((await second.call('GET', `/v1/auth/status?id=${body.id}`)).body.status).toBe('completed')
      const { items } = (await second.call('GET', '/v1/connections?user_id=u1')).body
      expect(items).toMatchObject([{ account: { name: 'Globex' } }])
    },
  )
})

test('with a page of the caller, the choice comes after its confirmation', async () => {
  const provider = await startTenantServer()
  await using _server = provider.server
  provider.tenants = [ACME, GLOBEX]
  await using gatepass = await startGatepass({
    environment: { GATEPASS_USER_VERIFIER: `${provider.server.url}/verify` },
  })
  const { call } = gatepass
  await call('POST', '/v1/admin/auth_providers', { id: 'sites', oauth2: provider.entry() })
  const auth_requirement = { id: 'sites', oauth2: { scopes: [] } }
  const { body } = await call('POST', '/v1/auth/authorize', { auth_requirement, user_id: 'u1' })
  const browser = new UserAgent()
  await browser.submitForm(await browser.get(body.url))
  expect(provider.redeemed).toHaveLength(0)
  const flow_id = provider.called.at(-1)?.query.flow_id
  const confirmed = await call('POST', '/v1/auth/confirm_user', { flow_id, user_id: 'u1' })
  expect((await browser.follow(confirmed.body.next_uri)).body).toContain('Globex')
  await browser.post(body.url, { choice: GLOBEX.id })
  const { items } = (await call('GET', '/v1/connections?user_id=u1')).body
  expect(items).toMatchObject([{ account: { name: 'Globex' } }])
})
