import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createWebServer } from 'node:http'
import { createServer, connect as dial, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gatepass } from '../../src/sdk/client/gatepass.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startGatepass } from '../gatepass.ts'
import { approve, providerBody } from '../http/world.ts'
import { freePort } from '../ports.ts'
import { type SdkWorld, startSdkWorld } from './sdk-world.ts'

let world: SdkWorld
let client: Gatepass

beforeAll(async () => {
  world = await startSdkWorld()
  client = world.client
})
afterAll(() => world[Symbol.asyncDispose]())

const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('wait', () => {
  test('goes on through a restart of Gatepass, and so do events', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sdk-restart-'))
    const as = await startFakeAuthorizationServer()
    const place = { databasePath: join(folder, 'gatepass.db'), port: await freePort() }
    const first = await startGatepass(place)
    await first.call('POST', '/v1/admin/auth_providers', providerBody('demo', as))
    const gatepass = new Gatepass({ baseUrl: first.url, apiKey: first.apiKey })
    const authorization = await gatepass.connect('u1', 'demo')
    const waiting = authorization.wait()
    const seen: string[] = []
    const following = (async () => {
      for await (const { status } of authorization.events()) seen.push(status)
    })()
    await expect.poll(() => seen).toEqual(['pending'])
    await first.close()
    const second = await startGatepass(place)
    try {
      await approve(authorization.url ?? '')
      expect(await waiting).toMatchObject({ id: authorization.id, status: 'completed' })
      await following
      expect(seen).toEqual(['pending', 'completed'])
    } finally {
      await second.close()
      await as.close()
      await rm(folder, { recursive: true })
    }
  })

  test('ends at its deadline, and at an abort with its reason', async () => {
    const authorization = await client.connect('w1', 'demo')
    const late = await caught(authorization.wait({ timeoutMs: 30 }))
    expect(late).toMatchObject({ name: 'AuthorizationTimeout', code: 'authorization_timeout' })
    const controller = new AbortController()
    const waiting = caught(authorization.wait({ signal: controller.signal }))
    controller.abort(new Error('the user left'))
    expect(await waiting).toEqual(new Error('the user left'))
    expect((await client.authorization(authorization.id)).status).toBe('pending')
  })

  test('throws why an authorization failed', async () => {
    world.as.behaviour.consent = 'deny'
    try {
      const authorization = await client.connect('w2', 'demo')
      const [failed] = await Promise.all([caught(authorization.wait()), approve(authorization.url ?? '')])
      if (!Gatepass.isError(failed, 'authorization_failed')) throw failed
      expect(failed).toMatchObject({
        reason: 'access_denied',
        authorization: { status: 'failed', id: authorization.id },
        why: { code: 'access_denied', who: 'user', to_do: expect.any(String) },
      })
      const again = await caught(
        client.as('w3').tools.run('Run.Acts', {}, { consent: ({ url }) => approve(url) }),
      )
      expect(again).toMatchObject({ code: 'authorization_failed', reason: 'access_denied' })
    } finally {
      world.as.behaviour.consent = 'approve'
    }
  })

  test('of an unknown id is refused', async () => {
    expect(await caught(client.authorization('auth_unknown'))).toMatchObject({
      name: 'NotFound',
      status: 404,
    })
  })
})

describe('a lost answer', () => {
  test('is fetched again by one key, and the tool has run once', async () => {
    await using cut = await startCuttingProxy(world.gatepass.url)
    const remote = world.clientWith({ baseUrl: cut.url })
    expect(await remote.tools.execute('Run.Count', { key: 'lost' })).toMatchObject({ value: { times: 1 } })
    const keys = cut.sent.join('').match(/idempotency-key: \S+/gi) ?? []
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
    expect(await client.tools.run('Run.Ran', { key: 'lost' })).toBe(1)
  })

  test('of a run with a signal is not repeated', async () => {
    await using cut = await startCuttingProxy(world.gatepass.url)
    const remote = world.clientWith({ baseUrl: cut.url })
    const { signal } = new AbortController()
    const lost = await caught(remote.tools.execute('Run.Count', { key: 'signal' }, { signal }))
    expect(lost).toMatchObject({ name: 'ConnectionError' })
    expect(await client.tools.run('Run.Ran', { key: 'signal' })).toBe(1)
  })

  test('of a stream is an error, not an end', async () => {
    await using cut = await startCuttingProxy(world.gatepass.url, 'data: {"kind":"chunk"')
    const stream = world.clientWith({ baseUrl: cut.url }).tools.stream('Run.Waits', { key: 'cut' })
    expect(await caught(stream.result)).toMatchObject({ name: 'ConnectionError' })
  })
})

test('an abort ends the run of a tool', async () => {
  const controller = new AbortController()
  const running = caught(client.tools.run('Run.Waits', { key: 'abort' }, { signal: controller.signal }))
  await expect.poll(() => client.tools.run('Run.Ran', { key: 'abort' })).toBe(1)
  controller.abort()
  expect(await running).toMatchObject({ name: 'AbortError' })
  await expect.poll(() => client.tools.run('Run.Heard', { key: 'abort' })).toBe('cancelled')
})

test('a key past its rate is told when to come back', async () => {
  const { key } = await client.admin.keys.create({ role: 'readonly', rate_limit: 1 })
  const slow = world.clientWith({ apiKey: key, maxRetries: 0 })
  let error: unknown
  for (let i = 0; i < 100 && error === undefined; i++) error = await caught(slow.tools.get('Run.Add'))
  if (!Gatepass.isError(error, 'rate_limited')) throw error
  expect(error.retryAfterMs).toBeGreaterThan(0)
})

