import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Gatepass as Client } from '../../../src/sdk/client/gatepass.ts'
import type { Serving } from '../../../src/sdk/tools/index.ts'
import { traceApp } from '../../fixtures/trace-tools.ts'
import { gate } from '../../gate.ts'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { answer, listen, record } from '../../loopback.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../../otlp-receiver.ts'

const MODULE = fileURLToPath(new URL('../../fixtures/trace-tools.ts', import.meta.url))
const USER = 'ada@example.test'
const SECRET = 'secret of the worker'
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3]

let collector: OtlpReceiver
let world: World
let worker: Serving
const clock = testClock(Math.floor(Date.now() / 1000))

beforeAll(async () => {
  collector = await startOtlpReceiver()
  world = await startWorld({
    gatepass: {
      now: clock,
      environment: {
        GATEPASS_TOOLS: MODULE,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=blue%20team',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_BSP_SCHEDULE_DELAY: '20',
        // a trace is recorded when its caller says so, and not otherwise
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      },
    },
  })
  const app = traceApp('outside')
  worker = await app.serve({ as: 'worker', secret: SECRET, port: 0 })
  const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
  expect(await world.call('POST', '/v1/workers', { id: 'outside', http })).toMatchObject({ status: 201 })
  await world.connect(USER)
})
afterAll(async () => {
  await worker.close()
  await world[Symbol.asyncDispose]()
  await collector.close()
})

