import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyJson } from '../any-json.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import type { OAuth2 } from './fixtures.ts'
import { startLoginScene } from './login-fixtures.ts'

// One entry serves many accounts: each user has an own subdomain. The test's hosts are `address:port`, so they are listed.

interface World extends AsyncDisposable {
  readonly acme: FakeAuthorizationServer
  readonly beta: FakeAuthorizationServer
  readonly gatepass: Awaited<ReturnType<typeof startGatepass>>
  readonly clock: ReturnType<typeof testClock>
  readonly call: Awaited<ReturnType<typeof startGatepass>>['call']
  begin(userId: string, more?: object): Promise<{ readonly id: string; readonly url: string }>
  status(id: string): Promise<string>
}

const hostOf = ({ url }: FakeAuthorizationServer) => new URL(url).host
const client = { clientId: 'the-client', clientSecret: 'the-secret' }

async function startWorld(oauth2: OAuth2 = {}, options: GatepassOptions = {}): Promise<World> {
  const clock = testClock()
  const now = () => clock() * 1000
  const acme = await startFakeAuthorizationServer({ ...client, now })
  const beta = await startFakeAuthorizationServer({ ...client, now })
  const gatepass = await startGatepass({ now: clock, ...options })
  const { call } = gatepass
  const at = (path: string) => ({ endpoint: `http://{{subdomain}}${path}` })
  const added = await call('POST', '/v1/admin/auth_providers', {
    id: 'desk',
    oauth2: {
      client_id: client.clientId,
      client_secret: client.clientSecret,
      variables: {
        subdomain: { label: 'Address of your desk', one_of: [hostOf(acme), hostOf(beta)], ask: 'user' },
      },
      authorize_request: at('/authorize'),
      token_request: at('/token'),
      refresh_request: at('/token'),
      revocation_request: at('/revoke'),
      user_info_request: { ...at('/userinfo'), triggers: { on_token_grant: true } },
      ...oauth2,
    },
  })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return {
    acme,
    beta,
    gatepass,
    clock,
    call,
    async begin(user_id, more = {}) {
      const answer = await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] }, ...more },
        user_id,
      })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      return answer.body
    },
    async status(id) {
      return (await call('GET', `/v1/auth/status?id=${id}`)).body.status
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await acme.close()
      await beta.close()
    },
  }
}

async function connect({ begin, status }: World, userId: string, value: string): Promise<string> {
  const { id, url } = await begin(userId)
  const browser = new UserAgent()
  await browser.submitForm(await browser.get(url), { 'value.subdomain': value })
  return status(id)
}

const seen = ({ requests }: FakeAuthorizationServer) => requests.map(({ path }) => path)

