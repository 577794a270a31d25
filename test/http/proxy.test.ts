import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { importEntry } from '../flows/fixtures.ts'
import { asked, connection } from '../flows/refresh-fixtures.ts'
import { type ProxyWorld, type SeenRequest, startApi, startProxyWorld, textOf } from './proxy-world.ts'

/** One whose user `u1` has approved, and the token that Gatepass then holds. */
async function connected(options: Parameters<typeof startProxyWorld>[0] = {}) {
  const world = await startProxyWorld(options)
  const token: string = (await world.connect()).body.context.token
  return Object.assign(world, { token })
}

/** For those tests that leave it as it was. */
let shared: Awaited<ReturnType<typeof connected>>
beforeAll(async () => {
  shared = await connected()
})
afterAll(() => shared[Symbol.asyncDispose]())

/** What has come to the API of `shared` since. */
function sinceNow(): () => readonly SeenRequest[] {
  const before = shared.api.seen.length
  return () => shared.api.seen.slice(before)
}

const bearer = (world: ProxyWorld) => world.api.seen.map(({ headers }) => headers.authorization)

describe('a request', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s goes to the API with the token of the user, path and query as they are',
    async (method) => {
      await using world = await connected()
      const path = "/a%2Fb/~x;p=1/c%20d/?q='a'&r=%2e%2e/%C3%BC+&s=https://else.example/../y"
      const hasBody = ['POST', 'PUT', 'PATCH'].includes(method)
      const { status, json, headers } = await world.send(method, `/proxy/demo${path}`, {
        headers: { 'x-own': 'kept', 'content-type': 'text/x-own' },
        ...(hasBody && { body: 'what is sent' }),
      })
      expect([status, json]).toEqual([
        200,
        { method, url: `/base${path}`, body: hasBody ? 'what is sent' : '' },
      ])
      expect(world.api.seen[0]?.headers).toMatchObject({
        authorization: `Bearer ${world.token}`,
        host: world.api.host,
        'x-own': 'kept',
        'content-type': 'text/x-own',
      })
      expect(headers['x-gatepass-error']).toBeUndefined()
    },
  )

  test('HEAD is answered with the head', async () => {
    await using world = await connected()
    world.api.answer = (_, response) => response.writeHead(200, { 'content-length': 1234, 'x-a': 'b' }).end()
    const { status, headers, text } = await world.send('HEAD', '/proxy/demo/x')
    expect([status, headers['content-length'], headers['x-a'], text]).toEqual([200, '1234', 'b', ''])
  })

  test.each([
    ['/proxy/demo', '/base'],
    ['/proxy/demo/', '/base/'],
    ['/proxy/demo?a=b', '/base?a=b'],
    ['/proxy/demo//x//', '/base//x//'],
    ['/proxy/demo//else.example/x', '/base//else.example/x'],
    ['/proxy/demo/@else.example/', '/base/@else.example/'],
    ['/proxy/demo/:80/', '/base/:80/'],
    ['/proxy/demo/...', '/base/...'],
    ['/proxy/demo/.well-known/x', '/base/.well-known/x'],
    ['/proxy/demo/%2F%2Felse.example', '/base/%2F%2Felse.example'],
    ['/proxy/demo/x?/../y', '/base/x?/../y'],
    ['/proxy/%64emo/x', '/base/x'],
    ['/proxy/demo/x?q=a%0Ab', '/base/x?q=a%0Ab'],
    ['/proxy/demo/%C3%89t%C3%A9', '/base/%C3%89t%C3%A9'],
  ])('to %s is asked for as %s', async (path, url) => {
    const seen = sinceNow()
    expect((await shared.send('GET', path)).status).toBe(200)
    expect(seen().map((one) => one.url)).toEqual([url])
  })

  test('may have its target in absolute form', async () => {
    const seen = sinceNow()
    const target = `${shared.gatepass.url}/proxy/demo/x%2Fy?z=http://a`
    expect((await shared.send('GET', target)).status).toBe(200)
    expect(seen().map((one) => one.url)).toEqual(['/base/x%2Fy?z=http://a'])
  })

  test('is refused where the request line names a different host from the Host header', async () => {
    const seen = sinceNow()
    const { status, json } = await shared.send('GET', 'http://else.example/proxy/demo/x')
    expect([status, json.message]).toEqual([400, expect.stringContaining('names a different host')])
    expect(seen()).toEqual([])
  })

  test.each([
    '/proxy/demo/../x',
    '/proxy/demo/..',
    '/proxy/demo/a/../../x',
    '/proxy/demo/./x',
    '/proxy/demo/%2e%2e/x',
    '/proxy/demo/%2E./x',
    '/proxy/demo/a/..%2fx',
    '/proxy/demo/a%2f..%2fx',
    '/proxy/demo/%252e%252e/x',
    '/proxy/demo/%25252e%25252e%25252fx',
    '/proxy/demo/..;/x',
    '/proxy/demo/%2e%2e%3b/x',
    '/proxy/demo/..%5cx',
    '/proxy/demo/a\\..\\x',
    '/proxy/demo/\\\\else.example',
    '/proxy/demo/x#y',
    '/proxy/demo/x%00y',
    '/proxy/demo/x%0d%0aHost:%20else.example',
    '/proxy/demo/x%250Ay',
    '/proxy/demo/x%2509',
    '/proxy/demo/%7f',
    '/proxy/demo/x%C2%85y',
    '/proxy/demo/x%1B[31m',
    '/proxy/demo/\u00fc',
    '/x/../proxy/demo/y',
    '/proxy/x/../demo/y',
    '/proxy/%2e%2e/demo',
    '/proxy/demo%2f../x',
  ])('to %s goes nowhere', async (path) => {
    const seen = sinceNow()
    const { status } = await shared.send('GET', path)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(status).toBeLessThan(500)
    expect(seen()).toEqual([])
  })

  test('is sent without a header that repeats its method', async () => {
    const seen = sinceNow()
    const headers = { 'X-HTTP-Method-Override': 'post', x_method_override: 'POST' }
    expect((await shared.send('POST', '/proxy/demo/x', { headers })).status).toBe(200)
    expect(Object.keys(seen()[0]?.headers ?? {}).filter((name) => /method/.test(name))).toEqual([])
  })

  test('says nothing of the caller', async () => {
    await using world = await connected()
    await world.send('GET', '/proxy/demo/x', {
      headers: {
        cookie: 'session=SECRET',
        'proxy-authorization': 'Basic SECRET',
        'x-stainless-lang': 'js',
        'x-forwarded-for': '192.0.2.1',
        forwarded: 'for=192.0.2.1',
        'x-real-ip': '192.0.2.1',
        // read by many servers as the same names with `-`
        x_forwarded_host: '192.0.2.1',
        X_Real_IP: '192.0.2.1',
        'x-forwarded_for': '192.0.2.1',
        proxy_authorization: 'Basic SECRET',
        x_gatepass_user: 'SECRET',
        // a program behind CGI would take it for its HTTP proxy
        proxy: 'http://192.0.2.1/',
        'oxp-api-key': 'SECRET',
        dpop: 'SECRET',
        oxp_api_key: 'SECRET',
        'x-secret-hop': 'SECRET',
        connection: 'close, X-Secret-Hop',
        te: 'trailers',
        'accept-encoding': 'gzip, br',
        expect: '100-continue',
        traceparent: `00-${'5ec2e7'.padEnd(32, '1')}-${'2'.repeat(16)}-01`,
        tracestate: 'vendor=SECRET',
        baggage: 'user=SECRET',
      },
    })
    const { headers } = world.api.seen[0] ?? {}
    expect(JSON.stringify(headers)).not.toMatch(/SECRET|5ec2e7|192\.0\.2|stainless|trailers|100-continue/)
    expect(JSON.stringify(headers)).not.toContain(world.gatepass.apiKey)
    expect(headers).toMatchObject({ authorization: `Bearer ${world.token}`, 'accept-encoding': 'identity' })
  })

  test('sends all values of a repeated header, and is refused with two keys', async () => {
    await using world = await connected()
    const headers = { 'x-many': ['one', 'two'], 'user-agent': ['a', 'b'] }
    await world.send('GET', '/proxy/demo/x', { headers })
    expect(world.api.seen[0]?.headers).toMatchObject({ 'x-many': 'one, two', 'user-agent': 'a, b' })
    const twice = { authorization: [`Bearer ${world.gatepass.apiKey}`, 'Bearer another'] }
    const { status } = await world.send('GET', '/proxy/demo/x', { key: null, headers: twice })
    expect(status).toBe(401)
    expect(world.api.seen).toHaveLength(1)
  })

  test('with a header of ours that is misspelled is refused, with the one that was meant', async () => {
    const { status, json: body } = await shared.send('GET', '/proxy/demo/x', {
      headers: { 'x-gatepass-acount': 'conn_1' },
    })
    expect([status, body.name]).toEqual([400, 'invalid_request'])
    expect(body.errors).toMatchObject([{ path: 'x-gatepass-acount', code: 'unknown_member' }])
    expect(body.message).toContain('did you mean x-gatepass-account?')
  })

  test('carries the token as the entry says', async () => {
    await using world = await connected()
    const api = { auth_header_value_format: 'token {{access_token}}' }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })
    await world.send('GET', '/proxy/demo/x')
    expect(bearer(world)).toEqual([`token ${world.token}`])
  })

  test("of each user carries that user's token, and of each account that one", async () => {
    await using world = await startProxyWorld()
    const tokens: Record<string, string> = {}
    for (const user_id of ['u1', 'u2'])
      for (const sub of ['a', 'b']) {
        world.as.account = { ...world.as.account, sub: `${user_id}-${sub}` }
        const { body } = await world.connect({ user_id, ...(sub === 'b' && { account: 'new' }) })
        tokens[`${user_id}-${sub}`] = body.context.token
      }
    const calls = Array.from({ length: 60 }, (_, i) => {
      const user = i % 2 === 0 ? 'u1' : 'u2'
      const account = [undefined, `${user}-a`, `${user}-b`][i % 3]
      return { user, account, path: `/proxy/demo/${i}` }
    })
    await Promise.all(
      calls.map(({ user, account, path }) =>
        world.send('GET', path, {
          user,
          headers: account === undefined ? {} : { 'x-gatepass-account': account },
        }),
      ),
    )
    expect(new Set(Object.values(tokens)).size).toBe(4)
    for (const { user, account = `${user}-a`, path } of calls) {
      const seen = world.api.seen.find((one) => one.url === path.replace('/proxy/demo', '/base'))
      expect(seen?.headers.authorization, path).toBe(`Bearer ${tokens[account]}`)
    }
  })

  test('is for the user whose name is UTF-8, and for nobody when it is not', async () => {
    await using world = await startProxyWorld()
    const token = (await world.connect({ user_id: 'Zoë' })).body.context.token
    const inBytes = (encoding: 'utf8' | 'latin1') => Buffer.from('Zoë', encoding).toString('latin1')
    expect((await world.send('GET', '/proxy/demo/x', { user: inBytes('utf8') })).status).toBe(200)
    expect(bearer(world)).toEqual([`Bearer ${token}`])
    const unread = await world.send('GET', '/proxy/demo/x', { user: inBytes('latin1') })
    expect([unread.status, unread.json.name]).toEqual([400, 'invalid_request'])
  })

  test('is recorded before it goes out', async () => {
    await using world = await connected()
    await world.send('GET', '/proxy/demo/x')
    const { items } = (await world.call('GET', '/v1/admin/audit?action=token.released&user_id=u1')).body
    expect(items[0]).toMatchObject({ purpose: 'proxy', provider_id: 'demo', user_id: 'u1' })
  })
})

