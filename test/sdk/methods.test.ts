import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gatepass } from '../../src/sdk/client/gatepass.ts'
import { testClock } from '../gatepass.ts'
import { startApi } from '../http/proxy-world.ts'
import { approve, metadata, oauthEntry, WORKER_SECRET } from '../http/world.ts'
import { type SdkWorld, startSdkWorld } from './sdk-world.ts'

// Every method of the client at least once against a real Gatepass; connect.test.ts and tools.test.ts have the others.

const clock = testClock(Math.floor(Date.now() / 1000))
let world: SdkWorld
let client: Gatepass

beforeAll(async () => {
  world = await startSdkWorld({ gatepass: { mode: 'development', now: clock } })
  client = world.client
})
afterAll(() => world[Symbol.asyncDispose]())

test('connections: list, get, set the default, delete', async () => {
  await world.connect('m1')
  const user = client.as('m1')
  const [connection] = await user.connections.list({ provider: 'demo' }).toArray()
  expect(connection).toMatchObject({
    user: 'm1',
    provider: 'demo',
    account: { id: world.as.account.sub },
    scopes: ['read'],
    status: 'active',
    isDefault: true,
    createdAt: expect.any(Date),
    expiresAt: expect.any(Date),
  })
  const { id = '' } = connection ?? {}
  expect(await client.connections.get(id)).toMatchObject({ id })
  expect(await client.connections.setDefault(id)).toMatchObject({ id, isDefault: true })
  expect(await client.connections.list({ user: 'm1' }).page()).toMatchObject({
    totalCount: 1,
    offset: 0,
    limit: 25,
  })
  const other = client.as('eve').connections
  for (const refused of [other.get(id), other.setDefault(id), other.delete(id)])
    await expect(refused).rejects.toMatchObject({ code: 'not_found' })
  for (const id of ['', '.', '..'])
    await expect(client.connections.delete(id)).rejects.toMatchObject({
      code: 'invalid_request',
      status: undefined,
    })
  expect(await user.connections.delete(id)).toEqual({ id, revocation: 'unsupported' })
  expect(await user.connections.list().toArray()).toEqual([])
})

test('explain: the steps of an authorization and of a connection, for the user alone whose they are', async () => {
  const { id } = await client.connect('m9', 'demo')
  const explained = await client.explain(id)
  expect(explained).toMatchObject({ id, kind: 'authorization', user_id: 'm9', status: 'pending' })
  expect(explained.steps.length).toBeGreaterThan(0)
  await world.connect('m9')
  const [connection] = await client.as('m9').connections.list().toArray()
  expect(await client.as('m9').explain(connection?.id ?? '')).toMatchObject({ kind: 'connection' })
  for (const one of [id, connection?.id ?? '', 'auth_unknown'])
    await expect(client.as('eve').explain(one)).rejects.toMatchObject({ code: 'not_found', status: 404 })
})

