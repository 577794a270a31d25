import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { digest } from '../digest.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { freePort } from '../ports.ts'
import { UserAgent } from '../user-agent.ts'
import { withoutJobs } from '../without-jobs.ts'
import { metadata, oauthEntry, startWorld, WORKER_SECRET, type World } from './world.ts'

const ajv = new Ajv({ allErrors: true, strictTypes: false })
ajv.addFormat('uri', (text) => URL.canParse(text))
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
const schema = new URL('../tools/execute-response.schema.json', import.meta.url)
const isExecuteResponse = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')))

let world: World
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

function toolThat(name: string, run: WorkerTool['run'] = async () => ({ value: name })): WorkerTool {
  return { name, description: `Does ${name}.`, run }
}

async function definition({ call }: World, name: string, user_id?: string) {
  const query = user_id === undefined ? '' : `?user_id=${user_id}`
  return (await call('GET', `/v1/tools/${encodeURIComponent(name)}${query}`)).body
}

describe('requirements', () => {
  test('of a provider: token_status only for a user who is named', async () => {
    const user = newUser()
    const name = 'Demo.WhoAmI'
    const anyone = await definition(world, name)
    expect(anyone.requirements).toMatchObject({ met: true, authorization: { id: 'demo', status: 'active' } })
    expect(anyone.requirements.authorization).not.toHaveProperty('token_status')
    expect((await definition(world, name, user)).requirements).toMatchObject({
      met: false,
      authorization: { token_status: 'not_started' },
    })
    await world.connect(user)
    expect((await definition(world, name, user)).requirements).toMatchObject({
      met: true,
      authorization: { token_status: 'completed' },
    })
    await world.connect(`${user}-less`, ['other'])
    expect((await definition(world, name, `${user}-less`)).requirements.met).toBe(false)
    const listed = await world.call('GET', `/v1/tools?limit=100&user_id=${user}`)
    const mets = listed.body.items.map((one: { name: string; requirements: { met: boolean } }) => [
      one.name,
      one.requirements.met,
    ])
    expect(mets).toContainEqual(['WhoAmI', true])
    expect(mets).toContainEqual(['NeedsSecret', false])
    expect(mets).toContainEqual(['Echo', true])
  })

  test('of a provider that there is not, or that is switched off', async () => {
    const { call } = world
    const tools = [{ ...toolThat('Lost'), authorization: { id: 'nobody', scopes: ['a'] } }]
    const toolkit = { name: 'Lost', version: '1.0.0' }
    await using lost = await startFakeWorker({ secret: WORKER_SECRET, tools, toolkit }).then(disposable)
    await call('POST', '/v1/workers', { id: 'lost', http: { uri: lost.url, secret: WORKER_SECRET } })
    expect((await definition(world, 'Lost.Lost')).requirements).toMatchObject({
      met: false,
      authorization: { id: 'nobody', status: 'inactive', status_reason: expect.stringContaining('nobody') },
    })
    expect(await world.execute('Lost.Lost', { user_id: 'u' })).toMatchObject({
      status: 400,
      body: { name: 'provider_not_found' },
    })
    await call('DELETE', '/v1/workers/lost')

    await call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
    expect((await definition(world, 'Demo.WhoAmI')).requirements.met).toBe(false)
    expect((await world.execute('Demo.WhoAmI', { user_id: 'u' })).body.name).toBe('provider_inactive')
    await call('PATCH', '/v1/admin/auth_providers/demo', { status: 'active' })
  })

  test('of a secret', async () => {
    await using own = await startWorld()
    expect((await definition(own, 'NeedsSecret')).requirements).toMatchObject({
      met: false,
      secrets: [{ key: 'API_KEY', met: false, status_reason: expect.any(String) }],
    })
    const refused = await own.execute('NeedsSecret', {}, 'arcade')
    expect(refused.body.output.error).toMatchObject({
      kind: 'TOOL_REQUIREMENTS_NOT_MET',
      message: expect.stringContaining('API_KEY'),
    })
    expect(own.worker.invocations).toHaveLength(0)
    await own.call('POST', '/v1/admin/secrets/api_key', { value: 'the-value-of-it' })
    await own.call('POST', '/v1/admin/secrets/UNDECLARED', { value: 'never-to-be-seen' })
    expect((await definition(own, 'NeedsSecret')).requirements).toMatchObject({
      met: true,
      secrets: [{ key: 'API_KEY', met: true }],
    })
    const { body } = await own.execute('NeedsSecret')
    expect(body.output.value).toEqual({ API_KEY: digest('the-value-of-it') })
    await own.execute('Echo', { input: {} })
    const received = own.worker.invocations.map(({ call }) => call.context.secrets)
    expect(received).toEqual([[{ key: 'API_KEY', value: 'the-value-of-it' }], []])
    expect(JSON.stringify(own.worker.requests)).not.toContain('never-to-be-seen')
  })
})

