import { randomBytes } from 'node:crypto'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseJson } from '../../src/http/endpoint/parse-json.ts'
import { answerUnreadable, serverOptions } from '../../src/http/server/server-options.ts'
import { type Answer, type Gatepass, startGatepass } from '../gatepass.ts'
import { approve, startWorld, type World } from '../http/world.ts'
import { shortest } from '../shortest.ts'
import { until } from '../until.ts'

let gatepass: Gatepass

beforeAll(async () => {
  gatepass = await startGatepass()
})
afterAll(() => gatepass.close())

function post(path: string, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(new URL(path, gatepass.url), {
    method: 'POST',
    headers: { authorization: gatepass.apiKey, 'content-type': 'application/json', ...headers },
    body,
  })
}

/** Sends these bytes, and returns what the server sends until it hangs up. */
async function raw(text: string, port = Number(new URL(gatepass.url).port)): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answered = ''
  socket.on('data', (data) => {
    answered += data
  })
  socket.on('error', () => {})
  socket.write(text)
  await new Promise((resolve) => socket.once('close', resolve))
  socket.destroy()
  return answered
}

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('threat 41: what a request may hold', () => {
  test.each([
    ['64 levels', nested(64), true],
    ['65 levels', nested(65), false],
    ['65 levels of both', '{"a":['.repeat(33) + ']}'.repeat(33), false],
    ['brackets side by side', `[${Array(200).fill('[]').join(',')}]`, true],
    ['brackets in a string', JSON.stringify('['.repeat(500)), true],
    ['brackets after an escaped quote', JSON.stringify(`"\\"${'['.repeat(500)}`), true],
    ['brackets after an escaped backslash', `["\\\\",${nested(64)}]`, false],
    ['other characters of the same low byte', JSON.stringify('śŝŻŽ'.repeat(50)), true],
  ])('JSON of %s', (_, text, taken) => {
    if (taken) expect(parseJson(text)).toEqual(JSON.parse(text))
    else expect(() => parseJson(text)).toThrow('deeper than 64')
  })

  test('the depth of 8 MB of JSON is checked in about the time that parsing them takes', async () => {
    const text = JSON.stringify(Array.from({ length: 40_000 }, () => ['"\\', { text: 'x'.repeat(180) }]))
    const most = Math.max((await shortest(() => JSON.parse(text), 100)) * 10, 1_000)
    const check = () => expect(() => parseJson(`[${text},${nested(64)}]`)).toThrow('deeper')
    expect(await shortest(check, most)).toBeLessThan(most)
  })

  test('a body that nests too deep is refused by its route', async () => {
    const response = await post('/v1/tools/execute', `{"tool_name":"x","input":{"a":${nested(100)}}}`)
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { name: 'invalid_request', message: expect.stringContaining('64 levels') },
    ])
  })

  test.each([
    ['headers', `GET /health HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(17_000)}\r\n\r\n`],
    ['a request line', `GET /health?${'x'.repeat(17_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('%s over 16 KiB are answered 431, with a message', async (_, text) => {
    const answered = await raw(text)
    expect(answered).toMatch(/^HTTP\/1\.1 431 /)
    expect(answered).toContain('x-content-type-options: nosniff')
    const [, body = ''] = answered.split('\r\n\r\n')
    expect(JSON.parse(body)).toEqual({
      name: 'request_too_large',
      message: expect.stringContaining('16 KiB'),
    })
  })

  test('bytes that are no HTTP are answered 400, and the connection is closed', async () => {
    expect(await raw('HELO mail.example.test\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 [\s\S]*connection: close[\s\S]*"invalid_request"/,
    )
  })

  test('two Host headers are refused (RFC 9112 section 3.2)', async () => {
    const request = (hosts: readonly string[]) =>
      raw(
        `GET /health HTTP/1.1\r\n${hosts.map((host) => `Host: ${host}\r\n`).join('')}Connection: close\r\n\r\n`,
      )
    expect(await request(['127.0.0.1'])).toMatch(/^HTTP\/1\.1 200 /)
    expect(await request(['127.0.0.1', 'other.example'])).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('slow senders are cut off after at most a minute', () => {
    const {
      headersTimeout = 0,
      requestTimeout = 0,
      connectionsCheckingInterval = 0,
    } = serverOptions(new URL('http://localhost'))
    expect(headersTimeout).toBeLessThanOrEqual(30_000)
    expect(requestTimeout).toBeLessThanOrEqual(60_000)
    expect(requestTimeout).toBeGreaterThan(headersTimeout)
    expect(connectionsCheckingInterval).toBeLessThanOrEqual(5_000)
  })

  test('an incomplete request is answered 408', async () => {
    const server = createServer(
      {
        ...serverOptions(new URL('http://localhost')),
        headersTimeout: 50,
        requestTimeout: 100,
        connectionsCheckingInterval: 20,
      },
      (incoming) => incoming.resume(),
    ).on('clientError', answerUnreadable)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const slow = 'POST /v1/tools/import HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n1'
    const answered = await raw(slow, port)
    expect(answered).toMatch(
      /^HTTP\/1\.1 408 [\s\S]*connection: close[\s\S]*not received in time: its headers within 20 seconds, all of it within 60\./,
    )
    server.close()
  })

  test.each([
    ['in chunks', { 'transfer-encoding': 'chunked' }],
    ['of 8 MB', { 'content-length': String(8 * 1024 * 1024) }],
  ])('a request with a body %s and a wrong key is refused before the body arrives', async (_, headers) => {
    const answer = await new Promise<number>((resolve, reject) => {
      const outgoing = request(
        new URL('/v1/tools/import', gatepass.url),
        {
          method: 'POST',
          headers: { authorization: 'Bearer gp_wrong', 'content-type': 'application/json', ...headers },
        },
        (response) => {
          resolve(response.statusCode ?? 0)
          outgoing.destroy()
        },
      )
      outgoing.on('error', reject)
      outgoing.write('[1') // and never the rest
    })
    expect(answer).toBe(401)
  })

  test.each([
    ['GET', '/v1/auth/status?id=', 'id'],
    ['GET', '/v1/auth/{}/events', 'id'],
    ['GET', '/v1/connections/{}', 'id'],
    ['GET', '/v1/connections?user_id=', 'user_id'],
    ['GET', '/v1/tools/{}', 'name'],
    ['GET', '/v1/workers/{}', 'id'],
    ['GET', '/v1/admin/auth_providers/{}', 'id'],
    ['GET', '/v1/admin/user_connections?user_id=', 'user_id'],
    ['DELETE', '/v1/admin/secrets/{}', 'key'],
  ])('%s %s refuses control characters and values that are too long', async (method, path, name) => {
    for (const bad of ['a\u0000b', 'a\nb', 'a\u007fb', '\u001b[31m', 'x'.repeat(501)]) {
      const value = encodeURIComponent(bad)
      const { status, body } = await gatepass.call(
        method,
        path.includes('{}') ? path.replace('{}', value) : `${path}${value}`,
      )
      expect([status, body.name, body.message], JSON.stringify(bad)).toEqual([
        400,
        'invalid_request',
        expect.stringContaining(name),
      ])
      expect(body.message).not.toContain(bad)
    }
  })

  test.each([
    ['/v1/auth/authorize', { auth_requirement: { id: 'x' } }],
    ['/v1/auth/confirm_user', { flow_id: 'x' }],
    ['/v1/tools/authorize', { tool_name: 'x' }],
    ['/v1/tools/execute', { tool_name: 'x' }],
  ])('POST %s refuses a user id with control characters or lone surrogates', async (path, rest) => {
    for (const bad of ['a\u0000b', 'a\r\nb', 'half \ud800', 'x'.repeat(501)])
      expect(await gatepass.call('POST', path, { ...rest, user_id: bad })).toMatchObject({
        status: 400,
        body: { name: 'invalid_request', message: expect.stringContaining('user_id') },
      })
  })

  test('an Idempotency-Key has 1 to 255 characters', async () => {
    const send = (length: number) =>
      gatepass.call(
        'POST',
        '/v1/tools/execute',
        { tool_name: 'Nothing' },
        {
          headers: { 'idempotency-key': randomBytes(length).toString('hex').slice(0, length) },
        },
      )
    expect((await send(255)).status).toBe(404)
    for (const length of [0, 256])
      expect(await send(length)).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
  })

  test.each([
    ['PUT', '/v1/tools', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['DELETE', '/v1/auth/authorize', 'POST'],
    ['PUT', '/v1/workers/any', 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS', '/v1/connections/any/token', 'POST'],
    ['DELETE', '/connect/auth_any', 'GET, HEAD, POST'],
  ])('%s %s is answered 405, with the methods of the path', async (method, path, allow) => {
    const { status, headers, body } = await gatepass.call(method, path)
    expect([status, headers.get('allow'), body.name]).toEqual([405, allow, 'method_not_allowed'])
  })

  test('a request may bring its id, and each other request gets one', async () => {
    const named = await gatepass.call('GET', '/v1/tools', undefined, {
      headers: { 'x-request-id': 'job-7.a' },
    })
    expect(named.headers.get('x-request-id')).toBe('job-7.a')
    const ids = new Set<string | null>()
    for (const id of ['', 'x'.repeat(65), 'a b', '<script>'])
      ids.add(
        (await gatepass.call('GET', '/nothing', undefined, { headers: { 'x-request-id': id } })).headers.get(
          'x-request-id',
        ),
      )
    expect(ids.size).toBe(4)
    for (const id of ids) expect(id).toMatch(/^[\w-]{10,40}$/)
  })
})

describe('threat 39: pending authorizations', () => {
  const begin = ({ call }: Pick<World, 'call'>, userId: string, scope: string): Promise<Answer> =>
    call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes: [scope] } },
      user_id: userId,
    })

  test('of one user at one provider are at most 50; the same need is one', async () => {
    await using world = await startWorld()
    for (let i = 0; i < 50; i++) expect((await begin(world, 'ada', `scope-${i}`)).status).toBe(200)
    const refused = await begin(world, 'ada', 'one-more')
    expect(refused).toMatchObject({ status: 429, body: { name: 'too_many_pending' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await begin(world, 'ada', 'scope-7')).status).toBe(200)
    expect((await begin(world, 'grace', 'one-more')).status).toBe(200)
  })

  test('of one project are at most GATEPASS_MAX_PENDING, and one that ends makes room', async () => {
    await using world = await startWorld({ gatepass: { environment: { GATEPASS_MAX_PENDING: '3' } } })
    const begun = []
    for (const user of ['a', 'b', 'c']) begun.push((await begin(world, user, 'read')).body)
    expect(await begin(world, 'd', 'read')).toMatchObject({
      status: 429,
      body: { name: 'too_many_pending' },
    })
    expect((await begin(world, 'a', 'read')).body.id).toBe(begun[0].id)
    await approve(begun[1].url)
    expect((await begin(world, 'd', 'read')).status).toBe(200)
  })
})

describe('promise P8: what a caller lets Gatepass keep for later', () => {
  const tool_name = 'Demo.Echo'
  const run_at = '2099-01-01T00:00:00'
  let world: World
  beforeAll(async () => {
    world = await startWorld({
      worker: { requirement: { id: 'demo', scopes: ['read'] } },
      gatepass: { environment: { GATEPASS_MAX_PENDING: '2' } },
    })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('has at most GATEPASS_MAX_PENDING scheduled runs, and a cancelled one makes room', async () => {
    const schedule = (options = {}) =>
      world.call('POST', '/v1/tools/execute', { tool_name, input: {}, run_at }, options)
    const [first] = [(await schedule()).body, (await schedule()).body]
    const refused = await schedule()
    expect(refused).toMatchObject({ status: 429, body: { name: 'too_many_pending' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    const stranger = await world.gatepass.makeKey('admin', 'another')
    expect((await schedule({ key: stranger })).body.name).not.toBe('too_many_pending')
    expect((await world.call('GET', '/v1/scheduled_tools')).body.total_count).toBe(2)
    await world.call('DELETE', `/v1/scheduled_tools/${first.execution_id}`)
    expect((await schedule()).status).toBe(200)
  })

  test('has no scheduled run with megabytes of input', async () => {
    const input = { text: 'x'.repeat(3 * 1024 * 1024) }
    expect(await world.call('POST', '/v1/tools/execute', { tool_name, input, run_at })).toMatchObject({
      status: 413,
      body: { name: 'request_too_large' },
    })
  })

  test('has at most as many chains that wait for consent: one more ends with the link and cannot be resumed', async () => {
    const steps = [{ toolId: tool_name }, { toolId: 'Demo.WhoAmI' }]
    const paused = async () =>
      (await world.call('POST', '/v1/tools/run_chain', { steps, user_id: 'ada' })).body
    const all = [await paused(), await paused(), await paused()]
    expect(all.map(({ status }) => status)).toEqual(Array(3).fill('requires_authorization'))
    expect(all.map(({ resume }) => resume !== undefined)).toEqual([true, true, false])
    expect(all[2].requires_authorization.url).toContain('/connect/')
    const resumed = { resume: all[0].resume, user_id: 'ada' }
    await approve(all[0].requires_authorization.url)
    expect((await world.call('POST', '/v1/tools/run_chain', resumed)).body.status).toBe('completed')
  })

  test('has at most as many runs of code that wait for their users', async () => {
    const code = "return tools.call('Demo.WhoAmI')"
    const run = async (more: object = {}) =>
      (await world.call('POST', '/v1/code/execute', { code, user_id: 'code-user', ...more })).body
    const all = [await run(), await run(), await run()]
    expect(all.map(({ resume }) => resume !== undefined)).toEqual([true, true, false])
    expect(all[2].requires_authorization.url).toContain('/connect/')
    expect((await run({ resume: all[0].resume })).resume).toBe(all[0].resume)
  })

  test('has no paused chain with megabytes of input', async () => {
    await using own = await startWorld({ worker: { requirement: { id: 'demo', scopes: ['read'] } } })
    const steps = [
      { toolId: 'Demo.WhoAmI' },
      { toolId: tool_name, args: { text: 'x'.repeat(7 * 1024 * 1024) } },
    ]
    const { body } = await own.call('POST', '/v1/tools/run_chain', { steps, user_id: 'ada' })
    expect([body.status, body.resume]).toEqual(['requires_authorization', undefined])
  })

  test('has no paused chain with megabytes of results, and does not seal them to measure them', async () => {
    await using own = await startWorld({ worker: { requirement: { id: 'demo', scopes: ['read'] } } })
    const seal = vi.spyOn(own.gatepass.broker.sealer, 'seal')
    const huge = { toolId: 'Demo.Huge', args: { bytes: 3 * 1024 * 1024 } }
    const steps = [huge, huge, huge, { toolId: 'Demo.WhoAmI' }]
    const { body } = await own.call('POST', '/v1/tools/run_chain', { steps, user_id: 'ada' })
    expect([body.status, body.resume]).toEqual(['requires_authorization', undefined])
    expect(seal.mock.calls.filter(([, place]) => place.table === 'chains')).toEqual([])
  })
})

describe('threat 40: callers that wait', () => {
  async function pending({ call }: Pick<World, 'call'>, userId = 'ada') {
    const auth_requirement = { id: 'demo', oauth2: { scopes: ['read'] } }
    return (await call('POST', '/v1/auth/authorize', { auth_requirement, user_id: userId })).body
  }

  test('beyond the limit are answered at once with the current status, by poll and by stream', async () => {
    await using world = await startWorld({ gatepass: { environment: { GATEPASS_MAX_WAITERS: '4' } } })
    const { waiters } = world.gatepass.broker
    const { id, url } = await pending(world)
    const wait = (key?: string) =>
      world.call('GET', `/v1/auth/status?id=${id}&wait=59`, undefined, key === undefined ? {} : { key })
    const waiting = [wait(), wait()]
    await until(() => waiters.count === 2)

    const begun = performance.now()
    expect(await wait()).toMatchObject({ status: 200, body: { status: 'pending' } })
    const events = await fetch(`${world.gatepass.url}/v1/auth/${id}/events`, {
      headers: { authorization: world.gatepass.apiKey },
    })
    expect((await events.text()).match(/event: status/g)).toHaveLength(1)
    expect(performance.now() - begun).toBeLessThan(15_000)

    // one key may have half of the waiters, and another key the other half
    const key = await world.gatepass.makeKey('caller')
    const others = [wait(key), wait(key)]
    await until(() => waiters.count === 4)
    const third = await world.gatepass.makeKey('caller')
    expect((await wait(third)).body.status).toBe('pending')

    await approve(url)
    for (const one of [...waiting, ...others]) expect((await one).body.status).toBe('completed')
    expect(waiters.count).toBe(0)
  })

  test('make room when they hang up', async () => {
    await using world = await startWorld({ gatepass: { environment: { GATEPASS_MAX_WAITERS: '4' } } })
    const { waiters } = world.gatepass.broker
    const { id, url } = await pending(world)
    // another caller waits from before, and still waits when those who hang up have made room
    const key = await world.gatepass.makeKey('caller')
    const patient = world.call('GET', `/v1/auth/status?id=${id}&wait=59`, undefined, { key })
    await until(() => waiters.count === 1)
    const gone = new AbortController()
    const { signal } = gone
    const headers = { authorization: world.gatepass.apiKey }
    const hanging = [
      fetch(`${world.gatepass.url}/v1/auth/status?id=${id}&wait=59`, { headers, signal }),
      fetch(`${world.gatepass.url}/v1/auth/${id}/events`, { headers, signal }).then((one) => one.text()),
    ].map((one) => one.catch(() => 'gone'))
    await until(() => waiters.count === 3)
    const full = await world.call('GET', `/v1/auth/status?id=${id}&wait=30`)
    expect(full.body.status).toBe('pending')
    gone.abort()
    await Promise.all(hanging)
    await until(() => waiters.count === 1)
    await approve(url)
    expect((await patient).body.status).toBe('completed')
  })

  test('cannot wait longer than 59 seconds', async () => {
    expect(await gatepass.call('GET', '/v1/auth/status?id=auth_x&wait=60')).toMatchObject({
      status: 400,
      body: { name: 'invalid_request' },
    })
  })
})
