import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DEFAULT_PROJECT } from '../../src/domain/project.ts'
import { gate } from '../gate.ts'
import { testClock } from '../gatepass.ts'
import { startMcpWorld } from '../http/mcp-world.ts'
import { type ProxyWorld, startProxyWorld } from '../http/proxy-world.ts'
import { startWorld, WORKER_SECRET, type World } from '../http/world.ts'
import { freshDatabase } from '../postgres.ts'
import { until } from '../until.ts'

// Hostile callers, at the endpoints that run tools and at the proxy. Hostile tools and servers are in other files.

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/told-tools.ts', import.meta.url)) }

describe('threat 48: metadata that a caller gives to a tool', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ gatepass: { environment } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const run = (toolId: string, metadata: object) => world.call('POST', '/v1/tools/run', { toolId, metadata })

  test('cannot replace the address of the broker and the id of the calling key', async () => {
    const metadata = { coordinator_url: 'https://evil.example', client_id: 'another', locale: 'fr' }
    const { structured } = (await run('Told:Place', metadata)).body
    expect(structured).toEqual({
      coordinator_url: world.gatepass.url,
      client_id: expect.stringMatching(/^key_/),
      locale: 'fr',
    })
  })

  test('does not include the inherited members of JavaScript objects', async () => {
    expect((await run('Told:Odd', {})).body.error).toMatchObject({ kind: 'TOOL_REQUIREMENTS_NOT_MET' })
    expect((await run('Told:Odd', { constructor: 'x' })).body.structured).toEqual({ constructor: 'x' })
  })
})

describe('threat 37: an Idempotency-Key', () => {
  let world: World
  let token: string
  const clock = testClock()
  beforeAll(async () => {
    world = await startWorld({ gatepass: { now: clock } })
    token = await world.connect('ada')
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const headers = { 'idempotency-key': 'the-same' }
  const ask = (path: string, body: object, key = world.gatepass.apiKey) =>
    world.call('POST', path, body, { key, headers })

  test('never gives the answer of another user, another tool, another endpoint or another key', async () => {
    const mine = await ask('/v1/tools/run', { toolId: 'Demo.WhoAmI', user_id: 'ada' })
    const said = JSON.stringify(mine.body.structured)
    expect(mine.status).toBe(200)
    expect(said).not.toContain(token)

    const others = [
      await ask('/v1/tools/run', { toolId: 'Demo.WhoAmI', user_id: 'mallory' }),
      await ask('/v1/tools/run', { toolId: 'Demo.EchoWithToken', user_id: 'ada' }),
    ]
    for (const { status, body } of others) {
      expect([status, body.name]).toEqual([400, 'invalid_request'])
      expect(body.message).toContain('Idempotency-Key')
    }
    const caller = await world.gatepass.makeKey('caller')
    const foreign = await ask('/v1/tools/run', { toolId: 'Demo.WhoAmI', user_id: 'mallory' }, caller)
    expect(foreign.body.requires_authorization.url).toContain('/connect/')
    const otherWay = await ask('/v1/tools/execute', { tool_name: 'Demo.Echo', input: { text: 'b' } })
    expect(otherWay.body.output.value.inputs).toEqual({ text: 'b' })
    const readonly = await world.gatepass.makeKey('readonly')
    const toRead = await ask('/v1/tools/run', { toolId: 'Demo.WhoAmI', user_id: 'ada' }, readonly)
    expect(toRead.status).toBe(403)
  })

  test('that is used for other requests again and again counts against the rate limit', async () => {
    await using limited = await startWorld({ gatepass: { environment: { GATEPASS_RATE_LIMIT: '10' } } })
    const key = await limited.gatepass.makeKey('caller')
    // at once: one after another they may be fewer than ten in a second
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        limited.call('POST', '/v1/tools/run', { toolId: `Demo.${i}` }, { key, headers }),
      ),
    )
    expect(answers.map(({ status }) => status)).toContain(429)
  })

  test('of a request that takes longer than its claim lasts runs the tool only once', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { opened, open } = gate()
      world.worker.behaviour.onInvoke = () => opened
      const claims = vi.spyOn(world.gatepass.broker.store.idempotencyKeys, 'claim')
      const before = world.worker.invocations.length
      const slow = () =>
        world.call(
          'POST',
          '/v1/tools/execute',
          { tool_name: 'Demo.Slow', input: { ms: 0 } },
          { headers: { 'idempotency-key': 'slow' } },
        )
      const first = slow()
      await expect.poll(() => world.worker.invocations.length).toBe(before + 1)
      for (let minutes = 0; minutes < 10; minutes++) {
        clock.advance(60)
        await vi.advanceTimersByTimeAsync(60_000)
      }
      claims.mockClear()
      const second = slow()
      await until(() => claims.mock.settledResults.some(({ type }) => type === 'fulfilled'))
      open()
      expect((await second).body).toEqual((await first).body)
      expect(world.worker.invocations.length).toBe(before + 1)
    } finally {
      world.worker.behaviour.onInvoke = undefined
      vi.restoreAllMocks()
      vi.useRealTimers()
    }
  })
})

