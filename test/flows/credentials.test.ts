import { readFile } from 'node:fs/promises'
import { describe, expect, test, vi } from 'vitest'
import { type FakeKeyService, startFakeKeyService } from '../fake-key-service.ts'
import { startFakeWorker } from '../fake-worker.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { answerJson, listen } from '../loopback.ts'
import { attempt, until } from '../store/fixtures.ts'
import { type Page, UserAgent } from '../user-agent.ts'
import { startLoginScene } from './login-fixtures.ts'

// Keys that users type on our page: checked at the service, stored, sent with requests to its API, and refused later.

const KEY = 'key-0123456789abcdef'
const NEW_KEY = 'key-fedcba9876543210'

/** What the test service takes in each place. */
const PLACES = {
  basic: { place: { basic: { username: '{{api_key}}', password: 'X' } } },
  bearer: { place: { bearer: '{{api_key}}' } },
  headers: {
    fields: { api_key: { label: 'API key', secret: true }, app_key: { label: 'App key', secret: true } },
    place: { headers: { 'X-Key': '{{api_key}}', 'X-App': '{{app_key}}' } },
  },
  query: { place: { query: { api_key: '{{api_key}}' } }, in_url: true },
  path: { place: { path: '/k{{api_key}}' }, in_url: true },
}
const APP_KEY = 'app-secret-9876'

interface World extends AsyncDisposable {
  readonly service: FakeKeyService
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  readonly clock: ReturnType<typeof testClock>
  begin(user?: string): Promise<{ readonly id: string; readonly url: string }>
  /** Opens the link, and sends the form. */
  type(url: string, values: Readonly<Record<string, string>>, browser?: UserAgent): Promise<Page>
  proxy(path: string, options?: { readonly user?: string; readonly method?: string }): Promise<Response>
  state(id: string): Promise<string>
}

type Place = keyof typeof PLACES

async function startWorld(
  place: Place | 'session',
  more: object = {},
  options: GatepassOptions = {},
): Promise<World> {
  const service = await startFakeKeyService(KEY)
  const clock = testClock()
  const gatepass = await startGatepass({ now: clock, ...options })
  const { call } = gatepass
  const base = `${service.url}/${place}/{{workspace}}`
  const fields = {
    workspace: { label: 'Workspace', pattern: '[a-z]{1,20}', example: 'acme' },
    api_key: { label: 'API key', secret: true, help_url: 'https://service.example/keys' },
  }
  const body = {
    id: 'desk',
    type: 'credentials',
    credentials: {
      fields,
      test_request: { endpoint: `${base}/me` },
      account: { id: ['$.id'], name: ['$.contact.email'] },
      api: { base_url: base, hosts: [service.host] },
      ...(place === 'session'
        ? {
            fields: {
              user: { label: 'User', example: 'ada' },
              password: { label: 'Password', secret: true },
            },
            place: { bearer: '{{access_token}}' },
            token_request: {
              endpoint: `${service.url}/login`,
              request_content_type: 'application/json',
              params: { user: '{{user}}', password: '{{password}}' },
              response_map: { access_token: '$.token', expires_in: '$.expires_in' },
            },
            test_request: { endpoint: `${service.url}/session/me` },
            api: { base_url: `${service.url}/session` },
          }
        : PLACES[place]),
      ...(place === 'headers' && { fields: { ...fields, ...PLACES.headers.fields } }),
      ...more,
    },
  }
  const added = await call('POST', '/v1/admin/auth_providers', body)
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return {
    service,
    gatepass,
    call,
    clock,
    async begin(user_id = 'u1') {
      const { status, body } = await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'desk' },
        user_id,
      })
      expect([status, body.status], JSON.stringify(body)).toEqual([200, 'pending'])
      return body
    },
    async type(url, values, browser = new UserAgent()) {
      const page = await browser.get(url)
      expect(page.status, page.body).toBe(200)
      const typed = Object.entries(values).map(([name, value]) => [`value.${name}`, value])
      return browser.submitForm(page, Object.fromEntries(typed))
    },
    proxy: (path, { user = 'u1', method = 'GET' } = {}) =>
      fetch(`${gatepass.url}/proxy/desk${path}`, {
        method,
        redirect: 'manual',
        headers: { authorization: `Bearer ${gatepass.apiKey}`, 'x-gatepass-user': user },
      }),
    state: async (id) => (await call('GET', `/v1/auth/status?id=${id}`)).body.status,
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

