import Arcade from '@arcadeai/arcadejs'
import { executeOrAuthorizeZodTool, toZod, toZodToolSet } from '@arcadeai/arcadejs/lib/index'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digest } from '../digest.ts'
import { startFakeWorker } from '../fake-worker.ts'
import { gate } from '../gate.ts'
import { until } from '../until.ts'
import { UserAgent } from '../user-agent.ts'
import { approve, providerBody, startWorld, WORKER_SECRET, type World } from './world.ts'

// Arcade's published client, which gets Gatepass's address and a key and nothing else. What it sends and accepts is fixed.

let world: World
let client: Arcade
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example.test' } } })
  client = clientOf(world)
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

function clientOf({ gatepass }: World): Arcade {
  return new Arcade({ baseURL: gatepass.url, apiKey: gatepass.apiKey })
}

async function refusal(promise: PromiseLike<unknown>): Promise<InstanceType<typeof Arcade.APIError>> {
  const error = await Promise.resolve(promise).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Arcade.APIError) return error
  throw new Error(`no APIError but ${String(error)}`)
}

describe('auth', () => {
  test('start, wait while the user approves, and the token', async () => {
    const user = newUser()
    const started = await client.auth.start(user, 'demo', { scopes: ['read'] })
    expect(started).toMatchObject({
      id: expect.stringMatching(/^auth_/),
      status: 'pending',
      url: expect.stringContaining(`${world.gatepass.url}/connect/`),
      user_id: user,
      provider_id: 'demo',
      scopes: ['read'],
      context: {},
    })
    const waiting = client.auth.waitForCompletion(started)
    await approve(started.url ?? '')
    const completed = await waiting
    expect(completed).toMatchObject({ id: started.id, status: 'completed', scopes: ['read'] })
    expect(world.as.isLive(completed.context?.token ?? '')).toBe(true)
    expect(completed.context?.user_info).toMatchObject({ sub: 'u-1', login: 'ada' })
    expect(completed).not.toHaveProperty('url')
  })

  test('wait by an id, also when it is completed already', async () => {
    const started = await client.auth.start(newUser(), 'demo', { scopes: ['read'] })
    const waiting = client.auth.waitForCompletion(started.id ?? '')
    await approve(started.url ?? '')
    expect(await waiting).toMatchObject({ status: 'completed' })
    expect(await client.auth.waitForCompletion(started.id ?? '')).toMatchObject({
      id: started.id,
      status: 'completed',
    })
  })

  test('what is covered is completed at once, with an id that can be waited for', async () => {
    const user = newUser()
    const token = await world.connect(user)
    const covered = await client.auth.start(user, 'demo', { scopes: ['read'] })
    expect(covered).toMatchObject({ id: expect.any(String), status: 'completed', context: { token } })
    expect(await client.auth.waitForCompletion(covered)).toBe(covered)
    expect(await client.auth.waitForCompletion(covered.id ?? '')).toMatchObject({
      status: 'completed',
      context: { token },
    })
  })

  test('no scopes at all: any grant will do', async () => {
    const user = newUser()
    await world.connect(user)
    expect(await client.auth.start(user, 'demo')).toMatchObject({ status: 'completed' })
  })

  test('the same user, provider and scopes share one flow; more scopes ask for the union', async () => {
    const user = newUser()
    await world.connect(user)
    const ask = (scopes: string[]) => client.auth.start(user, 'demo', { scopes })
    const [one, two] = await Promise.all([ask(['write']), ask(['write'])])
    expect(one.id).toBe(two.id)
    expect(one.scopes?.toSorted()).toEqual(['read', 'write'])
  })

  test('a failure ends the wait with a 400 that says why', async () => {
    const started = await client.auth.start(newUser(), 'demo', { scopes: ['read'] })
    const waiting = refusal(client.auth.waitForCompletion(started))
    world.as.behaviour.consent = 'deny'
    await approve(started.url ?? '')
    world.as.behaviour.consent = 'approve'
    const error = await waiting
    expect(error).toBeInstanceOf(Arcade.BadRequestError)
    expect(error.message).toContain('access_denied')
    expect(await client.auth.status({ id: started.id ?? '' })).toMatchObject({
      status: 'failed',
      reason: 'access_denied',
    })
    const late = await refusal(client.auth.waitForCompletion(started.id ?? ''))
    expect(late.status).toBe(400)
  })

  test('status that runs out of time answers what it has', async () => {
    const { id = '' } = await client.auth.start(newUser(), 'demo', { scopes: ['read'] })
    const began = performance.now()
    expect(await client.auth.status({ id, wait: 1 })).toMatchObject({ id, status: 'pending' })
    expect(performance.now() - began).toBeGreaterThan(900)
  })

  test.each([
    ['an unknown id', () => client.auth.status({ id: 'auth_unknown' }), Arcade.NotFoundError],
    ['a wait that is too long', () => client.auth.status({ id: 'x', wait: 60 }), Arcade.BadRequestError],
    ['an unknown provider', () => client.auth.start('u', 'nobody'), Arcade.BadRequestError],
    [
      'neither id nor provider_id',
      () => client.auth.authorize({ auth_requirement: {}, user_id: 'u' }),
      Arcade.BadRequestError,
    ],
    [
      'a next_uri that is not allowed',
      () =>
        client.auth.authorize({
          auth_requirement: { id: 'demo' },
          user_id: newUser(),
          next_uri: 'https://evil.example.test/',
        }),
      Arcade.BadRequestError,
    ],
    [
      'a flow that there is not',
      () => client.auth.confirmUser({ flow_id: 'flow_x', user_id: 'u' }),
      Arcade.NotFoundError,
    ],
  ])('%s is refused', async (_, act, kind) => {
    expect(await refusal(act())).toBeInstanceOf(kind)
  })

  test('authorize by id with next_uri: the browser goes there at the end', async () => {
    const next_uri = 'https://app.example.test/done?x=1'
    const { id, url = '' } = await client.auth.authorize({
      auth_requirement: { id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } },
      user_id: newUser(),
      next_uri,
    })
    const browser = new UserAgent()
    const end = await browser.submitForm(
      await browser.get(url),
      {},
      { until: ({ href }) => href.startsWith(next_uri) },
    )
    expect(end.hops.at(-1)?.location).toBe(`${next_uri}&auth_id=${id}&status=completed`)
  })

  test("the caller's own page confirms the user", async () => {
    const verifier = 'http://127.0.0.1:1/verify'
    await using confirming = await startWorld({
      gatepass: { environment: { GATEPASS_USER_VERIFIER: verifier } },
    })
    const theirs = clientOf(confirming)
    const begin = async (user: string) => {
      const started = await theirs.auth.start(user, 'demo', { scopes: ['read'] })
      const browser = new UserAgent()
      const until = ({ href }: URL) => href.startsWith(verifier)
      const { hops } = await browser.submitForm(await browser.get(started.url ?? ''), {}, { until })
      const visited = new URL(hops.at(-1)?.location ?? '')
      expect([...visited.searchParams.keys()]).toEqual(['flow_id'])
      return { browser, started, flow_id: visited.searchParams.get('flow_id') ?? '' }
    }
    const mine = await begin('ada')
    const waiting = theirs.auth.waitForCompletion(mine.started)
    expect(confirming.as.tokenRequests()).toHaveLength(0)
    const confirmed = await theirs.auth.confirmUser({ flow_id: mine.flow_id, user_id: 'ada' })
    expect(confirmed).toMatchObject({ auth_id: mine.started.id, next_uri: expect.stringMatching(/^http/) })
    expect(await theirs.auth.confirmUser({ flow_id: mine.flow_id, user_id: 'ada' })).toEqual(confirmed)
    // as Arcade's documented verifier does: redirect to next_uri when there is one
    await mine.browser.follow(confirmed.next_uri ?? '')
    expect(await waiting).toMatchObject({ status: 'completed' })

    const stolen = await begin('eve')
    const error = await refusal(theirs.auth.confirmUser({ flow_id: stolen.flow_id, user_id: 'ada' }))
    expect(error.error).toMatchObject({ name: 'user_mismatch' })
    expect((await refusal(theirs.auth.waitForCompletion(stolen.started))).message).toContain('user_mismatch')
  })
})