describe('a variable that users are asked for', () => {
  test('is asked for on the connect page, with its label, and what is wrong is said there', async () => {
    await using world = await startWorld()
    const { id, url } = await world.begin('u1')
    const browser = new UserAgent()
    const page = await browser.get(url)
    expect(page.status).toBe(200)
    expect(page.body).toContain('Address of your desk')
    expect(page.body).not.toContain('aria-invalid')
    for (const [value, fault] of [
      ['', 'is required'],
      ['evil.example', 'is not in the right form'],
    ] as const) {
      const again = await browser.submitForm(page, { 'value.subdomain': value })
      expect(again.status).toBe(400)
      expect(again.body).toContain(`<bdi>Address of your desk</bdi> ${fault}`)
      expect(again.body).toContain('aria-invalid="true"')
    }
    expect([...seen(world.acme), ...seen(world.beta)]).toEqual([])
    expect(await world.status(id)).toBe('pending')
    await browser.submitForm(page, { 'value.subdomain': hostOf(world.beta) })
    expect(await world.status(id)).toBe('completed')
  })

  test('decides where each request of that connection goes, and of no other', async () => {
    await using world = await startWorld()
    expect(await connect(world, 'u1', hostOf(world.acme))).toBe('completed')
    expect(await connect(world, 'u2', hostOf(world.beta))).toBe('completed')
    expect(world.acme.tokenRequests('authorization_code')).toHaveLength(1)
    expect(world.beta.tokenRequests('authorization_code')).toHaveLength(1)

    world.clock.advance(4000)
    const again = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u2',
    })
    expect(again.body.status).toBe('completed')
    expect(world.beta.tokenRequests('refresh_token')).toHaveLength(1)
    expect(world.acme.tokenRequests('refresh_token')).toHaveLength(0)

    const [connection] = (await world.call('GET', '/v1/connections?user_id=u2')).body.items
    expect(connection.account.id).toBe(`${hostOf(world.beta)}:${world.beta.account.sub}`)
    const gone = await world.call('DELETE', `/v1/connections/${connection.id}`)
    expect(gone.body.revocation).toBe('revoked')
    expect(seen(world.beta)).toContain('/revoke')
    expect(seen(world.acme)).not.toContain('/revoke')
  })

  test('makes two connections of two accounts of one user, though both servers call the account the same', async () => {
    await using world = await startWorld()
    expect(world.acme.account.sub).toBe(world.beta.account.sub)
    expect(await connect(world, 'u1', hostOf(world.acme))).toBe('completed')
    const { body } = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u1',
      account: 'new',
    })
    const browser = new UserAgent()
    await browser.submitForm(await browser.get(body.url), { 'value.subdomain': hostOf(world.beta) })
    const { items } = (await world.call('GET', '/v1/connections?user_id=u1')).body
    const accounts = [world.acme, world.beta].map((server) => `${hostOf(server)}:${server.account.sub}`)
    expect(items.map(({ account }: AnyJson) => account.id).sort()).toEqual(accounts.toSorted())
    const tokens = await Promise.all(
      accounts.map((account) =>
        world.call('POST', '/v1/auth/authorize', {
          auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
          user_id: 'u1',
          account,
        }),
      ),
    )
    expect(new Set(tokens.map(({ body }) => body.context.token)).size).toBe(2)
  })

  test('is part of the id of an imported account, as of one that approved', async () => {
    await using world = await startWorld()
    const { acme } = world
    const of = (user_id: string, account: object) => ({
      ...{ user_id, provider_id: 'desk', access_token: 'imported', account },
      kept_values: { subdomain: hostOf(acme) },
    })
    const id = `${hostOf(acme)}:${acme.account.sub}`
    const rows = [of('u1', { id: acme.account.sub }), of('u1', { id }), of('u2', { name: 'Ada' })]
    const { items } = (await world.call('POST', '/v1/admin/user_connections/import', { connections: rows }))
      .body
    expect(items).toMatchObject([{ result: 'created' }, { result: 'present' }, { result: 'created' }])
    for (const [user, { connection_id: account }] of [
      ['u1', items[0]],
      ['u2', items[2]],
    ]) {
      const need = { user_id: user, account, auth_requirement: { id: 'desk', oauth2: { scopes: ['write'] } } }
      const begun = (await world.call('POST', '/v1/auth/authorize', need)).body
      const browser = new UserAgent()
      await browser.submitForm(await browser.get(begun.url), { 'value.subdomain': hostOf(acme) })
      expect(await world.status(begun.id)).toBe('completed')
      const listed = await world.call('GET', `/v1/connections?user_id=${user}`)
      expect(listed.body.items).toMatchObject([{ id: account, account: { id } }])
    }
  })

  test('alone does not replace a named account’s tokens, when user info fails at a consent', async () => {
    await using world = await startWorld()
    const { acme } = world
    await connect(world, 'u1', hostOf(acme))
    const id = `${hostOf(acme)}:${acme.account.sub}`
    acme.behaviour.userInfo = '500'
    for (const account of [undefined, id]) {
      const need = { user_id: 'u1', account, auth_requirement: { id: 'desk', oauth2: { scopes: ['write'] } } }
      const begun = (await world.call('POST', '/v1/auth/authorize', need)).body
      const browser = new UserAgent()
      await browser.submitForm(await browser.get(begun.url), { 'value.subdomain': hostOf(acme) })
      const status = await world.call('GET', `/v1/auth/status?id=${begun.id}`)
      expect(status.body).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
    }
    const listed = await world.call('GET', '/v1/connections?user_id=u1')
    expect(listed.body.items).toMatchObject([{ account: { id }, scopes: ['read'] }])
    expect(seen(acme)).not.toContain('/revoke')
  })

  test('is kept over the login that comes first', async () => {
    await using scene = await startLoginScene()
    const oauth2 = {
      variables: { subdomain: { one_of: [hostOf(scene.as)], ask: 'user' } },
      authorize_request: { endpoint: 'http://{{subdomain}}/authorize' },
      token_request: { endpoint: 'http://{{subdomain}}/token' },
    }
    const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    await browser.submitForm(await browser.get(url), { 'value.subdomain': hostOf(scene.as) })
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('is asked for at the step of its provider, where several are in one authorization', async () => {
    await using world = await startWorld()
    const { acme, beta, call } = world
    await call('POST', '/v1/tools/import', {
      name: 'Two',
      version: '1.0.0',
      description: 'Needs two',
      parameters: { type: 'object', properties: {} },
      oauth: ['One', 'Another'].map((name) => ({
        name,
        version: '2.0',
        authorizationUrl: acme.authorizationUrl,
        tokenUrl: acme.tokenUrl,
        ...client,
        scopes: ['read'],
        responseType: 'code',
      })),
    })
    const changed = await call('PATCH', '/v1/admin/auth_providers/another', {
      oauth2: {
        variables: { subdomain: { label: 'Desk', one_of: [hostOf(acme), hostOf(beta)], ask: 'user' } },
        authorize_request: { endpoint: 'http://{{subdomain}}/authorize' },
        token_request: { endpoint: 'http://{{subdomain}}/token' },
      },
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    const { body } = await call('POST', '/v1/tools/authorize', { tool_name: 'Two', user_id: 'u1' })
    const browser = new UserAgent()
    const first = await browser.get(body.url)
    expect(first.body).not.toContain('value.subdomain')
    const second = await browser.submitForm(first)
    expect(second.body).toContain('Step 2 of 2')
    const refused = await browser.submitForm(second, { 'value.subdomain': 'x' })
    expect(refused.body).toContain('<bdi>Desk</bdi> is not in the right form')
    await browser.submitForm(refused, { 'value.subdomain': hostOf(beta) })
    expect(await world.status(body.id)).toBe('completed')
    expect(beta.tokenRequests('authorization_code')).toHaveLength(1)
  })

  test('may be given by the caller, and is then shown and not asked for', async () => {
    await using world = await startWorld()
    const { id, url } = await world.begin('u1', { variables: { subdomain: hostOf(world.acme) } })
    const browser = new UserAgent()
    const page = await browser.get(url)
    expect(page.body).toContain(`<bdi>${hostOf(world.acme)}</bdi>`)
    expect(page.body).not.toContain('name="value.subdomain"')
    await browser.submitForm(page, { 'value.subdomain': hostOf(world.beta) }) // counts for nothing
    expect(await world.status(id)).toBe('completed')
    expect(seen(world.beta)).toEqual([])
    for (const [name, value] of [
      ['subdomain', 'evil.example'],
      ['tenant', 'x'],
    ] as const) {
      const refused = await world.call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'desk', variables: { [name]: value } },
        user_id: 'u3',
      })
      expect(refused.status).toBe(400)
      expect(refused.body.errors).toMatchObject([{ path: `auth_requirement.variables.${name}` }])
    }
  })

  test('is asked for where the connect page is passed over, too', async () => {
    await using world = await startWorld({}, { environment: { GATEPASS_CONNECT_PAGE: 'pass' } })
    const { id, url } = await world.begin('u1')
    const browser = new UserAgent()
    const page = await browser.get(url)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('name="value.subdomain"') })
    await browser.submitForm(page, { 'value.subdomain': hostOf(world.acme) })
    expect(await world.status(id)).toBe('completed')
  })

  test('names the API of each connection', async () => {
    await using world = await startWorld()
    const set = await world.call('PATCH', '/v1/admin/auth_providers/desk', {
      oauth2: {
        api: { base_url: 'http://{{subdomain}}/api', hosts: [hostOf(world.acme), hostOf(world.beta)] },
      },
    })
    expect(set.status, JSON.stringify(set.body)).toBe(200)
    await connect(world, 'u1', hostOf(world.acme))
    await connect(world, 'u2', hostOf(world.beta))
    for (const [user, server] of [
      ['u1', world.acme],
      ['u2', world.beta],
    ] as const) {
      const answer = await world.call('GET', '/proxy/desk/me', undefined, {
        headers: { 'x-gatepass-user': user },
      })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
      expect(seen(server)).toContain('/api/me')
    }
  })

  test('survives a restart, and its value belongs to what it was consented for', async () => {
    await using world = await startWorld()
    await connect(world, 'u1', hostOf(world.beta))
    const { databasePath } = world.gatepass
    world.clock.advance(4000)
    // a process that has nothing in memory
    await using second = await startGatepass({ databasePath, now: world.clock })
    const again = await second.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u1',
    })
    expect(again.body.status).toBe('completed')
    expect(world.beta.tokenRequests('refresh_token')).toHaveLength(1)
    expect(seen(world.acme)).toEqual([])

    // the operator's own value is another identity, although it is the one of the example
    const changed = await second.call('PATCH', '/v1/admin/auth_providers/desk', {
      oauth2: { variables: { subdomain: { ask: 'operator', value: hostOf(world.acme) } } },
    })
    expect(changed.body.oauth2.variables.subdomain).toMatchObject({ value: hostOf(world.acme) })
    const after = await second.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u1',
    })
    expect(after.body.status).toBe('pending')
    expect(seen(world.acme)).toEqual([])
  })

  test('is part of the identity: an endpoint that names it no more gets no token of before', async () => {
    await using world = await startWorld()
    await connect(world, 'u1', hostOf(world.beta))
    world.clock.advance(4000)
    // what the former endpoint was with the first of the allowed values
    const refresh_request = { endpoint: `${world.acme.url}/token` }
    const changed = await world.call('PATCH', '/v1/admin/auth_providers/desk', {
      oauth2: { refresh_request },
    })
    expect(changed.status).toBe(200)
    const { body } = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u1',
    })
    expect(body.status).toBe('pending')
    expect(seen(world.acme)).toEqual([])
  })

  test('is answered as it was given, and can be sent back', async () => {
    await using world = await startWorld()
    const { body } = await world.call('GET', '/v1/admin/auth_providers/desk')
    expect(body.oauth2.variables.subdomain).toEqual({
      ask: 'user',
      label: 'Address of your desk',
      one_of: [hostOf(world.acme), hostOf(world.beta)],
    })
    const { client_secret: _, ...oauth2 } = body.oauth2
    const again = await world.call('PATCH', '/v1/admin/auth_providers/desk', { oauth2 })
    expect(again.body.oauth2).toEqual(body.oauth2)
  })
})

