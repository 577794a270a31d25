import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { longestHold } from '../event-loop.ts'
import { startWorld, type World } from '../http/world.ts'
import { until } from '../until.ts'
import { exchange, legacy, modern, openSession, send } from './raw.ts'

/** A tool that answers when the test says so. */
let finish: (value: string) => void
let running: Promise<void>
let hold: () => void
const HELD = { name: 'Held_Wait', arguments: {} }

let world: World
beforeAll(async () => {
  let isHeld = Promise.withResolvers<void>()
  let end = Promise.withResolvers<string>()
  hold = () => {
    isHeld = Promise.withResolvers()
    end = Promise.withResolvers()
    running = isHeld.promise
    finish = end.resolve
  }
  const wait = {
    name: 'Wait',
    description: 'Waits for the test.',
    async run() {
      isHeld.resolve()
      return { value: await end.promise }
    },
  }
  world = await startWorld({
    gatepass: { mode: 'development' },
    worker: { toolkit: { name: 'Held', version: '1.0.0' }, tools: [wait] },
    timeoutSeconds: 60,
  })
})
afterAll(() => world[Symbol.asyncDispose]())

/** Reads a stream until a part of it is there. */
async function readUntil(response: Response, part: string): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (reader !== undefined && !text.includes(part)) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  await reader?.cancel()
  expect(text).toContain(part)
  return text
}

/** The end of the newest run in history. */
async function endOfNewest(): Promise<{ status: string; outcome?: string; entry_point: string }> {
  const { body } = await world.call('GET', '/v1/executions?limit=1')
  return body.items[0]
}

function document(name: string): object {
  return { name, description: `The tool ${name}`, parameters: { type: 'object', properties: {} } }
}

async function changeTools(name: string): Promise<void> {
  const { status } = await world.call('POST', '/v1/tools/import', document(name))
  expect(status).toBe(200)
}

describe('a change of the tools', () => {
  test('is reported on the GET stream of 2025', async () => {
    const headers = await openSession(world.gatepass)
    const stream = await send(world.gatepass, undefined, { method: 'GET', headers })
    expect(stream.status).toBe(200)
    expect(stream.headers.get('content-type')).toBe('text/event-stream')
    expect(stream.headers.get('x-accel-buffering')).toBe('no')
    await changeTools('Changed.Legacy')
    const text = await readUntil(stream, 'list_changed')
    expect(text).toContain('data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n')
  })

  test('is reported to a subscription of 2026-07-28', async () => {
    const { body, headers } = modern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    const stream = await send(world.gatepass, { ...body, id: 'sub' }, { headers })
    await changeTools('Changed.Modern')
    const text = await readUntil(stream, 'notifications/tools/list_changed')
    const [first, second] = text.split('\n\n').map((event) => JSON.parse(event.split('data: ')[1] ?? '{}'))
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'sub' }
    expect(first).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta },
    })
    expect(second).toMatchObject({ method: 'notifications/tools/list_changed', params: { _meta } })
  })

  test('is reported to many users, whose lists policies filter, without holding the event loop', async () => {
    const policy = { id: 'few', effect: 'deny', match: { tools: ['Held_Wait'], users: ['mallory'] } }
    expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    const toolset = { id: 'large', tools: ['*'], listing: 'all' }
    expect((await world.call('POST', '/v1/toolsets', toolset)).status).toBe(201)
    await world.call(
      'POST',
      '/v1/tools/import',
      Array.from({ length: 400 }, (_, i) => document(`Large.Tool${i}`)),
    )
    const streams: Response[] = []
    for (let i = 0; i < 3; i++) {
      const key = await world.gatepass.makeKey('caller')
      for (let j = 0; j < 32; j++) {
        const options = { path: '/mcp/large', key, user: `user-${i}-${j}` }
        const headers = await openSession(world.gatepass, options)
        streams.push(await send(world.gatepass, undefined, { ...options, method: 'GET', headers }))
      }
    }
    expect(streams.map(({ status }) => status)).toEqual(Array(96).fill(200))
    const before = process.threadCpuUsage().user
    const { held } = await longestHold(async () => {
      await changeTools('Large.Another')
      await Promise.all(streams.map((stream) => readUntil(stream, 'list_changed')))
    })
    const taken = (process.threadCpuUsage().user - before) / 1000
    expect(held).toBeLessThan(taken / 2) // in one piece it is most of it
    await world.call('DELETE', '/v1/toolsets/large')
    await world.call('DELETE', '/v1/admin/policies/few')
  })
})

