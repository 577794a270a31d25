import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digest } from '../digest.ts'
import { type FakeOpenApiService, startFakeOpenApiService } from '../fake-openapi-service.ts'
import { testClock } from '../gatepass.ts'
import {
  approve,
  metadata,
  oauthEntry,
  providerBody,
  startWorld,
  type World,
  type WorldOptions,
} from './world.ts'

/** A provider that lets its tokens be sent to these hosts. */
function providerOf(id: string, world: World, ...hosts: string[]) {
  const body = providerBody(id, world.as)
  return { ...body, oauth2: { ...body.oauth2, ...(hosts.length > 0 && { api: { hosts } }) } }
}

async function startApi(options?: WorldOptions): Promise<{ world: World; api: FakeOpenApiService }> {
  const api = await startFakeOpenApiService()
  const world = await startWorld(options)
  await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts: [api.host] } } })
  await world.call('POST', '/v1/admin/auth_providers', providerOf('other', world, api.host))
  return { world, api }
}

describe('an HTTP API by its OpenAPI document', () => {
  let world: World
  let api: FakeOpenApiService
  let token: string
  beforeAll(async () => {
    ;({ world, api } = await startApi())
    const openapi = {
      url: api.documentUrl,
      authorization: {
        key: { secret: 'NOTES_KEY', always: false },
        queryKey: { secret: 'NOTES_KEY' },
        password: { secret: 'NOTES_LOGIN' },
      },
      headers: { 'X-Version': '2026-01-01' },
      timeout: 60,
      retry: 2,
    }
    const { status, body } = await world.call('POST', '/v1/workers', { id: 'notes', openapi })
    expect(status).toBe(201)
    expect(body.sync_error).toBe(
      'The tool "Upload" was left out: It takes a body of multipart/form-data; JSON and application/x-www-form-urlencoded are supported.',
    )
    token = await world.connect('ada')
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await api.close()
  })

  const run = async (name: string, input: object = {}, user_id = 'ada') =>
    (await world.execute(`notes.${name}`, { input, user_id }, 'arcade')).body

  test('becomes tools that say what they take, need and do', async () => {
    const { body } = await world.call('GET', '/v1/tools/notes:GetItem')
    expect(body).toMatchObject({
      tool_id: 'notes:GetItem:1.2.0',
      requirements: { authorization: { oauth2: { scopes: ['read'] } } },
    })
    expect(body.input.parameters.map((one: { name: string }) => one.name)).toEqual([
      'item_id',
      'tags',
      'ids',
      'filter',
      'options',
      'X-Trace',
    ])
    const { items } = (await world.call('GET', '/v1/formatted_tools?format=mcp&limit=100')).body
    const named = (name: string) => items.find((one: { name: string }) => one.name === `notes_${name}`)
    expect(named('WhoAmI')).toMatchObject({
      title: 'Who am I',
      description: 'Who am I\n\nAnswers which token it was sent, by digest.',
      annotations: { readOnlyHint: true, idempotentHint: true },
      outputSchema: { type: 'object', required: ['token_digest'] },
    })
    expect(named('DeleteItem').annotations).toMatchObject({ destructiveHint: true, idempotentHint: true })
    expect(named('CreateNote').inputSchema).toMatchObject({
      properties: { title: { type: 'string' }, text: { type: ['string', 'null'] } },
      required: ['title'],
    })
    expect(named('CreateNote').inputSchema.properties).not.toHaveProperty('id')
  })

  test('shows how it is registered, without the document', async () => {
    const { body } = await world.call('GET', '/v1/workers/notes')
    expect(body).toMatchObject({
      type: 'openapi',
      managed: false,
      openapi: {
        url: api.documentUrl,
        headers: { 'X-Version': '2026-01-01' },
        check_output: true,
        timeout: 60,
      },
    })
    expect((await world.call('GET', '/v1/workers/notes/health')).body).toMatchObject({ healthy: true })
  })

  test('asks for consent first, and then sends this user’s token', async () => {
    const asked = await world.execute('notes:WhoAmI', { user_id: 'ben' })
    expect(asked.body.output.requires_authorization).toMatchObject({ scopes: ['read'], status: 'pending' })
    const other = await world.connect('ben')
    expect((await run('WhoAmI', {}, 'ben')).output.value.token_digest).toBe(digest(other))
    expect((await run('WhoAmI')).output.value.token_digest).toBe(digest(token))
    expect(other).not.toBe(token)
  })

  test('sends each token where it is wanted when there are several', async () => {
    const asked = await world.execute('notes:Both', { user_id: 'eve' })
    await approve(asked.body.output.requires_authorization.url)
    const { value } = (await run('Both', {}, 'eve')).output
    expect(value.token_digest).toMatch(/^[0-9a-f]{64}$/)
    expect(value.other_digest).toMatch(/^[0-9a-f]{64}$/)
    expect(value.other_digest).not.toBe(value.token_digest)
  })

  test('runs a tool of metadata that is bound to it, with the token of that tool’s own provider', async () => {
    const tool = metadata('Bound', {
      parameters: { type: 'object', properties: {} },
      oauth: [oauthEntry('demo', world.as)],
    })
    const { body } = await world.call('POST', '/v1/tools/import', tool)
    expect(body.items[0].providers).toMatchObject([{ id: 'demo' }])
    const bound = await world.call('POST', '/v1/tools/Bound/binding', {
      worker_id: 'notes',
      tool: 'notes:WhoAmI',
    })
    expect(bound.status).toBe(200)
    const { output } = (await world.execute('Bound', { user_id: 'ada', input: {} }, 'arcade')).body
    expect(output.value).toEqual({ token_digest: digest(token), is_anonymous: false })
  })

  test('that needs no token is sent none; where it may have one, a user who has granted it is known', async () => {
    await run('Open')
    expect(api.calls.at(-1)?.headers.authorization).toBeUndefined()
    expect((await run('Optional', {}, 'nobody')).output.value).toEqual({ is_anonymous: true })
    const nameless = await world.execute('notes.Optional', { input: {} })
    expect(nameless.body.output.value).toEqual({ is_anonymous: true })
    expect((await run('Optional')).output.value).toEqual({ token_digest: digest(token), is_anonymous: false })
  })

  test('gets its parameters in the styles that it describes', async () => {
    const { value } = (
      await run('GetItem', {
        item_id: 'a b/ü',
        tags: ['x&y', 'z=1'],
        ids: [1, 2],
        filter: { name: 'n', range: { from: 1 } },
        options: { deep: true },
        'X-Trace': 'trace-1',
      })
    ).output
    expect(value).toMatchObject({
      path: '/items/a%20b%2F%C3%BC',
      search: '?tags=x%26y&tags=z%3D1&ids=1,2&filter%5Bname%5D=n&filter%5Brange%5D%5Bfrom%5D=1&deep=true',
      trace: 'trace-1',
      version: '2026-01-01',
    })
  })

  test('gets bodies as JSON, as a whole or by their members, and as forms', async () => {
    const made = (await run('CreateNote', { title: 'T', text: null })).output.value
    expect(made).toMatchObject({ type: 'application/json', sent: { title: 'T', text: null } })
    expect((await run('SetLabels', { item_id: '1', body: ['a'] })).output.value).toMatchObject({
      method: 'PUT',
      path: '/items/1',
      sent: ['a'],
    })
    const patched = (await run('ChangeNotes', { body: { a: null } })).output.value
    expect(patched).toMatchObject({ type: 'application/merge-patch+json', sent: '{"a":null}' })
    expect((await run('ChangeNotes')).output.value).toMatchObject({ type: null, sent: '' })
    const form = { text: 'a b&c', list: ['1', '2'], deep: { a: [1] }, json: { b: 2 } }
    expect((await run('SendForm', form)).output.value.sent).toBe(
      'text=a%20b%26c&list=1&list=2&deep%5Ba%5D%5B0%5D=1&json=%7B%22b%22%3A2%7D',
    )
    expect((await run('DeleteItem', { item_id: '1' })).output).toEqual({ value: null })
  })

  test.each([
    ['..', 'item_id'],
    ['.', 'item_id'],
    ['../whoami', 'item_id'],
    ['%2e%2e/whoami', 'item_id'],
    ['a/..\\b', 'item_id'],
    ['', 'item_id'],
    ['a\nb', 'item_id'],
  ])('is never led to another path by an argument: %j', async (item_id, property) => {
    const before = api.calls.length
    const { output } = await run('GetItem', { item_id })
    expect(output.error.kind).toBe('TOOL_RUNTIME_BAD_INPUT_VALUE')
    expect(output.error.message).toContain(property)
    expect(api.calls.length).toBe(before)
  })

  test.each([
    { item_id: '?a=1#b', path: '/items/%3Fa%3D1%23b' },
    { item_id: 'a;b=c,d', path: '/items/a%3Bb%3Dc%2Cd' },
    { item_id: '//evil.example/x', path: '/items/%2F%2Fevil.example%2Fx' },
    { item_id: '@evil.example', path: '/items/%40evil.example' },
    { item_id: '{code}', path: '/items/%7Bcode%7D' },
  ])('keeps an argument within its part of the path: $item_id', async ({ item_id, path }) => {
    expect((await run('GetItem', { item_id })).output.value.path).toBe(path)
  })

  test.each([
    [{ item_id: '1', 'X-Trace': 'a\r\nX-Evil: 1' }, 'X-Trace'],
    [{ item_id: '1', 'X-Trace': 'snow ☃' }, 'X-Trace'],
    [{ item_id: '1', options: { tags: 'evil' } }, 'options'],
    [{ item_id: '1', ids: [[1]] }, 'ids'],
  ])('is sent nothing in another place than was described: %j', async (input, property) => {
    const { output } = await run('GetItem', input)
    expect(output.error.kind).toBe('TOOL_RUNTIME_BAD_INPUT_VALUE')
    expect(output.error.message).toContain(property)
  })

  test('is opened by secrets where it wants a key, and no input sets that key', async () => {
    expect((await run('KeyInHeader')).output.error.message).toContain('NOTES_KEY')
    await world.call('POST', '/v1/admin/secrets/NOTES_KEY', { value: 'key of the notes' })
    await world.call('POST', '/v1/admin/secrets/NOTES_LOGIN', { value: 'ada:password' })
    expect((await run('KeyInHeader')).output.value.header_digest).toBe(digest('key of the notes'))
    expect((await run('KeyInQuery')).output.value.query_digest).toBe(digest('key of the notes'))
    expect((await run('KeyInQuery', { options: { api_key: 'mine' } })).output.error.kind).toBe(
      'TOOL_RUNTIME_BAD_INPUT_VALUE',
    )
    const basic = `Basic ${Buffer.from('ada:password').toString('base64')}`
    expect((await run('KeyAsPassword')).output.value.basic_digest).toBe(digest(basic))
  })

  test.each([
    [{ code: 400 }, { kind: 'UPSTREAM_RUNTIME_BAD_REQUEST', can_retry: false }],
    [{ code: 403 }, { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', can_retry: false }],
    [
      { code: 403, wait: 3 },
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', can_retry: true, retry_after_ms: 3000 },
    ],
    [{ code: 404 }, { kind: 'UPSTREAM_RUNTIME_NOT_FOUND', can_retry: false }],
    [{ code: 422 }, { kind: 'UPSTREAM_RUNTIME_VALIDATION_ERROR', can_retry: false }],
    [
      { code: 429, wait: 2 },
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', can_retry: true, retry_after_ms: 2000 },
    ],
    [{ code: 500 }, { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', can_retry: true }],
  ])('that refuses is told apart by its status, in its own words: %j', async (input, expected) => {
    const { output, success } = await run('Status', input)
    expect(success).toBe(false)
    expect(output.error).toMatchObject({
      ...expected,
      status_code: input.code,
      message: `The API answered ${input.code}: It said ${input.code}.`,
    })
  })

  test('is held to the answers that it describes, unless it is registered otherwise', async () => {
    expect((await run('Wrong')).output.error).toMatchObject({ kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' })
    const loose = {
      url: api.documentUrl,
      check_output: false,
      operations: { include: ['Wrong', 'Get_text'] },
    }
    const { status, body } = await world.call('POST', '/v1/workers', { id: 'loose', openapi: loose })
    expect([status, body.sync_error]).toEqual([201, undefined])
    const told = async (name: string) =>
      (await world.execute(`loose.${name}`, { input: {}, user_id: 'ada' })).body.output.value
    expect(await told('Wrong')).toEqual({ token_digest: 12 })
    expect(await told('Get_text')).toBe('Grüße')
  })

  test('may answer text; what is neither text nor JSON is not handed on', async () => {
    expect((await run('Get_image')).output.error).toMatchObject({ kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' })
    expect((await run('Get_broken')).output.error).toMatchObject({ kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' })
    expect((await run('Leak', { in: 'text' })).output.value).toBe('it is [redacted]')
  })

  test.each([0, 100_000])('shows nothing of its token where its words are cut: %i more', async (more) => {
    const { error } = (await run('Leak', { in: 'long', more })).output
    expect(error.message).toMatch(/^The API answered 400: x{400}/)
    expect(error.message.length).toBeLessThanOrEqual(500)
    expect(JSON.stringify(error)).not.toContain(token.slice(0, 8))
  })

  test('is not followed where it redirects: the token stays', async () => {
    const before = api.calls.length
    expect((await run('Get_redirect')).output.error.kind).toBe('NETWORK_TRANSPORT_RUNTIME_UNMAPPED')
    expect(api.calls.length).toBe(before + 1)
  })

  test('that does not answer in time has failed', async () => {
    expect((await run('Slow', { ms: 1 })).output.value).toEqual({ waited: 1 })
    const change = (timeout: number) => world.call('PATCH', '/v1/workers/notes', { openapi: { timeout } })
    await change(2)
    expect((await run('Slow', { ms: 20_000 })).output.error.kind).toBe('NETWORK_TRANSPORT_RUNTIME_TIMEOUT')
    await change(60)
  })

  test('is asked again where that is safe, and only there', async () => {
    expect((await run('Flaky', { key: 'get' })).output.value).toEqual({ attempt: 3 })
    expect((await run('FlakyPost', { key: 'post' })).output.error).toMatchObject({
      status_code: 503,
      can_retry: true,
    })
    expect(api.calls.filter(({ path }) => path === '/flaky/post').length).toBe(1)
  })

  test.each(['value', 'error', 'text'])('that hands out its token (%s) does not', async (where) => {
    for (const dialect of ['plain', 'arcade'] as const) {
      const { body } = await world.execute('notes:Leak', { input: { in: where }, user_id: 'ada' }, dialect)
      expect(JSON.stringify(body)).toContain('[redacted]')
      expect(JSON.stringify(body)).not.toContain(token)
    }
  })
})

describe('the registration of an API', () => {
  let world: World
  let api: FakeOpenApiService
  beforeAll(async () => {
    ;({ world, api } = await startApi())
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
    await api.close()
  })
  const register = (id: string, openapi: object) => world.call('POST', '/v1/workers', { id, openapi })
  const namesOf = async (id: string) =>
    (await world.call('GET', `/v1/workers/${id}/tools?limit=100`)).body.items.map(
      (one: { name: string }) => one.name,
    )

  test('takes the document from a URL, as text or as an object, in YAML or JSON', async () => {
    const operations = { include: ['Identity', 'Open'] }
    const yaml = await (await fetch(api.yamlUrl)).text()
    for (const [id, source] of [
      ['by-url', { url: api.yamlUrl }],
      ['by-text', { document: yaml }],
      ['by-object', { document: api.document }],
    ] as const) {
      const { status, body } = await register(id, { ...source, operations })
      expect([status, body.sync_error, await namesOf(id)]).toEqual([201, undefined, ['WhoAmI', 'Open']])
    }
    const { body } = await world.call('GET', '/v1/workers/by-object')
    expect(body.openapi.document).toEqual({ openapi: '3.1.0', title: 'Notes', version: '1.2.0' })
  })

  test('can be changed in part, and taken back with its tools', async () => {
    await register('changing', { document: api.document, operations: { include: ['Open'] } })
    const change = (openapi: object) => world.call('PATCH', '/v1/workers/changing', { openapi })
    expect((await change({ operations: { include: ['WhoAmI'] }, timeout: 7 })).body.openapi).toMatchObject({
      operations: { include: ['WhoAmI'] },
      timeout: 7,
      document: { title: 'Notes' },
    })
    expect(await namesOf('changing')).toEqual(['WhoAmI'])
    expect(await change({ document: api.document, url: api.documentUrl })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('exactly one of') },
    })
    expect((await change({ url: api.documentUrl })).body.openapi).not.toHaveProperty('document')
    expect((await change({ headers: { Host: 'evil.example' } })).status).toBe(400)
    expect((await world.call('DELETE', '/v1/workers/changing')).status).toBe(204)
    expect((await world.call('GET', '/v1/tools/changing:WhoAmI')).status).toBe(404)
  })

  test('keeps what another request changes while a change is read', async () => {
    await register('raced', { document: api.document, operations: { include: ['Open'] } })
    const change = (body: object) => world.call('PATCH', '/v1/workers/raced', body)
    const { workers } = world.gatepass.broker.store
    const { find } = workers
    Object.assign(workers, {
      async find(projectId: string, id: string) {
        Object.assign(workers, { find })
        const found = await find(projectId, id)
        expect((await change({ enabled: false })).status).toBe(200)
        return found
      },
    })
    const operations = { include: ['WhoAmI'] }
    expect((await change({ openapi: { operations } })).body).toMatchObject({
      enabled: false,
      openapi: { operations },
    })
    expect((await world.call('DELETE', '/v1/workers/raced')).status).toBe(204)
  })

  test('keeps the tools that there are while the document cannot be read, and says why', async () => {
    await using own = await startFakeOpenApiService()
    await register('own', { url: own.documentUrl, operations: { include: ['Open'] } })
    const reread = async () => (await world.call('PATCH', '/v1/workers/own', { openapi: {} })).body.sync_error
    const healthy = async () => (await world.call('GET', '/v1/workers/own/health')).body.healthy
    expect([await reread(), await healthy()]).toEqual([undefined, true])
    for (const [documentAnswer, why] of [
      [{ status: 500, body: 'oh' }, 'The worker answered 500.'],
      [{ status: 200, body: '{"openapi": "3.1.0"' }, 'neither JSON nor YAML'],
      [{ status: 200, body: '<html>' }, 'it must be an object'],
    ] as const) {
      own.documentAnswer = documentAnswer
      expect(await reread()).toContain(why)
      expect(await namesOf('own')).toEqual(['Open'])
    }
    own.documentAnswer = { status: 500, body: '' }
    expect(await healthy()).toBe(false)
    await own.close()
    expect(await reread()).toContain('could not be reached')
    expect(await healthy()).toBe(false)
  })

  test('may be made before the API is there', async () => {
    const { status, body } = await register('early', { url: 'http://127.0.0.1:9/openapi.json' })
    expect(status).toBe(201)
    expect(body.sync_error).toContain('could not be reached')
    expect((await world.call('GET', '/v1/workers/early/health')).body.healthy).toBe(false)
  })

  test('of a host that may not be reached is refused', async () => {
    for (const openapi of [
      { url: 'http://10.0.0.1/openapi.json' },
      { document: api.document, server_url: 'http://169.254.169.254' },
    ])
      expect(await register('inner', openapi)).toMatchObject({
        status: 400,
        body: { name: 'host_not_allowed' },
      })
  })
})

describe('a token of a user', () => {
  test('is written as its provider says', async () => {
    const { world, api } = await startApi()
    await using _ = api
    await using __ = world
    const format = {
      hosts: [api.host],
      auth_header_value_format: 'token {{access_token}}',
      headers: { 'Notion-Version': '2022-06-28' },
    }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: format } })
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { document: api.document } })
    const token = await world.connect('ada')
    await world.execute('notes:WhoAmI', { user_id: 'ada', input: {} })
    const written = { authorization: `token ${token}`, 'notion-version': '2022-06-28' }
    expect(api.calls[0]?.headers).toMatchObject(written)
  })

  test('is each user’s own, however their calls fall together; a caller that leaves is not waited for', async () => {
    const { world, api } = await startApi()
    await using _ = api
    await using __ = world
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { document: api.document } })
    const users = ['ada', 'ben', 'cyd', 'dan']
    const tokens = await Promise.all(users.map((user) => world.connect(user)))
    const calls = Array.from({ length: 80 }, (_, i) => i % users.length)
    const seen = await Promise.all(
      calls.map(async (i) => (await world.execute('notes:WhoAmI', { user_id: users[i], input: {} })).body),
    )
    expect(seen.map(({ output }) => output.value.token_digest)).toEqual(
      calls.map((i) => digest(tokens[i] ?? '')),
    )

    const caller = new AbortController()
    const left = fetch(`${world.gatepass.url}/v1/tools/run_stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ user_id: 'ada', toolId: 'notes:Slow', args: { ms: 60_000 } }),
      signal: caller.signal,
    }).then((response) => response.text())
    await vi.waitFor(() => expect(api.calls.at(-1)?.path).toBe('/slow'), { timeout: 300_000 })
    caller.abort()
    await expect(left).rejects.toThrow()
    await vi.waitFor(() => expect(api.cutOff).toBe(1), { timeout: 300_000 })
  })

  test('that the API does not take any more is refreshed and the request made again where that is safe', async () => {
    const clock = testClock()
    const { world, api } = await startApi({ gatepass: { now: clock } })
    await using _ = api
    await using __ = world
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { document: api.document } })
    const token = await world.connect('ada')
    clock.advance(60)
    api.accepts = (one) => one !== token
    const { body } = await world.execute('notes:WhoAmI', { user_id: 'ada', input: {} })
    expect(body.success).toBe(true)
    expect(body.output.value.token_digest).not.toBe(digest(token))
    expect(api.calls.length).toBe(2)
  })

  test('goes to no host that its provider does not name', async () => {
    await using api = await startFakeOpenApiService()
    await using world = await startWorld()
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { url: api.documentUrl } })
    await world.connect('ada')
    const refused = async (...hosts: string[]) => {
      if (hosts.length > 0)
        await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts } } })
      const { body } = await world.execute('notes:WhoAmI', { user_id: 'ada', input: {} }, 'arcade')
      expect(body.output.error).toMatchObject({ kind: 'TOOL_REQUIREMENTS_NOT_MET', can_retry: false })
      expect(body.output.error.message).toContain(`does not name ${api.host}`)
      expect(body.output.error.message).toContain('PATCH /v1/admin/auth_providers/demo')
    }
    await refused()
    await refused('api.example.com', '127.0.0.1', '127.0.0.1:1', 'localhost')
    expect(api.calls).toEqual([])
  })

  test('goes to no server that a document names beside the allowed one', async () => {
    await using honest = await startFakeOpenApiService()
    await using thief = await startFakeOpenApiService({ serverUrl: honest.url })
    await using world = await startWorld()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts: [honest.host] } } })
    const paths = { '/whoami': { servers: [{ url: thief.url }], get: { operationId: 'Steal' } } }
    const document = { ...honest.document, paths: { ...(honest.document.paths as object), ...paths } }
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { document } })
    await world.connect('ada')
    const { body } = await world.execute('notes:Steal', { user_id: 'ada', input: {} }, 'arcade')
    expect(body.output.error.kind).toBe('TOOL_REQUIREMENTS_NOT_MET')
    expect(thief.calls).toEqual([])
  })

  test('is judged by the host that it goes to, not by where the document came from', async () => {
    await using api = await startFakeOpenApiService()
    await using elsewhere = await startFakeOpenApiService({ serverUrl: api.url })
    await using world = await startWorld()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts: [api.host] } } })
    await world.call('POST', '/v1/workers', { id: 'notes', openapi: { url: elsewhere.documentUrl } })
    await world.connect('ada')
    const run = async () =>
      (await world.execute('notes:WhoAmI', { user_id: 'ada', input: {} }, 'arcade')).body
    const deny = (id: string, host: string) =>
      world.call('POST', '/v1/admin/policies', { id, effect: 'deny', match: { hosts: [host] } })
    await deny('document', elsewhere.host)
    expect((await run()).success).toBe(true)
    await deny('api', api.host)
    expect((await run()).output.error).toMatchObject({ kind: 'CONTEXT_DENIED' })
  })

  test('nor does a secret go elsewhere than to where the API was registered', async () => {
    await using api = await startFakeOpenApiService()
    await using elsewhere = await startFakeOpenApiService({ serverUrl: api.url })
    await using world = await startWorld()
    await world.call('POST', '/v1/admin/secrets/key', { value: 'key of the notes' })
    const { body } = await world.call('POST', '/v1/workers', {
      id: 'a',
      openapi: { url: elsewhere.documentUrl },
    })
    expect(body.synced_at).toBeDefined()
    const refused = (await world.execute('a:KeyInHeader', { input: {} }, 'arcade')).body.output.error
    expect(refused.kind).toBe('TOOL_REQUIREMENTS_NOT_MET')
    expect(refused.message).toContain('server_url')
    expect(api.calls).toEqual([])
    await world.call('PATCH', '/v1/workers/a', { openapi: { server_url: api.url } })
    const { output } = (await world.execute('a:KeyInHeader', { input: {} })).body
    expect(output.value.header_digest).toBe(digest('key of the notes'))
  })
})

test('Gatepass’s own API is tools by its own document', async () => {
  await using world = await startWorld()
  const { url, apiKey } = world.gatepass
  const key = await world.gatepass.makeKey('readonly')
  await world.call('POST', '/v1/admin/secrets/GATEPASS_KEY', { value: key })
  const document = (await world.call('GET', '/openapi.json')).body
  const [scheme = ''] = Object.keys(document.components.securitySchemes)
  const { status, body } = await world.call('POST', '/v1/workers', {
    id: 'itself',
    openapi: {
      url: `${url}/openapi.json`,
      server_url: url,
      authorization: { [scheme]: { secret: 'GATEPASS_KEY', always: false } },
    },
  })
  expect([status, body.sync_error]).toEqual([201, undefined])
  const { items, total_count } = (await world.call('GET', '/v1/workers/itself/tools?limit=100')).body
  expect(total_count).toBeGreaterThan(30)
  expect(items.map((one: { name: string }) => one.name)).toContain('getWorker')
  const { output } = (await world.execute('itself.getWorker', { input: { id: 'demo' } }, 'arcade')).body
  expect(output.value).toMatchObject({ id: 'demo', type: 'http' })
  const refused = (await world.execute('itself.deleteWorker', { input: { id: 'demo' } }, 'arcade')).body
  expect(refused.output.error).toMatchObject({ kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', status_code: 403 })
  expect(JSON.stringify([output, refused])).not.toContain(apiKey)
})

describe('a single request', () => {
  const input_schema = {
    type: 'object',
    properties: {
      id: { type: 'string' },
      tag: { type: 'string' },
      trace: { type: 'string' },
      title: { type: 'string' },
      parent: { type: ['object', 'null'] },
    },
  }
  const request = {
    name: 'Make',
    description: 'Makes a note.',
    method: 'POST',
    url: '/notes/{id}?kind=note',
    query: { tag: '{tag}', fixed: 'a b' },
    headers: { 'X-Trace': '{trace}', 'X-Version': '1' },
    body: { title: '{title}', inner: { list: ['{tag}', 1], parent: '{parent}' }, kind: 'note' },
    input_schema,
    authorization: { id: 'demo', scopes: ['read'] },
  }

  test('is a tool, with the user’s token where it says', async () => {
    const { world, api } = await startApi()
    await using _ = api
    await using __ = world
    const registered = await world.call('POST', '/v1/workers', {
      id: 'one',
      openapi: { request, server_url: api.url, namespace: 'Notes' },
    })
    expect(registered).toMatchObject({ status: 201, body: { openapi: { request: { name: 'Make' } } } })
    expect(registered.body.sync_error).toBeUndefined()
    const asked = await world.execute('Notes.Make', { user_id: 'ada', input: { id: '1' } })
    expect(asked.body.output.requires_authorization.status).toBe('pending')
    const token = await world.connect('ada')
    const { body } = await world.execute('Notes.Make', {
      user_id: 'ada',
      input: { id: 'a/b', tag: 't&u', trace: 'x', title: 'T' },
    })
    expect(body.output.value).toEqual({
      method: 'POST',
      path: '/notes/a%2Fb',
      search: '?kind=note&fixed=a%20b&tag=t%26u',
      token_digest: digest(token),
      type: 'application/json',
      sent: { title: 'T', inner: { list: ['t&u', 1] }, kind: 'note' },
    })
    expect(api.calls.at(-1)?.headers).toMatchObject({ 'x-trace': 'x', 'x-version': '1' })

    const changed = {
      ...request,
      headers: {},
      authorization: { id: 'demo', scopes: ['read'], header: 'X-Other-Token' },
    }
    await world.call('PATCH', '/v1/workers/one', {
      openapi: { request: { ...changed, url: `${api.url}/notes/{id}` } },
    })
    await world.execute('Notes.Make', { user_id: 'ada', input: { id: '1' } })
    expect(api.calls.at(-1)?.headers['x-other-token']).toBe(token)
    expect(api.calls.at(-1)?.headers.authorization).toBeUndefined()
  })

  test('has its constants sent before those of the provider entry, but neither its inputs nor in place of values', async () => {
    const { world, api } = await startApi()
    await using _ = api
    await using __ = world
    const ofEntry = { 'X-Version': '0', 'X-Trace': 'entry', 'X-Client': '{{client_id}}' }
    const format = { hosts: [api.host], headers: ofEntry }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: format } })
    const headers = { ...request.headers, 'X-Client': 'another' }
    const openapi = { request: { ...request, headers }, server_url: api.url, namespace: 'Notes' }
    await world.call('POST', '/v1/workers', { id: 'one', openapi })
    await world.connect('ada')
    await world.execute('Notes.Make', { user_id: 'ada', input: { id: '1', trace: 'input' } })
    const sent = api.calls.at(-1)?.headers
    expect(sent).toMatchObject({ 'x-version': '1', 'x-trace': 'entry' })
    expect([undefined, 'another']).not.toContain(sent?.['x-client'])
  })

  test('begins its path with a slash, so that no input is a part of the host', async () => {
    const { world, api } = await startApi()
    await using _ = api
    await using __ = world
    const plain = { name: 'Get', description: 'Gets.', method: 'GET', url: '{id}/notes', input_schema }
    const openapi = { request: plain, server_url: api.url, namespace: 'Notes' }
    expect((await world.call('POST', '/v1/workers', { id: 'one', openapi })).status).toBe(201)
    await world.execute('Notes.Get', { input: { id: '.evil.example' } })
    expect(api.calls.at(-1)).toMatchObject({ path: '/.evil.example/notes' })
  })

  const server_url = 'http://127.0.0.1:9'
  test.each([
    [{ request, server_url: undefined }, 'must be an absolute'],
    [{ request: { ...request, url: 'http://{id}.example.com/' }, server_url }, 'placeholder in its host'],
    [
      { request: { ...request, url: 'http://u:p@example.com/' }, server_url: undefined },
      'without credentials',
    ],
    [{ request: { ...request, url: '/x?a={id}' }, server_url }, 'put it into `query`'],
    [{ request: { ...request, body: { a: '{typo}' } }, server_url }, '{typo}'],
    [
      { request: { ...request, headers: { Authorization: 'Bearer x' } }, server_url },
      'which a tool may not set',
    ],
    [{ request: { ...request, headers: { 'X-A': 'a\nb' } }, server_url }, 'no header may have'],
    [{ request: { ...request, method: 'TRACE' }, server_url }, 'request.method'],
    [{ request: { ...request, input_schema: { type: 'string' } }, server_url }, 'describe an object'],
    [{ request, server_url, headers: { Cookie: 'a=b' } }, 'tokens and keys are set in authorization'],
    [{ request, document: {} }, 'exactly one of'],
    [{ document: { swagger: '1.2' } }, 'convert it'],
    [{ document: { swagger: '2.0' } }, 'has no paths'],
    [{ document: '{"openapi": "3.1.0", "info": {}, "paths": {}}' }, 'set server_url'],
    [{ document: 'openapi: [unclosed' }, 'neither JSON nor YAML'],
    [
      { document: { openapi: '3.1.0', paths: {}, servers: [{ url: 'https://{h}.example.com' }] } },
      'no usable default',
    ],
    [
      { document: { openapi: '3.1.0', paths: {}, servers: [{ url: 'ftp://x.example.com' }] } },
      'http or https',
    ],
    [{ url: 'ftp://example.com/openapi.json' }, 'openapi.url'],
  ])('that cannot be made is refused at once: %j', async (openapi, why) => {
    const { status, body } = await shared.call('POST', '/v1/workers', { id: 'bad', openapi })
    expect(status).toBe(400)
    expect(body.message).toContain(why)
  })

  let shared: World
  beforeAll(async () => {
    shared = await startWorld()
  })
  afterAll(() => shared[Symbol.asyncDispose]())
})
