import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../digest.ts'
import { demoMcpTools, type FakeMcpTool, startFakeMcpServer } from '../fake-mcp-server.ts'
import { startMcpWorld } from '../http/mcp-world.ts'
import { approve, metadata, providerBody, startWorld, WORKER_SECRET, type World } from '../http/world.ts'

// Backends, the index, copies, and what a tool says in `_meta` that it needs. Ids, names,
// tags and versions are in test/tools/tool-model.test.ts, schemas in test/tools/schema-validator.test.ts.

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url))
const environment = { GATEPASS_TOOLS: `${fixture('run-tools')},${fixture('clone-tools')}` }

let world: World
beforeAll(async () => {
  world = await startWorld({ gatepass: { environment } })
})
afterAll(() => world[Symbol.asyncDispose]())

const run = async (toolId: string, args: object = {}, more: object = {}) =>
  (await world.call('POST', '/v1/tools/run', { toolId, args, ...more })).body

describe('TestToolBackend_Validate', () => {
  test.each<[situation: string, worker: Record<string, unknown>]>([
    ['no kind', {}],
    ['an unknown kind', { carrier: { uri: 'http://127.0.0.1:1' } }],
    ['two kinds', { http: { uri: 'http://127.0.0.1:1', secret: 's' }, mcp: { uri: 'http://127.0.0.1:1' } }],
    ['a kind, and the fields of another', { type: 'mcp', oxp: { uri: 'http://127.0.0.1:1' } }],
    ['a kind without its fields', { type: 'http' }],
    ['mcp without a server', { mcp: {} }],
    ['mcp with an empty server', { mcp: { uri: '' } }],
    ['a provider without an address', { http: { secret: 's' } }],
    ['a provider without its secret', { http: { uri: 'http://127.0.0.1:1' } }],
    ['local, which only the settings say', { module: { uri: fixture('run-tools') } }],
  ])('refused: %s', async (_, worker) => {
    const answer = await world.call('POST', '/v1/workers', { id: 'refused', ...worker })
    expect(answer).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
    expect((await world.call('GET', '/v1/workers/refused')).status).toBe(404)
  })

  test.each([{}, { worker_id: 'demo' }, { tool: 'Echo' }, { worker_id: '', tool: 'Echo' }])(
    'a binding needs both worker and tool: %j',
    async (binding) => {
      await world.call('POST', '/v1/tools/import', metadata('Loose', { tool_set: 'binding' }))
      const answer = await world.call('POST', '/v1/tools/binding:Loose/binding', binding)
      expect(answer).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
    },
  )

  test('each kind says exactly its own fields', async () => {
    await using mcp = await startFakeMcpServer({ name: 'kinds' })
    await world.call('POST', '/v1/workers', { id: 'kinds', mcp: { uri: mcp.url } })
    expect((await run('Kinds.echo')).backend).toEqual({ kind: 'mcp', mcp: { serverName: 'kinds' } })
    expect((await run('Demo.Null')).backend).toEqual({
      kind: 'provider',
      provider: { providerId: 'demo', toolId: 'Null' },
    })
    expect((await run('Run.Strict')).backend).toEqual({ kind: 'local', local: { name: 'Strict' } })
    await world.call('DELETE', '/v1/workers/kinds')
  })
})