describe('tools', () => {
  test('list pages by itself to the end, each tool once', async () => {
    const names: string[] = []
    for await (const tool of client.tools.list({ limit: 5 })) names.push(tool.fully_qualified_name)
    expect(names).toHaveLength(world.worker.tools.length)
    expect(new Set(names).size).toBe(names.length)
    expect(names).toContain('Demo.WhoAmI@1.0.0')
  })

  test('list by toolkit, with the formats of model providers', async () => {
    const page = await client.tools.list({
      toolkit: 'demo',
      include_format: ['openai', 'anthropic'],
      limit: 100,
    })
    const echo = page.items.find(({ name }) => name === 'Echo')
    expect(echo?.formatted_schema).toMatchObject({
      openai: { type: 'function', function: { name: 'Demo_Echo' } },
      anthropic: { name: 'Demo_Echo', input_schema: { type: 'object' } },
    })
    expect((await client.tools.list({ toolkit: 'nothing' })).items).toEqual([])
  })

  test.each([
    'Demo.WhoAmI',
    'Demo_WhoAmI',
    'Demo:WhoAmI',
    'demo.whoami',
    'WhoAmI',
    'Demo.WhoAmI@1.0.0',
    'Demo_WhoAmI@1.0.0',
    'Demo:WhoAmI:1.0.0',
  ])('get %s', async (name) => {
    expect(await client.tools.get(name)).toMatchObject({
      name: 'WhoAmI',
      qualified_name: 'Demo.WhoAmI',
      fully_qualified_name: 'Demo.WhoAmI@1.0.0',
      toolkit: { name: 'Demo', version: '1.0.0' },
      requirements: {
        authorization: {
          id: 'demo',
          provider_type: 'oauth2',
          oauth2: { scopes: ['read'] },
          status: 'active',
        },
      },
    })
  })

  test('authorize polls one flow until it is completed', async () => {
    const user_id = newUser()
    const ask = () => client.tools.authorize({ tool_name: 'Demo.WhoAmI', user_id })
    const first = await ask()
    expect(first).toMatchObject({ status: 'pending', provider_id: 'demo', scopes: ['read'] })
    expect(await ask()).toEqual(first)
    await approve(first.url ?? '')
    expect(await ask()).toMatchObject({ status: 'completed', context: { token: expect.any(String) } })
    expect(await client.auth.waitForCompletion(first)).toMatchObject({ status: 'completed' })
  })

  test('a tool that needs nobody is authorized at once', async () => {
    const answer = await client.tools.authorize({ tool_name: 'Demo.Echo', user_id: newUser() })
    expect(answer).toMatchObject({ id: expect.any(String), status: 'completed' })
    expect(await client.auth.waitForCompletion(answer)).toBe(answer)
  })

  test('execute answers the value', async () => {
    const user_id = newUser()
    const token = await world.connect(user_id)
    const answer = await client.tools.execute({ tool_name: 'Demo.WhoAmI', user_id, input: {} })
    expect(answer).toMatchObject({
      id: expect.any(String),
      execution_id: expect.any(String),
      execution_type: 'immediate',
      status: 'completed',
      success: true,
      duration: expect.any(Number),
      output: { value: { user_id, token_digest: digest(token) } },
    })
    expect(Number.isNaN(Date.parse(answer.finished_at ?? ''))).toBe(false)
  })

  test("a tool's own error is a 200 with its kind", async () => {
    const input = {
      kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
      message: 'Slow down.',
      can_retry: true,
      retry_after_ms: 5,
    }
    const answer = await client.tools.execute({ tool_name: 'Demo.Fail', input })
    expect(answer).toMatchObject({ success: false, status: 'failed', output: { error: input } })
  })

  test('a stack trace only for who asks', async () => {
    const execute = (include_error_stacktrace: boolean) =>
      client.tools.execute({
        tool_name: 'Demo.Fail',
        input: { stacktrace: 'at main()' },
        include_error_stacktrace,
      })
    expect((await execute(true)).output?.error?.stacktrace).toBe('at main()')
    expect((await execute(false)).output?.error).not.toHaveProperty('stacktrace')
  })

  test('an approval that is missing is as a missing consent: 403 with the link, wait, the same call', async () => {
    const key = await world.gatepass.makeKey('approver')
    await world.call('POST', '/v1/admin/policies', {
      id: 'ask-first',
      effect: 'approve',
      match: { tools: ['Demo.Echo'] },
      approve: { by: { group: 'security' } },
    })
    const user_id = newUser()
    const run = (text: string) => client.tools.execute({ tool_name: 'Demo.Echo', user_id, input: { text } })
    const ask = async (text: string) => {
      const error = await refusal(run(text))
      expect(error.status).toBe(403)
      expect(error.message.toLowerCase()).toContain('authorization required')
      const { id, url } = (error.error as { output: { authorization: { id: string; url: string } } }).output
        .authorization
      expect(url).toContain(`${world.gatepass.url}/approve/${id}`)
      expect(error.message).toContain(url)
      return id
    }
    const decide = async (id: string, decision: string, more: object = {}) => {
      const path = `/v1/approvals/${id}`
      const { digest } = (await world.call('GET', path, undefined, { key })).body
      const body = { decision, digest, approver: 'bob', ...more }
      expect(await world.call('POST', `${path}/decision`, body, { key })).toMatchObject({ status: 200 })
    }
    const id = await ask('one')
    const waiting = client.auth.waitForCompletion(id)
    await decide(id, 'approve')
    expect(await waiting).toMatchObject({ id, status: 'completed' })
    expect(await run('one')).toMatchObject({ success: true, output: { value: { inputs: { text: 'one' } } } })

    const denied = await ask('two')
    const failing = refusal(client.auth.waitForCompletion(denied))
    await decide(denied, 'deny', { reason: 'Not on a Sunday.' })
    expect(await failing).toMatchObject({ status: 400, message: expect.stringContaining('approval_denied') })
    expect(await run('two')).toMatchObject({
      success: false,
      output: { error: { can_retry: false, message: expect.stringContaining('Not on a Sunday.') } },
    })
    await world.call('DELETE', '/v1/admin/policies/ask-first')
  })

  test('missing consent is a 403 with the link in its message and in its body', async () => {
    const user_id = newUser()
    const error = await refusal(client.tools.execute({ tool_name: 'Demo.WhoAmI', user_id }))
    expect(error).toBeInstanceOf(Arcade.PermissionDeniedError)
    expect(error.message.toLowerCase()).toContain('authorization required')
    const { output } = error.error as { output: { authorization: { id: string; url: string } } } // as the contract has it
    expect(error.message).toContain(output.authorization.url)
    expect(output.authorization).toMatchObject({
      status: 'pending',
      user_id,
      provider_id: 'demo',
      scopes: ['read'],
    })
    const waiting = client.auth.waitForCompletion(output.authorization.id)
    await approve(output.authorization.url)
    await waiting
    expect(await client.tools.execute({ tool_name: 'Demo.WhoAmI', user_id })).toMatchObject({ success: true })
  })

  test.each([
    ['an unknown tool', { tool_name: 'Demo.Nothing' }, Arcade.NotFoundError],
    ['a version that there is not', { tool_name: 'Demo.Echo', tool_version: '9.9.9' }, Arcade.NotFoundError],
    ['no user for a tool that acts for one', { tool_name: 'Demo.WhoAmI' }, Arcade.BadRequestError],
    ['a run at no time', { tool_name: 'Demo.Echo', run_at: 'tomorrow' }, Arcade.BadRequestError],
  ])('execute of %s is refused', async (_, body, kind) => {
    expect(await refusal(client.tools.execute(body, { maxRetries: 0 }))).toBeInstanceOf(kind)
  })

  test('a run that is put off: execute, then scheduled.get and scheduled.list', async () => {
    const text = `later-${newUser()}`
    const run_at = new Date(Date.now() + 1000).toISOString().slice(0, 19)
    const answer = await client.tools.execute({ tool_name: 'Demo.Echo', input: { text }, run_at })
    expect(answer).toMatchObject({
      id: expect.any(String),
      execution_type: 'scheduled',
      status: 'scheduled',
      success: true,
      run_at: expect.stringContaining(run_at),
    })
    const id = answer.id ?? ''
    await expect.poll(async () => (await client.tools.scheduled.get(id)).execution_status).toBe('completed')
    expect(await client.tools.scheduled.get(id)).toMatchObject({
      id,
      tool_name: 'Echo',
      toolkit_name: 'Demo',
      toolkit_version: '1.0.0',
      execution_type: 'scheduled',
      input: { text },
      attempts: [{ success: true, output: { value: { inputs: { text } } } }],
    })
    const second = await client.tools.execute({ tool_name: 'Demo.Echo', run_at })
    const ids: (string | undefined)[] = []
    for await (const one of client.tools.scheduled.list({ limit: 1 })) ids.push(one.id)
    expect(ids).toEqual([second.id, id])
    expect((await refusal(client.tools.scheduled.get('exec_nothing'))).status).toBe(404)
  })

  test('two executes with one Idempotency-Key run the tool once', async () => {
    const text = `once-${newUser()}`
    const execute = (input: Record<string, unknown>) =>
      client.tools.execute({ tool_name: 'Demo.Echo', input }, { idempotencyKey: `key-${text}` })
    const answers = await Promise.all([execute({ text }), execute({ text }), execute({ text })])
    answers.push(await execute({ text }))
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1)
    const runs = world.worker.invocations.filter(({ call }) => call.inputs?.text === text)
    expect(runs).toHaveLength(1)
    expect((await refusal(execute({ text: 'other' }))).status).toBe(400)
  })

  test('an execute that timed out is answered by what its first try did', async () => {
    const text = `slow-${newUser()}`
    const { tools } = world.worker
    const { opened, open } = gate()
    const held: (typeof tools)[number]['run'] = () => opened.then(() => ({ value: text }))
    world.worker.tools = tools.map((tool) => (tool.name === 'Echo' ? { ...tool, run: held } : tool))
    const runs = () => world.worker.invocations.filter(({ call }) => call.inputs?.text === text)
    const timeout = 599_999 // told apart from other timers
    const timers = vi.spyOn(globalThis, 'setTimeout')
    const tries = () => timers.mock.calls.flatMap(([end, ms]) => (ms === timeout ? [end as () => void] : []))
    const options = { idempotencyKey: `key-${text}`, timeout }
    const executing = client.tools.execute({ tool_name: 'Demo.Echo', input: { text } }, options)
    await until(() => runs().length === 1)
    tries()[0]?.()
    await until(() => tries().length === 2)
    open()
    expect(await executing).toMatchObject({ success: true, output: { value: text } })
    expect(runs()).toHaveLength(1)
    timers.mockRestore()
    world.worker.tools = tools
  })

  test('formatted tools', async () => {
    const names: string[] = []
    for await (const one of client.tools.formatted.list({ format: 'openai', limit: 4 }))
      names.push((one as { function: { name: string } }).function.name)
    expect(names).toHaveLength(world.worker.tools.length)
    expect(names).toContain('Demo_Echo')
    expect(await client.tools.formatted.get('Demo.Echo', { format: 'anthropic' })).toMatchObject({
      name: 'Demo_Echo',
      input_schema: { type: 'object', properties: { text: { type: 'string' } } },
    })
  })
})