describe('another base URL', () => {
  test('is taken when the entry names its host', async () => {
    await using world = await connected()
    await using other = await startOther()
    const api = { hosts: [other.host] }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })
    const headers = { 'x-gatepass-base-url': `${other.url}/v2/` }
    expect((await world.send('GET', '/proxy/demo/x?y', { headers })).status).toBe(200)
    expect(other.seen).toMatchObject([
      { url: '/v2/x?y', headers: { authorization: `Bearer ${world.token}` } },
    ])
    expect(world.api.seen).toEqual([])
  })

  test.each([
    ['an unnamed host', (url: string) => url, 'host_not_allowed'],
    ['user and password', (url: string) => url.replace('//', '//a:b@'), 'invalid_request'],
    ['a query', (url: string) => `${url}/?a=b`, 'invalid_request'],
    ['a fragment', (url: string) => `${url}/#a`, 'invalid_request'],
    ['a host that is not public', () => 'https://10.0.0.1/', 'invalid_request'],
    ['plain http elsewhere', () => 'http://example.com/', 'invalid_request'],
    ['another scheme', () => 'file:///etc/passwd', 'invalid_request'],
    ['no URL', () => 'nonsense', 'invalid_request'],
  ])('with %s is refused', async (_, of, name) => {
    const seen = sinceNow()
    await using other = await startOther()
    const answer = await shared.send('GET', '/proxy/demo/x', {
      headers: { 'x-gatepass-base-url': of(other.url) },
    })
    expect([answer.status, answer.json.name]).toEqual([400, name])
    expect([...other.seen, ...seen()]).toEqual([])
  })

  test('is needed where the entry has none, and nothing goes where it names no host', async () => {
    await using world = await connected()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { base_url: null } } })
    expect((await world.send('GET', '/proxy/demo/x')).json.name).toBe('host_not_allowed')
    const headers = { 'x-gatepass-base-url': world.api.url }
    expect((await world.send('GET', '/proxy/demo/x', { headers })).status).toBe(200)
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: null } })
    const { json } = await world.send('GET', '/proxy/demo/x', { headers })
    expect(json.name).toBe('host_not_allowed')
    expect(json.message).toContain('/v1/admin/auth_providers/demo')
    expect(world.api.seen).toHaveLength(1)
  })

  test('is set by an administrator alone, on record, and never by tool metadata', async () => {
    await using world = await startProxyWorld({ oauth2: false as const })
    const entry = { api: { hosts: [world.api.host] }, apiHosts: [world.api.host], base_url: world.api.url }
    await importEntry(world.gatepass, world.as, entry)
    await world.connect()
    const headers = { 'x-gatepass-base-url': world.api.url }
    expect((await world.send('GET', '/proxy/demo/x', { headers })).json.name).toBe('host_not_allowed')

    const api = { base_url: world.api.url, hosts: [world.api.host] }
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })
    const { items } = (await world.call('GET', '/v1/admin/audit?action=provider.changed')).body
    expect(items).toMatchObject([{ provider_id: 'demo', actor: { kind: 'api_key' } }])
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(200)
    await importEntry(world.gatepass, world.as, { ...entry, scopes: ['read', 'more'] })
    expect((await world.call('GET', '/v1/admin/auth_providers/demo')).body.oauth2.api).toEqual(api)
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(200)
  })

  async function startOther() {
    const api = await startApi()
    return Object.assign(api, { [Symbol.asyncDispose]: () => api.close() })
  }
})