describe('promise P8: callers of the proxy who hang up', () => {
  test('at any time free their place', async () => {
    await using world = await startProxyWorld()
    await world.connect()
    const running = async () =>
      /^gatepass_proxy_requests_running (\d+)/m.exec((await world.gatepass.call('GET', '/metrics')).body)?.[1]
    // before its head, between the head and the body, and within it
    const moments = [
      () => {},
      (response: { flushHeaders(): void }) => response.flushHeaders(),
      (response: { write(text: string): void }) => response.write('the first piece'),
    ]
    for (let i = 0; i < 60; i++) {
      const moment = moments[i % moments.length]
      const reached = Promise.withResolvers<void>()
      world.api.answer = (_, response) => {
        moment?.(response)
        reached.resolve()
      }
      const gone = new AbortController()
      const asked = world.open('GET', '/proxy/demo/x', { signal: gone.signal }).catch(() => undefined)
      await reached.promise
      if (i % moments.length > 0) (await asked)?.on('error', () => {})
      gone.abort()
      await asked
    }
    await expect.poll(running).toBe('0')
  })
})

describe('threat 41: requests to the proxy that two servers would read differently', () => {
  let world: ProxyWorld
  beforeAll(async () => {
    world = await startProxyWorld()
    await world.connect()
  })
  afterAll(() => world[Symbol.asyncDispose]())

  /** Sends these lines unchanged, and returns the answers. */
  async function raw(lines: readonly string[], body = ''): Promise<string> {
    const { port } = new URL(world.gatepass.url)
    const socket = connect(Number(port), '127.0.0.1')
    let said = ''
    socket.on('data', (data) => {
      said += data
    })
    socket.on('error', () => {})
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
    await once(socket, 'close')
    return said
  }
  const common = () => [
    'Host: 127.0.0.1',
    `Authorization: Bearer ${world.gatepass.apiKey}`,
    'X-Gatepass-User: u1',
    'Connection: close',
  ]
  const hidden = () => ['GET /proxy/demo/hidden HTTP/1.1', ...common()].map((line) => `${line}\r\n`).join('')

  test.each<[string, readonly string[], () => string]>([
    [
      'a length and chunks',
      ['POST /proxy/demo/x HTTP/1.1', 'Content-Length: 4', 'Transfer-Encoding: chunked'],
      () => `0\r\n\r\n${hidden()}\r\n`,
    ],
    ['two lengths', ['POST /proxy/demo/x HTTP/1.1', 'Content-Length: 4', 'Content-Length: 40'], () => 'abcd'],
    ['a length that is no number', ['POST /proxy/demo/x HTTP/1.1', 'Content-Length: +4'], () => 'abcd'],
    [
      'a coding before the chunks',
      ['POST /proxy/demo/x HTTP/1.1', 'Transfer-Encoding: chunked, identity'],
      () => '4\r\nabcd\r\n0\r\n\r\n',
    ],
    [
      'a chunk that is longer than its size',
      ['POST /proxy/demo/x HTTP/1.1', 'Transfer-Encoding: chunked'],
      () => `1\r\nabcd\r\n0\r\n\r\n`,
    ],
    ['a header over two lines', ['GET /proxy/demo/x HTTP/1.1', 'X-A: b\r\n Authorization: c'], () => ''],
    ['a space before the colon', ['GET /proxy/demo/x HTTP/1.1', 'Transfer-Encoding : chunked'], () => ''],
    ['another host in its first line', ['GET http://else.example/proxy/demo/x HTTP/1.1'], () => ''],
    ['no path in its first line', ['GET proxy/demo/x HTTP/1.1'], () => ''],
    ['a control character in its path', ['GET /proxy/demo/\u0001 HTTP/1.1'], () => ''],
  ])('%s: refused, and no request is sent to the API', async (_, [first = '', ...rest], body) => {
    const before = world.api.seen.length
    const answers = await raw([first, ...common(), ...rest], body())
    expect(answers.match(/^HTTP\/1\.1 \d/gm)).toEqual(['HTTP/1.1 4'])
    expect(world.api.seen.slice(before)).toEqual([])
  })

  test('bytes after a request are another request, never a part of the one that is forwarded', async () => {
    const before = world.api.seen.length
    const first = ['POST /proxy/demo/first HTTP/1.1', ...common().slice(0, -1), 'Content-Length: 3']
    const answers = await raw(first, `abc${hidden()}\r\n`)
    expect(answers).toContain('{"method":"POST","url":"/base/first","body":"abc"}')
    expect(answers).toContain('{"method":"GET","url":"/base/hidden","body":""}')
    expect(world.api.seen.length - before).toBe(2)
  })

  test('bytes after the last request of a connection are no request', async () => {
    const before = world.api.seen.length
    await raw(['POST /proxy/demo/first HTTP/1.1', ...common(), 'Content-Length: 3'], `abc${hidden()}\r\n`)
    // these bytes are answered with 400, which may end the first request before it is forwarded
    expect(world.api.seen.slice(before).filter(({ url }) => url !== '/base/first')).toEqual([])
  })

  test('headers for this hop, for this server or for another path and host are not forwarded', async () => {
    const before = world.api.seen.length
    await raw([
      'GET /proxy/demo/x HTTP/1.1',
      ...common().slice(0, -1),
      'Connection: close, X-Secret, Keep-Alive',
      'X-Secret: 1',
      'Keep-Alive: 1',
      'Proxy-Authorization: Basic x',
      'Cookie: a=b',
      'TE: trailers',
      'X-Original-URL: /admin',
      'X-Rewrite-URL: /admin',
      'X-Forwarded-Host: evil.example',
      'X-Kept: yes',
    ])
    // the request of the test before may still arrive
    const seen = world.api.seen.slice(before).find(({ url }) => url === '/base/x')
    const names = Object.keys(seen?.headers ?? {})
    expect(seen?.headers['x-kept']).toBe('yes')
    expect(seen?.headers.host).toBe(world.api.host)
    for (const name of [
      'x-secret',
      'proxy-authorization',
      'cookie',
      'te',
      'x-original-url',
      'x-rewrite-url',
      'x-forwarded-host',
      'x-gatepass-user',
    ])
      expect(names).not.toContain(name)
  })
})