describe('a value of a user decides no domain', () => {
  let gatepass: Gatepass
  beforeAll(async () => {
    gatepass = await startGatepass()
  })
  afterAll(() => gatepass.close())

  const asked = (pattern: string) => ({ sub: { pattern, example: 'acme', ask: 'user' } })
  const at = (url: string) => ({
    client_id: 'x',
    authorize_request: { endpoint: url },
    token_request: { endpoint: url },
  })

  test.each([
    ['below a domain', 'https://{{sub}}.zendesk.com/token', '[a-z0-9-]+', 201],
    ['below a domain of a country’s registry', 'https://{{sub}}.desk.co.uk/token', '[a-z0-9-]+', 201],
    ['in the middle of a host', 'https://api.{{sub}}.zendesk.com/token', '[a-z0-9-]+', 201],
    ['in the path', 'https://zendesk.com/{{sub}}/token', '.*', 201],
    ['as the host', 'https://{{sub}}/token', '[a-z0-9-]+', 400],
    ['as the last label', 'https://zendesk.{{sub}}/token', '[a-z0-9-]+', 400],
    ['at the end of the domain', 'https://zendesk.com{{sub}}/token', '[a-z0-9-]+', 400],
    ['as the domain of a suffix', 'https://{{sub}}.com/token', '[a-z0-9-]+', 400],
    ['as the domain of a country’s suffix', 'https://{{sub}}.co.uk/token', '[a-z0-9-]+', 400],
    ['as a part of the domain’s label', 'https://{{sub}}zendesk.com/token', '[a-z0-9-]+', 400],
  ])('%s: %s', async (_, url, pattern, status) => {
    const { call } = gatepass
    await call('DELETE', '/v1/admin/auth_providers/x')
    const body = { id: 'x', oauth2: { variables: asked(pattern), ...at(url) } }
    const added = await call('POST', '/v1/admin/auth_providers', body)
    expect(added.status, JSON.stringify(added.body)).toBe(status)
    if (status === 400) expect(added.body.message).toContain('decide the domain')
  })

  test('nor where lists together make more hosts than are checked', async () => {
    const hosts = Array.from({ length: 40 }, (_, at) => `a${at}.zendesk.com`)
    const list = (one_of: string[]) => ({ one_of, ask: 'user' })
    const ends = at('https://{{one}}/{{two}}/token')
    const oauth2 = { variables: { one: list([...hosts, 'b']), two: list(hosts) }, ...ends }
    const added = await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'z', oauth2 })
    expect(added.status, JSON.stringify(added.body)).toBe(400)
  })

  test('and a change that would let it decide one is refused', async () => {
    const variables = { sub: { pattern: '[a-z.]+', value: 'desk.example' } }
    const body = { id: 'y', oauth2: { variables, ...at('https://{{sub}}/token') } }
    expect((await gatepass.call('POST', '/v1/admin/auth_providers', body)).status).toBe(201)
    const refused = await gatepass.call('PATCH', '/v1/admin/auth_providers/y', {
      oauth2: { variables: { sub: { ask: 'user' } } },
    })
    expect(refused.status).toBe(400)
  })
})
