import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { digest } from '../../digest.ts'
import { type OxpTool, oxpTools, startFakeOxpServer } from '../../fake-oxp-server.ts'
import { testClock } from '../../gatepass.ts'
import { approve, metadata } from '../../http/world.ts'
import { NEEDED, type OxpWorld, startOxpWorld } from './oxp-world.ts'

// Gatepass as the client of OXP servers: the worker type `oxp`.

let world: OxpWorld
let users = 0
const clock = testClock()
beforeAll(async () => {
  world = await startOxpWorld({ worker: { retry: 2 }, gatepass: { now: clock } })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})
const WELL = { health: 'ok', catalogue: 'items', call: 'ok', raw: undefined }
beforeEach(() => {
  Object.assign(world.server.behaviour, WELL)
  world.server.tools = oxpTools(NEEDED)
  world.server.calls.length = 0
  Object.assign(world.server.seen, { runs: 0, abandoned: 0 })
})

const newUser = () => `user-${++users}`

/** Connects a user at both providers. */
async function connectedUser(): Promise<string> {
  const user = newUser()
  const { body } = await world.execute('Oxp.Digests', {}, user)
  await approve(body.output.requires_authorization.url)
  return user
}

async function errorOf(answer: ReturnType<OxpWorld['execute']>) {
  const { status, body } = await answer
  expect([status, body.success], JSON.stringify(body)).toEqual([200, false])
  return body.output.error
}

/** Gives the server two seconds for each answer until the end of the test. */
async function hurry() {
  const change = (timeout: number) => world.call('PATCH', '/v1/workers/oxp', { oxp: { timeout } })
  onTestFinished(async () => {
    Object.assign(world.server.behaviour, WELL)
    await change(60)
  })
  return change(2)
}

/** Reads the catalogue now instead of waiting for the next synchronization. */
const sync = () => world.call('PATCH', '/v1/workers/oxp', { enabled: true })

