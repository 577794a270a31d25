import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeMcpServer, startFakeMcpServer } from '../fake-mcp-server.ts'
import { type FakeOxpServer, startFakeOxpServer } from '../fake-oxp-server.ts'
import { answerJson, type Loopback, listen } from '../loopback.ts'
import {
  approve,
  metadata,
  oauthEntry,
  providerBody,
  STAINLESS,
  startWorld,
  WORKER_SECRET,
  type World,
} from './world.ts'

// One catalogue of tools from a worker, an OXP server, an MCP server, a module and metadata: what is found in it, what
// many of its tools need together, and how they are written for models.

let world: World
let mcp: FakeMcpServer
let oxp: FakeOxpServer
let desk: Loopback
let users = 0
const newUser = () => `user-${++users}`

/** A worker that says how its tools behave, as Arcade's do. */
const DESK = [
  ['Read', ['email'], { operations: ['read'], read_only: true, idempotent: true }, { team: 'support' }],
  [
    'Send',
    ['email', 'Calendar'],
    { operations: ['create', 'update'], read_only: false, open_world: true },
    {},
  ],
  [
    'Purge',
    ['files', { toString: 'no function' }],
    { operations: ['delete'], read_only: false, destructive: true },
    { team: 'ops', level: 3 },
  ],
].map(([name, service_domains, behavior, extras]) => ({
  name,
  fully_qualified_name: `Desk.${String(name)}`,
  description: `Has behaviour: ${String(name)}.`,
  toolkit: { name: 'Desk', version: '2.0.0', description: 'Tools that say what they do.' },
  input: { parameters: [] },
  output: { available_modes: ['value', 'error'] },
  requirements: { authorization: null, secrets: null },
  metadata: { classification: { service_domains }, behavior, extras },
}))

beforeAll(async () => {
  const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url)) }
  world = await startWorld({ gatepass: { environment } })
  mcp = await startFakeMcpServer({ name: 'calc-mcp-server' })
  oxp = await startFakeOxpServer({ authorization: [{ id: 'demo', scopes: ['read', 'send'] }] })
  desk = await listen((_, res) => answerJson(res, 200, DESK))
  const { call, as } = world
  const added = [
    await call('POST', '/v1/admin/auth_providers', providerBody('other', as)),
    await call('POST', '/v1/workers', { id: 'remote', mcp: { uri: mcp.url } }),
    await call('POST', '/v1/workers', { id: 'oxp', oxp: { uri: oxp.url } }),
    await call('POST', '/v1/workers', { id: 'desk', http: { uri: desk.url, secret: WORKER_SECRET } }),
    await call('POST', '/v1/tools/import', [
      metadata('Sheet Reader', {
        tool_set: 'Sheets',
        oauth: [oauthEntry('sheets', as)],
        keywords: ['Spread Sheets'],
      }),
      metadata('Sheet Reader', { tool_set: 'Sheets', version: '2.0.0', description: 'The newer one.' }),
    ]),
  ]
  for (const { status, body } of added)
    if (status >= 300 || body.sync_error) throw new Error(JSON.stringify(body))
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await Promise.all([mcp.close(), oxp.close(), desk.close()])
})

