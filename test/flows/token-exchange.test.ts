import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { toolMetadata } from '../fixtures.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { answerJson, type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'
import { ACCESS_TOKEN, EXCHANGE, type ExchangeRules, registerExchange } from '../oidc-grants.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'
import { click } from './fixtures.ts'

// Token exchange as a client (RFC 8693): users connect one oidc-provider, and another one exchanges its tokens.

const AUDIENCE = 'https://orders.example'

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  const uris: string[] = []
  let okta: OidcProvider
  let sts: OidcProvider
  let rules: ExchangeRules
  let api: Loopback
  let gatepass: Gatepass
  let call: Gatepass['call']
  const called: RecordedRequest[] = []
  let status = 200
  let count = 0
  let user: string
  let subject: string
  let entry: string

  beforeAll(async () => {
    okta = await startOidcProvider({ redirectUris: () => uris })
    sts = await startOidcProvider({ redirectUris: [], grantTypes: [EXCHANGE], scopes: ['read', 'write'] })
    rules = { subjects: okta, targets: [AUDIENCE], change: (answer) => answer }
    registerExchange(sts, rules)
    api = await listen(async (req, res) => {
      called.push(await record(req))
      answerJson(res, status, {})
    })
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    for (const server of [okta, sts, api]) await server.close()
  })
  beforeEach(async () => {
    count += 1
    user = `user-${count}`
    subject = `okta-${count}`
    entry = `orders-${count}`
    rules.change = (answer) => answer
    okta.settings.account = { sub: `ada-${count}`, name: 'Ada', email: 'ada@example.test' }
    okta.settings.accessTokenLifetime = 7200
    status = 200
    for (const list of [okta.tokenRequests, sts.tokenRequests, called] as unknown[][]) list.length = 0
    const added = await call('POST', '/v1/admin/auth_providers', {
      id: subject,
      oauth2: {
        client_id: okta.clientId,
        client_secret: okta.clientSecret,
        issuer: okta.issuer,
        default_scopes: ['openid', 'offline_access'],
      },
    })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    uris.push(added.body.oauth2.redirect_uri)
  })

  const bodyOf = ({
    token_request,
    ...oauth2
  }: {
    token_request?: object
    [member: string]: unknown
  } = {}) => ({
    id: entry,
    oauth2: {
      grant: { type: 'token_exchange', subject: { connection: subject, token: 'access_token' } },
      client_id: sts.clientId,
      client_secret: sts.clientSecret,
      token_request: { endpoint: sts.tokenUrl, params: { audience: AUDIENCE }, ...token_request },
      api: { base_url: api.url },
      ...oauth2,
    },
  })
  const add = async (oauth2?: Parameters<typeof bodyOf>[0]) => {
    const added = await call('POST', '/v1/admin/auth_providers', bodyOf(oauth2))
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    return added.body
  }
  const authorize = async (id: string, scopes: readonly string[] = []) =>
    (
      await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id, oauth2: { scopes } },
        user_id: user,
      })
    ).body
  const statusOf = async (id: string) => (await call('GET', `/v1/auth/status?id=${id}`)).body
  const connect = async (browser?: UserAgent) => {
    const { id, url } = await authorize(subject)
    await click(url, browser)
    const { status: reached, context } = await statusOf(id)
    expect(reached).toBe('completed')
    return context.token as string
  }
  const proxy = (scopes = '', whose = user) =>
    call('GET', `/proxy/${entry}/files`, undefined, {
      headers: { 'x-gatepass-user': whose, ...(scopes !== '' && { 'x-gatepass-scopes': scopes }) },
    })
  const connections = async () =>
    (await call('GET', `/v1/connections?user_id=${user}`)).body.items as { id: string; provider_id: string }[]
  const idOf = async (provider: string) =>
    (await connections()).find(({ provider_id: id }) => id === provider)?.id ?? ''
  const exchanges = () => sts.tokenRequests
  const revoke = async (token: string) => (await okta.provider.AccessToken.find(token))?.destroy()

  test('the token of the subject is exchanged, once for each set of scopes', async () => {
    expect(await add()).toMatchObject({
      owner: 'user',
      oauth2: { grant: { type: 'token_exchange', subject: { connection: subject, token: 'access_token' } } },
    })
    const token = await connect()
    const answers = await Promise.all(Array.from({ length: 30 }, () => proxy('write read')))
    expect(answers.map((answer) => answer.status)).toEqual(Array(30).fill(200))
    expect(exchanges()).toEqual([
      expect.objectContaining({
        grant_type: EXCHANGE,
        subject_token: token,
        subject_token_type: ACCESS_TOKEN,
        requested_token_type: ACCESS_TOKEN,
        audience: AUDIENCE,
        scope: 'read write',
      }),
    ])
    expect(exchanges()[0]?.resource).toBeUndefined()
    const [sent] = called.map(({ headers }) => headers.authorization?.replace('Bearer ', '') ?? '')
    expect(sent).not.toBe(token)
    expect(await sts.isLive(sent ?? '')).toBe(true)
    await proxy('read')
    await proxy('read')
    expect(exchanges().map(({ scope }) => scope)).toEqual(['read write', 'read'])
    clock.advance(3600)
    await proxy('read')
    expect(exchanges()).toHaveLength(3)
    expect(okta.tokenRequests).toHaveLength(1)
    expect([...okta.failures, ...sts.failures]).toEqual([])
  })

  test('explain names the subject that does not work', async () => {
    await add()
    await connect()
    await proxy('read')
    const id = await idOf(entry)
    const explained = async () => (await call('GET', `/v1/connections/${id}/explain`)).body
    expect((await explained()).cause).toBeUndefined()
    const changed = { oauth2: { client_id: 'another', client_secret: 'another' } }
    expect((await call('PATCH', `/v1/admin/auth_providers/${subject}`, changed)).status).toBe(200)
    expect((await explained()).cause).toMatchObject({
      code: 'subject_not_connected',
      who: 'user',
      message: expect.stringContaining(subject),
    })
  })

  test('a rule that denies the subject binds the exchanged token; one that allows it allows no other', async () => {
    await add()
    await connect()
    expect((await proxy('read')).status).toBe(200)
    const asked = exchanges().length
    const id = `rule-${count}`
    const rule = async (effect: string, match: object) => {
      await call('DELETE', `/v1/admin/policies/${id}`)
      return call('POST', '/v1/admin/policies', { id, effect, match: { users: [user], ...match } })
    }
    expect((await rule('deny', { providers: [subject] })).status).toBeLessThan(300)
    const refused = { status: 403, body: { name: 'denied_by_policy' } }
    expect(await proxy('read')).toMatchObject(refused)
    expect(await proxy('write')).toMatchObject(refused)
    const need = { auth_requirement: { id: entry, oauth2: { scopes: ['read'] } }, user_id: user }
    expect(await call('POST', '/v1/auth/authorize', need)).toMatchObject(refused)
    expect(exchanges()).toHaveLength(asked)
    expect((await rule('allow', { providers: [subject] })).status).toBeLessThan(300)
    expect(await proxy('read')).toMatchObject(refused)
    expect((await rule('allow', { providers: [entry] })).status).toBeLessThan(300)
    expect((await proxy('read')).status).toBe(200)
    expect((await call('DELETE', `/v1/admin/policies/${id}`)).status).toBeLessThan(300)
  })

  test('a user without the subject gets its link, and after it the exchanged token', async () => {
    await add()
    const asked = await authorize(entry, ['read'])
    expect(asked).toMatchObject({ status: 'pending', provider_id: subject })
    expect(exchanges()).toEqual([])
    await click(asked.url)
    const completed = await statusOf(asked.id)
    expect(completed).toMatchObject({ status: 'completed', provider_id: entry, scopes: ['read'] })
    expect(await sts.isLive(completed.context.token)).toBe(true)
    expect(await okta.isLive(completed.context.token)).toBe(false)
    // asking for the subject itself is another request
    expect(await authorize(subject)).toMatchObject({ status: 'completed', provider_id: subject })
  })

  test('an expired subject token is refreshed before it is exchanged', async () => {
    okta.settings.accessTokenLifetime = 600
    await add()
    const first = await connect()
    await proxy()
    clock.advance(3600)
    expect((await proxy()).status).toBe(200)
    expect(okta.tokenRequests.map(({ grant_type }) => grant_type)).toEqual([
      'authorization_code',
      'refresh_token',
    ])
    expect(exchanges()[1]?.subject_token).not.toBe(first)
  })

  test('a refused subject token is refreshed once; refused again, the user gets the link of the subject', async () => {
    await add()
    const first = await connect()
    clock.advance(60)
    await revoke(first)
    expect((await proxy()).status).toBe(200)
    expect(exchanges().map(({ subject_token }) => subject_token === first)).toEqual([true, false])
    expect(okta.tokenRequests).toHaveLength(2)

    rules.change = () => {
      throw Object.assign(new Error('invalid_request'), {
        statusCode: 400,
        error: 'invalid_request',
        expose: true,
      })
    }
    clock.advance(3600)
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(await statusOf(refused.body.requires_authorization.id)).toMatchObject({ provider_id: subject })
    expect(exchanges()).toHaveLength(4)
    expect(okta.tokenRequests).toHaveLength(3)
    // no further request before the user has approved
    await proxy()
    expect(exchanges()).toHaveLength(4)
    rules.change = (answer) => answer
    await click(refused.body.requires_authorization.url)
    expect((await proxy()).status).toBe(200)
  })

  test.each([
    ['invalid_target', { token_request: { params: { audience: 'https://other.example' } } }, 'audience'],
    ['invalid_target', { token_request: { params: { resource: 'https://other.example' } } }, 'resource'],
    ['invalid_client', { client_secret: 'wrong' }, 'client'],
  ])('%s is the fault of the operator: no link', async (code, oauth2, word) => {
    await add(oauth2)
    await connect()
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 502, body: { name: 'token_request_refused' } })
    expect(refused.body.message).toContain(code)
    expect(refused.body.message).toContain(word)
    expect(JSON.stringify(refused.body)).not.toContain('/connect/')
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, bodyOf().oauth2 && { oauth2: bodyOf().oauth2 })
    clock.advance(60)
    expect((await proxy()).status).toBe(200)
  })

  test.each([
    [
      'another type of token',
      { issued_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
      'issued_token_type',
    ],
    ['no type of token', { issued_token_type: undefined }, 'issued_token_type'],
    ['a token that is none for an API', { token_type: 'N_A' }, 'N_A'],
  ])('an answer with %s is refused', async (_, change, word) => {
    await add({ token_types: ['n_a'] })
    await connect()
    rules.change = (answer) => ({ ...answer, ...change })
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 503, body: { name: 'provider_unavailable' } })
    expect(refused.body.message).toContain(word)
    expect(called).toEqual([])
  })

  test('deleting the subject deletes the exchanged tokens with it, of this user alone', async () => {
    await add()
    await connect()
    for (const scopes of ['read', 'write']) await proxy(scopes)
    const mine = user
    user = `${mine}-b`
    await connect(new UserAgent())
    await proxy('read')
    user = mine
    expect(await connections()).toHaveLength(3)
    await call('DELETE', `/v1/connections/${await idOf(subject)}`)
    expect(await connections()).toEqual([])
    const refused = await proxy('read')
    expect(refused).toMatchObject({ status: 403, body: { requires_authorization: { status: 'pending' } } })
    user = `${mine}-b`
    expect(await connections()).toHaveLength(2)
    const before = exchanges().length
    expect((await proxy('read')).status).toBe(200)
    expect(exchanges()).toHaveLength(before)
  })

  test('deleting an exchanged token leaves the subject, and the next use exchanges again', async () => {
    await add()
    await connect()
    await proxy('read')
    await call('DELETE', `/v1/connections/${await idOf(entry)}`)
    expect((await connections()).map(({ provider_id: id }) => id)).toEqual([subject])
    expect((await proxy('read')).status).toBe(200)
    expect(exchanges()).toHaveLength(2)
  })

  test('another account of the subject gets a token of its own', async () => {
    await add()
    await connect()
    const first = await authorize(entry)
    okta.settings.account = { sub: `bob-${count}`, name: 'Bob', email: 'bob@example.test' }
    const other = (
      await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: entry },
        user_id: user,
        account: 'new',
      })
    ).body
    expect(other).toMatchObject({ status: 'pending', provider_id: subject })
    await click(other.url, new UserAgent())
    const second = await statusOf(other.id)
    expect(second).toMatchObject({ status: 'completed', provider_id: entry })
    expect(second.context.token).not.toBe(first.context.token)
    expect((await sts.provider.AccessToken.find(second.context.token))?.accountId).toBe(`bob-${count}`)
    // named by the account, and by the id of the exchanged token's own connection
    const named = await call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: entry },
      user_id: user,
      account: `ada-${count}`,
    })
    expect(named.body.context.token).toBe(first.context.token)
    const byId = await call('POST', `/v1/connections/${named.body.id}/token`, {})
    expect(byId.body.token ?? byId.body.access_token).toBe(first.context.token)
  })

  test('a new consent at the subject ends the exchanged tokens', async () => {
    await add()
    await connect()
    await proxy()
    const before = await idOf(entry)
    clock.advance(5)
    const asked = (
      await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: subject, oauth2: { scopes: ['email'] } },
        user_id: user,
      })
    ).body
    await click(asked.url)
    expect(await idOf(entry)).toBe('')
    await proxy()
    expect(await idOf(entry)).not.toBe(before)
    expect(exchanges()).toHaveLength(2)
  })

  test('without the subject working, its exchanged tokens are not used', async () => {
    await add()
    await connect()
    expect((await proxy()).status).toBe(200)
    await call('PATCH', `/v1/admin/auth_providers/${subject}`, { status: 'inactive' })
    expect(await proxy()).toMatchObject({ status: 400, body: { name: 'provider_inactive' } })
    await call('PATCH', `/v1/admin/auth_providers/${subject}`, {
      status: 'active',
      oauth2: { client_id: 'another-client' },
    })
    expect(await proxy()).toMatchObject({
      status: 403,
      body: { requires_authorization: { status: 'pending' } },
    })
    expect(exchanges()).toHaveLength(1)
  })

  test('neither token is logged, recorded or answered where it does not belong', async () => {
    await add()
    const token = await connect()
    const answers = [await proxy()]
    rules.change = (answer) => ({ ...answer, issued_token_type: answer.access_token })
    clock.advance(3600)
    answers.push(await proxy())
    const recorded = await call('GET', '/v1/admin/audit')
    const told = JSON.stringify([answers, recorded.body, await connections(), gatepass.logLines])
    const sent = called[0]?.headers.authorization?.replace('Bearer ', '') ?? ''
    expect(sent.length).toBeGreaterThan(20)
    for (const secret of [token, sent, 'not-to-be-kept', sts.clientSecret ?? ''])
      expect(told).not.toContain(secret)
  })

  test.each([
    [{ grant: { type: 'token_exchange' } }, 'oauth2.grant.subject'],
    [{ grant: { type: 'client_credentials', subject: { connection: 'x' } } }, 'oauth2.grant.subject'],
    [
      { grant: { type: 'token_exchange', subject: { connection: 'nowhere' } } },
      'oauth2.grant.subject.connection',
    ],
    [{ public_clients: true }, 'oauth2.public_clients'],
    [{ token_request: { params: { subject_token: 'x' } } }, 'oauth2.token_request.params.subject_token'],
    [
      { token_request: { params: { subject_token_type: 'x' } } },
      'oauth2.token_request.params.subject_token_type',
    ],
    [{ authorize_request: { endpoint: 'https://x.example' } }, 'oauth2.authorize_request'],
  ])('the entry refuses %j', async (oauth2, path) => {
    expect(await call('POST', '/v1/admin/auth_providers', bodyOf(oauth2))).toMatchObject({
      status: 400,
      body: { errors: expect.arrayContaining([expect.objectContaining({ path })]) },
    })
  })

  test('an entry cannot exchange its own tokens, exchanged ones, those of a project, or what is no token', async () => {
    const refused = async (connection: string) =>
      call('POST', '/v1/admin/auth_providers', {
        ...bodyOf({ grant: { type: 'token_exchange', subject: { connection } } }),
        id: `${entry}-x`,
      })
    const path = 'oauth2.grant.subject.connection'
    await add()
    expect(await refused(`${entry}-x`)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    expect(await refused(entry)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    await call('POST', '/v1/admin/auth_providers', {
      id: `machine-${count}`,
      oauth2: {
        ...{ grant: { type: 'client_credentials' }, client_id: 'c', client_secret: 's' },
        token_request: { endpoint: sts.tokenUrl },
      },
    })
    expect(await refused(`machine-${count}`)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
    await call('POST', '/v1/admin/auth_providers', {
      id: `key-${count}`,
      type: 'credentials',
      credentials: {
        fields: { api_key: { label: 'Key', secret: true } },
        place: { bearer: '{{api_key}}' },
        api: { base_url: api.url },
      },
    })
    expect(await refused(`key-${count}`)).toMatchObject({ status: 400, body: { errors: [{ path }] } })
  })

  test('a tool that is imported names no token to exchange', async () => {
    const thief = { authorizationUrl: 'https://thief.example/auth', tokenUrl: 'https://thief.example/token' }
    const grant = { type: 'token_exchange', subject: { connection: subject } }
    const named = { name: `thief-${count}`, clientId: 'thief', clientSecret: 's' }
    const metadata = toolMetadata({ ...thief, clientId: 'thief', clientSecret: 's' }, { ...named, grant })
    const refused = await call('POST', '/v1/tools/import', metadata)
    expect(refused.status).toBeGreaterThanOrEqual(400)
    expect(JSON.stringify(refused.body)).toContain('only an administrator')
    const entries = (await call('GET', '/v1/admin/auth_providers')).body.items as { id: string }[]
    expect(entries.some(({ id }) => id.includes('thief'))).toBe(false)
  })

  test('the token of the subject goes to the token endpoint alone, and no redirect takes it elsewhere', async () => {
    const elsewhere: RecordedRequest[] = []
    const thief = await listen(async (req, res) => {
      elsewhere.push(await record(req))
      answerJson(res, 200, { access_token: 't', token_type: 'Bearer', issued_token_type: ACCESS_TOKEN })
    })
    const leading = await listen((_, res) => res.writeHead(307, { location: `${thief.url}/token` }).end())
    await add({ token_request: { endpoint: `${leading.url}/token` } })
    const token = await connect()
    expect((await proxy()).status).toBe(503)
    expect(elsewhere).toEqual([])
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, bodyOf())
    clock.advance(60)
    expect((await proxy()).status).toBe(200)
    expect(exchanges()[0]?.subject_token).toBe(token)
    expect(JSON.stringify(called)).not.toContain(token)
    for (const server of [thief, leading]) await server.close()
  })

  test('the subject of an entry is not deleted; changed so that it has no token, the entry says so', async () => {
    await add()
    const kept = await call('DELETE', `/v1/admin/auth_providers/${subject}`)
    expect(kept).toMatchObject({ status: 400 })
    expect(kept.body.message).toContain(entry)
    await connect()
    await call('PATCH', `/v1/admin/auth_providers/${subject}`, { oauth2: { dpop: { algorithm: 'ES256' } } })
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 400, body: { name: 'provider_incomplete' } })
    expect(refused.body.message).toContain('bound to a key')
    expect(exchanges()).toEqual([])
  })
})
