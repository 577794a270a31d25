import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Broker } from '../../src/broker.ts'
import type { ToolEvent } from '../../src/tools/backend.ts'
import type { McpSession } from '../../src/tools/mcp/session.ts'
import { leaseSession } from '../../src/tools/mcp/sessions.ts'
import { digest } from '../digest.ts'
import { demoMcpTools, type FakeMcpTool } from '../fake-mcp-server.ts'
import { type McpWorld, startMcpWorld } from '../http/mcp-world.ts'
import { approve, providerBody } from '../http/world.ts'
import { answer, answerJson } from '../loopback.ts'

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }))

/** Waits until the condition holds; the test's own time limit bounds it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10)
}

describe.each(['2025', 'stateless', '2026'] as const)('a server of the protocol %s', (protocol) => {
  let world: McpWorld

  beforeAll(async () => {
    world = await startMcpWorld({ mcp: { protocol, pageSize: 2 } })
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
  })

  test('is registered with all pages of its tools', async () => {
    expect(world.worker).toMatchObject({ status: 201, body: { type: 'mcp', synced_at: expect.any(String) } })
    expect(world.worker.body.sync_error).toBeUndefined()
    const { body } = await world.call('GET', '/v1/workers/demo/tools?limit=100')
    expect(body.items.map((one: { fully_qualified_name: string }) => one.fully_qualified_name)).toEqual(
      demoMcpTools().map(({ name }) => `Demo.${name}@1.2.3`),
    )
  })

  test('runs a tool', async () => {
    const { body } = await world.execute('Demo.add', { input: { a: 2, b: 3 } })
    expect(body).toMatchObject({ success: true, output: { value: { sum: 5 } } })
    const echoed = await world.execute('Demo.echo', { input: { text: 'hé' } })
    expect(echoed.body.output.value).toEqual({ text: 'hé' })
  })

  test('says how a tool failed, with all it said', async () => {
    const { body } = await world.execute('Demo.fail')
    expect(body).toMatchObject({
      success: false,
      output: { error: { kind: 'TOOL_RUNTIME_FATAL', message: 'It went wrong.', can_retry: false } },
    })
    expect((await world.run('fail')).outcome).toMatchObject({
      mcpResult: { isError: true, content: text('It went wrong.') },
    })
  })

  test('tells of progress', async () => {
    const events: ToolEvent[] = []
    const { outcome } = await world.run('count', { onEvent: (event) => void events.push(event) })
    expect(outcome).toMatchObject({ outcome: 'value', value: { counted: 3 } })
    const said = events.filter(({ data }) => /^at /.test((data as { message?: string }).message ?? ''))
    expect(said).toEqual(
      [1, 2, 3].map((progress) => ({
        kind: 'progress',
        data: { progress, total: 3, message: `at ${progress}` },
      })),
    )
  })

  test('hears of a cancellation', async () => {
    const caller = new AbortController()
    const running = world.run('wait', { signal: caller.signal })
    await until(() => world.mcp.calls.at(-1)?.tool === 'wait')
    caller.abort()
    expect((await running).outcome).toMatchObject({ outcome: 'error', isOwn: true })
    // without a session the SDK's server cannot match a cancellation to its call
    await until(() =>
      protocol === 'stateless'
        ? world.mcp.methods().includes('notifications/cancelled')
        : world.mcp.cancelled.includes('wait'),
    )
    expect((await world.execute('Demo.echo')).body.success).toBe(true)
  })

  test('is well', async () => {
    const { body } = await world.call('GET', '/v1/workers/demo/health')
    expect(body).toEqual({ id: 'demo', enabled: true, healthy: true })
  })
})

describe('sessions', () => {
  test('are kept for a user, and shared with nobody', async () => {
    await using world = await startMcpWorld()
    await world.execute('Demo.echo', { user_id: 'ada' })
    const opened = world.mcp.sessions
    await Promise.all([1, 2, 3].map(() => world.execute('Demo.echo', { user_id: 'ada' })))
    expect(world.mcp.sessions).toBe(opened)
    await world.execute('Demo.echo', { user_id: 'bob' })
    await world.execute('Demo.echo')
    expect(world.mcp.sessions).toBe(opened + 2)
  })

  test.each([404, 400])(
    'that the server forgot are begun anew after its %i, and the tool is called once',
    async (status) => {
      await using world = await startMcpWorld()
      await world.execute('Demo.echo')
      const forgotten = world.mcp.requests.at(-1)?.headers['mcp-session-id']
      world.mcp.behaviour.intercept = ({ headers }, res) => {
        if (headers['mcp-session-id'] !== forgotten) return false
        answerJson(res, status, {
          jsonrpc: '2.0',
          id: null,
          error: { code: -32_000, message: 'No such session' },
        })
        return true
      }
      const calls = world.mcp.calls.length
      expect((await world.execute('Demo.echo')).body.success).toBe(true)
      expect(world.mcp.calls.length).toBe(calls + 1)
    },
  )

  test('that the server forgets at once are not begun for ever', async () => {
    await using world = await startMcpWorld({ settings: { retry: 3 } })
    await world.execute('Demo.echo')
    const before = world.mcp.sessions
    world.mcp.behaviour.intercept = ({ json }, res) => {
      if ((json as { method?: string })?.method !== 'tools/call') return false // JSON-RPC
      answerJson(res, 404, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_001, message: 'Session not found' },
      })
      return true
    }
    const { body } = await world.execute('Demo.echo')
    expect(body.output.error).toMatchObject({ kind: 'UPSTREAM_RUNTIME_NOT_FOUND' })
    expect(world.mcp.sessions).toBe(before + 1)
  })

  test('make room by closing the one that has been idle longest', async () => {
    const broker = {} as Broker // it only identifies the pool
    const closed: string[] = []
    const lease = (key: string) =>
      leaseSession(broker, key, async () => {
        const session: Pick<McpSession, 'close'> = { close: () => void closed.push(key) }
        return session as McpSession // the pool uses nothing else of it
      })
    const [first, second] = [await lease('first'), await lease('second')]
    second.end(true)
    first.end(true)
    for (let i = 2; i < 256; i++) await lease(`in use ${i}`)
    expect(closed).toEqual([])
    await lease('one more')
    expect(closed).toEqual(['second'])
  })

  test('of an id that no header can carry are refused', async () => {
    await using world = await startMcpWorld({ mcp: { protocol: 'stateless' } })
    world.mcp.behaviour.intercept = (_, res) => {
      res.setHeader('mcp-session-id', 'x'.repeat(20_000))
      return false
    }
    expect((await world.execute('Demo.echo')).body.success).toBe(false)
    expect(world.mcp.calls).toEqual([])
  })

  test('of the catalogue and of health are ended', async () => {
    await using world = await startMcpWorld()
    await world.call('GET', '/v1/workers/demo/health')
    await until(() => world.mcp.liveSessions() === 0)
    expect(world.mcp.sessions).toBe(2)
  })

  test('listen to no stream of the server’s own accord', async () => {
    await using world = await startMcpWorld()
    await world.execute('Demo.echo')
    expect(world.mcp.requests.filter(({ method }) => method === 'GET')).toEqual([])
  })
})

describe('what a call carries', () => {
  const wanting = (_meta: Record<string, unknown>): FakeMcpTool[] =>
    demoMcpTools().map((tool) => (tool.name === 'who_am_i' ? { ...tool, _meta } : tool))

  async function withProvider(world: McpWorld): Promise<void> {
    await world.call('POST', '/v1/admin/auth_providers', providerBody('third', world.as))
  }

  async function connect(world: McpWorld, user_id: string): Promise<string> {
    const need = { auth_requirement: { id: 'third', oauth2: { scopes: ['read'] } }, user_id }
    await approve((await world.call('POST', '/v1/auth/authorize', need)).body.url)
    return (await world.call('POST', '/v1/auth/authorize', need)).body.context.token
  }

  test('a third party’s token in `_meta` alone, for the tool that declares it', async () => {
    const _meta = {
      securitySchemes: { third: { type: 'oauth2' } },
      securityRequirements: [{ third: ['read'] }],
    }
    await using world = await startMcpWorld({ mcp: { tools: wanting(_meta) }, as: { userInfo: 'ok' } })
    await withProvider(world)
    const asked = await world.execute('Demo.who_am_i', { user_id: 'ada' })
    expect(asked.status).toBe(403)
    const tokens = { ada: await connect(world, 'ada'), bob: await connect(world, 'bob') }
    for (const user_id of ['ada', 'bob'] as const) {
      const { body } = await world.execute('Demo.who_am_i', { user_id })
      expect(body.output.value).toEqual({ header: null, meta: digest(tokens[user_id]), user_id })
    }
    const { meta, args } = world.mcp.calls.at(-1) ?? {}
    expect(meta).toEqual({
      arcade_context: {
        authorization: expect.objectContaining({
          token: tokens.bob,
          token_type: expect.any(String),
          provider_id: 'third',
        }),
        secrets: [],
        metadata: [],
        user_id: 'bob',
      },
    })
    expect(args).toEqual({})
    await world.execute('Demo.echo', { user_id: 'bob', input: { text: 'x' } })
    expect(world.mcp.calls.at(-1)).toMatchObject({ meta: {}, args: { text: 'x' } })
  })

  test('under the name the operator gave, with secrets', async () => {
    await using world = await startMcpWorld({
      settings: {
        token_meta: 'com.example/context',
        requirements: { tools: { echo: { secrets: ['API_KEY'] } } },
      },
    })
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'the-value-of-the-key' })
    await world.execute('Demo.echo', { user_id: 'ada' })
    expect(world.mcp.calls.at(-1)?.meta).toEqual({
      'com.example/context': {
        secrets: [{ key: 'API_KEY', value: 'the-value-of-the-key' }],
        metadata: [],
        user_id: 'ada',
      },
    })
  })

  test('headers with secrets, which no answer shows', async () => {
    const told: FakeMcpTool = {
      name: 'tell',
      run: async (_, { sdk }) => ({ headers: sdk.http?.req?.headers.get('x-api-key') }),
    }
    await using world = await startMcpWorld({
      mcp: { tools: [told] },
      settings: {
        headers: { 'X-Api-Key': `key \${secret:KEY}` },
        secrets: { KEY: 'a-secret-of-the-worker' },
      },
    })
    const { body } = await world.execute('Demo.tell')
    expect(
      world.mcp.requests.every(({ headers }) => headers['x-api-key'] === 'key a-secret-of-the-worker'),
    ).toBe(true)
    expect(body.output.value).toEqual({ headers: 'key [redacted]' })
    expect(JSON.stringify(world.worker.body)).not.toContain('a-secret-of-the-worker')
    await world.call('PATCH', '/v1/workers/demo', { mcp: { secrets: { KEY: null } } })
    const without = await world.call('GET', '/v1/workers/demo')
    expect(without.body.sync_error).toContain('KEY')
  })
})

describe('a call that gets no answer', () => {
  const callsOf = (world: McpWorld, name: string) =>
    world.mcp.calls.filter(({ tool }) => tool === name).length

  test('ends in time, and the tool hears of it', async () => {
    await using world = await startMcpWorld({ settings: { timeout: 8 } })
    const { body } = await world.execute('Demo.wait')
    expect(body.output.error).toMatchObject({ kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', can_retry: false })
    await until(() => world.mcp.cancelled.includes('wait'))
  })

  test.each([
    ['is not repeated when it was sent', 'echo', 1],
    ['is repeated when the tool may be called twice', 'add', 2],
  ])('%s', async (_, name, times) => {
    await using world = await startMcpWorld({ settings: { retry: 2 } })
    let failures = 0
    world.mcp.behaviour.intercept = ({ json }, res) => {
      if ((json as { method?: string })?.method !== 'tools/call' || failures > 0) return false
      failures++
      world.mcp.calls.push({ tool: name, args: {}, meta: {}, token: undefined })
      answer(res, 503, 'text/plain', 'later', { 'retry-after': '1' })
      return true
    }
    const { body } = await world.execute(`Demo.${name}`, { input: { a: 1, b: 2 } })
    expect(callsOf(world, name)).toBe(times)
    expect(body.success).toBe(times === 2)
    if (times === 1)
      expect(body.output.error).toMatchObject({ kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', can_retry: true })
  })

  test('is repeated when only the handshake failed', async () => {
    await using world = await startMcpWorld({ settings: { retry: 2 } })
    let failures = 0
    world.mcp.behaviour.intercept = ({ json }, res) => {
      if (
        !['server/discover', 'initialize'].includes((json as { method?: string })?.method ?? '') ||
        failures++ > 0
      )
        return false
      answer(res, 502, 'text/plain', 'bad gateway')
      return true
    }
    expect((await world.execute('Demo.echo')).body.success).toBe(true)
    expect(failures).toBeGreaterThan(1)
    expect(callsOf(world, 'echo')).toBe(1)
  })

  test('yet, because the server closed the stream for now, is asked for again where it left off', async () => {
    await using world = await startMcpWorld()
    let id: unknown
    world.mcp.behaviour.intercept = ({ method, json, headers }, res) => {
      const call = json as { method?: string; id?: unknown } | undefined
      const isResumed = method === 'GET' && headers['last-event-id'] === 'event-1'
      if (call?.method !== 'tools/call' && !isResumed) return false
      id ??= call?.id
      const result = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: '"resumed"' }] } }
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.end(isResumed ? `data: ${JSON.stringify(result)}\n\n` : 'id: event-1\nretry: 10\ndata:\n\n')
      return true
    }
    const { body } = await world.execute('Demo.echo')
    expect(body.output.value).toBe('resumed')
    expect(world.mcp.methods().filter((one) => one === 'tools/call')).toHaveLength(1)
  })

  test('says that nobody is there', async () => {
    await using world = await startMcpWorld()
    await world.mcp.close()
    const { body } = await world.execute('Demo.echo')
    expect(body.output.error).toMatchObject({
      kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
      can_retry: true,
    })
    expect((await world.call('GET', '/v1/workers/demo/health')).body).toMatchObject({ healthy: false })
  })
})