const RIGHT = { workspace: 'acme', api_key: KEY }
const valuesFor = (place: Place) => (place === 'headers' ? { ...RIGHT, app_key: APP_KEY } : RIGHT)

/** The user types the right values. */
async function connect(world: World, values: Readonly<Record<string, string>> = RIGHT): Promise<string> {
  const { id, url } = await world.begin()
  const page = await world.type(url, values)
  expect(await world.state(id), page.body).toBe('completed')
  return id
}

const onlyConnection = async ({ call }: World) =>
  (await call('GET', '/v1/connections?user_id=u1')).body.items[0]

describe.each(['basic', 'bearer', 'headers', 'query', 'path'] as const)(
  'a key that is sent as %s',
  (place) => {
    test.each(onBothDatabases)(
      'is checked at the service, stored, and sent with requests to the API, on %s',
      async (_, optionsOf) => {
        await using world = await startWorld(place, {}, await optionsOf())
        const { service, call } = world
        const { id, url } = await world.begin()
        const wrong = await world.type(url, { ...valuesFor(place), api_key: 'wrong-key-0123456' })
        expect(wrong.status).toBe(400)
        expect(wrong.body).toContain('does not accept what you entered')
        expect(wrong.body).not.toContain('wrong-key')
        expect(await world.state(id)).toBe('pending')
        expect((await call('GET', '/v1/connections')).body.total_count).toBe(0)

        await world.type(url, valuesFor(place))
        expect(await world.state(id)).toBe('completed')
        expect(await onlyConnection(world)).toMatchObject({
          status: 'active',
          account: { id: 'acme:42', name: 'ada@service.test' },
          scopes: [],
        })

        const answer = await world.proxy('/tickets?page=2&api_key=mine')
        expect(answer.status).toBe(200)
        const sent = service.requests.at(-1)
        expect(sent?.path).toBe(`${place === 'path' ? `/k${KEY}` : ''}/${place}/acme/tickets`)
        expect(sent?.query.page).toBe('2')
        // the service repeats the key, and the answer has it in no form
        const text = await answer.text()
        for (const secret of [KEY, APP_KEY, Buffer.from(`${KEY}:X`).toString('base64')])
          expect(text).not.toContain(secret)
      },
    )
  },
)