function newTrace(flags = '01') {
  const traceId = randomBytes(16).toString('hex')
  const spanId = randomBytes(8).toString('hex')
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` }
}

async function run(tool: string, headers: Record<string, string>, key?: string | null) {
  const body = { tool_name: tool, user_id: USER, input: { note: 'keep this to yourself' } }
  return world.call('POST', '/v1/tools/execute', body, { headers, ...(key !== undefined && { key }) })
}

/** The spans of a trace, once its first one has arrived: it ends last. */
async function spansOf(traceId: string, first: string): Promise<readonly ReceivedSpan[]> {
  return vi.waitFor(() => {
    const spans = collector.spansOf(traceId)
    expect(spans.map(({ name }) => name)).toContain(first)
    return spans
  }, 300_000)
}

const named = (spans: readonly ReceivedSpan[], name: string) => {
  const found = spans.filter((span) => span.name === name)
  expect(found, `${name} among ${spans.map((span) => span.name)}`).toHaveLength(1)
  return found[0] as ReceivedSpan
}

describe('a run', () => {
  test('is one trace: the caller, Gatepass, the policies, the store, the provider and the worker', async () => {
    const rule = { id: 'not-other', effect: 'deny', match: { providers: ['other'] } }
    expect(await world.call('POST', '/v1/admin/policies', rule)).toMatchObject({ status: 201 })
    clock.advance(2 * 3600) // the token has expired
    const asked = world.as.requests.length
    const { traceId, spanId, traceparent } = newTrace()
    const { body } = await run('outside.Traced', { traceparent, tracestate: 'a=b', baggage: 'user=ada' })
    expect(body.output.value).toMatchObject({ held: true })
    await world.call('DELETE', '/v1/admin/policies/not-other')

    const spans = await spansOf(traceId, 'POST /v1/tools/execute')
    const request = named(spans, 'POST /v1/tools/execute')
    expect(request).toMatchObject({ kind: SERVER, parentSpanId: spanId, status: {} })
    expect(request.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/tools/execute',
      'http.response.status_code': 200,
    })
    expect(request.resource).toMatchObject({
      'service.name': 'gatepass',
      'service.version': expect.any(String),
      'deployment.environment.name': 'test',
    })

    const tool = named(spans, 'execute_tool outside:Traced:1.0.0')
    expect(tool).toMatchObject({ kind: INTERNAL, parentSpanId: request.spanId })
    expect(tool.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'outside:Traced:1.0.0',
      'gen_ai.tool.call.id': body.execution_id,
      'gatepass.outcome': 'value',
      'gatepass.worker_type': 'http',
    })

    const fetched = named(spans, 'token fetch')
    expect(fetched).toMatchObject({ kind: INTERNAL, parentSpanId: tool.spanId })
    expect(fetched.attributes).toEqual({ 'gatepass.provider': 'demo', 'gatepass.outcome': 'ready' })
    const refreshed = named(spans, 'token refresh')
    expect(refreshed.parentSpanId).toBe(fetched.spanId)
    expect(refreshed.attributes).toEqual({ 'gatepass.provider': 'demo', 'gatepass.outcome': 'usable' })
    expect(spans.filter(({ name }) => name === 'policy check').map((one) => one.attributes)).toContainEqual({
      'gatepass.provider': 'demo',
      'gatepass.outcome': 'permitted',
    })

    const atProvider = named(spans, 'POST refresh')
    expect(atProvider).toMatchObject({ kind: CLIENT, parentSpanId: refreshed.spanId })
    expect(atProvider.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'gatepass.kind': 'refresh',
      'http.request.method': 'POST',
      'http.response.status_code': 200,
    })
    const stored = named(spans, 'connections.claimRefresh')
    expect(stored).toMatchObject({ kind: CLIENT, parentSpanId: refreshed.spanId })
    expect(stored.attributes).toEqual({
      'db.system.name': 'sqlite',
      'db.operation.name': 'connections.claimRefresh',
    })
    expect(named(spans, 'audit.release').parentSpanId).toBe(tool.spanId)

    const called = named(spans, 'POST worker')
    expect(called.parentSpanId).toBe(tool.spanId)
    // the worker got it, and gave it to the tool
    expect(body.output.value.traceparent).toBe(`00-${traceId}-${called.spanId}-01`)

    // whole: each span is below another one of the trace, within its time
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    for (const span of spans.filter((one) => one !== request)) {
      const parent = byId.get(span.parentSpanId ?? '')
      expect(parent, span.name).toBeDefined()
      expect(BigInt(span.startTimeUnixNano), span.name).toBeGreaterThanOrEqual(
        BigInt(parent?.startTimeUnixNano ?? 0),
      )
      expect(BigInt(span.endTimeUnixNano), span.name).toBeLessThanOrEqual(
        BigInt(parent?.endTimeUnixNano ?? 0),
      )
    }
    // and the provider hears nothing of it
    for (const { headers } of world.as.requests.slice(asked))
      expect(Object.keys(headers)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(trace|baggage)/)]),
      )
  })

  test('the tool of each way is given the traceparent of its run', async () => {
    const { traceId, traceparent } = newTrace()
    for (const [tool, span] of [
      ['inside.Traced', 'execute_tool inside:Traced:1.0.0'],
      ['outside.Traced', 'POST worker'],
    ] as const) {
      const { body } = await run(tool, { traceparent })
      const spans = await vi.waitFor(() => {
        const found = collector.spansOf(traceId).filter(({ name }) => name === span)
        expect(found).toHaveLength(1)
        return found
      }, 300_000)
      expect(body.output.value.traceparent).toBe(`00-${traceId}-${spans[0]?.spanId}-01`)
    }
  })

  test('the SDK’s client continues the trace of the application', async () => {
    const { traceId, spanId, traceparent } = newTrace()
    const client = new Client({ baseUrl: world.gatepass.url, apiKey: world.gatepass.apiKey })
    await client.tools.execute('outside.Traced', {}, { user: USER, traceparent })
    const spans = await spansOf(traceId, 'POST /v1/tools/execute')
    expect(named(spans, 'POST /v1/tools/execute').parentSpanId).toBe(spanId)
  })

  test('of a trace that its caller does not record has no spans, and the worker is told so', async () => {
    const { traceId, traceparent } = newTrace('00')
    const before = collector.spans.length
    const { body } = await run('outside.Traced', { traceparent })
    expect(body.output.value.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`))
    const later = newTrace()
    await run('outside.Traced', { traceparent: later.traceparent })
    await spansOf(later.traceId, 'POST /v1/tools/execute')
    expect(collector.spans.slice(before).map((span) => span.traceId)).not.toContain(traceId)
  })

  test.each([
    ['no key', (traceparent: string) => run('outside.Traced', { traceparent }, null)],
    ['a key that does not exist', (traceparent: string) => run('outside.Traced', { traceparent }, 'gp_none')],
    [
      'no need of a key',
      (traceparent: string) =>
        world.call('GET', '/v1/auth/none/events', undefined, { headers: { traceparent }, key: null }),
    ],
    [
      'a browser',
      (traceparent: string) =>
        world.call('GET', '/connect/auth_none', undefined, { headers: { traceparent }, key: null }),
    ],
  ])('continues no trace for %s', async (_, ask) => {
    const { traceId, traceparent } = newTrace()
    await ask(traceparent)
    const later = newTrace()
    await run('outside.Traced', { traceparent: later.traceparent })
    await spansOf(later.traceId, 'POST /v1/tools/execute')
    expect(collector.spansOf(traceId)).toEqual([])
  })

  test.each([
    '',
    'x',
    `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`,
    `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`,
  ])('goes on with a malformed traceparent (%j)', async (traceparent) => {
    expect(await run('outside.Traced', { traceparent })).toMatchObject({ status: 200 })
  })
})