describe('what Gatepass itself refuses', () => {
  test('is told apart, and consent that is missing comes with its link', async () => {
    await using world = await startProxyWorld()
    const first = await world.send('GET', '/proxy/demo/x', { headers: { 'x-gatepass-scopes': 'read write' } })
    expect([first.status, first.headers['x-gatepass-error']]).toEqual([403, 'authorization_required'])
    expect(first.json).toEqual({
      name: 'authorization_required',
      message: expect.stringContaining(first.json.requires_authorization.url),
      requires_authorization: {
        id: expect.stringMatching(/^auth_/),
        url: `${world.gatepass.url}/connect/${first.json.requires_authorization.id}`,
        scopes: ['read', 'write'],
        status: 'pending',
      },
    })
    // as of tools: the same need is the same authorization
    const again = await world.send('POST', '/proxy/demo/y', {
      headers: { 'x-gatepass-scopes': 'write read' },
      body: 'z',
    })
    expect(again.json.requires_authorization.id).toBe(first.json.requires_authorization.id)
    expect(world.api.seen).toEqual([])
    await world.connect({ scopes: ['read', 'write'] })
    expect(
      (await world.send('GET', '/proxy/demo/x', { headers: { 'x-gatepass-scopes': 'write' } })).status,
    ).toBe(200)
    const more = await world.send('GET', '/proxy/demo/x', { headers: { 'x-gatepass-scopes': 'admin' } })
    expect(more.json.requires_authorization.scopes).toEqual(
      expect.arrayContaining(['read', 'write', 'admin']),
    )
  })

  test.each<[string, number, string, Parameters<ProxyWorld['send']>]>([
    ['no key', 401, 'invalid_authorization', ['GET', '/proxy/demo/x', { key: null }]],
    ['no user', 400, 'invalid_request', ['GET', '/proxy/demo/x', { user: null }]],
    ['an empty user', 400, 'invalid_request', ['GET', '/proxy/demo/x', { user: '' }]],
    ['an unknown provider', 400, 'provider_not_found', ['GET', '/proxy/nobody/x']],
    ['a provider that is no text', 400, 'invalid_request', ['GET', '/proxy/%ff/x']],
    [
      'an unknown account',
      403,
      'authorization_required',
      ['GET', '/proxy/demo/x', { headers: { 'x-gatepass-account': 'b' } }],
    ],
    ['TRACE', 405, 'method_not_allowed', ['TRACE', '/proxy/demo/x']],
    [
      'a WebSocket',
      501,
      'not_implemented',
      ['GET', '/proxy/demo/x', { headers: { connection: 'upgrade', upgrade: 'websocket' } }],
    ],
    ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'x_http_method_override'].map(
      (header): [string, number, string, Parameters<ProxyWorld['send']>] => [
        `another method in ${header}`,
        400,
        'invalid_request',
        ['POST', '/proxy/demo/x', { headers: { [header]: 'DELETE' } }],
      ],
    ),
    [
      'two methods in one header',
      400,
      'invalid_request',
      ['POST', '/proxy/demo/x', { headers: { 'X-HTTP-Method-Override': ['POST', 'DELETE'] } }],
    ],
    [
      'a body that is announced too large',
      413,
      'request_too_large',
      ['POST', '/proxy/demo/x', { headers: { 'content-length': String(2 ** 30) }, body: endless(10) }],
    ],
  ])('%s', async (_, status, name, [method, path, options]) => {
    const seen = sinceNow()
    const answer = await shared.send(method, path, options)
    expect([answer.status, answer.json.name, answer.headers['x-gatepass-error']]).toEqual([
      status,
      name,
      name,
    ])
    expect(seen()).toEqual([])
  })

  test('CONNECT, without an answer', async () => {
    await using world = await connected()
    await expect(world.open('CONNECT', 'else.example:443')).rejects.toThrow()
  })

  test('a key that may only read', async () => {
    await using world = await connected()
    const key = await world.gatepass.makeKey('readonly')
    expect((await world.send('GET', '/proxy/demo/x', { key })).json.name).toBe('insufficient_role')
    const stranger = await world.gatepass.makeKey('caller', 'stranger')
    expect((await world.send('GET', '/proxy/demo/x', { key: stranger })).json.name).toBe('provider_not_found')
    const caller = await world.gatepass.makeKey('caller')
    expect((await world.send('GET', '/proxy/demo/x', { key: caller })).status).toBe(200)
  })

  test('what a policy refuses', async () => {
    await using world = await connected()
    const policy = { id: 'not-there', effect: 'deny', match: { uses: ['proxy'], hosts: ['127.0.0.1'] } }
    expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.json.name, answer.headers['x-gatepass-error']]).toEqual([
      403,
      'denied_by_policy',
      'denied_by_policy',
    ])
    expect(answer.json.message).toContain('not-there')
    expect(world.api.seen).toEqual([])
  })

  test('more at once than a key may have under way', async () => {
    await using world = await connected()
    world.api.answer = (_, response) => void response.writeHead(200).write('x')
    const open = await Promise.all(Array.from({ length: 128 }, () => world.open('GET', '/proxy/demo/x')))
    const { status, headers } = await world.send('GET', '/proxy/demo/x')
    expect([status, headers['x-gatepass-error'], headers['retry-after']]).toEqual([429, 'rate_limited', '1'])
    for (const response of open) response.destroy()
    await expect.poll(async () => (await figures(world)).running).toBe(0)
    world.api.answer = (_, response) => response.end('y')
    expect((await world.send('GET', '/proxy/demo/x')).status).toBe(200)
  })

  test('an API that cannot be reached', async () => {
    await using world = await connected()
    await using gone = Object.assign(await startApi(), { [Symbol.asyncDispose]: async () => {} })
    await gone.close()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { base_url: gone.url } } })
    const { status, json, headers } = await world.send('GET', '/proxy/demo/x')
    expect([status, json.name, headers['x-gatepass-error']]).toEqual([
      503,
      'provider_unavailable',
      'provider_unavailable',
    ])
    expect(json.message).toContain('Nothing was sent')
    world.api.answer = (request) => request.socket.destroy()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { api: { base_url: world.api.url } },
    })
    const broken = await world.send('POST', '/proxy/demo/x', { body: 'y' })
    expect([broken.status, broken.json.message]).toEqual([
      503,
      expect.stringContaining('may have been carried out'),
    ])
  })
})