test('portal: a one-time link to the page of a user, with the rights that are given', async () => {
  const { url, expiresAt } = await client
    .as('m8')
    .portal({ userDisplay: 'Ada L.', may: ['connect'], seconds: 60 })
  expect(expiresAt).toEqual(new Date((clock() + 60) * 1000))
  expect(await (await fetch(url)).text()).toContain('Ada L.')
  await expect(client.portal('m8', { returnUrl: 'https://elsewhere.example' })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})

test('requirements of several tools, behind one link', async () => {
  const names = ['Run.Acts', 'Run.ActsElsewhere', 'Run.Guarded']
  expect(await client.as('m2').tools.requirements(names)).toMatchObject({
    met: false,
    authorizations: [
      { provider: 'demo', met: false, scopes: ['read'], consent: 'not_started', tools: ['Run:Acts'] },
      { provider: 'other', met: false, tools: ['Run:ActsElsewhere'] },
    ],
    secrets: [{ key: 'RUN_KEY', met: false, statusReason: expect.any(String), tools: ['Run:Guarded'] }],
    workers: [{ met: true, status: 'active' }],
  })
  const authorization = await client.as('m2').tools.authorize(['Run.Acts', 'Run.ActsElsewhere'])
  expect(authorization).toMatchObject({ status: 'pending', scopes: ['read'] })
  await Promise.all([authorization?.wait(), approve(authorization?.url ?? '')])
  expect(await client.as('m2').tools.authorize(['Run.Acts', 'Run.ActsElsewhere'])).toBeUndefined()
  await client.admin.providers.update('other', { status: 'inactive' })
  await expect(client.tools.authorize(['Run.ActsElsewhere'], { user: 'm3' })).rejects.toMatchObject({
    code: 'provider_incomplete',
  })
  await client.admin.providers.update('other', { status: 'active' })
})

test('chain: completed, failed, and resumed after a consent', async () => {
  const add = { tool: 'Run.Add', input: { a: 1, b: 2 } }
  expect(await client.tools.chain([add, { ...add, usePrevious: true }])).toMatchObject({
    status: 'completed',
    value: { sum: 6 },
    steps: [
      { status: 'completed', tool: 'Run.Add', value: { sum: 3 } },
      { status: 'completed', value: { sum: 6 } },
    ],
  })
  expect(await client.tools.chain([add, { tool: 'Run.Fails' }, add])).toMatchObject({
    status: 'failed',
    error: { code: 'tool_error', kind: 'TOOL_RUNTIME_FATAL' },
    steps: [{ status: 'completed' }, { status: 'failed' }, { status: 'skipped' }],
  })
  const chain = [{ tool: 'Run.Count', input: { key: 'chain' } }, { tool: 'Run.Acts' }]
  for (const way of ['resume', 'resumeToken'] as const) {
    const user = client.as(`chain-${way}`)
    const paused = await user.tools.chain<{ account: string }>(chain)
    if (paused.status !== 'requires_authorization') throw new Error(paused.status)
    expect(paused.step).toBe(1)
    await Promise.all([paused.authorization.wait(), approve(paused.authorization.url)])
    const done =
      way === 'resume' ? await paused.resume?.() : await user.tools.resumeChain(paused.resumeToken ?? '')
    expect(done).toMatchObject({ status: 'completed', value: { account: world.as.account.sub } })
  }
  expect(await client.tools.run('Run.Ran', { key: 'chain' })).toBe(2)
})

test('code: a value, an error, and a missing consent', async () => {
  const code = "console.log('hello'); const { sum } = await tools.call('Run.Add', { a: 2 }); return sum"
  expect(await client.code.execute<number>(code, { limits: { toolCalls: 3 } })).toMatchObject({
    outcome: 'value',
    value: 2,
    stdout: 'hello\n',
    toolCalls: [{ toolId: 'Run:Add:1.0.0', structured: { sum: 2 } }],
    durationMs: expect.any(Number),
  })
  expect(await client.code.execute('const a: number = nowhere', { language: 'typescript' })).toMatchObject({
    outcome: 'error',
    error: { kind: 'code_error', line: 1 },
  })
  const acting = "await tools.call('Run.Add', { a: 1, key: 'code' }); return tools.call('Run.Acts')"
  const waiting = await client.as('m4').code.execute(acting)
  expect(waiting).toMatchObject({
    outcome: 'requires_authorization',
    authorization: { status: 'pending' },
    tool: 'Run:Acts',
    resumeToken: expect.stringMatching(/^code_/),
  })
  if (waiting.outcome !== 'requires_authorization') throw new Error(waiting.outcome)
  expect(await waiting.resume?.()).toMatchObject({ resumeToken: waiting.resumeToken })
  await approve(String(waiting.authorization.url))
  const { resumeToken } = waiting
  expect(await client.as('m4').code.execute(acting, { resume: resumeToken })).toMatchObject({
    outcome: 'value',
    toolCalls: [{ replayed: true }, { toolId: 'Run:Acts' }],
  })
  expect(await client.tools.run('Run.Ran', { key: 'code' })).toBe(1)
})

test('scheduled runs and the history', async () => {
  const runAt = new Date((clock() + 3600) * 1000)
  const scheduled = await client.tools.execute('Run.Add', { a: 1 }, { runAt, user: 'm5' })
  if (scheduled.outcome !== 'scheduled') throw new Error(scheduled.outcome)
  const id = scheduled.executionId
  expect(await client.scheduled.get(id)).toMatchObject({
    id,
    tool: 'Run:Add:1.0.0',
    user: 'm5',
    type: 'scheduled',
    status: 'scheduled',
    input: { a: 1 },
    attempts: [],
    runAt,
  })
  expect((await client.scheduled.list().toArray()).map((one) => one.id)).toEqual([id])
  expect(await client.scheduled.cancel(id)).toMatchObject({ id, status: 'cancelled' })

  const { executionId } = (await client
    .as('m5')
    .tools.execute('Run.Add', { a: 4 }, { keepContent: true })) as {
    executionId: string
  }
  expect(await client.executions.get(executionId)).toMatchObject({
    type: 'immediate',
    status: 'completed',
    entryPoint: 'execute',
    outcome: 'value',
    input: { a: 4 },
    attempts: [{ success: true, output: { value: { sum: 4 } } }],
    unreadable: [],
  })
  await expect(client.as('eve').executions.get(executionId)).rejects.toMatchObject({ code: 'not_found' })
  expect(
    await client.as('m5').executions.list({ type: 'immediate', tool: 'Run.Add' }).toArray(),
  ).toHaveLength(1)
})

test('confirms the user who comes back', async () => {
  await expect(client.as('m6').confirmUser({ flowId: 'unknown' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test('gives MCP clients an address and headers', () => {
  expect(client.as('m7').mcp({ toolset: 'a b' })).toEqual({
    url: `${world.gatepass.url}/mcp/a%20b`,
    headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'x-gatepass-user': 'm7' },
  })
  expect(client.mcp().url).toBe(`${world.gatepass.url}/mcp`)
})

describe('fetch', () => {
  test('sends requests to the API of the provider, by path and by URL, in every form of a fetch', async () => {
    await using api = Object.assign(await startApi(), { [Symbol.asyncDispose]: () => api.close() })
    await client.admin.providers.update('demo', { oauth2: { api: { base_url: `${api.url}/base` } } })
    const missing = await client.fetch('f0', 'demo', '/x').catch((error: unknown) => error)
    expect(Gatepass.isError(missing, 'authorization_required') && missing.authorization.url).toContain(
      '/connect/',
    )

    const token = await world.connect('fé 1')
    const user = client.as('fé 1')
    const answer = await user.fetch('demo', '/list?q=a%20b', { scopes: ['read'] })
    expect(await answer.json()).toEqual({ method: 'GET', url: '/base/list?q=a%20b', body: '' })
    expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`)

    const fetchDemo = user.fetchFor('demo')
    const body = '{"a":1}'
    for (const send of [
      () => fetchDemo(`${api.url}/other`, { method: 'post', body }),
      () =>
        fetchDemo(new URL(`${api.url}/other`), { method: 'POST', body, headers: { authorization: 'mine' } }),
      () => fetchDemo(new Request(`${api.url}/other`, { method: 'POST', body })),
      // Node's fetch takes its own streams, which the types of the web standards do not have
      () =>
        fetchDemo(`${api.url}/other`, { method: 'POST', body: Readable.from([Buffer.from(body)]) as never }),
    ]) {
      const sent = await send()
      expect(await sent.json()).toEqual({ method: 'POST', url: '/other', body })
      expect(api.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`)
    }

    const passedOn = { 'x-gatepass-account': 'none', 'x-gatepass-base-url': 'https://example.com' }
    expect((await user.fetch('demo', '/there', { headers: passedOn })).status).toBe(200)

    api.answer = (asked, response) => {
      if (asked.url === '/base/away') response.writeHead(302, { location: '/base/there?x=1' }).end()
      else if (asked.url === '/base/elsewhere')
        response.writeHead(302, { location: 'https://example.com/' }).end()
      else response.writeHead(418, { 'content-type': 'text/plain' }).end(`${asked.method} ${asked.url}`)
    }
    const there = await user.fetch('demo', '/away')
    expect([there.status, await there.text()]).toEqual([418, 'GET /base/there?x=1'])
    expect((await user.fetch('demo', '/away', { redirect: 'manual' })).status).toBe(302)
    expect((await user.fetch('demo', '/elsewhere')).headers.get('x-gatepass-location')).toBe(
      'https://example.com/',
    )
    await expect(user.fetch('demo', '/away', { redirect: 'error' })).rejects.toThrow(
      new TypeError(`The provider's API redirects to ${api.url}.`),
    )

    await expect(user.fetch('demo', 'https://example.com/')).rejects.toMatchObject({
      code: 'host_not_allowed',
    })
    for (const path of ['/../../v1/admin/keys', '/%2e%2e/%2E%2e/v1', '/..\\..\\v1'])
      await expect(user.fetch('demo', path)).rejects.toMatchObject({
        code: 'invalid_request',
        status: undefined,
      })
    await expect(user.fetch('demo', 'file:///etc/passwd')).rejects.toThrow(TypeError)
  })

  test('says why a HEAD was refused, whose answer has no body', async () => {
    const head = { method: 'HEAD', scopes: ['read'] }
    const missing = await client.fetch('head', 'demo', '/x', head).catch((error: unknown) => error)
    if (!Gatepass.isError(missing, 'authorization_required')) throw missing
    expect(missing).toMatchObject({ status: 403, requestId: expect.any(String) })
    expect(missing.authorization.scopes).toEqual(['read'])
    await approve(missing.authorization.url)
    await expect(client.fetch('head', 'demo', 'https://example.com/', head)).rejects.toMatchObject({
      code: 'host_not_allowed',
      status: 400,
    })
  })

  test('acts as no other user, by white space that a header does not carry', async () => {
    await world.connect('edge')
    for (const user of ['edge ', '\tedge', ' ']) {
      await expect(client.fetch(user, 'demo', '/x')).rejects.toMatchObject({ code: 'invalid_request' })
      expect(() => client.as(user).mcp()).toThrow('begins or ends with white space')
    }
    await expect(client.as('edge').fetch('demo', '/x', { account: 'work ' })).rejects.toMatchObject({
      code: 'invalid_request',
      status: undefined,
    })
  })

  test('sends again what a replaced token was refused for, where the body is still there', async () => {
    await using api = Object.assign(await startApi(), { [Symbol.asyncDispose]: () => api.close() })
    await client.admin.providers.update('demo', { oauth2: { api: { base_url: api.url } } })
    const body = 'x'.repeat(300_000) // too large for Gatepass to send it again itself
    const tokens: unknown[] = []
    api.answer = (asked, response) => {
      tokens.push(asked.headers.authorization)
      asked.resume().on('end', () => response.writeHead(tokens.length % 2 === 1 ? 401 : 200).end())
    }
    for (const [form, sent, expected] of [
      ['text', body, [200, 2]],
      ['stream', new Blob([body]).stream(), [401, 1]],
    ] as const) {
      await world.connect(form)
      clock.advance(11) // a token that was received a moment ago is not replaced
      tokens.length = 0
      const response = await client.fetch(form, 'demo', '/', { method: 'POST', body: sent })
      expect([response.status, new Set(tokens).size]).toEqual(expected)
    }
  })
})

describe('admin', () => {
  test('providers', async () => {
    const provider = { id: 'hub', provider_id: 'github', oauth2: { client_id: 'a', client_secret: 'b' } }
    expect(await client.admin.providers.create(provider)).toMatchObject({ id: 'hub', status: 'active' })
    expect(await client.admin.providers.get('hub')).toMatchObject({ oauth2: { client_id: 'a' } })
    expect((await client.admin.providers.list().toArray()).map(({ id }) => id)).toContain('hub')
    expect(await client.admin.providers.update('hub', { description: 'Hub' })).toMatchObject({
      description: 'Hub',
    })
    await client.admin.providers.delete('hub')
    await expect(client.admin.providers.get('hub')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('workers', async () => {
    const { workers } = client.admin
    const http = { uri: world.worker.url, secret: WORKER_SECRET }
    expect(await workers.test({ http })).toMatchObject({
      healthy: true,
      tool_count: world.worker.tools.length,
    })
    expect(await workers.create({ id: 'second', http })).toMatchObject({
      id: 'second',
      type: 'http',
      status: 'active',
    })
    expect(await workers.get('second')).toMatchObject({ id: 'second' })
    expect((await workers.list().toArray()).map(({ id }) => id)).toContain('second')
    expect(await workers.health('second')).toMatchObject({ healthy: true })
    expect(await workers.tools('demo').toArray()).toHaveLength(world.worker.tools.length)
    expect(await workers.accept('second')).toMatchObject({ acceptance: { accepted: expect.anything() } })
    await expect(workers.authorize('second', { user: 'ada' })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(await workers.update('second', { enabled: false })).toMatchObject({ status: 'inactive' })
    await workers.delete('second')
  })

  test('imported tools', async () => {
    const document = metadata('Sdk Imported', { oauth: [oauthEntry('sdk-demo', world.as)] })
    expect(await client.admin.import(document, { dryRun: true })).toMatchObject({
      items: [{ result: 'created' }],
    })
    expect(await client.admin.import([document])).toMatchObject({
      items: [{ name: 'Sdk Imported', result: 'created' }],
    })
    expect(await client.admin.import({ name: '' } as never)).toMatchObject({ items: [{ result: 'refused' }] })
    const bound = await client.admin.tools.bind('Sdk Imported', { workerId: 'demo', tool: 'Demo.Echo' })
    expect(bound).toMatchObject({ requirements: { worker: { id: 'demo' } } })
    await client.admin.tools.delete('Sdk Imported')
    await expect(client.tools.get('Sdk Imported')).rejects.toMatchObject({ code: 'not_found' })
  })

  test('secrets', async () => {
    const { secrets } = client.admin
    expect(await secrets.set('SDK_KEY', 'the value', { description: 'For tests' })).toMatchObject({
      key: 'SDK_KEY',
    })
    expect(await secrets.get('SDK_KEY')).toMatchObject({ description: 'For tests' })
    expect((await secrets.list().toArray()).map(({ key }) => key)).toEqual(['SDK_KEY'])
    await secrets.delete('SDK_KEY')
    expect(await secrets.list().toArray()).toEqual([])
  })

  test('connections of all users', async () => {
    await world.connect('all')
    const [connection] = await client.admin.connections.list({ user: 'all', provider: 'demo' }).toArray()
    expect(connection).toMatchObject({ user_id: 'all', provider_user_info: { sub: world.as.account.sub } })
    await client.admin.connections.delete(connection?.id ?? '')
    expect(await client.admin.connections.list({ user: 'all' }).toArray()).toEqual([])
    const foreign = { user_id: 'all', provider_id: 'demo', access_token: 'of-elsewhere' }
    expect(
      await client.admin.connections.import([foreign, { ...foreign, provider_id: 'demi' }]),
    ).toMatchObject([{ result: 'created' }, { result: 'refused', member: 'provider_id' }])
  })

  test('the audit trail', async () => {
    const page = await client.admin.audit.list({ action: 'token.released' }).page({ limit: 2 })
    expect(page.items.map(({ action }) => action)).toEqual(['token.released', 'token.released'])
    expect(page.nextBefore).toBe(page.items[1]?.seq)
    const listed: number[] = []
    for await (const { seq } of client.admin.audit.list({ since: new Date(0) })) listed.push(seq)
    const exported: number[] = []
    for await (const { seq } of client.admin.audit.export({ since: new Date(0) })) exported.push(seq)
    expect(exported.length).toBeGreaterThan(20)
    expect(exported.slice(0, listed.length)).toEqual(listed.toReversed())
    for await (const { seq } of client.admin.audit.export({ after: 3 })) {
      expect(seq).toBe(4)
      break
    }
  })

  test('keys and projects', async () => {
    const { keys, projects } = client.admin
    const { id, key } = await keys.create({ role: 'readonly', name: 'sdk', expires_in: 600 })
    expect(await keys.get(id)).toMatchObject({ name: 'sdk', status: 'active' })
    const reader = world.clientWith({ apiKey: key })
    await expect(reader.token('t', 'demo')).rejects.toMatchObject({
      name: 'Forbidden',
      code: 'insufficient_role',
    })
    expect(await keys.rotate(id, { grace: 60 })).toMatchObject({ key: expect.any(String), replaces: { id } })
    await keys.revoke(id)
    await expect(reader.tools.get('Run.Add')).rejects.toMatchObject({ name: 'Unauthenticated', status: 401 })
    expect((await keys.list().toArray()).find((one) => one.id === id)).toMatchObject({ status: 'revoked' })

    expect(await projects.create('sdk')).toMatchObject({ name: 'sdk' })
    expect((await projects.list().toArray()).map(({ name }) => name)).toEqual(['default', 'sdk'])
    expect(await projects.changeBranding('default', { app_name: 'Acme' })).toMatchObject({ app_name: 'Acme' })
    expect(await projects.branding('default')).toMatchObject({ app_name: 'Acme' })
    expect(await projects.changeBranding('default', { app_name: null })).not.toHaveProperty('app_name')
    await expect(projects.changeBranding('default', { accent: '#ffffff' })).rejects.toMatchObject({
      name: 'InvalidRequest',
      code: 'invalid_request',
      status: 422,
      message: expect.stringContaining('The nearest shade is #'),
      faults: [{ path: 'accent' }],
    })
    const { domain } = await projects.changeBranding('default', { domain: 'auth.acme.example' })
    const values = [domain?.challenge.value]
    Object.assign(world.gatepass.broker.outgoing, { lookUpTxt: async () => ({ outcome: 'found', values }) })
    expect((await projects.verifyDomain('default')).domain?.status).toBe('proved')
    expect(await projects.changeBranding('default', { domain: null })).not.toHaveProperty('domain')
  })

  test('diagnosis', async () => {
    expect(await client.admin.diagnosis()).toMatchObject({ checks: expect.any(Array) })
  })
})

test('connect sessions: their JSON is what a page needs, and no more', async () => {
  const allowedOrigin = 'https://app.example'
  const session = await client.as('cs1').connectSessions.create({
    provider: 'demo',
    scopes: ['read'],
    allowedOrigin,
  })
  expect(session).toMatchObject({
    id: expect.stringMatching(/^cs_/),
    authorizationId: expect.stringMatching(/^auth_/),
    sessionToken: expect.stringMatching(/^gps_/),
    status: 'pending',
    expiresAt: expect.any(Date),
  })
  expect(Object.keys(JSON.parse(JSON.stringify(session))).toSorted()).toEqual([
    'expires_at',
    'session_token',
    'status',
    'url',
  ])
  await world.connect('cs1')
  const covered = await client.connectSessions.create({ user: 'cs1', provider: 'demo', allowedOrigin })
  expect(covered).toMatchObject({ status: 'completed', connection: { provider: 'demo' } })
  const again = { connection: covered.connection?.id ?? '', scopes: ['write'], allowedOrigin }
  expect(await client.as('cs1').connectSessions.create(again)).toMatchObject({ status: 'pending' })
  const tool = await client.as('cs1').connectSessions.create({ tool: 'Run.ActsElsewhere', allowedOrigin })
  expect(tool.status).toBe('pending')
})