describe('the credential', () => {
  const KEY = 'key-of-the-oxp-server'
  const CASES = [
    ['none', { kind: 'none' }, {}],
    ['an API key', { kind: 'api_key', key: KEY }, { api_key: KEY }],
    ['a JWT', { kind: 'jwt', secret: KEY }, { jwt_secret: KEY }],
    [
      'a JWT for an audience',
      { kind: 'jwt', secret: KEY, audience: 'us' },
      { jwt_secret: KEY, audience: 'us' },
    ],
  ] as const

  test.each(CASES)('is %s', async (_, auth, oxp) => {
    await using own = await startFakeOxpServer({ auth, toolkit: 'Own' })
    const id = 'own'
    const added = await world.call('POST', '/v1/workers', { id, oxp: { uri: `${own.url}/`, ...oxp } })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect(added.body.sync_error).toBeUndefined()
    expect(JSON.stringify(added.body)).not.toContain(KEY)
    expect(await world.execute('Own.Ring')).toMatchObject({ body: { success: true } })
    await world.call('GET', `/v1/workers/${id}/health`)
    await world.call('DELETE', `/v1/workers/${id}`)

    for (const { path, headers } of own.requests) {
      const isOpen = path === '/health' || auth.kind !== 'api_key'
      expect(headers['oxp-api-key'], path).toBe(isOpen ? undefined : KEY)
      const hasToken = auth.kind === 'jwt' && path !== '/health'
      expect(headers.authorization, path).toEqual(hasToken ? expect.stringMatching(/^Bearer /) : undefined)
      expect(headers['oxp-version']).toBe('1.0')
    }
    for (const { claims = {} } of own.calls.filter(() => auth.kind === 'jwt'))
      expect([Number(claims.exp) - Number(claims.iat) <= 15 * 60, !!claims.jti, !!claims.iss]).toEqual([
        true,
        true,
        true,
      ])
  })

  test('that is wrong is said so, and never shown', async () => {
    await using own = await startFakeOxpServer({ auth: { kind: 'api_key', key: 'right' }, toolkit: 'Own' })
    const oxp = { uri: own.url, api_key: KEY }
    const { status, body } = await world.call('POST', '/v1/workers', { id: 'wrong', oxp })
    expect([status, body.sync_error]).toEqual([201, expect.stringContaining('401')])
    expect(JSON.stringify([body, world.gatepass.logLines])).not.toContain(KEY)

    const changed = await world.call('PATCH', '/v1/workers/wrong', { oxp: { api_key: 'right' } })
    expect(changed.body.sync_error).toBeUndefined()
    const member = { binding: 'project', editable: true, exists: true }
    expect(changed.body.oxp).toMatchObject({ uri: own.url, api_key: member, timeout: 30 })
    const other = await world.call('PATCH', '/v1/workers/wrong', {
      oxp: { jwt_secret: 'another', audience: 'us' },
    })
    expect(other.body.oxp).toMatchObject({ jwt_secret: member, audience: 'us' })
    expect(other.body.oxp.api_key).toBeUndefined()
    const keyed = await world.call('PATCH', '/v1/workers/wrong', { oxp: { api_key: KEY } })
    expect(keyed.body.oxp.audience).toBeUndefined()
    const idle = await world.call('PATCH', '/v1/workers/wrong', { oxp: { audience: 'us' } })
    expect([idle.status, idle.body.message]).toEqual([400, expect.stringContaining('needs a `jwt_secret`')])
    const cleared = await world.call('PATCH', '/v1/workers/wrong', { oxp: { api_key: null } })
    expect(Object.keys(cleared.body.oxp)).toEqual(['uri', 'envelope', 'timeout', 'retry'])
    await world.call('DELETE', '/v1/workers/wrong')
  })

  test.each([
    [{ api_key: 'a', jwt_secret: 'b' }, 'not both'],
    [{ api_key: 'a', audience: 'b' }, 'needs a `jwt_secret`'],
    [{ api_key: 'two words' }, 'visible ASCII'],
  ])('%j is refused', async (oxp, why) => {
    const body = { id: 'bad', oxp: { uri: world.server.url, ...oxp } }
    expect(await world.call('POST', '/v1/workers', body)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(why) },
    })
  })

  test('that the server repeats is taken out of what it says', async () => {
    await using own = await startFakeOxpServer({ auth: { kind: 'api_key', key: KEY }, toolkit: 'Own' })
    own.tools = [
      {
        name: 'Tell',
        description: `Use ${KEY}`,
        run: async () => ({ value: { header: `OXP-API-Key: ${KEY}` } }),
      },
    ]
    await world.call('POST', '/v1/workers', { id: 'teller', oxp: { uri: own.url, api_key: KEY } })
    const told = [await world.call('GET', '/v1/tools/Own.Tell'), await world.execute('Own.Tell')]
    expect(told.map(({ status }) => status)).toEqual([200, 200])
    expect(JSON.stringify(told)).not.toContain(KEY)
    await world.call('DELETE', '/v1/workers/teller')
  })
})

