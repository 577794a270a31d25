import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startGatepass } from '../gatepass.ts'
import { approve, metadata, oauthEntry, startWorld, type World } from './world.ts'

let world: World
let users = 0
const newUser = () => `user-${++users}`

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

/** The items of an import's answer. */
async function imported(documents: unknown, query = '') {
  const { status, body } = await world.call('POST', `/v1/tools/import${query}`, documents)
  return { status, items: body.items }
}

async function bind(...names: string[]) {
  for (const name of names)
    await world.call('POST', `/v1/tools/${encodeURIComponent(name)}/binding`, {
      worker_id: 'demo',
      tool: 'Echo',
    })
}

describe('the answer', () => {
  test('of a tool with a provider', async () => {
    const { status, items } = await imported(metadata('Shape', { oauth: [oauthEntry('Shape', world.as)] }))
    expect(status).toBe(200)
    expect(items).toEqual([
      {
        name: 'Shape',
        tool_id: 'local:Shape:1.0.0',
        result: 'created',
        providers: [
          {
            id: 'shape',
            name: 'Shape',
            redirect_uri: expect.stringMatching(new RegExp(`^${world.gatepass.url}/callback/prov_`)),
            missing: [],
          },
        ],
        warnings: [],
      },
    ])
  })

  test('created, then unchanged, then updated', async () => {
    const results = []
    for (const description of ['first', 'first', 'second', 'second'])
      results.push((await imported(metadata('Again', { description }))).items[0].result)
    expect(results).toEqual(['created', 'unchanged', 'updated', 'unchanged'])
    expect((await world.call('GET', '/v1/tools/Again')).body.description).toBe('second')
  })

  test('each by itself: one refused, the others taken', async () => {
    const agent = { agent_id: 'a', name: 'An agent', llm_provider_id: 'x' }
    const { status, items } = await imported([metadata('Good'), agent, metadata('Better'), 'text', null])
    expect(status).toBe(200)
    expect(items.map(({ result }: { result: string }) => result)).toEqual([
      'created',
      'refused',
      'created',
      'refused',
      'refused',
    ])
    expect(items[1]).toMatchObject({ name: 'An agent', reason: expect.stringContaining('agent') })
    expect(items[1]).not.toHaveProperty('tool_id')
  })

  test('all refused is 422', async () => {
    const { status, items } = await imported([{ name: '' }, { agent_id: 'a' }])
    expect([status, items.length]).toEqual([422, 2])
    for (const item of items) expect(item.reason).toBeTypeOf('string')
  })

  test.each([
    ['an empty array', []],
    ['an array in an array', [[]]],
  ])('%s', async (_, body) => {
    const { status } = await world.call('POST', '/v1/tools/import', body)
    expect([400, 422]).toContain(status)
  })

  test.each([
    ['another version of OAuth', { version: '1.0' }, 'version'],
    ['another response type', { responseType: 'token' }, 'responseType'],
    ['PKCE that nobody knows', { pkceType: 'S512' }, 'pkceType'],
    ['a fragment in the URL', { authorizationUrl: 'https://a.test/#x' }, 'authorizationUrl'],
    ['a scheme that is no web', { tokenUrl: 'javascript:alert(1)' }, 'tokenUrl'],
    ['plain http to a host that is not allowed', { tokenUrl: 'http://plain.test/token' }, 'tokenUrl'],
    ['a content type that nobody takes', { requestTokenContentType: 'text/xml' }, 'ontent'],
  ])('refuses %s, and takes nothing of it', async (_, more, reason) => {
    const { status, items } = await imported(
      metadata('Refused', { oauth: [oauthEntry('Refused', world.as, more)] }),
    )
    expect([status, items[0].result]).toEqual([422, 'refused'])
    expect(items[0].reason).toContain(reason)
    expect(await world.call('GET', '/v1/tools/Refused')).toMatchObject({ status: 404 })
    expect(await world.call('GET', '/v1/admin/auth_providers/refused')).toMatchObject({ status: 404 })
  })

  test('warns of what real files have', async () => {
    const { items } = await imported(
      metadata('Odd', {
        version: '1',
        homepage: 'https://a.test',
        homePage: 'https://b.test',
        configurations: [],
        parameters: {
          type: 'object',
          properties: { n: { type: 'integer', default: '993' }, required: ['n'] },
        },
        result: { type: 'object', properties: { a: { $ref: '#/result/properties/b' }, b: { type: 'any' } } },
      }),
    )
    expect(items[0]).toMatchObject({ result: 'created', tool_id: 'local:Odd:1.0.0' })
    expect(items[0].warnings.length).toBeGreaterThanOrEqual(4)
    for (const { path, message } of items[0].warnings)
      expect([typeof path, typeof message]).toEqual(['string', 'string'])
  })

  test('a worker brings a tool of that id already, and the other way round', async () => {
    const { items } = await imported(metadata('Echo', { tool_set: 'Demo' }))
    expect(items[0]).toMatchObject({ result: 'refused', reason: expect.stringContaining('Demo:Echo:1.0.0') })
    expect((await world.call('GET', '/v1/tools/Demo.Echo')).body.toolkit.name).toBe('Demo')

    await imported(metadata('Late', { tool_set: 'demo' }))
    const { tools } = world.worker
    world.worker.tools = [
      ...tools,
      { name: 'Late', description: 'Too late.', run: async () => ({ value: 1 }) },
    ]
    const { body } = await world.call('PATCH', '/v1/workers/demo', {})
    expect(body.sync_error).toContain('Demo:Late:1.0.0')
    expect((await world.call('GET', '/v1/tools/Demo.Late')).body.description).toBe('Does Late.')
    world.worker.tools = tools
    await world.call('PATCH', '/v1/workers/demo', {})
  })
})