describe('the index', () => {
  const tool = (name: string, more: Partial<FakeMcpTool> = {}): FakeMcpTool => ({
    name,
    description: 'The first.',
    run: async () => 'done',
    ...more,
  })
  const takes = (type: string) => ({
    type: 'object' as const,
    properties: { value: { type } },
    required: ['value'],
  })
  const listed = async (namespace: string) =>
    (await world.call('GET', `/v1/tools?toolkit=${namespace}&include_all_versions=true`)).body.items
  const sync = async (id: string) => (await world.call('PATCH', `/v1/workers/${id}`, { enabled: true })).body

  test('an id that comes again with other fields: they count from then on (refused there)', async () => {
    await using mcp = await startFakeMcpServer({
      name: 'again',
      tools: [tool('one', { inputSchema: takes('string') })],
    })
    await world.call('POST', '/v1/workers', { id: 'again', pinning: 'record', mcp: { uri: mcp.url } })
    expect((await run('Again.one', { value: 'text' })).structured).toBe('done')
    mcp.tools = [
      tool('one', {
        description: 'The second.',
        inputSchema: takes('integer'),
        annotations: { title: 'Two' },
      }),
    ]
    expect(await sync('again')).not.toHaveProperty('sync_error')
    expect(await listed('Again')).toMatchObject([{ name: 'one', description: 'The second.' }])
    expect(await run('Again.one', { value: 'text' })).toMatchObject({ name: 'invalid_input' })
    expect(await run('Again.one', { value: 7 })).toMatchObject({
      structured: 'done',
      tool: { annotations: { title: 'Two' } },
    })
    await world.call('DELETE', '/v1/workers/again')
  })

  test('the same backend again replaces itself, and its own tools that are gone go', async () => {
    await using mcp = await startFakeMcpServer({ name: 'same', tools: [tool('one'), tool('two')] })
    await world.call('POST', '/v1/workers', { id: 'same', mcp: { uri: mcp.url } })
    const before = await listed('Same')
    expect(before.map(({ name }: { name: string }) => name)).toEqual(['one', 'two'])
    await sync('same')
    expect(await listed('Same')).toEqual(before)
    mcp.tools = [tool('two')]
    await sync('same')
    expect((await listed('Same')).map(({ name }: { name: string }) => name)).toEqual(['two'])
    expect(await run('Same.one')).toMatchObject({ name: 'not_found' })
    await world.call('DELETE', '/v1/workers/same')
  })

  test('another backend is left out with its reason, and brings the tool when the first is removed and its name is accepted', async () => {
    const says = (answer: string) =>
      startFakeMcpServer({ name: 'both', tools: [tool('one', { run: async () => answer })] })
    await using first = await says('first')
    await using other = await says('other')
    await world.call('POST', '/v1/workers', { id: 'first', mcp: { uri: first.url } })
    const added = await world.call('POST', '/v1/workers', {
      id: 'second',
      pinning: 'record',
      mcp: { uri: other.url },
    })
    expect(added.body.sync_error).toContain('another source brings one of the same id')
    expect(await listed('Both')).toHaveLength(1)
    expect(await run('Both.one')).toMatchObject({
      structured: 'first',
      backend: { mcp: { serverName: 'first' } },
    })
    expect(other.calls).toEqual([])
    await world.call('DELETE', '/v1/workers/first')
    expect(await run('Both.one')).toMatchObject({ name: 'not_found' })
    expect(await sync('second')).not.toHaveProperty('sync_error')
    expect(await run('Both.one')).toMatchObject({ name: 'not_found' })
    expect((await world.call('POST', '/v1/workers/second/accept')).status).toBe(200)
    expect(await run('Both.one')).toMatchObject({
      structured: 'other',
      backend: { mcp: { serverName: 'second' } },
    })
    await world.call('DELETE', '/v1/workers/second')
    expect(await listed('Both')).toEqual([])
  })

  test('members that no tool has are dropped: a tool is what MCP says, and three more', async () => {
    const more = { tool_set: 'dropped', surprise: 'x', version: '3.0.0', keywords: ['Some Tag'] }
    await world.call('POST', '/v1/tools/import?worker_id=demo', metadata('Echo', more))
    const known = ['name', 'namespace', 'version', 'title', 'description', 'inputSchema', 'outputSchema']
    const members = [...known, 'annotations', '_meta', 'icons', 'tags']
    for (const id of ['dropped:Echo:3.0.0', 'Demo.Echo', 'Run.Strict']) {
      const { tool } = await run(id)
      expect(
        Object.keys(tool).filter((name) => !members.includes(name)),
        id,
      ).toEqual([])
    }
    expect((await run('dropped:Echo')).tool.tags).toEqual(['some-tag'])
  })
})

describe('TestTool_Clone*: what is handed out cannot change what is kept', () => {
  const args = { text: 'as it was', deep: { list: [1] } }

  test('arguments: history keeps what was sent', async () => {
    const ran = await run('Hands.SpoilInput', args, { keep_content: true })
    expect(ran.structured).toEqual(args)
    await expect
      .poll(async () => (await world.call('GET', `/v1/executions/${ran.executionId}`)).body.input)
      .toEqual(args)
  })

  test('what the step before answered', async () => {
    const steps = [
      { toolId: 'Run:Free', args: { answer: args } },
      { toolId: 'Hands:SpoilInput', usePrevious: true },
    ]
    const { body } = await world.call('POST', '/v1/tools/run_chain', { steps })
    expect(body.steps).toMatchObject([{ structured: args }, { structured: { previous: args } }])
    expect(JSON.stringify(body)).not.toContain('spoiled')
  })

  test('what a tool is told of its user', async () => {
    await world.connect('ada')
    const first = (await run('Hands.SpoilGrant', {}, { user_id: 'ada' })).structured
    expect(first).toMatchObject({ scopes: ['read'], userInfo: { sub: expect.any(String) } })
    expect((await run('Hands.SpoilGrant', {}, { user_id: 'ada' })).structured).toEqual(first)
    const { body } = await world.call('GET', '/v1/admin/user_connections?user_id=ada')
    expect(JSON.stringify(body)).not.toContain('spoiled')
    const told = { metadata: { locale: 'fr' } }
    for (const _ of [1, 2])
      expect((await run('Hands.SpoilMetadata', {}, told)).structured).toEqual({ locale: 'fr' })
  })

  test('its own schema, and what it has answered', async () => {
    for (const _ of [1, 2]) expect((await run('Hands.SpoilSchema')).structured).toBe('ran')
    expect((await run('Hands.SpoilAnswer')).structured).toEqual({ list: [1, 2, 3] })
  })
})