async function found(query: Record<string, string>): Promise<string[]> {
  const all = new URLSearchParams({ limit: '100', ...query })
  const { status, body } = await world.call('GET', `/v1/tools?${all}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  expect(body.total_count).toBe(body.items.length)
  return body.items.map((one: { qualified_name: string }) => one.qualified_name).toSorted()
}

describe('search', () => {
  test('has the tools of every source', async () => {
    expect(await found({})).toEqual(
      expect.arrayContaining(['Demo.Echo', 'Desk.Read', 'Run.Add', 'sheets.Sheet_Reader', 'Oxp.Echo']),
    )
    expect((await found({ q: 'add two numbers' })).length).toBeGreaterThan(1)
  })

  test.each([
    ['one word of a name', { q: 'whoami', toolkit: 'Demo' }, ['Demo.WhoAmI']],
    ['all words, in any order and case', { q: 'numbers ADDS', toolkit: 'run' }, ['Run.Add']],
    ['a word of the description', { q: 'artifact' }, ['Demo.Artifact']],
    ['the name as it was imported', { q: 'Sheet Reader' }, ['sheets.Sheet_Reader']],
    ['a tag', { q: 'spread-sheets', include_all_versions: 'true' }, ['sheets.Sheet_Reader']],
    ['a word that nothing has', { q: 'artifact zebra' }, []],
    ['blanks alone: everything', { q: '  ', toolkit: 'Desk' }, ['Desk.Purge', 'Desk.Read', 'Desk.Send']],
    ['a pattern, taken literally', { q: '.*', toolkit: 'Desk' }, []],
  ])('by text: %s', async (_, query, names) => {
    expect(await found(query)).toEqual(names)
  })

  test.each([
    ['as it is normalised', 'maths', ['Run.Add']],
    ['as people write it', 'Pure Function', ['Run.Add']],
    ['any of several', 'nothing,Maths', ['Run.Add']],
    ['not a part of one', 'math', []],
  ])('by tag: %s', async (_, tag, names) => {
    expect(await found({ tag })).toEqual(names)
  })

  test('by provider: its id, in any case, of every source', async () => {
    const demo = await found({ provider: 'demo' })
    expect(demo).toEqual(expect.arrayContaining(['Demo.WhoAmI', 'Run.Acts', 'Run.Both', 'Oxp.Digests']))
    expect(demo).not.toEqual(expect.arrayContaining(['Run.ActsElsewhere']))
    expect(await found({ provider: 'DEMO' })).toEqual(demo)
    expect(await found({ provider: 'other' })).toEqual(['Run.ActsElsewhere', 'Run.Both'])
    expect(await found({ provider: 'sheets', include_all_versions: 'true' })).toEqual(['sheets.Sheet_Reader'])
    expect(await found({ provider: 'nobody' })).toEqual([])
    expect(await found({ provider: 'demo', q: 'two providers' })).toEqual(['Run.Both'])
  })

  test('by what is met, for a user', async () => {
    const user_id = newUser()
    const ask = (met: string, more = {}) => found({ toolkit: 'Run', met, ...more })
    expect(await ask('false')).toEqual(['Run.Guarded'])
    expect(await ask('true')).toEqual(expect.arrayContaining(['Run.Acts', 'Run.Add', 'Run.Both']))
    const unmet = ['Run.Acts', 'Run.ActsElsewhere', 'Run.Blabs', 'Run.Both', 'Run.Guarded']
    expect(await ask('false', { user_id })).toEqual(unmet)
    await world.connect(user_id)
    expect(await ask('false', { user_id })).toEqual(['Run.ActsElsewhere', 'Run.Both', 'Run.Guarded'])
    expect(await ask('true', { user_id, provider: 'demo' })).toEqual(['Run.Acts', 'Run.Blabs'])
  })

  test.each<[string, object, string[]]>([
    ['any_of', { service_domains: { any_of: ['files', 'calendar'] } }, ['Desk.Purge', 'Desk.Send']],
    ['all_of', { service_domains: { all_of: ['email', 'calendar'] } }, ['Desk.Send']],
    ['none_of', { service_domains: { none_of: ['files'] } }, ['Desk.Read', 'Desk.Send']],
    ['any_of operations', { operations: { any_of: ['READ', 'delete'] } }, ['Desk.Purge', 'Desk.Read']],
    ['all_of operations', { operations: { all_of: ['create', 'update'] } }, ['Desk.Send']],
    ['two operators', { operations: { any_of: ['read', 'create'], none_of: ['update'] } }, ['Desk.Read']],
    ['read_only', { read_only: true }, ['Desk.Read']],
    ['not read_only', { read_only: false }, ['Desk.Purge', 'Desk.Send']],
    ['destructive', { destructive: true }, ['Desk.Purge']],
    ['idempotent', { idempotent: true }, ['Desk.Read']],
    ['open_world', { open_world: true }, ['Desk.Send']],
    ['extras', { extras: { team: 'ops', level: 3 } }, ['Desk.Purge']],
    ['extras of another type', { extras: { level: '3' } }, []],
    ['all together', { service_domains: { any_of: ['email'] }, read_only: true, extras: {} }, ['Desk.Read']],
    ['nothing', {}, ['Desk.Purge', 'Desk.Read', 'Desk.Send']],
  ])("by Arcade's filter: %s", async (_, filter, names) => {
    expect(await found({ toolkit: 'Desk', filter: JSON.stringify(filter) })).toEqual(names)
  })

  test("MCP's hints are the same behaviour", async () => {
    expect(await found({ filter: '{"read_only":true}', toolkit: 'Run' })).toEqual(['Run.Add'])
    expect(await found({ filter: '{"idempotent":true}', toolkit: 'Run' })).toEqual(['Run.CountSafely'])
    const readers = await found({ filter: '{"read_only":true,"open_world":false}' })
    expect(readers).toHaveLength(1)
    expect(readers[0]).toMatch(/\.add$/)
  })

  test.each([
    ['no JSON', '{'],
    ['no object', '[]'],
    ['a member that nobody knows', '{"readonly":true}'],
    ['an operator that nobody knows', '{"operations":{"some_of":["read"]}}'],
    ['a list that is none', '{"operations":{"any_of":"read"}}'],
    ['a flag that is none', '{"read_only":"yes"}'],
    ['extras that are none', '{"extras":"team"}'],
  ])('refuses a filter that is %s, so that nothing is left unfiltered', async (_, filter) => {
    for (const path of ['/v1/tools', '/v1/formatted_tools']) {
      const answer = await world.call('GET', `${path}?filter=${encodeURIComponent(filter)}`)
      expect(answer).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
      expect(answer.body.message).toContain('filter')
    }
  })

  test('pages what it finds, and formats what it finds', async () => {
    const { body } = await world.call('GET', '/v1/tools?toolkit=Desk&limit=2&offset=2')
    expect(body).toMatchObject({ total_count: 3, offset: 2, limit: 2, page_count: 1 })
    const formatted = await world.call('GET', '/v1/formatted_tools?format=anthropic&tag=maths')
    expect(formatted.body.items).toMatchObject([{ name: 'Run_Add' }])
  })

  test('finds the newest version unless all are asked for', async () => {
    const versions = async (query: string) =>
      (await world.call('GET', `/v1/tools?toolkit=Sheets${query}`)).body.items.map(
        (one: { toolkit: { version: string } }) => one.toolkit.version,
      )
    expect(await versions('')).toEqual(['2.0.0'])
    expect((await versions('&include_all_versions=true')).toSorted()).toEqual(['1.0.0', '2.0.0'])
    // what matches is looked for among the newest, not the newest among what matches
    expect(await versions('&provider=sheets')).toEqual([])
  })
})

describe('POST /v1/tools/requirements', () => {
  const ask = async (body: object) => {
    const answer = await world.call('POST', '/v1/tools/requirements', body)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    return answer.body
  }
  const tool_names = [
    'Run.Acts',
    'Oxp.Digests',
    'Run:ActsElsewhere',
    'Run.Add',
    'Run.Guarded',
    'Demo.NeedsSecret',
  ]

  test('names each provider and each secret once, with the tools that need it', async () => {
    const body = await ask({ tool_names, user_id: newUser() })
    expect(body).toEqual({
      met: false,
      authorization: {
        met: false,
        items: {
          demo: {
            met: false,
            provider_id: 'demo',
            provider_type: 'oauth2',
            scopes: ['read', 'send'],
            status: 'active',
            token_status: 'not_started',
            tool_names: ['Run:Acts', expect.stringContaining('Digests')],
          },
          other: {
            met: false,
            provider_id: 'other',
            provider_type: 'oauth2',
            scopes: ['read'],
            status: 'active',
            token_status: 'not_started',
            tool_names: ['Run:ActsElsewhere'],
          },
        },
      },
      workers: {
        met: true,
        items: expect.objectContaining({ demo: expect.objectContaining({ met: true }) }),
      },
      secrets: {
        met: false,
        items: {
          RUN_KEY: {
            met: false,
            status_reason: expect.stringContaining('RUN_KEY'),
            tool_names: ['Run:Guarded'],
          },
          API_KEY: { met: false, status_reason: expect.any(String), tool_names: ['Demo:NeedsSecret:1.0.0'] },
        },
      },
    })
  })

  test('begins one authorization for all that is missing, with the scopes of all the tools', async () => {
    const user_id = newUser()
    const body = await ask({ tool_names, user_id, authorize: true })
    const { demo, other } = body.authorization.items
    expect(body.url).toContain('/connect/')
    for (const item of [demo, other])
      expect(item).toMatchObject({
        met: false,
        authorization_id: body.authorization_id,
        url: body.url,
        token_status: 'pending',
      })
    expect((await ask({ tool_names, user_id, authorize: true })).authorization_id).toBe(body.authorization_id)
    await approve(body.url)
    const after = await ask({ tool_names, user_id, authorize: true })
    expect(after).toMatchObject({ met: false, authorization: { met: true }, secrets: { met: false } })
    expect(after).not.toHaveProperty('url')
    expect(after.authorization.items.demo).toMatchObject({ met: true, token_status: 'completed' })
    const { body: connections } = await world.call('GET', `/v1/connections?user_id=${user_id}`)
    const scopes = Object.fromEntries(
      connections.items.map((one: { provider_id: string; scopes: string[] }) => [
        one.provider_id,
        one.scopes,
      ]),
    )
    expect(scopes).toEqual({ demo: ['read', 'send'], other: ['read'] })
    expect((await world.execute('Run.Acts', { user_id })).body.success).toBe(true)
  })

  test('asks for what is missing alone', async () => {
    const user_id = newUser()
    await world.connect(user_id)
    const body = await ask({ tool_names: ['Run.Both'], user_id, authorize: true })
    expect(body.authorization.items).toMatchObject({
      demo: { met: true, token_status: 'completed' },
      other: { met: false, token_status: 'pending', url: body.url },
    })
    expect(body.authorization.items.demo).not.toHaveProperty('url')
    // a grant that is there but has too few scopes is missing too
    const more = await ask({ tool_names: ['Run.Acts', 'Oxp.Digests'], user_id })
    expect(more.authorization.items.demo).toMatchObject({ met: false, token_status: 'not_started' })
  })

  test('without a user says what is configured; by `tools` with a version', async () => {
    const tools = [{ tool_name: 'sheets.Sheet_Reader', tool_version: '1.0.0' }, { tool_name: 'Run.Add' }]
    const body = await ask({ tools })
    expect(body).toMatchObject({ met: true, authorization: { items: { sheets: { status: 'active' } } } })
    expect(body.authorization.items.sheets).not.toHaveProperty('token_status')
    expect(await ask({ tool_names: ['Run.Add'] })).toEqual({
      met: true,
      authorization: { met: true, items: {} },
      workers: { met: true, items: expect.any(Object) },
      secrets: { met: true, items: {} },
    })
  })

  test('a secret that is set is met', async () => {
    await world.call('POST', '/v1/admin/secrets/RUN_KEY', { value: 'the-value-of-run-key' })
    const body = await ask({ tool_names: ['Run.Guarded'] })
    expect(body).toMatchObject({ met: true, secrets: { items: { RUN_KEY: { met: true } } } })
    expect(JSON.stringify(body)).not.toContain('the-value-of-run-key')
    const [secret] = (await world.call('GET', '/v1/admin/secrets')).body.items
    await world.call('DELETE', `/v1/admin/secrets/${secret.id}`)
  })

  test('a provider that is switched off is inactive, and nothing begins for it', async () => {
    await world.call('PATCH', '/v1/admin/auth_providers/other', { status: 'inactive' })
    const body = await ask({ tool_names: ['Run.ActsElsewhere'], user_id: newUser(), authorize: true })
    await world.call('PATCH', '/v1/admin/auth_providers/other', { status: 'active' })
    expect(body).not.toHaveProperty('url')
    expect(body.authorization).toMatchObject({
      met: false,
      items: { other: { met: false, status: 'inactive', status_reason: expect.any(String) } },
    })
  })

  test.each<[string, object, number, string]>([
    ['no tools at all', {}, 400, 'invalid_request'],
    ['a tool that there is not', { tool_names: ['Run.Nothing'] }, 404, 'not_found'],
    ['authorize without a user', { tool_names: ['Run.Acts'], authorize: true }, 400, 'invalid_request'],
    ['too many', { tool_names: Array.from({ length: 101 }, () => 'Run.Add') }, 400, 'invalid_request'],
  ])('refuses %s', async (_, body, status, name) => {
    expect(await world.call('POST', '/v1/tools/requirements', body)).toMatchObject({ status, body: { name } })
  })

  test("another project's tools are not there", async () => {
    const key = await world.gatepass.makeKey('admin', 'stranger')
    const body = { tool_names: ['Run.Add'] }
    expect((await world.call('POST', '/v1/tools/requirements', body, { key })).status).toBe(404)
  })
})

describe('formatted tools', () => {
  const SOURCES = ['Demo.Echo', 'Run.Add', 'Oxp.Echo', 'sheets.Sheet_Reader', 'Desk.Read'] as const
  const formatted = async (name: string, format: string) =>
    (await world.call('GET', `/v1/formatted_tools/${name}?format=${format}`)).body

  test.each(SOURCES)('%s, for each kind of model', async (name) => {
    const called = name.replace('.', '_')
    const openai = await formatted(name, 'openai')
    expect(openai).toEqual({
      type: 'function',
      function: { name: called, description: expect.any(String), parameters: expect.any(Object) },
    })
    const anthropic = await formatted(name, 'anthropic')
    expect(anthropic).toEqual({
      name: called,
      description: openai.function.description,
      input_schema: openai.function.parameters,
    })
    const tool = await formatted(name, 'mcp')
    expect(tool).toMatchObject({ name: called, inputSchema: { type: 'object' } })
    const schema = await formatted(name, 'jsonschema')
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: called,
      type: 'object',
    })
    const ajv = new Ajv2020({ strict: false })
    for (const one of [openai.function.parameters, tool.inputSchema, schema])
      expect(ajv.compile(one)({}), name).toBeTypeOf('boolean')
  })

  test('keep what their source said', async () => {
    const [remote] = (await world.call('GET', '/v1/tools?q=add&tag=&limit=100')).body.items.filter(
      (one: { name: string }) => one.name === 'add',
    )
    expect(await formatted(remote.qualified_name, 'mcp')).toMatchObject({
      title: 'Add two numbers',
      description: 'Adds.',
      inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
      outputSchema: { type: 'object', required: ['sum'] },
      annotations: { readOnlyHint: true, openWorldHint: false },
    })
    expect(await formatted('Oxp.Echo', 'openai')).toMatchObject({
      function: { parameters: { properties: { text: { type: 'string' } }, required: ['text'] } },
    })
    expect(await formatted('Run.Draft7', 'jsonschema')).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      dependencies: { card: ['billing'] },
    })
  })

  test('every tool of the catalogue, in every format', async () => {
    const { total_count } = (await world.call('GET', '/v1/tools')).body
    for (const format of ['openai', 'anthropic', 'mcp', 'jsonschema']) {
      const { body } = await world.call('GET', `/v1/formatted_tools?format=${format}&limit=100`)
      expect(body.items).toHaveLength(total_count)
      for (const one of body.items) {
        const name = one.function?.name ?? one.name ?? one.title
        expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
      }
    }
    const all = ['anthropic', 'arcade', 'jsonschema', 'mcp', 'openai', 'oxp']
    const { body } = await world.call('GET', `/v1/tools/Run.Add?include_format=${all.join()}`)
    expect(Object.keys(body.formatted_schema).toSorted()).toEqual(all)
  })

  test('as OXP lists them and as Arcade defines them', async () => {
    const { body: oxp } = await world.call('GET', '/v1/formatted_tools/Run.Add?format=oxp')
    expect((await world.call('GET', '/oxp/tools')).body.items).toContainEqual(oxp)
    const { body: arcade } = await world.call('GET', '/v1/formatted_tools/Run.Add?format=arcade')
    expect(arcade).toMatchObject({
      fully_qualified_name: 'Run.Add@1.0.0',
      input: { parameters: expect.arrayContaining([expect.objectContaining({ name: 'a', required: true })]) },
    })
  })

  test('a query parameter that is empty says nothing where Arcade’s clients write null, and is refused elsewhere', async () => {
    const path = '/v1/tools?limit=100'
    const empty = `${path}&toolkit=&user_id=&q=&filter=`
    const { body } = await world.call('GET', path)
    expect((await world.call('GET', empty, undefined, { headers: STAINLESS })).body).toEqual(body)
    expect(await world.call('GET', empty)).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
  })
})