describe('a key', () => {
  test.each([
    ['query', `/query/acme/away?api_key=${KEY}`],
    ['path', `/k${KEY}/path/acme/away`],
  ] as const)(
    'in the %s stays out of URLs that are answered, and redirects are not followed with it',
    async (place, at) => {
      await using world = await startWorld(place)
      await connect(world)
      const before = world.service.requests.length
      const answer = await world.proxy('/away')
      expect(answer.status).toBe(302)
      expect(world.service.requests).toHaveLength(before + 1)
      const { path, search } = world.service.requests.at(-1) ?? {}
      expect(`${path}${search}`).toBe(at)
      expect(answer.headers.get('location')).toContain('/query/next')
      expect(JSON.stringify([...answer.headers])).not.toContain(KEY)
    },
  )

  test.each(['query', 'path'] as const)(
    'in the %s appears in no log line, answer, audit entry, trail or file of the database',
    async (place) => {
      await using world = await startWorld(place)
      const { id, url } = await world.begin()
      const wrong = 'wrong-0123456789abcdef'
      await world.type(url, { ...RIGHT, api_key: wrong })
      const page = await world.type(url, RIGHT)
      await (await world.proxy('/x')).text()
      world.service.status = 500
      await (await world.proxy('/y')).text()
      const { body: connection } = await world.call(
        'GET',
        `/v1/connections/${(await onlyConnection(world)).id}`,
      )
      const shown = [
        page.body,
        JSON.stringify(connection),
        JSON.stringify((await world.call('GET', '/v1/admin/audit?limit=100')).body),
        JSON.stringify((await world.call('GET', `/v1/admin/authorizations/${id}/explain`)).body),
        JSON.stringify((await world.call('GET', '/v1/admin/auth_providers')).body),
        ...world.gatepass.logLines,
        (await readFile(world.gatepass.databasePath)).toString('latin1'),
        (await readFile(`${world.gatepass.databasePath}-wal`).catch(() => Buffer.alloc(0))).toString(
          'latin1',
        ),
      ].join('\n')
      expect(shown).toContain('desk')
      for (const secret of [KEY, wrong, Buffer.from(KEY).toString('base64')])
        expect(shown).not.toContain(secret)
    },
  )

  test('is not sent to the host of another, whose name a field chooses too', async () => {
    await using gatepass = await startGatepass()
    const { call } = gatepass
    const credentials = {
      unchecked: true,
      fields: {
        domain: { pattern: '[a-z]{1,63}', example: 'acme' },
        api_key: { secret: true },
      },
      place: { bearer: '{{api_key}}' },
      api: { base_url: 'https://{{domain}}.desk.invalid/v2' },
    }
    const { body } = await call('POST', '/v1/admin/auth_providers', {
      id: 'desk',
      type: 'credentials',
      credentials,
    })
    expect(body.credentials.api.hosts).toEqual(['*.desk.invalid'])
    const typed = { domain: 'acme', api_key: KEY }
    await call('POST', '/v1/connections', { user_id: 'u1', provider_id: 'desk', fields: typed })
    const proxied = async (host: string) => {
      const headers = { 'x-gatepass-user': 'u1', 'x-gatepass-base-url': `https://${host}` }
      return (await call('GET', '/proxy/desk/x', undefined, { headers })).body.name
    }
    const ran = async (host: string) => {
      const namespace = host.split('.')[0]
      const request = {
        name: 'Tickets',
        description: 'Lists tickets.',
        method: 'GET',
        url: '/tickets',
        input_schema: { type: 'object', properties: {} },
        authorization: { id: 'desk', scopes: [] },
      }
      const openapi = { request, server_url: `https://${host}`, namespace }
      await call('POST', '/v1/workers', { id: `${namespace}-api`, openapi })
      const tool_name = `${namespace}.Tickets`
      return JSON.stringify(
        (await call('POST', '/v1/tools/execute', { tool_name, user_id: 'u1', input: {} })).body,
      )
    }
    expect(await proxied('evil.desk.invalid')).toBe('host_not_allowed')
    expect(await ran('evil.desk.invalid')).toContain('for another host than evil.desk.invalid')
    expect(await proxied('acme.desk.invalid')).toBe('provider_unavailable')
    expect(await ran('acme.desk.invalid')).toContain('could not be reached')
    // a host that an administrator names in full
    await call('PATCH', '/v1/admin/auth_providers/desk', {
      credentials: { api: { ...credentials.api, hosts: ['*.desk.invalid', 'files.desk.invalid'] } },
    })
    await call('POST', '/v1/connections', { user_id: 'u1', provider_id: 'desk', fields: typed })
    expect(await proxied('files.desk.invalid')).toBe('provider_unavailable')
    expect(await proxied('evil.desk.invalid')).toBe('host_not_allowed')
  })

  test('of several lines is taken out of what a service answers, line by line too', async () => {
    const lines = ['MIIEvQIBADANBgkqhkiG9w0B', 'AQEFAASCBKcwggSjAgEAAoIB']
    const pem = ['-----BEGIN KEY-----', ...lines, '-----END KEY-----'].join('\r\n')
    await using echo = await listen(async (req, res) => {
      const sent = Buffer.from(req.headers.authorization?.slice(6) ?? '', 'base64').toString()
      answerJson(res, 200, { whole: sent, lines: sent.split('\n'), crlf: sent.replaceAll('\n', '\r\n') })
    })
    await using gatepass = await startGatepass()
    const credentials = {
      fields: { key: { secret: true, multiline: true } },
      place: { basic: { username: '', password: '{{key}}' } },
      test_request: { endpoint: `${echo.url}/me` },
      api: { base_url: echo.url },
    }
    await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'desk', type: 'credentials', credentials })
    const typed = { user_id: 'u1', provider_id: 'desk', fields: { key: pem } }
    expect((await gatepass.call('POST', '/v1/connections', typed)).status).toBe(201)
    const headers = { 'x-gatepass-user': 'u1' }
    const { status, body } = await gatepass.call('GET', '/proxy/desk/x', undefined, { headers })
    expect([status, Object.keys(body)]).toEqual([200, ['whole', 'lines', 'crlf']])
    for (const line of lines) expect(JSON.stringify(body)).not.toContain(line)
  })

  test.each([
    ['basic', '$.seen.key'],
    ['basic', '$.seen.authorization'],
    ['bearer', '$.seen.authorization'],
    ['query', '$.seen.url'],
  ] as const)('that the service repeats to its check is no name of an account: %s, %s', async (place, at) => {
    await using world = await startWorld(place, { account: { id: [at], name: [at] } })
    const id = await connect(world)
    const { call } = world
    const shown = [
      await onlyConnection(world),
      (await call('GET', `/v1/auth/status?id=${id}`)).body,
      (await call('GET', '/v1/admin/audit?limit=100')).body,
    ]
    expect(shown[0]).toMatchObject({ status: 'active', account: { id: 'acme', name: '' } })
    for (const secret of [KEY, Buffer.from(`${KEY}:X`).toString('base64')])
      expect(JSON.stringify(shown)).not.toContain(secret)
  })

  test('is not handed out: callers send requests through the proxy', async () => {
    await using world = await startWorld('bearer')
    const { call } = world
    await connect(world)
    const { id } = await onlyConnection(world)
    const token = await call('POST', `/v1/connections/${id}/token`)
    expect([token.status, token.body.name]).toEqual([409, 'proxy_only'])
    expect(token.body.message).toContain('/proxy/desk/')
    const again = await call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk', oauth2: { scopes: ['read'] } },
      user_id: 'u1',
    })
    expect(again.body).toMatchObject({ status: 'completed', context: { token_type: 'api_key' } })
    expect(again.body.context).not.toHaveProperty('token')
  })

  test.each(onBothDatabases)(
    'that the service refuses twice, a minute apart, needs its user, whose link mends it, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld('basic', {}, await optionsOf())
      const { service, clock } = world
      await connect(world)
      service.key = NEW_KEY
      clock.advance(100)
      expect((await world.proxy('/x')).status).toBe(401)
      clock.advance(30)
      expect((await world.proxy('/x')).status).toBe(401)
      expect(await onlyConnection(world)).toMatchObject({ status: 'active' })
      clock.advance(31)
      const refused = await world.proxy('/x')
      expect(refused.status).toBe(403)
      const { requires_authorization: link } = (await refused.json()) as {
        requires_authorization: { url: string }
      }
      expect(await onlyConnection(world)).toMatchObject({
        status: 'needs_authorization',
        status_reason: 'credential_refused',
      })
      await world.type(link.url, { ...RIGHT, api_key: NEW_KEY })
      expect((await world.proxy('/x')).status).toBe(200)
      expect((await world.call('GET', '/v1/connections')).body.total_count).toBe(1)
    },
  )

  test.each([
    ['the test request takes stays connected', 'active'],
    ['the test request refuses too needs its user', 'needs_authorization'],
  ])('whose request to one path is refused twice and which %s', async (_, status) => {
    await using world = await startWorld('basic')
    const { service, clock } = world
    await connect(world)
    for (const seconds of [100, 61, 1]) {
      clock.advance(seconds)
      service.key = NEW_KEY
      service.refusesAlone = status === 'active' ? '/only-for-admins' : undefined
      if (status === 'active') service.key = KEY
      await world.proxy('/only-for-admins')
    }
    expect(await onlyConnection(world)).toMatchObject({ status })
  })

  test('that the service takes again in between stays connected', async () => {
    await using world = await startWorld('basic')
    const { service, clock } = world
    await connect(world)
    clock.advance(100)
    service.key = NEW_KEY
    expect((await world.proxy('/x')).status).toBe(401)
    service.key = KEY
    clock.advance(100)
    expect((await world.proxy('/x')).status).toBe(200)
    service.key = NEW_KEY
    clock.advance(100)
    expect((await world.proxy('/x')).status).toBe(401)
    expect(await onlyConnection(world)).toMatchObject({ status: 'active' })
  })

  test.each(onBothDatabases)('is deleted here alone, which the answer says, on %s', async (_, optionsOf) => {
    await using world = await startWorld('basic', {}, await optionsOf())
    await connect(world)
    const gone = await world.call('DELETE', `/v1/connections/${(await onlyConnection(world)).id}`)
    expect(gone.body.revocation).toBe('unsupported')
    expect((await world.proxy('/x')).status).toBe(403)
  })
})