async function figures(world: ProxyWorld): Promise<{ running: number; text: string }> {
  const text: string = (await world.call('GET', '/metrics')).body
  return { running: Number(/^gatepass_proxy_requests_running(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1]), text }
}

async function* endless(chunks = Number.POSITIVE_INFINITY, size = 65_536) {
  for (let sent = 0; sent < chunks; sent++) yield Buffer.alloc(size, String(sent % 10))
}

describe('an answer', () => {
  test.each([400, 401, 404, 418, 429, 500, 503])('%d is passed back as it is', async (status) => {
    await using world = await connected()
    world.api.answer = (_, response) =>
      response
        .writeHead(status, { 'x-own': 'kept', 'retry-after': '7', 'content-type': 'text/x' })
        .end('words')
    const answer = await world.send('GET', '/proxy/demo/x')
    expect(answer).toMatchObject({ status, text: 'words' })
    expect(answer.headers).toMatchObject({ 'x-own': 'kept', 'retry-after': '7', 'content-type': 'text/x' })
    expect(answer.headers['x-gatepass-error']).toBeUndefined()
  })

  test.each([204, 304])('%d has no body', async (status) => {
    await using world = await connected()
    world.api.answer = (_, response) => response.writeHead(status, { etag: '"a"' }).end()
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.headers.etag, answer.text]).toEqual([status, '"a"', ''])
  })

  test('says nothing that a browser would take for the word of this server', async () => {
    await using world = await connected()
    world.api.answer = (_, response) => {
      const hostile: Record<string, string | string[]> = {
        'content-type': 'text/html',
        'set-cookie': ['session=stolen', 'b=c'],
        'strict-transport-security': 'max-age=0',
        'clear-site-data': '"*"',
        refresh: '0; url=https://else.example/',
        'alt-svc': 'h3="else.example:443"',
        'access-control-allow-origin': '*',
        'content-security-policy': "default-src * 'unsafe-inline'",
        'service-worker-allowed': '/',
        'www-authenticate': 'Basic realm="your Gatepass password"',
        'x-gatepass-error': 'internal_error',
        'x-gatepass-token': 'replaced',
        'x-hono-already-sent': 'true',
        'x-request-id': 'theirs',
        'cache-control': 'public, max-age=9999',
        'x-secret-hop': 'SECRET',
        connection: 'close, x-secret-hop',
        'keep-alive': 'timeout=999',
        link: '<https://else.example/>; rel=next',
      }
      response.writeHead(200, hostile).end('<script>alert(1)</script>')
    }
    const { status, text, headers } = await world.send('GET', '/proxy/demo/x', {
      headers: { 'x-request-id': 'ours' },
    })
    expect([status, text]).toEqual([200, '<script>alert(1)</script>'])
    expect(headers).toMatchObject({
      'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-request-id': 'ours',
      'x-gatepass-upstream-request-id': 'theirs',
      'x-gatepass-upstream-www-authenticate': 'Basic realm="your Gatepass password"',
      link: '<https://else.example/>; rel=next',
    })
    for (const name of [
      'set-cookie',
      'strict-transport-security',
      'clear-site-data',
      'refresh',
      'alt-svc',
      'access-control-allow-origin',
      'service-worker-allowed',
      'www-authenticate',
      'x-gatepass-error',
      'x-gatepass-token',
      'x-hono-already-sent',
      'x-secret-hop',
    ])
      expect(headers[name], name).toBeUndefined()
  })

  test.each([301, 302, 303, 307, 308])('%d is passed back and not followed', async (status) => {
    await using world = await connected()
    const cases = [
      [`${world.api.url}/elsewhere`, 'location'],
      ['https://else.example/x', 'x-gatepass-location'],
      ['//else.example/x', 'x-gatepass-location'],
      ['javascript:alert(1)', 'x-gatepass-location'],
    ] as const
    for (const [location, name] of cases) {
      world.api.answer = (_, response) => response.writeHead(status, { location }).end('moved')
      const { headers, ...answer } = await world.send('GET', '/proxy/demo/x')
      expect([answer.status, answer.text, headers[name]]).toEqual([status, 'moved', location])
      expect('location' in headers).toBe(name === 'location')
    }
    expect(world.api.seen).toHaveLength(cases.length)
  })

  test.each([
    ['/v1/admin/secrets/KEY', '/v1/admin/secrets/KEY'],
    ['next?page=2', '/base/x/next?page=2'],
    ['../../proxy/other/repos', '/proxy/other/repos'],
    ['', '/base/x/y'],
    ['http:/v1/admin', '/v1/admin'],
    ['http:\\v1', '/v1'],
    ['\t/v1/admin', '/v1/admin'],
  ])(
    'a redirect to %j leads to the API, and never into this server with the caller’s key',
    async (location, path) => {
      await using world = await connected()
      world.api.answer = (_, response) => response.writeHead(307, { location }).end()
      const { headers } = await world.send('DELETE', '/proxy/demo/x/y')
      expect(headers.location).toBe(`${world.api.url}${path}`)
      // as the caller's client takes it
      expect(new URL(headers.location ?? '', world.gatepass.url).origin).toBe(world.api.url)
    },
  )

  test('comes event by event: the first is there before the second is made', async () => {
    await using world = await connected()
    const { promise, resolve } = Promise.withResolvers<ServerResponse>()
    world.api.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
      resolve(response)
    }
    const answer = await world.open('GET', '/proxy/demo/events')
    expect(answer.headers['content-type']).toBe('text/event-stream')
    const upstream = await promise
    const events = answer[Symbol.asyncIterator]()
    for (const n of [1, 2, 3]) {
      expect(String((await events.next()).value)).toBe(`data: ${n}\n\n`)
      upstream.write(`data: ${n + 1}\n\n`)
    }
    upstream.end()
    expect(String((await events.next()).value)).toBe('data: 4\n\n')
    expect((await events.next()).done).toBe(true)
  })

  test('that a caller gives up ends the request at the API', async () => {
    await using world = await connected()
    const { promise, resolve } = Promise.withResolvers<ServerResponse>()
    world.api.answer = (_, response) => {
      response.writeHead(200).write('x')
      resolve(response)
    }
    const answer = await world.open('GET', '/proxy/demo/x')
    const ended = promise.then((response) => once(response, 'close'))
    answer.destroy()
    await ended
    await expect.poll(async () => (await figures(world)).running).toBe(0)
  })

  test('that is not there yet is given up likewise', async () => {
    await using world = await connected()
    const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
    world.api.answer = (request) => resolve(request)
    const gone = new AbortController()
    const answer = world.open('GET', '/proxy/demo/x', { signal: gone.signal })
    const ended = promise.then((request) => once(request.socket, 'close'))
    await promise
    gone.abort()
    await expect(answer).rejects.toThrow()
    await ended
    await expect.poll(async () => (await figures(world)).running).toBe(0)
  })

  test('is counted under its route, with no path in it', async () => {
    await using world = await connected()
    await world.send('GET', '/proxy/demo/private-name')
    const { text } = await figures(world)
    expect(text).toContain('route="/proxy/{provider}/{path}"')
    expect(text).not.toContain('private-name')
  })
})