describe('_meta.securitySchemes and _meta.securityRequirements', () => {
  const securitySchemes = {
    first: { type: 'oauth2', description: 'One' },
    work: { type: 'openIdConnect', provider_id: 'second' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  }
  /** An MCP server whose `who_am_i` says this, and two providers. */
  async function declaring(securityRequirements: unknown) {
    const _meta = { securitySchemes, securityRequirements }
    const tools = demoMcpTools().map((one) => (one.name === 'who_am_i' ? { ...one, _meta } : one))
    const own = await startMcpWorld({ mcp: { tools }, as: { userInfo: 'ok' } })
    for (const id of ['first', 'second'])
      await own.call('POST', '/v1/admin/auth_providers', providerBody(id, own.as))
    return Object.assign(own, {
      who: async (user_id: string) =>
        (await own.call('POST', '/v1/tools/run', { toolId: 'Demo.who_am_i', user_id })).body,
      async connect(user_id: string, id: string, scopes = ['read']) {
        const need = { auth_requirement: { id, oauth2: { scopes } }, user_id }
        await approve((await own.call('POST', '/v1/auth/authorize', need)).body.url)
        return digest((await own.call('POST', '/v1/auth/authorize', need)).body.context.token)
      },
    })
  }

  test('any alternative that is met is enough; with none, the first is asked for', async () => {
    await using own = await declaring([
      { key: [] },
      { first: ['read'] },
      [{ scheme: 'work', scopes: ['read'] }],
    ])
    expect((await own.who('ada')).requires_authorization).toMatchObject({ scopes: ['read'] })
    const second = await own.connect('ada', 'second')
    expect((await own.who('ada')).structured).toMatchObject({ meta: second, user_id: 'ada' })
    const first = await own.connect('bob', 'first')
    expect((await own.who('bob')).structured).toMatchObject({ meta: first, user_id: 'bob' })
    await approve((await own.who('eve')).requires_authorization.url)
    const { body } = await own.call('GET', '/v1/admin/user_connections?user_id=eve')
    expect(body.items).toMatchObject([{ provider_id: 'first' }])
  })

  test('its scopes count: a grant of others does not meet it', async () => {
    await using own = await declaring([{ first: ['write'] }])
    await own.connect('ada', 'first', ['read'])
    expect((await own.who('ada')).requires_authorization.scopes).toContain('write')
    const granted = await own.connect('ada', 'first', ['write'])
    expect((await own.who('ada')).structured.meta).toBe(granted)
  })

  test('all schemes of an alternative', async () => {
    await using own = await declaring([{ first: ['read'], work: ['read'] }])
    await own.connect('ada', 'first')
    const { requires_authorization } = await own.who('ada')
    await approve(requires_authorization.url)
    expect((await own.who('ada')).structured).toMatchObject({ user_id: 'ada' })
  })

  test('an empty alternative needs nothing', async () => {
    await using own = await declaring([{ first: ['read'] }, {}])
    expect((await own.who('ada')).structured).toMatchObject({ meta: null })
    const granted = await own.connect('ada', 'first')
    expect((await own.who('ada')).structured).toMatchObject({ meta: granted })
  })

  test('one that nothing here can meet leaves the tool out, with the reason', async () => {
    await using own = await declaring([{ key: [] }])
    expect(own.worker.body.sync_error).toContain('apiKey')
    expect((await own.who('ada')).name).toBe('not_found')
  })

  test('comes back as the server wrote it', async () => {
    const securityRequirements = [{ first: ['read'] }]
    await using own = await declaring(securityRequirements)
    const { body } = await own.call('GET', '/v1/formatted_tools/Demo.who_am_i?format=mcp')
    expect(body._meta).toEqual({ securitySchemes, securityRequirements })
    await own.connect('ada', 'first')
    expect((await own.who('ada')).tool._meta).toEqual({ securitySchemes, securityRequirements })
  })
})

test('the protocol constant 2025-11-25 is what MCP servers of that time are asked by', async () => {
  await using own = await startMcpWorld()
  const { body } = await own.call('POST', '/v1/tools/run', { toolId: 'Demo.echo', args: { text: 'x' } })
  expect(body.structured).toEqual({ text: 'x' })
  const asked = own.mcp.requests.filter(({ json }) => JSON.stringify(json)?.includes('"tools/call"'))
  expect(asked.map(({ headers }) => headers['mcp-protocol-version'])).toEqual(['2025-11-25'])
})

test('a secret of a worker is part of no backend that is answered', async () => {
  for (const id of ['Demo.Null', 'Demo.Fail'])
    expect(JSON.stringify(await run(id))).not.toContain(WORKER_SECRET)
})