describe('threat 25: a server that lists texts which a database cannot store', () => {
  const BAD = ['a\u0000b', 'a\ud800b']

  test.each(['SQLite', 'PostgreSQL'])('has its other tools listed, on %s', async (database) => {
    await using fresh = await freshDatabase()
    const environment = database === 'SQLite' ? {} : { GATEPASS_DATABASE_URL: fresh.url }
    const run = async () => ({ ran: true })
    const tools = BAD.flatMap((bad, i) => [
      { name: `described${i}`, description: bad, run },
      { name: `nested${i}`, inputSchema: { type: 'object' as const, properties: { [bad]: {} } }, run },
      { name: `named ${bad}`, run },
    ])
    const good = { name: 'good', description: 'Says \\u0000, as text.', run }
    await using world = await startMcpWorld({ gatepass: { environment }, mcp: { tools: [...tools, good] } })
    expect(world.worker.status).toBe(201)
    for (const { name } of tools.filter(({ name }) => /^\w+$/.test(name)))
      expect(world.worker.body.sync_error).toContain(`"Demo:${name}`)
    const { items } = (await world.call('GET', '/v1/workers/demo/tools')).body
    expect(items.map(({ name }: { name: string }) => name)).toEqual(['good'])
    const { body } = await world.call('POST', '/v1/tools/run', { toolId: 'Demo.good' })
    expect(body.structured).toEqual({ ran: true })
  })
})