describe('a tool', () => {
  test.each(['basic', 'query', 'path'] as const)(
    'that is a request of HTTP has the key where the entry puts it: %s',
    async (place) => {
      await using world = await startWorld(place)
      const { service, call } = world
      await connect(world)
      const request = {
        name: 'Tickets',
        description: 'Lists tickets.',
        method: 'GET',
        url: `/${place}/acme/tickets`,
        query: { page: '{page}' },
        input_schema: { type: 'object', properties: { page: { type: 'string' } } },
        authorization: { id: 'desk', scopes: ['read'] },
      }
      const openapi = { request, server_url: service.url, namespace: 'Desk' }
      expect((await call('POST', '/v1/workers', { id: 'desk-api', openapi })).status).toBe(201)
      const { body } = await call('POST', '/v1/tools/execute', {
        tool_name: 'Desk.Tickets',
        user_id: 'u1',
        input: { page: '2' },
      })
      expect(body.output.value, JSON.stringify(body)).toMatchObject({ id: 42 })
      expect(service.requests.at(-1)?.query.page).toBe('2')
      const text = JSON.stringify(body)
      for (const secret of [KEY, Buffer.from(`${KEY}:X`).toString('base64')])
        expect(text).not.toContain(secret)
    },
  )

  test.each([
    ['basic', RIGHT, { token: Buffer.from(`${KEY}:X`).toString('base64'), token_type: 'basic' }],
    ['bearer', RIGHT, { token: KEY, token_type: 'api_key' }],
    [
      'headers',
      { ...RIGHT, app_key: APP_KEY },
      { token: JSON.stringify({ api_key: KEY, app_key: APP_KEY }), token_type: 'api_key' },
    ],
  ] as const)(
    'of a worker gets the key in its context, and the fields that are no secret: %s',
    async (place, values, given) => {
      const contexts: unknown[] = []
      const secret = 'worker-secret-0123456789abcdef012345'
      const worker = await startFakeWorker({
        secret,
        toolkit: { name: 'Desk', version: '1.0.0' },
        tools: [
          {
            name: 'Ask',
            description: 'Asks the desk.',
            authorization: { id: 'desk', scopes: [] },
            async run(_, context) {
              contexts.push(context.authorization)
              return { value: `I have ${context.authorization?.token}` }
            },
          },
        ],
      })
      await using world = await startWorld(place)
      try {
        await connect(world, values)
        const http = { uri: worker.url, secret, timeout: 60, retry: 0 }
        const added = await world.call('POST', '/v1/workers', { id: 'desk-worker', http })
        expect(added.status, JSON.stringify(added.body)).toBe(201)
        const { body } = await world.call('POST', '/v1/tools/execute', {
          tool_name: 'Desk.Ask',
          user_id: 'u1',
          input: {},
        })
        expect(contexts, JSON.stringify(body)).toMatchObject([{ ...given, fields: { workspace: 'acme' } }])
        for (const text of [KEY, APP_KEY]) expect(JSON.stringify(body)).not.toContain(text)
      } finally {
        await worker.close()
      }
    },
  )
})