describe('what the tool is given', () => {
  test('token and user info, the user, and nothing else', async () => {
    const user_id = newUser()
    const token = await world.connect(user_id)
    await world.execute('Demo.EchoWithToken', { user_id, input: { text: 'hi' } })
    const { call, claims } = world.worker.invocations.at(-1) ?? {}
    expect(call).toEqual({
      run_id: expect.any(String),
      execution_id: expect.any(String),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      tool: { name: 'EchoWithToken', toolkit: 'Demo', version: '1.0.0' },
      inputs: { text: 'hi' },
      context: {
        authorization: {
          token,
          user_info: { sub: 'u-1', name: 'Ada Lovelace', email: 'ada@example.test', login: 'ada' },
          token_type: 'bearer',
          expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
          scopes: ['read'],
          provider_id: 'demo',
        },
        secrets: [],
        metadata: [],
        user_id,
      },
    })
    expect(claims).toMatchObject({ aud: 'worker', ver: '1', exp: expect.any(Number) })
  })

  test('no token where none is declared, even for a connected user', async () => {
    const user_id = newUser()
    const token = await world.connect(user_id)
    await world.execute('Demo.Echo', { user_id })
    const { request } = world.worker.invocations.at(-1) ?? {}
    expect(JSON.stringify(request)).not.toContain(token)
    expect(world.worker.invocations.at(-1)?.call.context).not.toHaveProperty('authorization')
  })

  test("never another user's token", async () => {
    const [mine, theirs] = [newUser(), newUser()]
    await world.connect(mine)
    expect((await world.execute('Demo.WhoAmI', { user_id: theirs })).body.output).toHaveProperty(
      'requires_authorization',
    )
  })
})

describe('outputs, as seeds/000 and as Arcade has them', () => {
  const artifact = {
    url: 'https://files.example.test/report.csv',
    content_type: 'text/csv',
    size: 1234,
    meta: { description: 'A report' },
  }
  test.each([
    ['an object', 'Echo', { text: 'x' }, { value: expect.any(Object) }, { value: expect.any(Object) }],
    ['a text', 'Slow', { ms: 1 }, { value: 'at last' }, { value: 'at last' }],
    [
      'a list',
      'Array',
      {},
      { value: { items: [1, 'two', { three: 3 }] } },
      { value: [1, 'two', { three: 3 }] },
    ],
    ['null', 'Null', {}, undefined, { value: null }],
    ['an artifact', 'Artifact', {}, { artifact }, { artifact }],
    [
      'an error',
      'Fail',
      { kind: 'tool_runtime_bad_input_value', message: 'No such city.', retry_after_ms: 10 },
      {
        error: {
          message: 'No such city.',
          developer_message: expect.stringContaining('TOOL_RUNTIME_BAD_INPUT_VALUE'),
          can_retry: false,
          retry_after_ms: 10,
        },
      },
      {
        error: {
          kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
          message: 'No such city.',
          can_retry: false,
          retry_after_ms: 10,
        },
      },
    ],
    [
      'an error of a kind nobody knows',
      'Fail',
      { kind: 'tool_made_up' },
      { error: expect.any(Object) },
      { error: { kind: 'UNKNOWN', message: 'It failed.', can_retry: false } },
    ],
  ])('%s', async (_, tool, input, plain, arcade) => {
    const seen = await world.execute(`Demo.${tool}`, { input })
    expect(seen.status).toBe(200)
    expect(isExecuteResponse(seen.body), JSON.stringify(isExecuteResponse.errors)).toBe(true)
    expect(seen.body.output).toEqual(plain)
    const known = await world.execute(`Demo.${tool}`, { input }, 'arcade')
    expect(known.status).toBe(200)
    expect(known.body.output).toEqual(arcade)
    for (const { body } of [seen, known]) expect(body.success).toBe(tool !== 'Fail')
  })

  test('missing consent', async () => {
    const user_id = newUser()
    const { status, body } = await world.execute('Demo.WhoAmI', { user_id })
    expect(status).toBe(200)
    expect(isExecuteResponse(body), JSON.stringify(isExecuteResponse.errors)).toBe(true)
    expect(body).toMatchObject({ success: false })
    expect(body.output).toEqual({
      requires_authorization: {
        id: expect.stringMatching(/^auth_/),
        url: `${world.gatepass.url}/connect/${body.output.requires_authorization.id}`,
        scopes: ['read'],
        status: 'pending',
      },
    })
    const again = await world.execute('Demo.WhoAmI', { user_id }, 'arcade')
    expect(again).toMatchObject({
      status: 403,
      body: { output: { authorization: { id: body.output.requires_authorization.id } } },
    })
  })
})