describe('the zod helpers', () => {
  test('make tools of our definitions, and run them', async () => {
    const { items: tools } = await client.tools.list({ toolkit: 'Demo', limit: 100 })
    const zodTools = toZod({ tools, client, userId: newUser() })
    expect(zodTools.map(({ name }) => name)).toContain('Demo_Echo')
    const echo = zodTools.find(({ name }) => name === 'Demo_Echo')
    expect(await echo?.execute({ text: 'hello', count: 2 })).toMatchObject({
      output: { value: { inputs: { text: 'hello', count: 2 } } },
    })
    await expect(echo?.execute({ count: 'two' })).rejects.toThrow('Invalid input')
  })

  test('execute or authorize: the link first, then the value', async () => {
    const userId = newUser()
    const { items: tools } = await client.tools.list({ limit: 100 })
    const set = toZodToolSet({ tools, client, userId, executeFactory: executeOrAuthorizeZodTool })
    const first = await set.Demo_WhoAmI?.execute({})
    expect(first).toMatchObject({
      authorization_required: true,
      url: expect.stringContaining('/connect/'),
      authorization_response: { status: 'pending' },
    })
    if (first && 'url' in first) await approve(first.url)
    expect(await set.Demo_WhoAmI?.execute({})).toMatchObject({ success: true })
  })
})