describe('the catalogue', () => {
  test.each(['items', 'tools', 'nested'] as const)('is read from %s', async (catalogue) => {
    world.server.behaviour.catalogue = catalogue
    expect((await sync()).body.sync_error).toBeUndefined()
    const { body } = await world.call('GET', '/v1/tools/Oxp.Echo')
    expect(body).toMatchObject({
      fully_qualified_name: 'Oxp.Echo@1.0.0',
      description: 'Answers what it was given.',
      input: {
        parameters: [
          { name: 'text', required: true, value_schema: { val_type: 'string' } },
          { name: 'loud', required: false, value_schema: { val_type: 'boolean' } },
        ],
      },
    })
    const digests = (await world.call('GET', '/v1/tools/Oxp.Digests')).body
    expect(digests.requirements.authorization).toMatchObject({ id: 'files', oauth2: { scopes: ['read'] } })
    expect((await world.call('GET', '/v1/tools/Oxp.NeedsSecret')).body.requirements.secrets).toEqual([
      { key: 'API_KEY', met: false, status_reason: expect.any(String) },
    ])
  })

  test.each(['500', 'html', 'junk', 'hang'] as const)(
    'that goes wrong (%s) leaves the tools',
    async (how) => {
      await sync()
      world.server.behaviour.catalogue = how
      const synced = how === 'hang' ? await hurry() : await sync()
      expect(synced.body.sync_error).toEqual(expect.any(String))
      expect((await world.call('GET', '/v1/tools/Oxp.Echo')).status).toBe(200)
    },
  )

  test('has several versions of one tool, and leaves out what cannot be read', async () => {
    const of = (name: string, version: string, more: Partial<OxpTool> = {}): OxpTool => ({
      name,
      version,
      run: async () => ({ value: version }),
      ...more,
    })
    world.server.tools = [
      of('Twice', '1.0.0'),
      of('Twice', '1.2.0'),
      of('Bad name', '1.0.0'),
      of('Listed', '1.0.0', { input_schema: { type: 'array' } }),
      of('Latest', 'latest'),
    ]
    const { sync_error } = (await sync()).body
    for (const name of ['Bad name', 'Oxp.Listed', 'Oxp.Latest']) expect(sync_error).toContain(name)
    const { body } = await world.call('GET', '/v1/workers/oxp/tools')
    expect(body.items.map((one: { name: string }) => one.name)).toEqual(['Twice', 'Twice'])
    for (const version of ['1.0.0', '1.2.0'])
      expect((await world.execute(`Oxp.Twice@${version}`)).body.output.value).toBe(version)
    // an imported tool is bound to the newest of them, unless its binding says a version
    await world.call('POST', '/v1/tools/import?worker_id=oxp', metadata('Twice'))
    expect((await world.execute('local.Twice')).body.output.value).toBe('1.2.0')
    for (const [tool, version] of [
      ['Oxp.Twice@1.0.0', '1.0.0'],
      ['Oxp.Twice', '1.2.0'],
    ]) {
      await world.call('POST', '/v1/tools/local.Twice/binding', { worker_id: 'oxp', tool })
      expect((await world.execute('local.Twice')).body.output.value).toBe(version)
    }
    world.server.tools = oxpTools(NEEDED)
    await sync()
  })
})

test.each([
  ['ok', { healthy: true }, 1],
  ['503', { healthy: false, message: expect.stringContaining('not ready') }, 3],
  ['hang', { healthy: false, message: expect.any(String) }, 1],
] as const)('health that is %s', async (health, expected, requests) => {
  if (health === 'hang') await hurry()
  world.server.behaviour.health = health
  const asked = () => world.server.requests.filter(({ path }) => path === '/health').length
  const before = asked()
  expect((await world.call('GET', '/v1/workers/oxp/health')).body).toMatchObject(expected)
  expect(asked() - before).toBe(requests)
})