describe('what goes wrong at the worker', () => {
  let failing: World
  beforeAll(async () => {
    failing = await withoutJobs(startWorld)
  })
  afterAll(async () => {
    await failing[Symbol.asyncDispose]()
  })

  const invoke = (how: 'drop' | 'html' | 'redirect' | 'hang' | '500' | '503') => () => {
    failing.worker.behaviour.invoke = how
  }
  const patience = (seconds: number) =>
    failing.call('PATCH', '/v1/workers/demo', { http: { timeout: seconds } })

  test.each([
    ['too slow', 'Slow', { ms: 9000 }, undefined, 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', false],
    ['hangs', 'Echo', {}, invoke('hang'), 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', false],
    ['too much', 'Huge', { bytes: 5_000_000 }, undefined, 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', false],
    ['crashes', 'Crash', {}, undefined, 'UPSTREAM_RUNTIME_SERVER_ERROR', false],
    ['bad JSON', 'BadJson', {}, undefined, 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', false],
    ['HTML', 'Echo', {}, invoke('html'), 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', false],
    ['redirects', 'Echo', {}, invoke('redirect'), 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED', false],
    ['breaks off', 'Echo', {}, invoke('drop'), 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED', false],
    ['is unavailable', 'Echo', {}, invoke('503'), 'UPSTREAM_RUNTIME_SERVER_ERROR', true],
    [
      'refuses our token',
      'Echo',
      {},
      () => {
        failing.worker.behaviour.rejectJwt = true
      },
      'UPSTREAM_RUNTIME_AUTH_ERROR',
      false,
    ],
    [
      'has forgotten the tool',
      'Echo',
      {},
      () => {
        failing.worker.tools = failing.worker.tools.filter(({ name }) => name !== 'Echo')
      },
      'UPSTREAM_RUNTIME_NOT_FOUND',
      false,
    ],
  ])('it %s', async (_, tool, input, prepare, kind, can_retry) => {
    const { worker } = failing
    const before = { behaviour: { ...worker.behaviour }, tools: worker.tools }
    const isTimeout = kind === 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'
    if (isTimeout) await patience(2)
    prepare?.()
    const arcade = await failing.execute(`Demo.${tool}`, { input }, 'arcade')
    const invocations = worker.invocations.length
    const plain = await failing.execute(`Demo.${tool}`, { input })
    Object.assign(worker.behaviour, before.behaviour)
    worker.tools = before.tools
    if (isTimeout) await patience(60)
    expect(arcade.status).toBe(200)
    expect(arcade.body).toMatchObject({ success: false, output: { error: { kind, can_retry } } })
    expect(plain.headers.get('x-gatepass-error-kind')).toBe(kind)
    expect(isExecuteResponse(plain.body)).toBe(true)
    expect(worker.invocations.length - invocations).toBeLessThanOrEqual(1) // what may have run is not run again
    expect(worker.requests.filter(({ path }) => path === '/redirected')).toHaveLength(0)
    expect(arcade.body.output.error.message).not.toMatch(/127\.0\.0\.1|Traceback|Welcome|unwell/)
  })

  test('it is not there', async () => {
    await failing.worker.close()
    const { body } = await failing.execute('Demo.Echo', {}, 'arcade')
    expect(body.output.error).toMatchObject({
      kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
      can_retry: true,
    })
    const health = await failing.call('GET', '/v1/workers/demo/health')
    expect(health.body).toMatchObject({ healthy: false, message: expect.any(String) })
    await syncWorkers(failing.gatepass.broker)
    expect((await failing.call('GET', '/v1/workers/demo')).body.sync_error).toBeTypeOf('string')
    expect((await definition(failing, 'Demo.Echo')).name).toBe('Echo') // its tools stay known
  })
})

test('what a tool prints reaches the caller and the history, much of it too', async () => {
  const logs = Array.from({ length: 2000 }, (_, i) => ({ level: 'info', message: `line ${i} of the tool` }))
  await using own = await startWorld({
    worker: { tools: [toolThat('Print', async () => ({ value: 1, logs }))] },
  })
  const more = { input: {}, keep_content: true }
  const { body } = await own.execute('Demo.Print', more, 'arcade')
  expect(body.output).toEqual({ value: 1, logs })
  await own.gatepass.broker.history.flush()
  const kept = await own.call('GET', `/v1/executions/${body.execution_id}`)
  expect(kept.body.attempts[0].output).toEqual({ value: 1, logs })
})

describe('the token stays with the tool', () => {
  test.each(['value', 'nested', 'key', 'error', 'logs', 'body'])(
    'a worker that leaks it in its %s',
    async (where) => {
      const user_id = `leak-${where}`
      const token = await world.connect(user_id)
      for (const dialect of ['plain', 'arcade'] as const) {
        const more = { user_id, input: { in: where }, include_error_stacktrace: true }
        const { body, headers } = await world.execute('Demo.Leak', more, dialect)
        expect(JSON.stringify([body, [...headers]])).not.toContain(token)
        expect(world.worker.invocations.at(-1)?.call.context.authorization?.token).toBe(token)
      }
      expect(world.gatepass.logLines.join()).not.toContain(token)
    },
  )

  test.each([
    ['in base64', (token: string) => Buffer.from(token).toString('base64')],
    ['in a URL', (token: string) => `https://api.test/?access_token=${encodeURIComponent(token)}`],
    ['in a header', (token: string) => ({ headers: { Authorization: `Bearer ${token}` } })],
  ])('a worker that hides it %s', async (_, hide) => {
    await using own = await startWorld({
      worker: {
        tools: [
          {
            ...toolThat('Hide', async (_inputs, { authorization }) => ({
              value: hide(authorization?.token ?? ''),
            })),
            authorization: { id: 'demo', scopes: ['read'] },
          },
        ],
      },
    })
    const token = await own.connect('u')
    const { body } = await own.execute('Hide', { user_id: 'u' })
    expect(JSON.stringify(body)).not.toContain(token)
    expect(JSON.stringify(body)).not.toContain(Buffer.from(token).toString('base64'))
    expect(JSON.stringify(body)).toContain('[redacted]')
  })

  test("a worker's own consent link is never passed on", async () => {
    for (const dialect of ['plain', 'arcade'] as const) {
      const { body } = await world.execute('Demo.Phish', { user_id: newUser() }, dialect)
      expect(JSON.stringify(body)).not.toContain('evil.example.test')
      expect(body.success).toBe(false)
    }
  })
})

describe('a metadata tool', () => {
  test('that nothing runs yet, then bound', async () => {
    const { call, execute } = world
    await call('POST', '/v1/tools/import', metadata('Repeat after me'))
    const unbound = await execute('Repeat after me', {}, 'arcade')
    expect(unbound.body.output.error).toMatchObject({
      kind: 'TOOL_REQUIREMENTS_NOT_MET',
      message: expect.stringContaining('/binding'),
    })
    const path = `/v1/tools/${encodeURIComponent('Repeat after me')}/binding`
    const bind = (worker_id: string, tool: string) => call('POST', path, { worker_id, tool })
    expect(await bind('demo', 'Nothing')).toMatchObject({ status: 404 })
    expect(await bind('nobody', 'Echo')).toMatchObject({ status: 404 })
    expect(
      await call('POST', '/v1/tools/Demo.Null/binding', { worker_id: 'demo', tool: 'Echo' }),
    ).toMatchObject({
      status: 400,
    })
    expect(await bind('demo', 'Demo.Echo')).toMatchObject({ status: 200, body: { name: 'Repeat_after_me' } })
    const { body } = await execute('Repeat after me', { input: { text: 'x' } })
    expect(body.output.value.inputs).toEqual({ text: 'x' })
    expect(world.worker.invocations.at(-1)?.call.tool).toEqual({
      name: 'Echo',
      toolkit: 'Demo',
      version: '1.0.0',
    })
  })

  test('bound at its import by the name of the tool', async () => {
    const { call, execute } = world
    const { body } = await call('POST', '/v1/tools/import?worker_id=demo', [
      metadata('E-cho'),
      metadata('Unheard'),
    ])
    expect(body.items).toMatchObject([
      { result: 'created', warnings: [] },
      { result: 'created', warnings: [{ path: 'name', message: expect.stringContaining('demo') }] },
    ])
    expect((await execute('E-cho', { input: { text: 'y' } })).body.success).toBe(true)
    expect(await call('POST', '/v1/tools/import?worker_id=nobody', metadata('E-cho'))).toMatchObject({
      status: 404,
    })
    const again = await call('POST', '/v1/tools/import', metadata('E-cho'))
    expect(again.body.items[0].result).toBe('unchanged') // and still bound
    expect((await execute('E-cho')).body.success).toBe(true)
  })

  test('that needs two providers: one link leads through both', async () => {
    const { call, execute } = world
    await using second = disposable(await startFakeAuthorizationServer())
    const oauth = [oauthEntry('First', world.as), oauthEntry('Second', second, { scopes: ['mail', 'read'] })]
    await call('POST', '/v1/tools/import', metadata('Both', { oauth }))
    await call('POST', '/v1/tools/Both/binding', { worker_id: 'demo', tool: 'Echo' })
    const user_id = newUser()
    const { requires_authorization: first } = (await execute('Both', { user_id })).body.output
    expect(first.scopes.toSorted()).toEqual(['mail', 'read'])
    const browser = new UserAgent()
    const page = await browser.get(first.url)
    expect(page.body).toContain('Step 1 of 2')
    const between = await browser.submitForm(page)
    expect(between.body).toContain('Step 2 of 2')
    expect((await execute('Both', { user_id })).body.output.requires_authorization).toBeDefined()
    const end = await browser.submitForm(between)
    expect(end.body).toContain('First, Second is connected')
    expect((await call('GET', `/v1/auth/status?id=${first.id}`)).body.status).toBe('completed')

    expect((await execute('Both', { user_id })).body.success).toBe(true)
    const { context } = world.worker.invocations.at(-1)?.call ?? {}
    const tokens = (context as { authorizations?: { token: string }[] }).authorizations?.map(
      ({ token }) => token,
    )
    expect(tokens).toHaveLength(2)
    expect([world.as.isLive(tokens?.[0] ?? ''), second.isLive(tokens?.[1] ?? '')]).toEqual([true, true])
    expect(context?.authorization?.token).toBe(tokens?.[0])
  })

  test('whose names hold spaces and slashes', async () => {
    const { call, execute } = world
    await call('POST', '/v1/tools/import', metadata("X/Twitter: Ada's Post 100%"))
    for (const name of [
      "X/Twitter: Ada's Post 100%",
      "x/twitter: ada's post 100%",
      'local:X_Twitter_Ada_s_Post_100',
    ])
      expect((await definition(world, name)).name).toBe('X_Twitter_Ada_s_Post_100')
    expect((await definition(world, "X/Twitter: Ada's Post 100%@1.0.0")).toolkit.version).toBe('1.0.0')
    const path = `/v1/tools/${encodeURIComponent("X/Twitter: Ada's Post 100%")}/binding`
    expect(await call('POST', path, { worker_id: 'demo', tool: 'Echo' })).toMatchObject({ status: 200 })
    expect((await execute("X/Twitter: Ada's Post 100%")).body.success).toBe(true)
  })
})

describe('versions and namesakes', () => {
  test('the newest unless one is said', async () => {
    const { call, execute } = world
    for (const version of ['1.9.0', '1.10.0', '2.0.0-beta.1'])
      await call('POST', '/v1/tools/import?worker_id=demo', metadata('Null', { version, tool_set: 'many' }))
    const version = async (name: string) => (await definition(world, name)).toolkit?.version
    expect(await version('many.Null')).toBe('2.0.0-beta.1')
    expect(await version('Many_Null@1.9.0')).toBe('1.9.0')
    expect(await version('many:Null:1.10.0')).toBe('1.10.0')
    const said = { tool_version: '1.10.0' }
    expect(await execute('many.Null', said)).toMatchObject({ status: 200 })
    expect(await execute('many.Null', { tool_version: '3.0.0' })).toMatchObject({ status: 404 })
    const list = async (query: string) =>
      (await call('GET', `/v1/tools?toolkit=many${query}`)).body.items.map(
        (one: { toolkit: { version: string } }) => one.toolkit.version,
      )
    expect(await list('')).toEqual(['2.0.0-beta.1'])
    expect((await list('&include_all_versions=true')).toSorted()).toEqual(['1.10.0', '1.9.0', '2.0.0-beta.1'])
  })

  test('a name that two tools answer to', async () => {
    const { call, execute } = world
    await call(
      'POST',
      '/v1/tools/import',
      ['one', 'two'].map((tool_set) => metadata('Twin', { tool_set })),
    )
    for (const answer of [await call('GET', '/v1/tools/Twin'), await execute('Twin')]) {
      expect(answer).toMatchObject({ status: 400, body: { name: 'ambiguous_tool' } })
      expect(answer.body.message).toContain('one:Twin:1.0.0')
      expect(answer.body.message).toContain('two:Twin:1.0.0')
    }
    expect((await definition(world, 'two.Twin')).toolkit.name).toBe('two')
  })

  test('a name that a list gives to models is that tool, whatever else is called so', async () => {
    const { call, execute } = world
    await call('POST', '/v1/tools/import', [
      metadata('Called', { tool_set: 'listed' }),
      metadata('listed Called'),
    ])
    const { items } = (await call('GET', '/v1/formatted_tools?format=openai&q=called')).body
    const names = items.map((one: { function: { name: string } }) => one.function.name)
    expect(names.toSorted()).toEqual(['listed_Called', 'local_listed_Called'])
    expect((await definition(world, 'listed_Called')).toolkit.name).toBe('listed')
    expect((await definition(world, 'listed_Called@1.0.0')).toolkit.name).toBe('listed')
    expect((await definition(world, 'local_listed_Called')).toolkit.name).toBe('local')
    expect((await execute('listed_Called')).body.name).not.toBe('ambiguous_tool')
    const run = { toolId: 'listed_Called', args: {}, user_id: 'ada' }
    expect((await call('POST', '/v1/tools/run', run)).body.name).not.toBe('ambiguous_tool')
  })
})

describe('workers', () => {
  const http = (uri: string, secret = WORKER_SECRET) => ({ uri, secret, timeout: 20, retry: 0 })

  test('one that is down is registered, says so, and is synced when it is there', async () => {
    const { call, gatepass } = world
    const toolkit = { name: 'Late', version: '1.0.0' }
    await using late = await startFakeWorker({
      secret: WORKER_SECRET,
      tools: [toolThat('One')],
      toolkit,
    }).then(disposable)
    const down = await call('POST', '/v1/workers', {
      id: 'late',
      http: http(`http://127.0.0.1:${await freePort()}`),
    })
    expect(down.status).toBe(201)
    expect(down.body).toMatchObject({ id: 'late', sync_error: expect.any(String) })
    expect(down.body).not.toHaveProperty('synced_at')

    const up = await call('PATCH', '/v1/workers/late', { http: { uri: late.url } })
    expect(up.body).toMatchObject({ http: { uri: late.url, timeout: 20 }, synced_at: expect.any(String) })
    expect(up.body).not.toHaveProperty('sync_error')
    expect((await world.execute('Late.One')).body.output).toEqual({ value: 'One' })

    late.tools = [toolThat('Two')]
    late.behaviour.catalogue = '500'
    await syncWorkers(gatepass.broker)
    expect((await call('GET', '/v1/workers/late')).body.sync_error).toContain('500')
    expect((await definition(world, 'Late.One')).name).toBe('One')
    late.behaviour.catalogue = 'ok'
    await syncWorkers(gatepass.broker)
    expect((await call('GET', '/v1/workers/late')).body).not.toHaveProperty('sync_error')
    expect((await definition(world, 'Late.Two')).name).toBe('Two')
    expect(await call('GET', '/v1/tools/Late.One')).toMatchObject({ status: 404 })
  })

  test('several readings of one catalogue at the same time add each of its tools once', async () => {
    const { call } = world
    const toolkit = { name: 'Raced', version: '1.0.0' }
    await using raced = await startFakeWorker({ secret: WORKER_SECRET, tools: [], toolkit }).then(disposable)
    await call('POST', '/v1/workers', { id: 'raced', http: { uri: raced.url, secret: WORKER_SECRET } })
    raced.tools = Array.from({ length: 20 }, (_, i) => toolThat(`Tool${i}`))
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => call('PATCH', '/v1/workers/raced', { enabled: true })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await call('GET', '/v1/workers/raced/tools')).body.total_count).toBe(20)
    expect((await call('GET', '/v1/workers/raced')).body).not.toHaveProperty('sync_error')
    await call('DELETE', '/v1/workers/raced')
  })

  test('what an operator changes while its catalogue is read stands', async () => {
    const { call, gatepass } = world
    const toolkit = { name: 'Slow', version: '1.0.0' }
    await using slow = await startFakeWorker({
      secret: WORKER_SECRET,
      tools: [toolThat('Old')],
      toolkit,
    }).then(disposable)
    await call('POST', '/v1/workers', { id: 'slow', http: { uri: slow.url, secret: WORKER_SECRET } })
    slow.behaviour.catalogueDelayMs = 300
    slow.tools = [toolThat('New')]

    const before = slow.requests.length
    const syncing = syncWorkers(gatepass.broker)
    await expect.poll(() => slow.requests.length).toBeGreaterThan(before)
    await call('PATCH', '/v1/workers/slow', { enabled: false, http: { timeout: 7 } })
    await syncing
    expect((await call('GET', '/v1/workers/slow')).body).toMatchObject({
      enabled: false,
      http: { timeout: 7 },
    })

    await call('PATCH', '/v1/workers/slow', { enabled: true })
    slow.tools = [toolThat('Orphan')]
    const seen = slow.requests.length
    const again = syncWorkers(gatepass.broker)
    await expect.poll(() => slow.requests.length).toBeGreaterThan(seen)
    await call('DELETE', '/v1/workers/slow')
    await again
    expect(await call('GET', '/v1/tools/Slow.Orphan')).toMatchObject({ status: 404 })
  })

  test.each([
    ['HTML', 'html'],
    ['something that is no array', 'not-an-array'],
    ['500', '500'],
    ['nothing, ever', 'hang'],
  ] as const)('one whose catalogue is %s', async (_, catalogue) => {
    await using odd = await startFakeWorker({ secret: WORKER_SECRET, catalogue }).then(disposable)
    const body = { id: `odd-${catalogue}`, http: { ...http(odd.url), timeout: 1 } }
    const { status, body: worker } = await world.call('POST', '/v1/workers', body)
    expect([status, typeof worker.sync_error]).toEqual([201, 'string'])
    await world.call('DELETE', `/v1/workers/${body.id}`)
  })

  test.each([
    ['the same id again', { id: 'demo', http: http('http://127.0.0.1:1') }, 409, 'already_exists'],
    ['a host that is not allowed', { id: 'w', http: http('http://10.0.0.1') }, 400, 'host_not_allowed'],
    ['metadata hosts', { id: 'w', http: http('http://169.254.169.254') }, 400, 'host_not_allowed'],
    ['credentials in the URI', { id: 'w', http: http('http://a:b@127.0.0.1') }, 400, 'invalid_request'],
    ['another scheme', { id: 'w', http: http('file:///etc/passwd') }, 400, 'host_not_allowed'],
    ['no http', { id: 'w' }, 400, 'invalid_request'],
    [
      'a type that is none',
      { id: 'w', type: 'ftp', http: http('http://127.0.0.1:1') },
      400,
      'invalid_request',
    ],
    ['an id with a slash', { id: 'a/b', http: http('http://127.0.0.1:1') }, 400, 'invalid_request'],
  ])('refuses %s', async (_, body, status, name) => {
    expect(await world.call('POST', '/v1/workers', body)).toMatchObject({ status, body: { name } })
  })

  test('a wrong secret', async () => {
    const { call } = world
    await using guarded = await startFakeWorker({
      secret: 'another-secret',
      tools: [toolThat('G')],
      toolkit: { name: 'Guarded', version: '1.0.0' },
    }).then(disposable)
    const { body } = await call('POST', '/v1/workers', { id: 'guarded', http: http(guarded.url) })
    expect(body.sync_error).toContain('secret')
    const put = await call('PATCH', '/v1/workers/guarded', { http: { secret: 'another-secret' } })
    expect(put.body).not.toHaveProperty('sync_error')
    expect(JSON.stringify([body, put.body])).not.toContain('another-secret')
  })

  test('switched off and deleted: metadata tools it ran are unbound, its own gone', async () => {
    const { call, execute } = world
    const toolkit = { name: 'Brief', version: '1.0.0' }
    await using brief = await startFakeWorker({
      secret: WORKER_SECRET,
      tools: [toolThat('Run')],
      toolkit,
    }).then(disposable)
    await call('POST', '/v1/workers', { id: 'brief', http: http(brief.url) })
    await call('POST', '/v1/tools/import?worker_id=brief', metadata('Run', { tool_set: 'briefly' }))
    expect((await execute('briefly.Run')).body.output).toEqual({ value: 'Run' })
    await call('PATCH', '/v1/workers/brief', { enabled: false })
    expect((await execute('briefly.Run', {}, 'arcade')).body.output.error.kind).toBe(
      'TOOL_REQUIREMENTS_NOT_MET',
    )
    expect(await call('DELETE', '/v1/workers/brief')).toMatchObject({ status: 204, body: '' })
    expect(await call('GET', '/v1/tools/Brief.Run')).toMatchObject({ status: 404 })
    const unbound = await execute('briefly.Run', {}, 'arcade')
    expect(unbound.body.output.error.message).toContain('bind it')
    expect(await call('DELETE', '/v1/workers/brief')).toMatchObject({ status: 404 })
  })

  test('another project sees none of it', async () => {
    const { call, gatepass } = world
    const key = await gatepass.makeKey('admin', 'elsewhere')
    expect((await call('GET', '/v1/workers', undefined, { key })).body.total_count).toBe(0)
    expect((await call('GET', '/v1/tools', undefined, { key })).body.total_count).toBe(0)
    for (const path of ['/v1/workers/demo', '/v1/tools/Demo.Echo', '/v1/admin/auth_providers/demo'])
      expect(await call('GET', path, undefined, { key })).toMatchObject({ status: 404 })
    expect(await call('POST', '/v1/tools/execute', { tool_name: 'Demo.Echo' }, { key })).toMatchObject({
      status: 404,
    })
  })
})

function disposable<T extends { close(): Promise<unknown> }>(server: T): T & AsyncDisposable {
  return Object.assign(server, {
    async [Symbol.asyncDispose]() {
      await server.close()
    },
  })
}
