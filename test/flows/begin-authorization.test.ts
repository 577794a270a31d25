import { describe, expect, test } from 'vitest'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { UserAgent } from '../user-agent.ts'
import { addProvider, click, importEntry, startScene } from './fixtures.ts'

describe('authorize', () => {
  test('answers a pending authorization with the link, and no token', async () => {
    await using scene = await startScene()
    const { status, body } = await scene.authorize({ scopes: ['read', 'write'] })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^auth_/),
      status: 'pending',
      url: `${scene.gatepass.url}/connect/${body.id}`,
      user_id: 'u1',
      provider_id: 'demo',
      scopes: ['read', 'write'],
      context: {},
      expires_at: new Date((scene.clock() + 600) * 1000).toISOString(),
    })
  })

  test('the same user, provider and scopes share one live authorization, in any order of scopes', async () => {
    await using scene = await startScene()
    const first = await scene.authorize({ scopes: ['read', 'write'] })
    const again = await scene.authorize({ scopes: ['write', 'read'] })
    expect(again.body.id).toBe(first.body.id)
    for (const other of [{ scopes: ['read'] }, { scopes: ['read', 'write'], user_id: 'u2' }])
      expect((await scene.authorize(other)).body.id).not.toBe(first.body.id)
    scene.clock.advance(601)
    expect((await scene.authorize({ scopes: ['read', 'write'] })).body.id).not.toBe(first.body.id)
  })

  test('20 at once share one', async () => {
    await using scene = await startScene()
    const answers = await Promise.all(Array.from({ length: 20 }, () => scene.authorize()))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
  })

  test('covered scopes are completed at once, with an id, the token and who approved', async () => {
    await using scene = await startScene()
    await scene.connect({ scopes: ['read', 'write'] })
    const { status, body } = await scene.authorize({ scopes: ['read'] })
    expect(status).toBe(200)
    expect(body).toEqual({
      id: expect.stringMatching(/^conn_/),
      status: 'completed',
      user_id: 'u1',
      provider_id: 'demo',
      scopes: ['read', 'write'],
      context: {
        token: expect.stringMatching(/^at_/),
        token_type: 'bearer',
        expires_at: expect.stringMatching(/^\d{4}-/),
        user_info: scene.as.account,
      },
    })
    expect(scene.as.isLive(body.context.token)).toBe(true)
    expect((await scene.status(body.id)).body).toEqual(body)
    expect((await scene.authorize({ user_id: 'u2' })).body.status).toBe('pending')
  })

  test('more scopes ask for the union, and the grant then holds it', async () => {
    await using scene = await startScene()
    await scene.connect({ scopes: ['read'] })
    const more = await scene.authorize({ scopes: ['write'] })
    expect(more.body).toMatchObject({ status: 'pending' })
    expect([...more.body.scopes].sort()).toEqual(['read', 'write'])
    await click(more.body.url)
    expect(scene.as.requestsTo('/authorize').at(-1)?.params.scope?.split(' ').sort()).toEqual([
      'read',
      'write',
    ])
    expect((await scene.authorize({ scopes: ['read', 'write'] })).body.status).toBe('completed')
    expect((await scene.call('GET', '/v1/connections')).body.total_count).toBe(1)
  })

  test('no scopes: the entry’s own are asked for, and any grant covers', async () => {
    await using scene = await startScene({ oauth2: false })
    await importEntry(scene.gatepass, scene.as, { scopes: ['profile', 'mail'] })
    const begun = await scene.authorize({ scopes: [] })
    expect(begun.body).toMatchObject({ status: 'pending', scopes: ['profile', 'mail'] })
    await click(begun.body.url)
    expect((await scene.authorize({ scopes: [] })).body).toMatchObject({ status: 'completed' })
  })

  test('no scopes anywhere: none are sent', async () => {
    await using scene = await startScene()
    expect((await scene.connect({ scopes: [] })).body).toMatchObject({ status: 'completed', scopes: [] })
    expect(scene.as.requestsTo('/authorize')[0]?.params).not.toHaveProperty('scope')
  })

  test('a bare key is taken as well as Bearer', async () => {
    await using scene = await startScene()
    const headers = { authorization: scene.gatepass.apiKey }
    expect((await scene.call('GET', '/v1/connections', undefined, { key: null, headers })).status).toBe(200)
  })

  test('a second account is asked for by `new`, and each answers to its name', async () => {
    await using scene = await startScene()
    const { as } = scene
    const ada = (await scene.connect()).body.context.token
    as.account = { ...as.account, sub: 'u-2', email: 'bob@example.test' }
    const more = await scene.authorize({ account: 'new' })
    expect(more.body.status).toBe('pending')
    await click(more.body.url)
    const listed = await scene.call('GET', '/v1/connections?user_id=u1')
    expect(listed.body.items.map((one: { default: boolean }) => one.default).sort()).toEqual([false, true])
    const tokenOf = async (account?: string) =>
      (await scene.authorize(account === undefined ? {} : { account })).body.context.token
    expect(await tokenOf()).toBe(ada)
    expect(await tokenOf('ada@example.test')).toBe(ada)
    expect(as.accountOf(await tokenOf('u-2'))).toMatchObject({ sub: 'u-2' })
    expect(as.accountOf(await tokenOf('bob@example.test'))).toMatchObject({ sub: 'u-2' })
    expect((await scene.authorize({ account: 'carol' })).body.status).toBe('pending')
  })

  test('two entries of one kind: the kind alone is refused, naming both; an id is taken', async () => {
    await using scene = await startScene({ oauth2: false })
    for (const id of ['one', 'two'])
      await addProvider(scene.gatepass, scene.as, {}, { id, provider_id: 'acme' })
    const body = (requirement: object) => ({ auth_requirement: requirement, user_id: 'u1' })
    const refused = await scene.call('POST', '/v1/auth/authorize', body({ provider_id: 'acme' }))
    expect(refused).toMatchObject({ status: 400, body: { name: 'provider_not_found' } })
    expect(refused.body.message).toMatch(/"one".*"two"/)
    for (const requirement of [{ id: 'two' }, { provider_id: 'two' }])
      expect(await scene.call('POST', '/v1/auth/authorize', body(requirement))).toMatchObject({
        status: 200,
        body: { provider_id: 'two' },
      })
  })

  test('one entry of a kind answers to the kind', async () => {
    await using scene = await startScene({ oauth2: false })
    await addProvider(scene.gatepass, scene.as, {}, { id: 'mine', provider_id: 'acme' })
    const need = { auth_requirement: { provider_id: 'acme' }, user_id: 'u1' }
    expect((await scene.call('POST', '/v1/auth/authorize', need)).body.provider_id).toBe('mine')
  })

  test.each([
    ['an unknown provider', { auth_requirement: { id: 'nope' }, user_id: 'u1' }, 'provider_not_found'],
    ['no provider', { auth_requirement: {}, user_id: 'u1' }, 'invalid_request'],
    ['no user', { auth_requirement: { id: 'demo' } }, 'invalid_request'],
    ['an empty user', { auth_requirement: { id: 'demo' }, user_id: '' }, 'invalid_request'],
    [
      'another type',
      { auth_requirement: { id: 'demo', provider_type: 'saml' }, user_id: 'u1' },
      'invalid_request',
    ],
    ['a list', [], 'invalid_request'],
  ])('refuses %s', async (_, body, name) => {
    await using scene = await startScene()
    expect(await scene.call('POST', '/v1/auth/authorize', body)).toMatchObject({
      status: 400,
      body: { name, message: expect.stringMatching(/\w+/) },
    })
  })

  test('an incomplete provider: the message names the entry, the variables and the redirect URI', async () => {
    await using scene = await startScene({ oauth2: false })
    const imported = await importEntry(scene.gatepass, scene.as, { clientId: '', clientSecret: null })
    const [{ redirect_uri: redirectUri, missing }] = imported.body.items[0].providers
    expect(missing).toEqual(['client_id', 'client_secret'])
    const refused = await scene.authorize()
    expect(refused).toMatchObject({ status: 400, body: { name: 'provider_incomplete' } })
    for (const named of [
      '"demo"',
      'GATEPASS_PROVIDER_DEMO_CLIENT_ID',
      'GATEPASS_PROVIDER_DEMO_CLIENT_SECRET',
      redirectUri,
    ])
      expect(refused.body.message).toContain(named)
  })

  describe('whose client stands in the environment', () => {
    const environment = {
      GATEPASS_PROVIDER_DEMO_CLIENT_ID: 'of-env',
      GATEPASS_PROVIDER_DEMO_CLIENT_SECRET: 'secret-of-env',
    }
    const withoutClient = { clientId: null, clientSecret: null }
    const confirm = { oauth2: { environment_client: true } }
    const asOf = () => startFakeAuthorizationServer({ clientId: 'of-env', clientSecret: 'secret-of-env' })

    test('is complete once an administrator has confirmed its endpoints, which is on record', async () => {
      await using as = await asOf()
      await using scene = await startScene({ oauth2: false, gatepass: { environment } })
      const { items } = (await importEntry(scene.gatepass, as, withoutClient)).body
      expect(items[0].providers[0].missing).toEqual(['client_id', 'client_secret'])
      expect(JSON.stringify(items[0].warnings)).toContain('environment_client')
      const refused = await scene.authorize()
      expect(refused).toMatchObject({ status: 400, body: { name: 'provider_incomplete' } })
      expect(refused.body.message).toContain('"environment_client": true')

      const { body } = await scene.call('PATCH', '/v1/admin/auth_providers/demo', confirm)
      expect(body.oauth2).toMatchObject({ environment_client: true, client_secret: { exists: true } })
      expect((await scene.connect()).body.status).toBe('completed')
      const audit = await scene.call('GET', '/v1/admin/audit?action=provider.environment_client_confirmed')
      expect(audit.body.items).toHaveLength(1)
      const taken = { oauth2: { environment_client: false } }
      await scene.call('PATCH', '/v1/admin/auth_providers/demo', taken)
      expect((await scene.authorize({ user_id: 'u2' })).body.name).toBe('provider_incomplete')
    })

    test('shows it to no other endpoint than the confirmed ones', async () => {
      await using as = await asOf()
      await using evil = await startFakeAuthorizationServer()
      await using scene = await startScene({ oauth2: false, gatepass: { environment } })
      await importEntry(scene.gatepass, as, withoutClient)
      await scene.call('PATCH', '/v1/admin/auth_providers/demo', confirm)
      const elsewhere = { oauth2: { token_request: { endpoint: evil.tokenUrl } } }
      await scene.call('PATCH', '/v1/admin/auth_providers/demo', elsewhere)
      expect((await scene.authorize()).body.name).toBe('provider_incomplete')
      expect(evil.requests).toEqual([])
    })

    test('a tool that takes a known name with a token endpoint of its own does not get it', async () => {
      await using evil = await startFakeAuthorizationServer()
      await using scene = await startScene({
        oauth2: false,
        gatepass: {
          environment: {
            GATEPASS_PROVIDER_GITHUB_CLIENT_ID: 'of-env',
            GATEPASS_PROVIDER_GITHUB_CLIENT_SECRET: 'secret-of-env',
          },
        },
      })
      const github = {
        name: 'github',
        authorizationUrl: 'https://github.com/login/oauth/authorize',
        tokenUrl: 'https://github.com/login/oauth/access_token',
        ...withoutClient,
      }
      const forged = await importEntry(scene.gatepass, evil, { ...github, tokenUrl: evil.tokenUrl })
      const [item] = forged.body.items
      expect(item.providers[0]).toMatchObject({ id: 'github', missing: ['client_id', 'client_secret'] })
      const said = item.warnings.map((one: { message: string }) => one.message).join(' ')
      expect(said).toContain(new URL(evil.tokenUrl).host)
      expect(said).toContain('another host')
      expect((await scene.authorize({ provider: 'github' })).body.name).toBe('provider_incomplete')

      // the true one has the client, although the name was taken
      const { tool_id: _, ...real } = (await importEntry(scene.gatepass, evil, github)).body.items[0]
      expect(real.providers[0]).toMatchObject({ id: 'github-2', missing: [] })
      const { body } = await scene.authorize({ provider: 'github-2' })
      const page = await new UserAgent().get(body.url)
      expect(page.status).toBe(200)
      expect(evil.requests).toEqual([])
    })
  })

  test('an inactive provider is refused, and a link to it ends when it is opened', async () => {
    await using scene = await startScene()
    const { url, id } = (await scene.authorize()).body
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
    expect(await scene.authorize()).toMatchObject({ status: 400, body: { name: 'provider_inactive' } })
    await click(url)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_changed' })
    expect(scene.as.requests).toEqual([])
  })

  test.each([
    ['the public URL', '/done?x=1', 200],
    ['an origin allowed', 'https://app.example/after?x=1#y', 200],
    ['another origin', 'https://evil.example/', 400],
    ['a host that only begins alike', 'https://app.example.evil.example/', 400],
    ['another scheme', 'javascript:alert(1)', 400],
    ['another port', 'https://app.example:444/', 400],
    ['credentials', 'https://app.example@evil.example/', 400],
    ['credentials before the allowed host', 'https://x:y@app.example/', 400],
    ['a relative URL', '//app.example/', 400],
  ])('next_uri: %s', async (_, nextUri, status) => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example' } },
    })
    const next_uri = nextUri.startsWith('/done') ? `${scene.gatepass.url}${nextUri}` : nextUri
    const answer = await scene.authorize({ next_uri })
    expect(answer.status).toBe(status)
    if (status === 400) expect(answer.body).toMatchObject({ name: 'invalid_request' })
  })

  test.each([
    ['https://APP.example:443/a/../done', 'https://app.example/done'],
    ['https:\\\\app.example\\done', 'https://app.example/done'],
    ['https://@app.example/done', 'https://app.example/done'],
    [' ht\ttps://app.exa\nmple/do\rne ', 'https://app.example/done'],
    ['https://app%2eexample/done', 'https://app.example/done'],
    ['https:app.example/done', 'https://app.example/done'],
    ['https://app.example/dö ne', 'https://app.example/d%C3%B6%20ne'],
  ])('next_uri as %j is kept as it is understood', async (next_uri, kept) => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example' } },
    })
    const { browser, callback, id } = await scene.approve({ next_uri })
    const { authorizations } = scene.gatepass.broker.store
    expect((await authorizations.find(id))?.nextUri).toBe(kept)
    const { response } = await browser.get(callback)
    expect(response.headers.get('location')).toBe(`${kept}?auth_id=${id}&status=completed`)
  })

  test('another project knows neither the provider, nor the authorization, nor the connection', async () => {
    await using scene = await startScene()
    const { id } = (await scene.authorize()).body
    await scene.connect({ user_id: 'u2' })
    const connection = (await scene.authorize({ user_id: 'u2' })).body.id
    const key = await scene.gatepass.makeKey('admin', 'other')
    const asOther = (method: string, path: string, body?: unknown) => scene.call(method, path, body, { key })
    const unknown = await scene.call('GET', '/v1/auth/status?id=auth_nope')
    expect(unknown).toMatchObject({ status: 404, body: { name: 'not_found' } })
    for (const [method, path] of [
      ['GET', `/v1/auth/status?id=${id}`],
      ['GET', `/v1/auth/${id}/events`],
      ['GET', `/v1/auth/status?id=${connection}`],
      ['GET', `/v1/connections/${connection}`],
      ['POST', `/v1/connections/${connection}/token`],
      ['DELETE', `/v1/connections/${connection}`],
    ] as const)
      expect(await asOther(method, path)).toMatchObject({ status: 404, body: { name: 'not_found' } })
    expect((await asOther('GET', '/v1/connections')).body.items).toEqual([])
    const need = { auth_requirement: { id: 'demo' }, user_id: 'u2' }
    expect(await asOther('POST', '/v1/auth/authorize', need)).toMatchObject({ status: 400 })
  })

  test('the same entry in two projects has two redirect URIs', async () => {
    await using scene = await startScene({ oauth2: false })
    const first = await addProvider(scene.gatepass, scene.as)
    const key = await scene.gatepass.makeKey('admin', 'other')
    const { oauth2 } = (await scene.call('GET', '/v1/admin/auth_providers/demo')).body
    const body = { id: 'demo', oauth2: { client_id: 'x', ...pick(oauth2) } }
    const second = await scene.call('POST', '/v1/admin/auth_providers', body, { key })
    expect(second.status).toBe(201)
    expect(second.body.oauth2.redirect_uri).not.toBe(first.body.oauth2.redirect_uri)
  })

  test.each([
    ['readonly', '/v1/auth/authorize', 403],
    ['caller', '/v1/auth/authorize', 200],
    ['caller', '/v1/admin/auth_providers', 403],
    ['readonly', '/v1/admin/auth_providers', 403],
  ] as const)('a %s key at POST %s gets %i', async (role, path, status) => {
    await using scene = await startScene()
    const key = await scene.gatepass.makeKey(role)
    const bodies: Record<string, object> = {
      '/v1/auth/authorize': { auth_requirement: { id: 'demo' }, user_id: 'u1' },
      '/v1/admin/auth_providers': { id: 'x', oauth2: { client_id: 'c' } },
    }
    const answer = await scene.call('POST', path, bodies[path], { key })
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body.name).toBe('insufficient_role')
  })

  test.each([
    ['none', null],
    ['an unknown one', 'no-such-key-at-all'],
  ])('without a known key (%s): 401 before the body is read', async (_, key) => {
    await using scene = await startScene()
    const answer = await scene.call('POST', '/v1/auth/authorize', {}, { key })
    expect(answer).toMatchObject({ status: 401, body: { name: 'invalid_authorization' } })
  })
})

function pick({ authorize_request, token_request }: Record<string, unknown>) {
  return { authorize_request, token_request }
}