describe('providers', () => {
  test('one entry in two tools is one provider, and one consent serves both', async () => {
    const oauth = (scopes: string[]) => [oauthEntry('Common', world.as, { scopes })]
    const { items } = await imported([
      metadata('Common A', { oauth: oauth(['read']) }),
      metadata('Common B', { oauth: oauth(['write']) }),
    ])
    expect(items[0].providers).toEqual(items[1].providers)
    await bind('Common A', 'Common B')
    const user_id = newUser()
    const first = await world.execute('Common A', { user_id })
    expect(first.body.output.requires_authorization.scopes.toSorted()).toEqual(['read', 'write'])
    await approve(first.body.output.requires_authorization.url)
    for (const name of ['Common A', 'Common B'])
      expect((await world.execute(name, { user_id })).body.success).toBe(true)
  })

  test.each([
    ['other client ids', () => [{ clientId: 'one' }, { clientId: 'two' }]],
    ['other hosts', () => [{}, { tokenUrl: 'https://elsewhere.example.test/token' }]],
  ])('%s stay two', async (what, entries) => {
    const name = `Two of ${what}`
    const documents = entries().map((more, index) =>
      metadata(`${name} ${index}`, { oauth: [oauthEntry(name, world.as, more)] }),
    )
    const { items } = await imported(documents)
    const [one, two] = items.map(({ providers }: { providers: { id: string }[] }) => providers[0])
    expect(one.id).not.toBe(two.id)
    expect(two.id).toBe(`${one.id}-2`)
    expect(one.redirect_uri).not.toBe(two.redirect_uri)
  })

  test('hosts that change later are another provider: the old token is never sent there', async () => {
    await using other = await startFakeAuthorizationServer({ clientId: world.as.clientId }).then((server) =>
      Object.assign(server, { [Symbol.asyncDispose]: () => server.close() }),
    )
    const document = (as: typeof other) => metadata('Moves', { oauth: [oauthEntry('Moves', as)] })
    const before = await imported(document(world.as as typeof other))
    await bind('Moves')
    const user_id = newUser()
    await approve((await world.execute('Moves', { user_id })).body.output.requires_authorization.url)
    expect((await world.execute('Moves', { user_id })).body.success).toBe(true)
    const after = await imported(document(other))
    expect(after.items[0].result).toBe('updated')
    expect(after.items[0].providers[0].id).not.toBe(before.items[0].providers[0].id)
    expect((await world.execute('Moves', { user_id })).body.output).toHaveProperty('requires_authorization')
    expect(other.tokenRequests()).toHaveLength(0)
  })

  test('an import never weakens an entry that others share', async () => {
    const oauth = (more = {}) => [oauthEntry('Strict', world.as, more)]
    const { items } = await imported([
      metadata('Strict A', { oauth: oauth() }),
      metadata('Strict B', { oauth: oauth() }),
    ])
    const [{ id }] = items[0].providers
    const settings = async () => (await world.call('GET', `/v1/admin/auth_providers/${id}`)).body.oauth2
    const before = await settings()
    expect(before.pkce).toEqual({ enabled: true, code_challenge_method: 'S256' })
    for (const [name, more] of [
      ['Strict C', { pkceType: 'plain' }],
      ['Strict A', { pkceType: 'plain', requestTokenAuthHeader: 'basic' }],
      ['Strict D', { pkceType: 'plain', clientId: '' }],
    ] as const) {
      const again = await imported(metadata(name, { oauth: oauth(more) }))
      expect(again.items[0].providers[0].id).toBe(id)
      expect(again.items[0].warnings).toContainEqual({
        path: 'oauth[0]',
        message: expect.stringContaining('described differently'),
      })
    }
    expect(await settings()).toEqual(before)
    // another path is another endpoint: an entry of its own
    const elsewhere = oauth({ authorizationUrl: `${world.as.url}/elsewhere`, clientId: '' })
    const other = await imported(metadata('Strict E', { oauth: elsewhere }))
    expect(other.items[0].providers[0]).toMatchObject({
      id: `${id}-2`,
      missing: ['client_id', 'client_secret'],
    })
    expect(await settings()).toEqual(before)
  })

  test('a file without anything that only a tool has is refused', async () => {
    const packageJson = {
      name: 'my-app',
      version: '1.0.0',
      description: 'An app.',
      keywords: [],
      scripts: {},
    }
    const { items } = await imported(packageJson)
    expect(items).toMatchObject([
      { name: 'my-app', result: 'refused', reason: expect.stringContaining('It is not a tool') },
    ])
    expect((await imported({ ...packageJson, parameters: {} })).items).toMatchObject([{ result: 'created' }])
  })

  test("a name that is another tool's once it is respelled replaces nothing", async () => {
    await imported(metadata('Two Words'))
    const { items } = await imported(metadata('Two_Words'))
    expect(items).toMatchObject([{ result: 'refused', reason: expect.stringContaining('"Two Words"') }])
    const again = await imported(metadata('Two Words'))
    expect(again.items).toMatchObject([{ result: 'unchanged' }])
  })

  test("an administrator's word stands against any import", async () => {
    const oauth = (more = {}) => [oauthEntry('Kept', world.as, more)]
    await imported(metadata('Kept', { oauth: oauth() }))
    const path = '/v1/admin/auth_providers/kept'
    const patched = await world.call('PATCH', path, { oauth2: { client_secret: 'set-by-hand' } })
    await imported(metadata('Kept', { oauth: oauth({ pkceType: 'plain', clientSecret: 'from-the-file' }) }))
    const after = (await world.call('GET', path)).body
    expect(after.oauth2.pkce).toEqual(patched.body.oauth2.pkce)
    await bind('Kept')
    const { body } = await world.execute('Kept', { user_id: newUser() })
    await approve(body.output.requires_authorization.url)
    expect(world.as.tokenRequests('authorization_code').at(-1)?.params.client_secret).toBe('set-by-hand')
  })

  test('a missing client: the import says so, and running the tool says what to set where', async () => {
    const oauth = [oauthEntry('Un Set', world.as, { clientId: '', clientSecret: null })]
    const { items } = await imported(metadata('Incomplete', { oauth }))
    expect(items[0]).toMatchObject({
      result: 'created',
      providers: [{ id: 'un-set', missing: ['client_id', 'client_secret'] }],
    })
    await bind('Incomplete')
    const { requirements } = (await world.call('GET', '/v1/tools/Incomplete')).body
    expect(requirements).toMatchObject({ met: false, authorization: { id: 'un-set', status: 'inactive' } })
    for (const dialect of ['plain', 'arcade'] as const) {
      const { status, body } = await world.execute('Incomplete', { user_id: newUser() }, dialect)
      expect([status, body.name]).toEqual([400, 'provider_incomplete'])
      for (const part of ['un-set', 'GATEPASS_PROVIDER_UN_SET_CLIENT_ID', items[0].providers[0].redirect_uri])
        expect(body.message).toContain(part)
    }

    const { clientId, clientSecret } = world.as
    const patch = { oauth2: { client_id: clientId, client_secret: clientSecret } }
    await world.call('PATCH', '/v1/admin/auth_providers/un-set', patch)
    expect((await imported(metadata('Incomplete', { oauth }))).items[0].providers[0].missing).toEqual([])
    const user_id = newUser()
    await approve((await world.execute('Incomplete', { user_id })).body.output.requires_authorization.url)
    expect((await world.execute('Incomplete', { user_id })).body.success).toBe(true)
  })

  test('the client comes from the environment', async () => {
    await using gatepass = await startGatepass({
      environment: {
        GATEPASS_PROVIDER_FROM_OUTSIDE_CLIENT_ID: world.as.clientId,
        GATEPASS_PROVIDER_FROM_OUTSIDE_CLIENT_SECRET: world.as.clientSecret,
      },
    })
    const oauth = [oauthEntry('From Outside', world.as, { clientId: '', clientSecret: '' })]
    const { body } = await gatepass.call('POST', '/v1/tools/import', metadata('Outside', { oauth }))
    expect(body.items[0].providers).toMatchObject([
      { id: 'from-outside', missing: ['client_id', 'client_secret'] },
    ])
    const confirm = { oauth2: { environment_client: true } }
    await gatepass.call('PATCH', '/v1/admin/auth_providers/from-outside', confirm)
    const ask = { tool_name: 'Outside', user_id: 'u' }
    const begun = await gatepass.call('POST', '/v1/tools/authorize', ask)
    await approve(begun.body.url)
    expect((await gatepass.call('POST', '/v1/tools/authorize', ask)).body.status).toBe('completed')
    const shown = await gatepass.call('GET', '/v1/admin/auth_providers/from-outside')
    expect(shown.body.oauth2.client_secret.exists).toBe(true)
    expect(JSON.stringify(shown.body)).not.toContain(world.as.clientSecret)
  })
})