describe('an administrator', () => {
  const add = ({ call }: World, fields: object) =>
    call('POST', '/v1/connections', { user_id: 'u1', provider_id: 'desk', fields })

  test('stores the fields of a user, once the service takes them, and replaces them', async () => {
    await using world = await startWorld('headers')
    const fields = { ...RIGHT, app_key: APP_KEY }
    const stored = await add(world, fields)
    expect([stored.status, stored.body.account], JSON.stringify(stored.body)).toEqual([
      201,
      { id: 'acme:42', name: 'ada@service.test' },
    ])
    expect(JSON.stringify(stored.body)).not.toContain(KEY)
    expect((await world.proxy('/x')).status).toBe(200)
    world.service.key = NEW_KEY
    const refused = await add(world, fields)
    expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, 'fields'])
    expect((await add(world, { ...fields, api_key: NEW_KEY })).body.id).toBe(stored.body.id)
    expect((await world.proxy('/x')).status).toBe(200)
  })

  test.each([
    ['a missing field', { api_key: KEY }, ['fields.workspace']],
    ['a field that there is not', { ...RIGHT, token: 'x' }, ['fields.token']],
    ['a wrong form', { ...RIGHT, workspace: 'a/b' }, ['fields.workspace']],
  ])('is told of %s by its path, without its value', async (_, fields, paths) => {
    await using world = await startWorld('basic')
    const { status, body } = await add(world, fields)
    expect([status, body.errors.map(({ path }: { path: string }) => path)]).toEqual([400, paths])
    expect(JSON.stringify(body)).not.toContain(KEY)
    expect(world.service.requests).toEqual([])
  })

  test('alone may: a key of applications may not', async () => {
    await using world = await startWorld('basic')
    const key = await world.gatepass.makeKey('caller')
    const body = { user_id: 'u1', provider_id: 'desk', fields: RIGHT }
    expect((await world.call('POST', '/v1/connections', body, { key })).status).toBe(403)
  })
})