describe('admin', () => {
  test('auth providers: create, list, get, patch, delete', async () => {
    const { authProviders } = client.admin
    const created = await authProviders.create(providerBody('spare', world.as))
    expect(created).toMatchObject({
      id: 'spare',
      type: 'oauth2',
      status: 'active',
      oauth2: {
        client_id: world.as.clientId,
        client_secret: { exists: true, editable: true },
        redirect_uri: expect.stringContaining('/callback/'),
      },
    })
    const listed = await authProviders.list()
    expect(listed).toMatchObject({ offset: 0, total_count: listed.items?.length })
    expect(listed.items?.map(({ id }) => id)).toEqual(expect.arrayContaining(['demo', 'spare']))
    expect(await authProviders.get('spare')).toEqual(created)
    const patched = await authProviders.patch('spare', { description: 'changed', status: 'inactive' })
    expect(patched).toMatchObject({ id: 'spare', description: 'changed', status: 'inactive' })
    expect(JSON.stringify([created, listed, patched])).not.toContain(world.as.clientSecret)
    expect((await refusal(authProviders.create(providerBody('spare', world.as)))).status).toBe(409)
    expect(await authProviders.delete('spare')).toMatchObject({ id: 'spare' })
    expect((await refusal(authProviders.get('spare'))).status).toBe(404)
  })

  test('user connections: list by user and provider, delete', async () => {
    const user_id = newUser()
    const token = await world.connect(user_id)
    const connections = []
    for await (const one of client.admin.userConnections.list({ user_id, provider_id: 'demo' }))
      connections.push(one)
    expect(connections).toMatchObject([
      {
        user_id,
        provider_id: 'demo',
        provider_type: 'oauth2',
        provider_user_info: { sub: 'u-1' },
        scopes: ['read'],
      },
    ])
    expect(JSON.stringify(connections)).not.toContain(token)
    const all = await client.admin.userConnections.list({ limit: 1 })
    expect(all.items).toHaveLength(1)
    const id = connections[0]?.id ?? ''
    expect(await client.admin.userConnections.delete(id)).toBeNull()
    expect((await client.admin.userConnections.list({ user_id })).items).toEqual([])
    expect((await refusal(client.admin.userConnections.delete(id))).status).toBe(404)
    expect(await client.auth.start(user_id, 'demo', { scopes: ['read'] })).toMatchObject({
      status: 'pending',
    })
  })

  test('secrets: create is an upsert, list, delete by id', async () => {
    const { secrets } = client.admin
    const created = await secrets.create('SPARE_KEY', { value: 'first-value', description: 'A key' })
    expect(created).toMatchObject({ id: expect.any(String), key: 'SPARE_KEY', description: 'A key' })
    const again = await secrets.create('spare_key', { value: 'second-value' })
    expect(again.id).toBe(created.id)
    const listed = await secrets.list()
    expect(listed.items?.filter(({ key }) => key === 'SPARE_KEY')).toHaveLength(1)
    expect(JSON.stringify([created, again, listed])).not.toMatch(/first-value|second-value/)
    expect(await secrets.delete(created.id ?? '')).toBeNull()
    expect((await refusal(secrets.delete(created.id ?? ''))).status).toBe(404)
  })
})