describe('what is kept', () => {
  const SECRETS = ['client-secret-of-the-file', 'default-of-the-api-key', 'stored-value-of-the-key']

  test('the document comes back as it was, without a secret anywhere', async () => {
    const document = metadata('Whole', {
      author: 'Ada',
      keywords: ['a'],
      sqlTables: [{ name: 't', definition: 'create table t (a)' }],
      sqlQueries: [],
      runner: 'any',
      operating_system: ['linux'],
      tools: ['local:::x:::y'],
      configurations: {
        type: 'object',
        properties: {
          apiKey: { type: 'string', default: SECRETS[1] },
          region: { type: 'string', default: 'eu' },
        },
      },
      config: [{ BasicConfig: { key_name: 'bot_token', key_value: SECRETS[2] } }],
      oauth: [oauthEntry('Whole', world.as, { clientSecret: SECRETS[0] })],
    })
    const answer = await imported(document)
    const got = (await world.call('GET', '/v1/tools/Whole')).body
    expect(got.requirements.secrets.map(({ key }: { key: string }) => key)).toEqual(['API_KEY', 'BOT_TOKEN'])
    const { author, sqlTables, sqlQueries, runner, operating_system, tools } = document as Record<
      string,
      unknown
    >
    expect(got.document).toMatchObject({ author, sqlTables, sqlQueries, runner, operating_system, tools })
    expect(got.document.configurations.properties.region.default).toBe('eu')
    const seen = [answer, got]
    for (const path of ['/v1/tools?limit=100', '/v1/formatted_tools?limit=100', '/v1/admin/auth_providers'])
      seen.push((await world.call('GET', path)).body)
    for (const secret of [...SECRETS, world.as.clientSecret]) {
      expect(JSON.stringify(seen)).not.toContain(secret)
      expect(world.gatepass.logLines.join()).not.toContain(secret)
    }
  })

  test('the stored form of a node', async () => {
    const { items } = await imported({ type: 'Deno', content: [metadata('Stored'), true] })
    expect(items[0]).toMatchObject({ name: 'Stored', result: 'created' })
  })

  test('only an administrator imports', async () => {
    for (const role of ['caller', 'readonly'] as const) {
      const key = await world.gatepass.makeKey(role)
      const { status } = await world.call('POST', '/v1/tools/import', metadata('No'), { key })
      expect(status).toBe(403)
    }
  })
})