describe('threat 37: scheduled runs of one project', () => {
  test('do not delay those of another project, however many are due and slow', async () => {
    const clock = testClock()
    await using world = await startWorld({ gatepass: { now: clock, environment }, timeoutSeconds: 60 })
    const { call, gatepass } = world
    const key = await gatepass.makeKey('admin', 'quiet')
    const http = { uri: world.worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    await call('POST', '/v1/workers', { id: 'demo', http }, { key })
    const schedule = (tool_name: string, input: object, inSeconds: number, options = {}) => {
      const run_at = new Date((clock() + inSeconds) * 1000).toISOString()
      return call('POST', '/v1/tools/execute', { tool_name, input, run_at }, options)
    }
    for (let i = 0; i < 20; i++) await schedule('Demo.Slow', { ms: 30_000 }, 10)
    const { body } = await schedule('Demo.Echo', { text: 'mine' }, 20, { key })
    clock.advance(30)
    const mine = async () =>
      (await call('GET', `/v1/scheduled_tools/${body.execution_id}`, undefined, { key })).body
    await expect
      .poll(async () => (await mine()).execution_status, { timeout: 300_000, interval: 100 })
      .toBe('completed')
    const running = await call('GET', '/v1/executions?status=running')
    expect(running.body.total_count).toBe(4)
    await world.worker.close() // ends the slow runs
  })
})

describe('threat 29: a scheduled run', () => {
  test('is judged by the policies and the key as they are when it runs', async () => {
    const clock = testClock()
    await using world = await startWorld({ gatepass: { now: clock } })
    const token = await world.connect('ada')
    const run_at = new Date((clock() + 60) * 1000).toISOString()
    const key = await world.gatepass.makeKey('caller')
    const schedule = async (given?: string) => {
      const body = { tool_name: 'Demo.WhoAmI', user_id: 'ada', run_at }
      const options = given === undefined ? {} : { key: given }
      return (await world.call('POST', '/v1/tools/execute', body, options)).body.execution_id
    }
    const [denied, revoked] = [await schedule(), await schedule(key)]
    const { store } = world.gatepass.broker
    const projectId = (await store.projects.findByName(DEFAULT_PROJECT))?.id ?? ''
    const used = (await store.apiKeys.list(projectId)).find(({ role }) => role === 'caller')
    await store.apiKeys.revoke(projectId, used?.id ?? '', clock())
    const policy = { id: 'no-ada', effect: 'deny', match: { users: ['ada'] } }
    expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    const before = world.worker.invocations.length
    clock.advance(61)
    const look = async (id: string) => (await world.call('GET', `/v1/scheduled_tools/${id}`)).body
    const patience = { timeout: 300_000, interval: 100 }
    for (const id of [denied, revoked])
      await expect.poll(async () => (await look(id)).execution_status, patience).toBe('failed')
    expect(world.worker.invocations.length).toBe(before)
    expect(await look(denied)).toMatchObject({ outcome: 'error', error_kind: 'CONTEXT_DENIED' })
    expect(JSON.stringify([await look(denied), await look(revoked), world.gatepass.logLines])).not.toContain(
      token,
    )
  })
})
