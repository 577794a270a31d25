import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { type GitHubAppServer, startGitHubApp } from '../github-app-server.ts'
import { UserAgent } from '../user-agent.ts'

// The grant `installation`: consent, choice, and tokens of one installation of the client.

/** An entry whose provider does not tell what an installation grants. */
const NOT_TELLING = (server: string) => ({
  installations_request: {
    endpoint: `${server}/user/installations`,
    at: '$.installations',
    id: '$.id',
    name: '$.account.login',
  },
})

/** What makes an entry one of installations, left out. */
const WITHOUT_GRANT = {
  grant: undefined,
  client_secret: 's',
  assertion: undefined,
  installations_request: undefined,
  installation_token_request: undefined,
  installation_uri: undefined,
  installation_help_uri: undefined,
}

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let github: GitHubAppServer
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string

  beforeAll(async () => {
    github = await startGitHubApp(clock)
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await github.server.close()
  })
  beforeEach(async () => {
    entry = `app-${++entries}`
    Object.assign(github, { user: 'ada', told: '99', limited: false, installations: [] })
    for (const list of [github.asked, github.redeemed, github.listed, github.called, github.refusals])
      list.length = 0
  })

  const install = (id: number, account: string, more: object = {}) => {
    const one = { id, account, permissions: { contents: 'write', issues: 'read' }, users: ['ada'], ...more }
    github.installations.push(one)
    return one as GitHubAppServer['installations'][number]
  }
  const add = async (oauth2: object = {}) => {
    const added = await call('POST', '/v1/admin/auth_providers', { id: entry, oauth2: github.entry(oauth2) })
    expect(added).toMatchObject({ status: 201 })
    github.callbackUrl.value = added.body.oauth2.redirect_uri
    return added.body
  }
  const begin = async (scopes: string[] = ['contents:read'], user_id = 'u1', more: object = {}) => {
    const { body } = await call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: entry, oauth2: { scopes } },
      user_id,
      ...more,
    })
    return body as { id: string; url: string; status: string }
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/auth/status?id=${id}`)).body
  const walk = async (url: string, browser = new UserAgent()) => browser.submitForm(await browser.get(url))
  const connect = async (scopes?: string[], user?: string, more?: object) => {
    const { id, url } = await begin(scopes, user, more)
    await walk(url)
    return statusOf(id)
  }
  const proxy = (scopes = '', userId = 'u1', headers: Record<string, string> = {}) =>
    call('GET', `/proxy/${entry}/repos`, undefined, {
      headers: {
        'x-gatepass-user': userId,
        ...(scopes !== '' && { 'x-gatepass-scopes': scopes }),
        ...headers,
      },
    })
  const connections = async (userId = 'u1') =>
    (await call('GET', `/v1/connections?user_id=${userId}`)).body.items.filter(
      ({ provider_id: id }: { provider_id: string }) => id === entry,
    )

  test('one installation is taken; the client signs for a token of exactly what was asked for', async () => {
    install(42, 'acme')
    expect(await add()).toMatchObject({
      owner: 'user',
      oauth2: {
        grant: { type: 'installation' },
        installations_request: { at: '$.installations', id: '$.id', scopes: '$.permissions' },
        installation_token_request: { request_content_type: 'application/json' },
        client_secret: { exists: true },
      },
    })
    const { id, url } = await begin()
    const page = await walk(url)
    expect(page.body).toContain('acme')
    expect(await statusOf(id)).toMatchObject({ status: 'completed', scopes: ['contents:read'] })
    expect(github.redeemed[0]?.params).toMatchObject({ client_secret: github.clientSecret })
    expect(await connections()).toMatchObject([{ account: { id: '42', name: 'acme' }, status: 'active' }])
    const answered = await proxy()
    expect(answered).toMatchObject({ status: 200, body: { id: 42, permissions: { contents: 'read' } } })
    expect(github.asked).toHaveLength(1)
    const [{ assertion, path, json } = { assertion: '', path: '', json: {} }] = github.asked
    expect(path).toBe('/app/installations/42/access_tokens')
    expect(json).toEqual({ permissions: { contents: 'read' } })
    const now = clock()
    expect(decodeJwt(assertion)).toEqual({
      iss: github.clientId,
      iat: now - 60,
      exp: now + 240,
      jti: expect.any(String),
    })
  })

  test('a hundred calls share one token request, and another follows when the token ends', async () => {
    install(42, 'acme')
    await add()
    await connect()
    const calls = await Promise.all(Array.from({ length: 100 }, () => proxy()))
    expect(calls.map(({ status }) => status)).toEqual(Array(100).fill(200))
    expect(github.asked).toHaveLength(1)
    clock.advance(3600)
    await Promise.all(Array.from({ length: 20 }, () => proxy()))
    expect(github.asked).toHaveLength(2)
  })

  test('each set of permissions has a token of its own, in no list, gone with the connection', async () => {
    install(42, 'acme')
    await add()
    await connect(['contents:read', 'issues:read'])
    const both = await proxy()
    const one = await proxy('contents:read')
    await proxy('contents:read')
    const other = await proxy('issues:read')
    expect([both, one, other].map(({ body }) => body.permissions)).toEqual([
      { contents: 'read', issues: 'read' },
      { contents: 'read' },
      { issues: 'read' },
    ])
    expect(github.asked).toHaveLength(3)
    const [connection, ...more] = await connections()
    expect(more).toEqual([])
    const trail = await call('GET', `/v1/admin/audit?action=token.released&provider_id=${entry}`)
    const named = trail.body.items.map(({ connection_id: id }: { connection_id: string }) => id)
    expect(new Set(named)).toEqual(new Set([connection.id]))
    const rest = await gatepass.broker.store.connections.ofOwner({
      projectId: (await gatepass.broker.store.connections.find(connection.id))?.projectId ?? '',
      userId: 'u1',
      providerUid: (await gatepass.broker.store.connections.find(connection.id))?.providerUid ?? '',
    })
    expect(rest).toHaveLength(3)
    const deleted = await call('DELETE', `/v1/connections/${connection.id}`)
    expect(deleted.body.revocation).toBe('unsupported')
    for (const { id } of rest) expect(await gatepass.broker.store.connections.find(id)).toBeUndefined()
    expect(await proxy('contents:read')).toMatchObject({
      status: 403,
      body: { name: 'authorization_required' },
    })
  })

  test('what the browser says of the installation is never read: only what the provider lists is offered', async () => {
    install(42, 'acme')
    install(66, 'victim', { users: ['eve'] })
    github.told = '66'
    await add()
    expect(await connect()).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { id: '42' } }])
    github.installations = github.installations.filter(({ id }) => id !== 42)
    const { id, url } = await begin(['contents:read'], 'u2')
    const page = await walk(url)
    expect(page.body).not.toContain('victim')
    expect((await statusOf(id)).status).toBe('pending')
    expect(await connections('u2')).toEqual([])
  })

  test('of several, the browser that approved chooses; no other browser, and nothing that was not offered', async () => {
    install(42, 'acme')
    install(43, 'globex')
    install(44, 'initech')
    install(66, 'victim', { users: ['eve'] })
    await add()
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await walk(url, browser)
    for (const name of ['acme', 'globex', 'initech']) expect(page.body).toContain(name)
    expect(page.body).not.toContain('victim')
    expect((await statusOf(id)).status).toBe('pending')
    expect(await connections()).toEqual([])

    const stranger = new UserAgent()
    expect((await stranger.get(url)).body).not.toContain('globex')
    expect((await stranger.post(url, { choice: '43' })).status).toBe(403)
    expect((await browser.post(url, { choice: '66' })).status).toBe(403)
    expect(
      (
        await browser.post(
          url,
          { choice: '43' },
          { headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' } },
        )
      ).status,
    ).toBe(403)
    expect((await statusOf(id)).status).toBe('pending')

    const chosen = await browser.post(url, { choice: '43' })
    expect(chosen.status).toBe(303)
    expect(await statusOf(id)).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { id: '43', name: 'globex' } }])
    expect((await proxy()).body.id).toBe(43)
    expect(github.redeemed).toHaveLength(1)
  })

  test('the account that was asked for is taken without a choice', async () => {
    install(42, 'acme')
    install(43, 'globex')
    await add()
    expect(await connect(['contents:read'], 'u1', { account: 'globex' })).toMatchObject({
      status: 'completed',
    })
    expect(await connections()).toMatchObject([{ account: { name: 'globex' } }])
  })

  test('without an installation the page leads to where it is installed, and back', async () => {
    await add()
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await walk(url, browser)
    expect((await statusOf(id)).status).toBe('pending')
    const link = /href="([^"]+\/apps\/gatepass-test\/installations\/new\?state=[^"]+)"/.exec(page.body)?.[1]
    expect((await new UserAgent().get(url)).body).not.toContain('installations/new')
    await browser.follow(link ?? '')
    expect(await statusOf(id)).toMatchObject({ status: 'completed' })
    expect(await connections()).toMatchObject([{ account: { id: '77' } }])
    // a code of an authorization request each time: those have a challenge
    expect(github.redeemed.map(({ params }) => typeof params.code_verifier)).toEqual(['string', 'string'])
  })

  test('a code that comes from the page where it is installed is not redeemed, be it a stranger’s', async () => {
    await add()
    const { id, url } = await begin()
    const browser = new UserAgent()
    const page = await walk(url, browser)
    const link = /href="([^"]+\/apps\/gatepass-test\/installations\/new\?state=[^"]+)"/.exec(page.body)?.[1]
    const state = new URL(link ?? '').searchParams.get('state') ?? ''
    install(66, 'victim', { users: ['eve'] })
    github.codes.set('code-of-eve', { user: 'eve', challenge: null, used: false })
    const back = new URL(github.callbackUrl.value)
    back.search = new URLSearchParams({ code: 'code-of-eve', state, installation_id: '66' }).toString()
    await new UserAgent().get(back.href)
    expect((await browser.follow(back.href)).body).toContain('installations/new')
    expect(github.redeemed.map(({ params }) => params.code)).not.toContain('code-of-eve')
    expect((await statusOf(id)).status).toBe('pending')
    expect(await connections()).toEqual([])
  })

  test('a use that still knows a connection which the user has just deleted gets no token', async () => {
    install(42, 'acme')
    await add()
    await connect(['contents:read', 'issues:read'])
    expect((await proxy()).status).toBe(200)
    const [{ id }] = await connections()
    const { store } = gatepass.broker
    const { projectId, userId, providerUid } = (await store.connections.find(id)) ?? expect.fail('no row')
    const { addImported } = store.connections
    const added = vi.spyOn(store.connections, 'addImported').mockImplementationOnce(async (...row) => {
      await call('DELETE', `/v1/connections/${id}`)
      return addImported(...row)
    })
    const asked = github.asked.length
    expect((await proxy('contents:read')).status).toBe(403)
    expect(added).toHaveBeenCalledOnce()
    added.mockRestore()
    expect(github.asked).toHaveLength(asked)
    expect(await store.connections.ofOwner({ projectId, userId, providerUid })).toEqual([])
  })

  test('a connection without any granted permission gets no token with all of them', async () => {
    install(42, 'acme', { permissions: { issues: 'write' } })
    await add()
    await connect(['contents:read'])
    expect(await proxy()).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(github.asked).toEqual([])
  })

  test.each([
    ['tells', () => ({})],
    ['does not tell', NOT_TELLING],
  ])(
    'that %s what is granted: a need without scopes gets no token with all of them, unless the entry says so',
    async (_, more) => {
      install(42, 'acme')
      await add(more(github.server.url))
      await connect([])
      const refused = await proxy()
      expect(refused).toMatchObject({
        status: 403,
        body: { name: 'authorization_required', message: expect.stringContaining('default_scopes') },
      })
      expect(JSON.stringify(refused.body)).not.toContain('/connect/')
      expect(github.asked).toEqual([])

      // named scopes, or those of the entry, have a link and then a token of exactly these
      const path = `/v1/admin/auth_providers/${entry}`
      await call('PATCH', path, { oauth2: { default_scopes: ['issues:read'] } })
      const required = await proxy()
      expect(required).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
      await walk(required.body.requires_authorization.url)
      expect((await proxy()).body.permissions).toEqual({ issues: 'read' })

      await call('PATCH', path, { oauth2: { default_scopes: null, unscoped_tokens: true } })
      clock.advance(60)
      await connect([], 'u2')
      expect(await proxy('', 'u2')).toMatchObject({
        status: 200,
        body: { permissions: { contents: 'write', issues: 'read' } },
      })
    },
  )

  test('no account hides its connection from the user by its name', async () => {
    const endpoint = `${github.server.url}/oauth`
    const plain = {
      client_id: 'c',
      client_secret: 's',
      authorize_request: { endpoint },
      token_request: { endpoint },
    }
    await call('POST', '/v1/admin/auth_providers', { id: entry, oauth2: plain })
    const id = `of_conn_${'0'.repeat(32)} ${'A'.repeat(43)}`
    const connection = { user_id: 'u1', provider_id: entry, access_token: 'token-1', account: { id } }
    const sent = await call('POST', '/v1/admin/user_connections/import', { connections: [connection] })
    expect(sent.body.items).toMatchObject([{ result: 'created' }])
    expect(await connections()).toMatchObject([{ account: { id: `_${id}` } }])
  })

  test('an administrator cannot import one: the provider alone tells whose installation it is', async () => {
    install(42, 'acme')
    await add()
    for (const account of [{ id: '42', name: 'acme' }, { id: '' }, undefined]) {
      const connection = {
        user_id: 'u1',
        provider_id: entry,
        access_token: 'token-1',
        scopes: ['contents:read'],
        account,
      }
      const sent = await call('POST', '/v1/admin/user_connections/import', { connections: [connection] })
      expect(sent.body.items).toMatchObject([{ result: 'refused', member: 'provider_id' }])
    }
    expect(await connections()).toEqual([])
    expect((await proxy()).status).toBe(403)
    expect(github.asked).toEqual([])
  })

  test('a removed and a suspended installation need a new consent', async () => {
    const acme = install(42, 'acme')
    await add()
    await connect(['contents:read', 'issues:read'])
    expect((await proxy('contents:read')).status).toBe(200)
    acme.suspended = true
    clock.advance(3600)
    expect(await proxy('contents:read')).toMatchObject({
      status: 403,
      body: { name: 'authorization_required' },
    })
    expect(await connections()).toMatchObject([
      { status: 'needs_authorization', status_reason: 'installation_removed' },
    ])
    acme.suspended = false
    clock.advance(60)
    await connect(['contents:read', 'issues:read'])
    expect((await proxy('contents:read')).status).toBe(200)
    github.installations = []
    clock.advance(3600)
    expect((await proxy()).status).toBe(403)
    const [{ id }] = await connections()
    expect(await call('POST', `/v1/connections/${id}/token`)).toMatchObject({
      status: 403,
      body: { name: 'authorization_required', cause: { code: 'installation_removed', who: 'user' } },
    })
    expect(await connections()).toMatchObject([
      { status: 'needs_authorization', status_reason: 'installation_removed' },
    ])
  })

  test('a permission that the installation does not have is missing, not a fault', async () => {
    const acme = install(42, 'acme', { permissions: { contents: 'read' } })
    await add()
    expect(await connect(['contents:read', 'issues:read'])).toMatchObject({
      status: 'completed',
      missing_scopes: ['issues:read'],
    })
    expect((await proxy('issues:read')).status).toBe(403)
    acme.permissions = { contents: 'read', issues: 'read' }
    clock.advance(60)
    await connect(['contents:read', 'issues:read'])
    expect((await proxy('issues:read')).status).toBe(200)
    acme.permissions = { contents: 'read' }
    clock.advance(3600)
    const refused = await proxy('issues:read')
    expect(github.refusals.at(-1)).toMatch(/^422/)
    expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    // one link for all calls, and no question to the provider for each
    const asked = github.asked.length
    const again = await Promise.all([proxy('issues:read'), proxy('issues:read')])
    expect(new Set(again.map(({ body }) => body.requires_authorization.url))).toEqual(
      new Set([refused.body.requires_authorization.url]),
    )
    expect(github.asked).toHaveLength(asked)
    expect((await proxy('contents:read')).status).toBe(200)
    expect(await connections()).toMatchObject([{ status: 'active' }])
  })

  test('a permission that no consent can bring has no link, where the provider does not tell what is granted', async () => {
    const acme = install(42, 'acme', { permissions: { contents: 'read' } })
    await add(NOT_TELLING(github.server.url))
    await connect(['contents:read', 'issues:read'])
    for (let calls = 0; calls < 3; calls++) {
      const refused = await proxy('issues:read')
      expect(refused).toMatchObject({
        status: 409,
        body: { name: 'scopes_not_granted', message: expect.stringContaining('issues:read') },
      })
      expect(JSON.stringify(refused.body)).not.toContain('/connect/')
      clock.advance(60)
    }
    expect(await connections()).toMatchObject([{ status: 'active' }])
    acme.permissions = { contents: 'read', issues: 'read' }
    expect((await proxy('issues:read')).status).toBe(200)
  })

  test('a wrong key is the fault of the operator: no link, and it works once the key is right', async () => {
    install(42, 'acme')
    await add()
    await connect()
    clock.advance(3600)
    const { clientSecret } = github
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { client_secret: `${clientSecret}\n${github.otherKey()}` },
    })
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 502, body: { name: 'token_request_refused' } })
    expect(JSON.stringify(refused.body)).not.toMatch(/connect\/|eyJ|PRIVATE KEY/)
    expect(await connections()).toMatchObject([{ status: 'active' }])
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: { client_secret: `${clientSecret}\n${github.privateKey}` },
    })
    clock.advance(60)
    expect((await proxy()).status).toBe(200)
  })

  test('a limit on requests is no suspension', async () => {
    install(42, 'acme')
    await add()
    await connect()
    clock.advance(3600)
    github.limited = true
    expect((await proxy()).status).toBe(503)
    expect(await connections()).toMatchObject([{ status: 'active' }])
  })

  test('no token, key, assertion or secret is logged, recorded, answered or shown', async () => {
    install(42, 'acme')
    install(43, 'globex')
    await add()
    const { url } = await begin()
    const browser = new UserAgent()
    const pages = [await walk(url, browser)]
    pages.push(await browser.post(url, { choice: '42' }))
    const answers = [await proxy()]
    clock.advance(3600)
    github.publicKey = (await startGitHubApp(clock)).publicKey
    answers.push(await proxy())
    expect(answers.map(({ status }) => status)).toEqual([200, 502])
    const entryNow = await call('GET', `/v1/admin/auth_providers/${entry}`)
    const recorded = await call('GET', '/v1/admin/audit')
    const told = JSON.stringify([
      answers.map(({ status, body }) => [status, body]),
      entryNow.body,
      recorded.body,
      gatepass.logLines,
      pages.map(({ body, hops }) => [body, hops]),
    ])
    const secrets = [
      ...github.asked.flatMap(({ assertion }) => [assertion, ...assertion.split('.').slice(1)]),
      ...github.userTokens.keys(),
      ...github.tokens.keys(),
      github.clientSecret,
      'PRIVATE KEY',
    ]
    for (const secret of secrets) expect(told).not.toContain(secret)
  })

  test.each([
    [{ client_secret: 'only-a-secret' }, 'oauth2.client_secret'],
    [{ installations_request: undefined }, 'oauth2.installations_request'],
    [{ installation_token_request: undefined }, 'oauth2.installation_token_request'],
    [{ assertion: { algorithm: 'RS256', lifetime: 69 } }, 'oauth2.assertion.lifetime'],
    [{ installation_uri: 'http://elsewhere.example/new' }, 'oauth2.installation_uri'],
    [{ installation_uri: 'https://{{slug}}/new' }, 'oauth2.installation_uri'],
    [{ refresh_request: { endpoint: 'https://idp.example/token' } }, 'oauth2.refresh_request'],
    [{ grant: undefined, client_secret: 's' }, 'oauth2.installations_request'],
    [{ dpop: { algorithm: 'ES256' } }, 'oauth2.dpop'],
    [{ public_clients: true }, 'oauth2.public_clients'],
    [{ ...WITHOUT_GRANT, unscoped_tokens: true }, 'oauth2.unscoped_tokens'],
    [
      { installation_token_request: { endpoint: 'https://api.example/{{installation_id}}/tokens' } },
      'oauth2.installation_token_request.params',
    ],
  ])('the entry refuses %j', async (oauth2, path) => {
    const refused = await call('POST', '/v1/admin/auth_providers', {
      id: entry,
      oauth2: github.entry(oauth2),
    })
    expect(refused.status).toBe(400)
    expect(refused.body.errors.map((fault: { path: string }) => fault.path)).toContain(path)
  })

  test('the project has no such connections yet', async () => {
    const refused = await call('POST', '/v1/admin/auth_providers', {
      id: entry,
      owner: 'project',
      oauth2: github.entry(),
    })
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: 'owner' }] } })
  })
})

test('with a page of the caller, the choice comes after its confirmation', async () => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  const github = await startGitHubApp(clock)
  await using _server = github.server
  await using gatepass = await startGatepass({
    now: clock,
    environment: { GATEPASS_USER_VERIFIER: `${github.server.url}/verify` },
  })
  for (const [id, account] of [
    [42, 'acme'],
    [43, 'globex'],
  ] as const)
    github.installations.push({ id, account, permissions: { contents: 'read' }, users: ['ada'] })
  await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'app', oauth2: github.entry() })
  const auth_requirement = { id: 'app', oauth2: { scopes: ['contents:read'] } }
  const { body } = await gatepass.call('POST', '/v1/auth/authorize', { auth_requirement, user_id: 'u1' })
  const browser = new UserAgent()
  await browser.submitForm(await browser.get(body.url))
  const [visit] = github.called
  expect(github.redeemed).toHaveLength(0)
  const confirmed = await gatepass.call('POST', '/v1/auth/confirm_user', {
    flow_id: visit?.query.flow_id,
    user_id: 'u1',
  })
  const page = await browser.follow(confirmed.body.next_uri)
  expect(page.body).toContain('globex')
  await browser.post(body.url, { choice: '43' })
  const { body: ended } = await gatepass.call('GET', `/v1/auth/status?id=${body.id}`)
  expect(ended.status).toBe('completed')
  const { items } = (await gatepass.call('GET', '/v1/connections?user_id=u1')).body
  expect(items).toMatchObject([{ account: { id: '43', name: 'globex' } }])
})