test('a client has 32 streams at most', async () => {
  const key = await world.gatepass.makeKey('caller')
  const headers = await openSession(world.gatepass, { key })
  const stop = new AbortController()
  const open = () => send(world.gatepass, undefined, { method: 'GET', headers, key, signal: stop.signal })
  const streams = await Promise.all(Array.from({ length: 32 }, open))
  expect(streams.map(({ status }) => status)).toEqual(Array(32).fill(200))
  const refused = await open()
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const { body, headers: modernHeaders } = modern('subscriptions/listen', {
    notifications: { toolsListChanged: true },
  })
  expect((await send(world.gatepass, body, { headers: modernHeaders, key })).status).toBe(429)
  const others = await openSession(world.gatepass)
  const other = await send(world.gatepass, undefined, { method: 'GET', headers: others, signal: stop.signal })
  expect(other.status).toBe(200)
  expect(streams).toHaveLength(32) // responses that are let go would be closed
  stop.abort()
  await until(async () => {
    const again = await send(world.gatepass, undefined, { method: 'GET', headers, key })
    await again.body?.cancel()
    return again.status === 200
  })
})

describe('a running call', () => {
  test('of 2025 runs on when its connection breaks', async () => {
    hold()
    const headers = await openSession(world.gatepass)
    const gone = new AbortController()
    const answer = send(world.gatepass, legacy('tools/call', HELD), { headers, signal: gone.signal })
    await running
    gone.abort()
    await answer.catch(() => {})
    const before = (await world.call('GET', '/v1/executions')).body.total_count
    finish('after all')
    await until(async () => (await world.call('GET', '/v1/executions')).body.total_count > before)
    expect(await endOfNewest()).toMatchObject({ outcome: 'value', entry_point: 'mcp' })
  })

  test('of 2025 ends when the client cancels it, and only that one', async () => {
    hold()
    const headers = await openSession(world.gatepass)
    const answer = exchange(world.gatepass, legacy('tools/call', HELD, 7), { headers })
    await running
    const cancel = (requestId: number, session: Record<string, string>) =>
      exchange(
        world.gatepass,
        { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
        { headers: session },
      )
    expect((await cancel(8, headers)).status).toBe(202)
    expect((await cancel(7, await openSession(world.gatepass))).status).toBe(202)
    expect(await Promise.race([answer, Promise.resolve('still running')])).toBe('still running')
    await cancel(7, headers)
    expect((await answer).body.result.isError).toBe(true)
    finish('too late')
  })

  test('of 2026-07-28 ends when the client closes the stream', async () => {
    hold()
    const { body, headers } = modern('tools/call', HELD)
    const before = (await world.call('GET', '/v1/executions')).body.total_count
    const gone = new AbortController()
    const answer = send(world.gatepass, body, { headers, signal: gone.signal })
    await running
    gone.abort()
    await answer.catch(() => {})
    await until(async () => (await world.call('GET', '/v1/executions')).body.total_count > before)
    expect(await endOfNewest()).toMatchObject({ outcome: 'error', entry_point: 'mcp' })
    finish('too late')
  })
})

test('at shutdown streams end and running calls finish', async () => {
  hold()
  await using other = await startWorld({
    gatepass: { mode: 'development' },
    worker: {
      toolkit: { name: 'Held', version: '1.0.0' },
      tools: [
        {
          name: 'Wait',
          description: 'Waits until the server stops.',
          async run() {
            void other.gatepass.close()
            await stream.text()
            return { value: 'finished' }
          },
        },
      ],
    },
  })
  const headers = await openSession(other.gatepass)
  const stream = await send(other.gatepass, undefined, { method: 'GET', headers })
  const { body } = await exchange(other.gatepass, legacy('tools/call', HELD), { headers })
  expect(body.result.content).toEqual([{ type: 'text', text: 'finished' }])
})