describe('a call', () => {
  test('asks for both providers with one link, then has each token under its requirement', async () => {
    const user = newUser()
    const before = await world.execute('Oxp.Digests', {}, user)
    const { url, scopes } = before.body.output.requires_authorization
    expect(scopes).toEqual(expect.arrayContaining(['read', 'send']))
    expect(world.server.calls).toEqual([])
    await approve(url)
    const after = await world.execute('Oxp.Digests', {}, user)
    const [files, mail] = [await world.tokenOf('files', user), await world.tokenOf('mail', user)]
    expect(files).not.toBe(mail)
    expect(after.body.output.value).toEqual({
      user_id: user,
      tokens: { files: digest(files), mail: digest(mail) },
    })
  })

  test('carries exactly what the paper says, and no user that nobody asked for', async () => {
    const { body } = await world.execute('Oxp.Echo', { text: 'hi' }, 'somebody')
    expect(body.output.value).toEqual({ input: { text: 'hi' }, context: { authorization: [], secrets: [] } })
    expect(world.server.calls[0]?.request.json).toEqual({
      request: {
        tool_id: 'Oxp.Echo@1.0.0',
        call_id: body.execution_id,
        input: { text: 'hi' },
        context: { authorization: [], secrets: [] },
      },
    })
  })

  test('says for whom where the tool asks for it', async () => {
    expect((await world.execute('Oxp.WhoAmI', {}, 'me')).body.output.value).toBe('me')
    expect(await errorOf(world.execute('Oxp.WhoAmI'))).toMatchObject({
      message: expect.stringContaining('user_id'),
    })
    expect(world.server.calls).toHaveLength(1)
  })

  test('brings the secrets that the tool declares', async () => {
    expect(await errorOf(world.execute('Oxp.NeedsSecret'))).toMatchObject({
      message: expect.stringContaining('API_KEY'),
    })
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'a secret of the project' })
    expect((await world.execute('Oxp.NeedsSecret')).body.output.value).toEqual({
      API_KEY: digest('a secret of the project'),
    })
    await world.call('DELETE', '/v1/admin/secrets/API_KEY')
  })

  test('that answers nothing is a success without a value', async () => {
    const { body } = await world.execute('Oxp.Ring')
    expect([body.success, body.output]).toEqual([true, undefined])
  })

  test('is not wrapped where the server takes it so', async () => {
    await using own = await startFakeOxpServer({ envelope: 'none', toolkit: 'Bare' })
    await world.call('POST', '/v1/workers', { id: 'bare', oxp: { uri: own.url, envelope: 'none' } })
    expect((await world.execute('Bare.Echo', { text: 'hi' })).body.output.value.input).toEqual({ text: 'hi' })
    await world.call('DELETE', '/v1/workers/bare')
  })

  test('of a metadata tool that is bound to one brings the tokens of its own providers', async () => {
    const user = await connectedUser()
    const entries = ['files', 'mail'].map((id) => ({ name: id, scopes: ['read'], ...stored(id) }))
    const imported = await world.call('POST', '/v1/tools/import', metadata('Bound', { oauth: entries }))
    expect(imported.status, JSON.stringify(imported.body)).toBe(200)
    const binding = { worker_id: 'oxp', tool: 'Oxp.Leak' }
    await world.call('POST', '/v1/tools/Bound/binding', binding)
    const first = await world.execute('Bound', {}, user)
    const link = first.body.output.requires_authorization?.url
    if (link !== undefined) await approve(link)
    const answer = await world.execute('Bound', {}, user)
    expect(answer.body.success, JSON.stringify(answer.body)).toBe(true)
    const tokens = world.server.calls.at(-1)?.call.context?.authorization ?? []
    expect(tokens.map(({ id }) => id)).toEqual(['files', 'mail'])
    expect(new Set(tokens.map(({ token }) => token)).size).toBe(2)
  })

  /** The `oauth` entry of metadata for a provider of the fake servers. */
  function stored(id: string) {
    const as = world.providers[id as 'files' | 'mail'] // the only two providers
    return {
      authorizationUrl: as.authorizationUrl,
      tokenUrl: as.tokenUrl,
      clientId: as.clientId,
      clientSecret: as.clientSecret,
      version: '2.0',
      responseType: 'code',
      pkceType: 'S256',
    }
  }
})

describe('call_id is an idempotency key, so', () => {
  test.each([
    ['drop-once', 'an answer that was lost'],
    ['503-once', 'a call that did not get through'],
  ] as const)('%s: %s is asked for again, and the tool runs once', async (how, _) => {
    world.server.behaviour.call = how
    const { body } = await world.execute('Oxp.Echo', { text: 'once' })
    expect(body.success, JSON.stringify(body)).toBe(true)
    expect(new Set(world.server.calls.map(({ call }) => call.call_id))).toEqual(new Set([body.execution_id]))
    expect([world.server.calls.length, world.server.seen.runs]).toEqual([2, 1])
  })
})