test('where nothing listens, the error says which address was tried', async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`
  const error = await caught(world.clientWith({ baseUrl, maxRetries: 0 }).tools.get('Run.Add'))
  expect(error).toMatchObject({ name: 'ConnectionError', message: expect.stringContaining(baseUrl) })
})

describe('stream', () => {
  test('gives progress and chunks, then the value', async () => {
    const events: unknown[] = []
    const stream = client.tools.stream<string>('Run.Says', { to: 2 })
    for await (const event of stream) events.push(event)
    expect(events).toEqual([
      { type: 'progress', progress: 0, total: 1, message: 'started' },
      { type: 'progress', progress: 1, total: 2, message: 'at 1' },
      { type: 'chunk', data: { part: 1 } },
      { type: 'progress', progress: 2, total: 2, message: 'at 2' },
      { type: 'chunk', data: { part: 2 } },
      {
        type: 'done',
        value: 'said',
        executionId: expect.stringMatching(/^exec_/),
        durationMs: expect.any(Number),
      },
    ])
    expect(await stream.result).toBe('said')
    expect(await client.tools.stream('Run.Says').result).toBe('said')
    expect(() => stream[Symbol.asyncIterator]()).toThrow(TypeError)
  })

  test('ends with the error of the tool, a missing consent, or a refusal', async () => {
    const last = async (name: string) => {
      const events = []
      for await (const event of client.as('s1').tools.stream(name)) events.push(event)
      return events.at(-1)
    }
    expect(await last('Run.Fails')).toMatchObject({
      type: 'error',
      error: { code: 'tool_error', executionId: expect.any(String) },
    })
    expect(await last('Run.Acts')).toMatchObject({ type: 'error', error: { code: 'authorization_required' } })
    await expect(last('Run.Nothing')).rejects.toMatchObject({ code: 'not_found' })
    await expect(client.tools.stream('Run.Fails').result).rejects.toMatchObject({ code: 'tool_error' })
  })

  test('a loop that is left cancels the tool, and so does an abort', async () => {
    const stream = client.tools.stream('Run.Waits', { key: 'left' })
    for await (const event of stream) {
      if (event.type !== 'chunk') continue
      expect(event.data).toBe('waiting')
      break
    }
    await expect.poll(() => client.tools.run('Run.Heard', { key: 'left' })).toBe('cancelled')
    await expect(stream.result).rejects.toMatchObject({ code: 'connection_error' })

    const unread = client.tools.stream('Run.Waits', { key: 'unread' })
    await unread[Symbol.asyncIterator]().return?.()
    await expect(unread.result).rejects.toMatchObject({ code: 'connection_error' })

    const controller = new AbortController()
    const aborted = client.tools.stream('Run.Waits', { key: 'aborted' }, { signal: controller.signal })
    const failed = caught(aborted.result)
    await expect.poll(() => client.tools.run('Run.Ran', { key: 'aborted' })).toBe(1)
    controller.abort()
    expect(await failed).toMatchObject({ name: 'AbortError' })
    await expect.poll(() => client.tools.run('Run.Heard', { key: 'aborted' })).toBe('cancelled')
  })
})

/**
 * A TCP proxy that passes everything on, but destroys the first connection on which an answer comes (or the given part of
 * one). What clients sent is in `sent`.
 */
async function startCuttingProxy(target: string, at = 'HTTP/1.1') {
  const { hostname, port } = new URL(target)
  const sent: string[] = []
  const sockets = new Set<Socket>()
  let hasCut = false
  const server: Server = createServer((from) => {
    const to = dial(Number(port), hostname)
    for (const socket of [from, to]) sockets.add(socket.on('error', () => {}))
    from.on('data', (data) => {
      sent.push(data.toString())
      to.write(data)
    })
    to.on('data', (data) => {
      if (hasCut || !data.includes(at)) {
        from.write(data)
        return
      }
      hasCut = true
      from.destroy()
      to.destroy()
    })
    from.on('close', () => to.destroy())
    to.on('close', () => from.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    sent,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('takes the input of a tool and the headers of the application to no other server', async () => {
  const strange: unknown[] = []
  const stranger = createWebServer((request, response) => {
    strange.push(request.url)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(stranger, 'listening')
  const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port
  const redirecting = createWebServer((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${portOf(stranger)}/` }).end()
  }).listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  try {
    const baseUrl = `http://127.0.0.1:${portOf(redirecting)}`
    const gatepass = new Gatepass({ baseUrl, apiKey: 'key', headers: { 'x-secret': 's' } })
    const error = await caught(gatepass.as('u1').tools.execute('Run.Add', { a: 1 }))
    expect(error).toMatchObject({ code: 'unexpected_answer', status: 307 })
    expect(strange).toEqual([])
  } finally {
    stranger.close()
    redirecting.close()
  }
})

test('a header of the options in another case does not join the API key', async () => {
  const sent: Headers[] = []
  const fetch = async (_: unknown, init?: RequestInit) => {
    sent.push(new Headers(init?.headers))
    return Response.json({ items: [], offset: 0, limit: 1, total_count: 0 })
  }
  const headers = { Authorization: 'mine', 'X-Team': 'a' }
  const gatepass = new Gatepass({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key', headers, fetch })
  for await (const _ of gatepass.tools.list());
  expect(sent.map((one) => [one.get('authorization'), one.get('x-team')])).toEqual([['Bearer key', 'a']])
})