describe('workers', () => {
  test('create, list, get, update, health, tools, delete', async () => {
    const tools = [{ name: 'Only', description: 'The only one.', run: async () => ({ value: 1 }) }]
    const spare = await startFakeWorker({
      secret: WORKER_SECRET,
      tools,
      toolkit: { name: 'Spare', version: '2.0.0' },
    })
    try {
      const http = { uri: spare.url, secret: WORKER_SECRET, timeout: 60, retry: 1 }
      const created = await client.workers.create({ id: 'spare', http })
      expect(created).toMatchObject({
        id: 'spare',
        type: 'http',
        enabled: true,
        http: { uri: spare.url, timeout: 60, retry: 1, secret: { exists: true } },
      })
      expect(JSON.stringify(created)).not.toContain(WORKER_SECRET)
      const ids: (string | undefined)[] = []
      for await (const worker of client.workers.list({ limit: 1 })) ids.push(worker.id)
      expect(ids.toSorted()).toEqual(['demo', 'spare'])
      expect(await client.workers.get('spare')).toMatchObject({ id: 'spare' })
      expect(await client.workers.health('spare')).toMatchObject({
        id: 'spare',
        enabled: true,
        healthy: true,
      })
      const names: string[] = []
      for await (const tool of client.workers.tools('spare', { limit: 1 })) names.push(tool.qualified_name)
      expect(names).toEqual(['Spare.Only'])
      expect(await client.tools.execute({ tool_name: 'Spare.Only' })).toMatchObject({ output: { value: 1 } })
      const updated = await client.workers.update('spare', { enabled: false, http: { timeout: 9 } })
      expect(updated).toMatchObject({ enabled: false, http: { timeout: 9, uri: spare.url } })
      expect(await client.workers.delete('spare')).toBeNull()
      expect((await refusal(client.workers.get('spare'))).status).toBe(404)
      expect((await refusal(client.tools.get('Spare.Only'))).status).toBe(404)
    } finally {
      await spare.close()
    }
  })
})

test('health', async () => {
  expect(await client.health.check()).toMatchObject({ healthy: true })
})

test('a wrong key', async () => {
  const stranger = new Arcade({ baseURL: world.gatepass.url, apiKey: 'arc_wrong' })
  expect(await refusal(stranger.tools.list())).toBeInstanceOf(Arcade.AuthenticationError)
})

test('the base URL with a trailing slash', async () => {
  const { url: baseURL, apiKey } = world.gatepass
  expect(await new Arcade({ baseURL: `${baseURL}/`, apiKey }).health.check()).toMatchObject({ healthy: true })
})