describe('work that was queued', () => {
  test('is a trace of its own, linked to the request that queued it', async () => {
    const { traceId, traceparent } = newTrace()
    const { body } = await world.call(
      'POST',
      '/v1/tools/execute',
      { tool_name: 'inside.Traced', user_id: USER, run_at: new Date((clock() + 60) * 1000).toISOString() },
      { headers: { traceparent } },
    )
    const asked = named(await spansOf(traceId, 'POST /v1/tools/execute'), 'POST /v1/tools/execute')
    clock.advance(61)
    const run = await vi.waitFor(() => named(collector.spans, 'scheduled run'), 300_000)
    expect(run).toMatchObject({ kind: INTERNAL, links: [{ traceId, spanId: asked.spanId }] })
    expect(run.traceId).not.toBe(traceId)
    const tool = named(collector.spansOf(run.traceId), 'execute_tool inside:Traced:1.0.0')
    expect(tool.parentSpanId).toBe(run.spanId)
    expect(tool.attributes['gen_ai.tool.call.id']).toBe(body.execution_id)
  })

  test('is linked from the requests that wait for one refresh', async () => {
    const [first, second] = [newTrace(), newTrace()]
    clock.advance(2 * 3600)
    const [arrived, answered] = [gate(), gate()]
    world.as.behaviour.onRefresh = async (at) => {
      if (at !== 'arrived') return
      arrived.open()
      await answered.opened
    }
    const one = run('inside.Traced', { traceparent: first.traceparent })
    await arrived.opened
    const other = run('inside.Traced', { traceparent: second.traceparent })
    // it waits before its span of the refresh can end
    await vi.waitFor(() => expect(world.gatepass.broker.refreshes.running.size).toBe(1), 300_000)
    const { runs } = await vi.waitFor(async () => {
      const { body } = await world.call('GET', '/metrics')
      const runs = /gatepass_http_requests_running (\d+)/.exec(body)?.[1]
      expect(runs).toBe('3') // and the one that asks
      return { runs }
    }, 300_000)
    expect(runs).toBe('3')
    answered.open()
    await Promise.all([one, other])
    world.as.behaviour.onRefresh = undefined
    const made = named(await spansOf(first.traceId, 'POST /v1/tools/execute'), 'token refresh')
    const awaited = named(await spansOf(second.traceId, 'POST /v1/tools/execute'), 'token refresh')
    expect(made.links).toEqual([])
    expect(awaited.links).toMatchObject([{ traceId: first.traceId, spanId: made.spanId }])
  })
})

describe('a webhook', () => {
  test('is delivered in a trace of its own, linked to the request that caused it, and carries none', async () => {
    const received = await listen(async (req, res) => {
      const { headers } = await record(req)
      carried.push(Object.keys(headers))
      answer(res, 200, 'text/plain', '')
    })
    const carried: string[][] = []
    try {
      const hook = { url: received.url, types: ['connection.deleted'] }
      expect(await world.call('POST', '/v1/webhooks', hook)).toMatchObject({ status: 201 })
      await world.connect('bob@example.test')
      const { body } = await world.call('GET', '/v1/connections?user_id=bob@example.test')
      clock.advance(60) // past the database's own clock, which says when an event is due
      const { traceId, traceparent } = newTrace()
      const path = `/v1/connections/${body.items[0].id}`
      await world.call('DELETE', path, undefined, { headers: { traceparent } })
      await vi.waitFor(() => expect(carried).toHaveLength(1), 300_000)
      expect(carried[0]).not.toContain('traceparent')
      const later = newTrace()
      await run('inside.Traced', { traceparent: later.traceparent })
      await spansOf(later.traceId, 'POST /v1/tools/execute')
      const spans = await spansOf(traceId, 'DELETE /v1/connections/{id}')
      expect(spans.map(({ name }) => name)).not.toContain('POST webhook')
      const asked = named(spans, 'DELETE /v1/connections/{id}')
      const delivery = await vi.waitFor(() => named(collector.spans, 'webhook delivery'), 300_000)
      expect(delivery).toMatchObject({ kind: INTERNAL, links: [{ traceId, spanId: asked.spanId }] })
      expect(delivery.traceId).not.toBe(traceId)
      expect(named(collector.spansOf(delivery.traceId), 'POST webhook').parentSpanId).toBe(delivery.spanId)
    } finally {
      await received.close()
    }
  })
})

describe('a call', () => {
  test('that fails says so by a word, in each of its spans', async () => {
    const { traceId, traceparent } = newTrace()
    await worker.close()
    await run('outside.Traced', { traceparent })
    const spans = await spansOf(traceId, 'POST /v1/tools/execute')
    const failed = { status: { code: 2 } }
    expect(named(spans, 'POST worker')).toMatchObject({
      ...failed,
      attributes: { 'error.type': 'unreachable' },
    })
    expect(named(spans, 'execute_tool outside:Traced:1.0.0')).toMatchObject({
      ...failed,
      attributes: { 'error.type': 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE' },
    })
  })
})

test('nothing that was sent names a user, an argument, a token or a key', async () => {
  const sent = collector.requests.map(({ body }) => body.toString()).join()
  expect(sent.includes('execute_tool')).toBe(true)
  const unsaid = [USER, 'keep this to yourself', SECRET, world.gatepass.apiKey, world.as.clientSecret]
  expect(unsaid.filter((text) => sent.includes(text))).toEqual([])
  for (const { headers } of collector.requests) expect(headers['x-tenant']).toBe('blue team')
})