describe('a form', () => {
  test('is not declared for OAuth 1.0a either', async () => {
    await using gatepass = await startGatepass()
    const tool = { name: 'Sign', parameters: { type: 'object' }, oauth1: { client_id: 'x' } }
    const { body } = await gatepass.call('POST', '/v1/tools/import', [tool])
    expect(JSON.stringify(body)).toContain('`oauth1` is not read from tool metadata')
  })

  test.each([
    [
      'tool metadata',
      (call: World['call']) =>
        call('POST', '/v1/tools/import', [
          {
            name: 'Steal',
            parameters: { type: 'object' },
            credentials: { fields: { password: { secret: true } } },
          },
        ]),
    ],
  ])('cannot be declared by %s', async (_, send) => {
    await using world = await startWorld('basic')
    const { body } = await send(world.call)
    expect(JSON.stringify(body)).toContain('cannot ask users for keys or passwords')
    expect((await world.call('GET', '/v1/tools')).body.total_count).toBe(0)
  })
})

describe('a policy with scopes', () => {
  test('does not know what a key may do: one that allows refuses it, and one that denies misses it', async () => {
    await using world = await startWorld('bearer')
    const { call } = world
    await connect(world)
    const policy = (effect: string, match: object) =>
      call('POST', '/v1/admin/policies', { id: effect, effect, match })
    const verdict = async () =>
      (await call('POST', '/v1/admin/policies/test', { provider_id: 'desk', use: 'proxy', user_id: 'u1' }))
        .body

    await policy('deny', { scopes: ['*'] })
    expect(await verdict()).toMatchObject({ decision: 'permitted', without_scopes: ['desk'] })
    expect((await world.proxy('/x')).status).toBe(200)
    await policy('allow', { scopes: ['*'] })
    expect(await verdict()).toMatchObject({ decision: 'refused', without_scopes: ['desk'] })
    expect((await world.proxy('/x')).status).toBe(403)
    await call('PATCH', '/v1/admin/policies/allow', { match: { providers: ['desk'] } })
    expect((await world.proxy('/x')).status).toBe(200)
  })
})