describe('an error', () => {
  test('of the tool is passed on with what it says about trying again', async () => {
    const error = {
      message: 'Doorbell ID not found',
      developer_message: "The doorbell with ID 'doorbell1' does not exist.",
      can_retry: true,
      additional_prompt_content: 'ids: doorbell42,doorbell84',
      retry_after_ms: 500,
    }
    expect(await errorOf(world.execute('Oxp.Fail', error))).toEqual({
      ...error,
      developer_message: `TOOL_RUNTIME_RETRY: ${error.developer_message}`,
    })
    expect(await errorOf(world.execute('Oxp.Fail', { message: 'No.' }))).toMatchObject({
      message: 'No.',
      can_retry: false,
      developer_message: expect.stringMatching(/^TOOL_RUNTIME_FATAL/),
    })
  })

  test.each([
    ['hang', 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'],
    ['drop', 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED'],
    ['redirect', 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED'],
    ['html', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['junk', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['huge', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['500', 'UPSTREAM_RUNTIME_SERVER_ERROR'],
    ['echo-token', 'UPSTREAM_RUNTIME_BAD_REQUEST'],
  ] as const)('of a server that answers with %s is %s, without the token', async (how, kind) => {
    const user = await connectedUser()
    if (how === 'hang') await hurry()
    world.server.behaviour.call = how
    const { body } = await world.execute('Oxp.Digests', {}, user)
    expect(body.output.error.developer_message).toMatch(new RegExp(`^${kind}`))
    for (const provider of ['files', 'mail'] as const)
      expect(JSON.stringify([body, world.gatepass.logLines])).not.toContain(
        await world.tokenOf(provider, user),
      )
    expect(world.server.requests.some(({ path }) => path === '/redirected')).toBe(false)
  })

  test.each<[string, number, unknown, string, string]>([
    [
      'input that only the server refuses',
      422,
      { message: 'Bad.', parameter_errors: { text: 'too rude' } },
      'TOOL_RUNTIME_BAD_INPUT_VALUE',
      'Bad. text: too rude',
    ],
    [
      'a tool it does not know',
      400,
      { message: 'There is no such tool.' },
      'UPSTREAM_RUNTIME_BAD_REQUEST',
      'no such tool',
    ],
    [
      'a user it misses',
      400,
      { message: 'x', missing_requirements: { user_id: true } },
      'TOOL_REQUIREMENTS_NOT_MET',
      'user_id',
    ],
    [
      'an answer to another call',
      200,
      { result: { call_id: 'other', success: true, value: 1 } },
      'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
      'cannot be read',
    ],
    ['no success', 200, { result: { value: 1 } }, 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', 'cannot be read'],
    [
      'a failure without a word',
      200,
      { result: { success: false } },
      'TOOL_RUNTIME_FATAL',
      'without saying why',
    ],
    ['422 that is not the protocol’s', 422, ['?'], 'UPSTREAM_RUNTIME_VALIDATION_ERROR', 'could not read'],
    ['our key refused', 401, { message: 'no' }, 'UPSTREAM_RUNTIME_AUTH_ERROR', 'refused the request'],
  ])('%s', async (_, status, body, kind, message) => {
    world.server.behaviour.raw = { status, body: JSON.stringify(body) }
    const error = await errorOf(world.execute('Oxp.Echo', { text: 'hi' }))
    expect(error.developer_message).toMatch(new RegExp(`^${kind}`))
    expect(error.message).toContain(message)
  })

  test('with an authorization of its own leads nowhere but here', async () => {
    const asks = (id: string) => ({
      status: 400,
      body: JSON.stringify({
        message: 'Log in at https://evil.example.test/login',
        missing_requirements: { authorization: [{ id, url: 'https://evil.example.test/login' }] },
      }),
    })
    world.server.behaviour.raw = asks('elsewhere')
    const undeclared = await world.execute('Oxp.Echo', { text: 'hi' })
    expect(undeclared.body.output.error.message).toContain('does not declare')

    const user = await connectedUser()
    world.server.calls.length = 0
    world.server.behaviour.raw = asks('files')
    clock.advance(60) // a token that was received just now is not replaced
    const refused = await world.execute('Oxp.Digests', {}, user)
    expect(refused.body.output.error.message).toContain('rejected its token for files')
    // a rejected token is replaced once
    const tokens = world.server.calls.map(({ call }) => call.context?.authorization?.[0]?.token)
    expect([tokens.length, new Set(tokens).size]).toEqual([2, 2])
    expect(JSON.stringify([undeclared.body, refused.body])).not.toContain('evil')
  })
})

test('a caller that goes away takes the call with it', async () => {
  const stop = new AbortController()
  const asked = fetch(new URL('/v1/tools/execute', world.gatepass.url), {
    method: 'POST',
    headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ tool_name: 'Oxp.Slow', input: { ms: 60_000 } }),
    signal: stop.signal,
  })
  await expect.poll(() => world.server.seen.runs).toBe(1)
  stop.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => world.server.seen.abandoned).toBe(1)
})