describe('a body', () => {
  test('of any size is sent as it comes', async () => {
    await using world = await connected()
    const [made, expected] = [createHash('sha256'), 1500 * 65_536]
    let [sent, arrived, underWay] = [0, 0, 0]
    world.api.answer = (request, response) => {
      const hash = createHash('sha256')
      request
        .on('data', (chunk: Buffer) => {
          hash.update(chunk)
          arrived += chunk.length
          underWay = Math.max(underWay, sent - arrived)
        })
        .on('end', () => response.end(hash.digest('hex')))
    }
    async function* counted() {
      for await (const chunk of endless(1500)) {
        made.update(chunk)
        sent += chunk.length
        yield chunk
      }
    }
    const { status, text } = await world.send('PUT', '/proxy/demo/file', { body: counted() })
    expect([status, text, arrived]).toEqual([200, made.digest('hex'), expected])
    expect(underWay).toBeLessThan(expected / 3) // the sockets' buffers
  })

  test('is not taken faster than the API reads it', async () => {
    await using world = await connected()
    let reading: IncomingMessage | undefined
    world.api.answer = (request, response) => {
      reading = request.pause()
      request.on('end', () => response.end('whole'))
    }
    let made = 0
    async function* counted() {
      for await (const chunk of endless(1000)) {
        made++
        yield chunk
      }
    }
    const sent = world.send('PUT', '/proxy/demo/file', { body: counted() })
    for (let last = -1; last !== made || made === 0 || reading === undefined; ) {
      last = made
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    expect(made).toBeLessThan(700)
    reading?.resume()
    expect((await sent).text).toBe('whole')
  })

  test('that goes on over the limit is cut off', async () => {
    await using world = await connected()
    const ended = Promise.withResolvers<unknown>()
    world.api.answer = (request) => void request.on('error', ended.resolve).resume()
    const answer = await world.send('POST', '/proxy/demo/file', { body: endless() }).catch(() => undefined)
    // the answer may be lost where the connection breaks while it is still written to
    if (answer !== undefined) expect([answer.status, answer.json.name]).toEqual([413, 'request_too_large'])
    expect(await ended.promise).toMatchObject({ code: 'ECONNRESET' })
  })

  test('that the API does not wait for is answered all the same', async () => {
    await using world = await connected()
    world.api.answer = (_, response) => response.writeHead(413).end('no')
    const answer = await world.send('POST', '/proxy/demo/file', { body: endless(100) })
    expect([answer.status, answer.text]).toEqual([413, 'no'])
  })
})

describe('a token that the API refuses', () => {
  /** Takes only what is live at the provider. */
  function strict(world: ProxyWorld): RequestListener {
    return (request, response) => {
      void textOf(request).then((body) => {
        const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
        if (world.as.isLive(token)) response.end(`took ${body}`)
        else response.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end('who?')
      })
    }
  }

  test.each(['GET', 'POST'])('is replaced, and %s goes out once more: nobody notices', async (method) => {
    await using world = await connected({ as: { refresh: 'rotate-strict' } })
    world.api.answer = strict(world)
    world.clock.advance(60)
    world.as.expireAccessTokens()
    const body = method === 'POST' ? 'x'.repeat(100_000) : ''
    const answer = await world.send(method, '/proxy/demo/x', { ...(body !== '' && { body }) })
    expect([answer.status, answer.text === `took ${body}`]).toEqual([200, true])
    expect(world.api.seen).toHaveLength(2)
    expect(asked(world)).toBe(1)
    const { items } = (await world.call('GET', '/v1/admin/audit?action=token.released&user_id=u1')).body
    const proxied = items.filter((one: { purpose: string }) => one.purpose === 'proxy')
    expect(new Set(proxied.map((one: { fingerprint: string }) => one.fingerprint)).size).toBe(2)
  })

  test('by many at once is one refresh', async () => {
    await using world = await connected({ as: { refresh: 'rotate-strict', refreshDelayMs: 30 } })
    world.api.answer = strict(world)
    world.clock.advance(60)
    world.as.expireAccessTokens()
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send('GET', '/proxy/demo/x')))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(asked(world)).toBe(1)
  })

  test('with a body that is gone is replaced, and the answer says that the request may be repeated', async () => {
    await using world = await connected({ as: { refresh: 'rotate-strict' } })
    world.api.answer = strict(world)
    world.clock.advance(60)
    world.as.expireAccessTokens()
    const first = await world.send('POST', '/proxy/demo/x', { body: endless(10) })
    expect([first.status, first.text, first.headers['x-gatepass-token']]).toEqual([401, 'who?', 'replaced'])
    expect(asked(world)).toBe(1)
    const second = await world.send('POST', '/proxy/demo/x', { body: endless(10) })
    expect([second.status, second.headers['x-gatepass-token']]).toEqual([200, undefined])
  })

  test('and then too is passed back, without a storm', async () => {
    await using world = await connected()
    world.api.answer = (_, response) => response.writeHead(401).end('never')
    world.clock.advance(60)
    for (let i = 0; i < 5; i++) {
      const answer = await world.send('GET', '/proxy/demo/x')
      expect([answer.status, answer.text]).toEqual([401, 'never'])
      world.clock.advance(1)
    }
    expect(asked(world)).toBe(1)
    expect(world.api.seen).toHaveLength(6)
  })

  test('and whose refresh is refused asks the user', async () => {
    await using world = await connected()
    world.api.answer = strict(world)
    world.clock.advance(60)
    world.as.revokeGrants()
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.headers['x-gatepass-error']]).toEqual([403, 'authorization_required'])
    expect(answer.json.requires_authorization.url).toContain('/connect/')
    expect(await connection(world)).toMatchObject({ status_reason: 'refresh_refused' })
  })

  test('and that a policy does not release again is refused as the policy says', async () => {
    await using world = await connected()
    const policy = { id: 'no-more', effect: 'deny', match: { uses: ['proxy'] } }
    world.api.answer = (_, response) => {
      void world.call('POST', '/v1/admin/policies', policy).then(() => response.writeHead(401).end('who?'))
    }
    world.clock.advance(60)
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.headers['x-gatepass-error']]).toEqual([403, 'denied_by_policy'])
    expect(answer.json.message).toContain('no-more')
    expect(world.api.seen).toHaveLength(1)
  })

  test('is refreshed at the endpoint that its entry has since a hook was asked', async () => {
    await using world = await connected({ as: { refresh: 'rotate' } })
    world.api.answer = (_, response) => response.writeHead(401).end('who?')
    world.clock.advance(60)
    const moved = {
      keep_connections: true,
      oauth2: { refresh_request: { endpoint: `${world.as.url}/elsewhere` } },
    }
    const hook = await startApi()
    hook.answer = async (_, response) => {
      const { status } = await world.call('PATCH', '/v1/admin/auth_providers/demo', moved)
      response.end(JSON.stringify({ code: status === 200 ? 'OK' : 'DENIED' }))
    }
    const policy = { id: 'ask', effect: 'hook', match: { uses: ['proxy'] }, hook: { url: hook.url } }
    expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    await world.send('GET', '/proxy/demo/x')
    expect(world.as.tokenRequests('refresh_token')).toEqual([])
    expect(world.as.requestsTo('/elsewhere')).toHaveLength(1)
    await hook.close()
  })

  test('while the provider is down is passed back', async () => {
    await using world = await connected()
    world.api.answer = strict(world)
    world.clock.advance(60)
    world.as.expireAccessTokens()
    world.as.behaviour.refresh = 'html-500'
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.text]).toEqual([401, 'who?'])
    expect(answer.headers['x-gatepass-upstream-www-authenticate']).toContain('invalid_token')
  })

  test('because it has run out and cannot be refreshed now is 503', async () => {
    await using world = await connected({ as: { refresh: 'html-500' } })
    world.clock.advance(4000)
    const answer = await world.send('GET', '/proxy/demo/x')
    expect([answer.status, answer.headers['x-gatepass-error']]).toEqual([503, 'provider_unavailable'])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('a hostile API', () => {
  const never = (text: string, token: string) => {
    for (const form of [
      token,
      encodeURIComponent(token),
      Buffer.from(`u:${token}`).toString('base64').slice(4, -4),
    ])
      expect(text).not.toContain(form)
  }

  test('that echoes the token split over chunks, in every form, tells nothing', async () => {
    await using world = await connected()
    const { token } = world
    world.api.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const text = `{"a":"${token}","b":"${Buffer.from(`u:${token}`).toString('base64')}","c":"${[...token].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}"}`
      const pieces = text.match(/.{1,5}/gs) ?? []
      const more = () => {
        const piece = pieces.shift()
        if (piece === undefined) response.end()
        else response.write(piece, () => setImmediate(more))
      }
      more()
    }
    const { text, json } = await world.send('GET', '/proxy/demo/x')
    never(text, token)
    expect(json.a).toBe('*'.repeat(token.length))
    expect(json.c).toBe('*'.repeat(3 * token.length))
  })

  test.each([
    ['text/plain', ''],
    ['application/octet-stream', ''],
    ['', ''],
    ['text/plain', 'gzip'],
  ])('that echoes it as %j in coding %j tells nothing', async (type, coding) => {
    await using world = await connected()
    world.api.answer = (request, response) => {
      const text = Buffer.from(`before ${request.headers.authorization} behind`)
      const body = coding === 'gzip' ? gzipSync(text) : text
      const headers = { ...(type && { 'content-type': type }), ...(coding && { 'content-encoding': coding }) }
      response.writeHead(200, { ...headers, 'content-length': body.length }).end(body)
    }
    const { text, headers } = await world.send('GET', '/proxy/demo/x')
    never(text, world.token)
    expect(text).toBe(`before Bearer ${'*'.repeat(world.token.length)} behind`)
    expect(headers['content-encoding']).toBeUndefined()
  })

  test('that echoes it in headers tells nothing', async () => {
    await using world = await connected()
    world.api.answer = (request, response) => {
      const { authorization = '' } = request.headers
      response.writeHead(302, {
        'x-echo': authorization,
        'x-basic': Buffer.from(`u:${world.token}`).toString('base64'),
        [`x-${world.token}`]: 'name',
        location: `/x?token=${encodeURIComponent(world.token)}`,
        'www-authenticate': `Bearer error="${authorization}"`,
      })
      response.end()
    }
    never(JSON.stringify((await world.send('GET', '/proxy/demo/x')).headers), world.token)
  })

  test('that never stops is read no faster than the caller reads', async () => {
    await using world = await connected()
    let written = 0
    world.api.answer = (_, response) => {
      const chunk = Buffer.alloc(65_536, 'x')
      const more = () => {
        while (!response.destroyed) {
          written += chunk.length
          if (!response.write(chunk)) return void response.once('drain', more)
        }
      }
      more()
    }
    const answer = await world.open('GET', '/proxy/demo/x')
    for (let last = -1; last !== written; ) {
      last = written
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    expect(written).toBeLessThan(64 * 2 ** 20)
    answer.destroy()
  })

  test.each<[string, RequestListener]>([
    ['breaks off', (_, response) => void response.write('half', () => response.destroy())],
    [
      'says more than it sends',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1000 })
        response.write('half', () => response.socket?.end())
      },
    ],
    [
      'has broken framing',
      ({ socket }) =>
        void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nSECRET\r\n'),
    ],
  ])('whose answer %s breaks the answer: it never looks whole', async (_, listener) => {
    await using world = await connected()
    world.api.answer = listener
    const answer = await world.open('GET', '/proxy/demo/x')
    let text = ''
    const reading = (async () => {
      for await (const chunk of answer) text += chunk
    })()
    await expect(reading).rejects.toThrow('aborted')
    expect(text).toBe('half')
    await expect.poll(async () => (await figures(world)).running).toBe(0)
  })

  test.each<[string, RequestListener]>([
    ['speaks no HTTP', ({ socket }) => void socket.end('SECRET\r\n\r\n')],
    [
      'has a status that is none',
      ({ socket }) => void socket.end('HTTP/1.1 999 SECRET\r\ncontent-length: 0\r\n\r\n'),
    ],
    [
      'has endless headers',
      (_, response) => void response.writeHead(200, { 'x-a': 'SECRET'.repeat(20_000) }).end(),
    ],
  ])('that %s is 503, and its words stay out of it', async (_, listener) => {
    await using world = await connected()
    world.api.answer = listener
    const { status, text, headers } = await world.send('GET', '/proxy/demo/x')
    expect([status, headers['x-gatepass-error']]).toEqual([503, 'provider_unavailable'])
    expect(text).not.toContain('SECRET')
  })

  test.each([{}, { 'content-encoding': 'gzip' }])(
    'that has a status that is none is not read on: %j',
    async (coding) => {
      await using world = await connected()
      const isClosed = new Promise((resolve) => {
        world.api.answer = ({ socket }) => {
          socket.on('close', resolve)
          const fields = Object.entries(coding).map(([name, value]) => `${name}: ${value}\r\n`)
          socket.write(`HTTP/1.1 999 SECRET\r\n${fields.join('')}transfer-encoding: chunked\r\n\r\n`)
        }
      })
      expect((await world.send('GET', '/proxy/demo/x')).status).toBe(503)
      await isClosed
    },
  )

  test('leaves no token in the log', async () => {
    await using world = await connected()
    world.api.answer = (request, response) =>
      void response.destroy(new Error(String(request.headers.authorization)))
    await world.send('GET', '/proxy/demo/IN-THE-PATH?secret=IN-THE-QUERY')
    const lines = world.gatepass.logLines.join('\n')
    never(lines, world.token)
    expect(lines).toContain('provider_unavailable')
    expect(lines).not.toMatch(/IN-THE-(?:QUERY|PATH)/)
  })
})