describe('the form', () => {
  test('asks for each field, secrets in password fields, and says what happens with them', async () => {
    await using world = await startWorld('basic')
    const page = await new UserAgent().get((await world.begin()).url)
    expect(page.body).toMatch(/<input [^>]*name="value\.workspace"[^>]*maxlength="4096"/)
    expect(page.body).toMatch(/<input [^>]*name="value\.api_key"[^>]*type="password"/)
    expect(page.body).toContain('href="https://service.example/keys"')
    expect(page.body).toContain(world.service.host)
    expect(page.response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(page.response.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    ['a value that no field allows', { ...RIGHT, workspace: '../x' }, 'value.workspace'],
    ['an empty secret', { ...RIGHT, api_key: '' }, 'value.api_key'],
    ['a secret over the limit', { ...RIGHT, api_key: 'k'.repeat(4097) }, 'value.api_key'],
    ['control characters', { ...RIGHT, api_key: `${KEY}\u0007x` }, 'value.api_key'],
    ['what no header may have', { ...RIGHT, api_key: 'schlüssel-0123456' }, 'value.api_key'],
    ['a line break in a header', { ...RIGHT, api_key: `${KEY}\r\nx-admin: 1` }, 'value.api_key'],
  ])(
    'names the field with %s, asks nothing of the service, and repeats no secret',
    async (_, values, field) => {
      await using world = await startWorld('bearer')
      const { url } = await world.begin()
      const again = await world.type(url, values)
      expect(again.status).toBe(400)
      expect(again.body).toMatch(new RegExp(`name="${field}"[^>]*aria-invalid="true"`))
      if (values.api_key !== '') expect(again.body).not.toContain(values.api_key.slice(0, 20))
      expect(world.service.requests).toEqual([])
    },
  )

  test.each(onBothDatabases)('allows five tries for a link, on %s', async (_, optionsOf) => {
    await using world = await startWorld('basic', {}, await optionsOf())
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    for (let tries = 1; tries < 5; tries++)
      expect((await world.type(url, { ...RIGHT, api_key: `guess-${tries}` }, browser)).status).toBe(400)
    const last = await world.type(url, { ...RIGHT, api_key: 'guess-5' }, browser)
    expect(last.body).toContain('no further try')
    expect(await world.state(id)).toBe('failed')
    expect(world.service.requests).toHaveLength(5)
    const late = await browser.post(url, { 'value.workspace': 'acme', 'value.api_key': KEY })
    expect(late.status).toBe(200)
    expect(world.service.requests).toHaveLength(5)
  })

  test.each(onBothDatabases)(
    'sent twice does not fail the first, whose values are being stored, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld('basic', {}, await optionsOf())
      const { id, url } = await world.begin()
      const { store, now } = world.gatepass.broker
      const browser = new UserAgent()
      const form = { 'value.workspace': 'acme', 'value.api_key': KEY }
      await browser.get(url)
      // the first form comes to its end while the second one is read
      const { countTry } = store.authorizations
      vi.spyOn(store.authorizations, 'countTry').mockImplementationOnce(async (...values) => {
        await store.authorizations.attempt(id, 0, attempt('s1'), now())
        await store.authorizations.claim('s1', now(), until(now() + 30))
        return countTry(...values)
      })
      await browser.post(url, form)
      expect(world.service.requests).toEqual([])
      expect(await world.state(id)).toBe('pending')
      // the process that stored the values has died
      world.clock.advance(30)
      await browser.post(url, form)
      expect(await world.state(id)).toBe('completed')
    },
  )

  test.each(['../admin', '..', 'a%2Fb', 'a/b', 'a;b', 'a?b', 'a b'])(
    'takes no key for the path that a server may read as more than its segment: %s',
    async (key) => {
      await using world = await startWorld('path')
      const { url } = await world.begin()
      const page = await world.type(url, { ...RIGHT, api_key: key })
      expect(page.status).toBe(400)
      expect(page.body).toContain('is not in the right form')
      expect(world.service.requests).toEqual([])
    },
  )

  test('sends five checks at most, also for forms at the same time', async () => {
    await using world = await startWorld('basic')
    const { url } = await world.begin()
    const browser = new UserAgent()
    await browser.get(url)
    const guess = (n: number) => ({ 'value.workspace': 'acme', 'value.api_key': `guess-${n}` })
    await Promise.all(Array.from({ length: 20 }, (_, n) => browser.post(url, guess(n))))
    expect(world.service.requests.length).toBeLessThanOrEqual(5)
  })

  test('of another site is refused, and nothing is sent to the service', async () => {
    await using world = await startWorld('basic')
    const { id, url } = await world.begin()
    const form = { 'value.workspace': 'acme', 'value.api_key': KEY }
    const refused = await new UserAgent().post(url, form, { from: 'https://evil.example/' })
    expect(refused.status).toBe(403)
    const query = new URL(url)
    query.search = new URLSearchParams(form).toString()
    await new UserAgent().get(query)
    expect(await world.state(id)).toBe('pending')
    expect(world.service.requests).toEqual([])
  })

  test('that was made for other hosts sends nothing, and comes again with those of now', async () => {
    await using world = await startWorld('basic')
    await using elsewhere = await startFakeKeyService(KEY)
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    const page = await browser.get(url)
    const base = `${elsewhere.url}/basic/{{workspace}}`
    const moved = await world.call('PATCH', '/v1/admin/auth_providers/desk', {
      credentials: {
        test_request: { endpoint: `${base}/me` },
        api: { base_url: base, hosts: [elsewhere.host] },
      },
    })
    expect(moved.status, JSON.stringify(moved.body)).toBe(200)
    const typed = { 'value.workspace': 'acme', 'value.api_key': KEY }
    const again = await browser.submitForm(page, typed)
    expect(again.body).toContain(elsewhere.host)
    expect(again.body).not.toContain(KEY)
    expect([await world.state(id), elsewhere.requests]).toEqual(['pending', []])
    await browser.submitForm(again, typed)
    expect(await world.state(id)).toBe('completed')
  })

  test('stores what could not be checked only where the entry says so', async () => {
    await using strict = await startWorld('basic')
    strict.service.status = 500
    const { id, url } = await strict.begin()
    expect((await strict.type(url, RIGHT)).body).toContain('could not confirm what you entered')
    expect(await strict.state(id)).toBe('pending')

    await using lax = await startWorld('basic', { unchecked: true })
    lax.service.status = 500
    await connect(lax)
    lax.service.status = undefined
    expect((await lax.proxy('/x')).status).toBe(200)
  })
})

describe('the verifier', () => {
  test('of the caller confirms the user before anything is stored', async () => {
    const visits: string[] = []
    await using app = await listen((req, res) => {
      visits.push(new URL(req.url ?? '/', 'http://app.test').searchParams.get('flow_id') ?? '')
      res.end('hello')
    })
    const environment = { GATEPASS_USER_VERIFIER: `${app.url}/verify` }
    await using world = await startWorld('basic', {}, { environment })
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    await world.type(url, RIGHT, browser)
    expect(await world.state(id)).toBe('pending')
    expect((await world.call('GET', '/v1/connections')).body.total_count).toBe(0)
    const confirmed = await world.call('POST', '/v1/auth/confirm_user', {
      flow_id: visits[0],
      user_id: 'u1',
    })
    expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200)
    // another browser, to which the address was forwarded, cannot finish
    expect((await new UserAgent().get(confirmed.body.next_uri)).status).toBe(403)
    await browser.follow(confirmed.body.next_uri)
    expect(await world.state(id)).toBe('completed')
  })
})

describe('a login at an issuer', () => {
  test('comes before the form, which takes nothing without it', async () => {
    await using service = await startFakeKeyService(KEY)
    await using scene = await startLoginScene()
    const base = `${service.url}/bearer`
    const added = await scene.call('POST', '/v1/admin/auth_providers', {
      id: 'desk',
      credentials: {
        fields: { api_key: { label: 'API key', secret: true } },
        place: { bearer: '{{api_key}}' },
        test_request: { endpoint: `${base}/me` },
        api: { base_url: base },
      },
    })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    const { body } = await scene.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'desk' },
      user_id: 'u1',
    })
    const browser = new UserAgent()
    const page = await browser.get(body.url)
    expect(page.body).not.toContain('value.api_key')
    // a form that was made by hand leads to the login, without what it has
    const early = await browser.post(body.url, { 'value.api_key': KEY })
    expect(early.status).toBe(303)
    expect(early.response.headers.get('location')).toContain(scene.oidc.issuer)
    expect(JSON.stringify([...early.response.headers])).not.toContain(KEY)
    expect(service.requests).toEqual([])

    const form = await browser.submitForm(page)
    expect(new URL(form.url).pathname).toBe(new URL(body.url).pathname)
    expect(form.body).toContain('value.api_key')
    expect(form.body).not.toContain(KEY)
    await browser.submitForm(form, { 'value.api_key': KEY })
    expect((await scene.call('GET', `/v1/auth/status?id=${body.id}`)).body.status).toBe('completed')
  })
})

describe('a login that makes tokens', () => {
  const LOGIN = { user: 'ada', password: KEY }
  const logins = ({ service }: World) => service.requests.filter(({ path }) => path === '/login').length

  test.each(onBothDatabases)(
    'is sent again when the token ends, once for many requests, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld('session', {}, await optionsOf())
      await connect(world, LOGIN)
      expect((await world.proxy('/x')).status).toBe(200)
      expect(logins(world)).toBe(1)
      world.clock.advance(3600)
      const answers = await Promise.all(Array.from({ length: 5 }, () => world.proxy('/x')))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect(logins(world)).toBe(2)
    },
  )

  test.each(onBothDatabases)('is sent again when the API refuses the token, on %s', async (_, optionsOf) => {
    await using world = await startWorld('session', {}, await optionsOf())
    await connect(world, LOGIN)
    world.clock.advance(60)
    world.service.endSessions()
    expect((await world.proxy('/x')).status).toBe(200)
    expect(logins(world)).toBe(2)
  })

  test.each(onBothDatabases)('that is refused later needs its user, on %s', async (_, optionsOf) => {
    await using world = await startWorld('session', {}, await optionsOf())
    await connect(world, LOGIN)
    world.service.key = NEW_KEY
    world.clock.advance(3600)
    expect((await world.proxy('/x')).status).toBe(403)
    expect(await onlyConnection(world)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'credential_refused',
    })
  })

  test('is imported with the fields that it is made of alone', async () => {
    await using world = await startWorld('session')
    const login = { user_id: 'u1', provider_id: 'desk', access_token: 'session-0123456789', scopes: [] }
    const add = async (refresh_token: string) => {
      const connections = [{ ...login, kept_values: { user: 'ada' }, refresh_token }]
      return (await world.call('POST', '/v1/admin/user_connections/import', { connections })).body.items[0]
    }
    for (const other of [KEY, '"x"', '{"other":"x"}', '{"password":["x"]}'])
      expect(await add(other)).toMatchObject({ result: 'refused', member: 'refresh_token' })
    expect(await add(JSON.stringify({ password: KEY }))).toMatchObject({ result: 'created' })
    world.clock.advance(3600)
    expect((await world.proxy('/x')).status).toBe(200)
  })

  test('refuses a wrong password on the page', async () => {
    await using world = await startWorld('session')
    const { url } = await world.begin()
    const page = await world.type(url, { ...LOGIN, password: 'no-0123456789' })
    expect(page.body).toContain('does not accept what you entered')
  })
})
