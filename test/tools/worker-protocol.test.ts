import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createOutgoing, type Outgoing } from '../../src/egress/outgoing.ts'
import {
  invokeWorker,
  type WorkerCall,
  type WorkerEndpoint,
  workerCatalogue,
  workerHealth,
} from '../../src/tools/arcade/worker-protocol.ts'
import type { ToolAnswer } from '../../src/tools/tool-answer.ts'
import { WorkerFault } from '../../src/tools/worker-fault.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { answerJson, listen } from '../loopback.ts'
import { freePort } from '../ports.ts'
import { shortest } from '../shortest.ts'
import { until } from '../until.ts'

const ISSUER = 'https://gatepass.example'
const SECRET = 'worker-secret'
const ISO = '2026-01-02T03:04:05.000Z'

let outgoing: Outgoing
let worker: FakeWorker
beforeEach(async () => {
  outgoing = createOutgoing({ allowedHosts: ['127.0.0.1'] })
  worker = await startFakeWorker({ secret: SECRET })
})
afterEach(async () => {
  await outgoing.close()
  await worker.close()
})

function endpoint(change: Partial<WorkerEndpoint> = {}): WorkerEndpoint {
  return { uri: worker.url, issuer: ISSUER, secret: SECRET, timeoutSeconds: 60, retry: 0, ...change }
}

function call(
  name: string,
  inputs: Record<string, unknown> = {},
  context: WorkerCall['context'] = {},
): WorkerCall {
  const tool = { name, toolkit: 'Demo', version: '1.0.0' }
  return { runId: 'run_1', executionId: 'exec_1', createdAt: ISO, tool, inputs, context }
}

function invoke(name: string, inputs: Record<string, unknown> = {}, change: Partial<WorkerEndpoint> = {}) {
  return invokeWorker(outgoing, endpoint(change), call(name, inputs))
}

function errorOf(answer: ToolAnswer) {
  if (answer.outcome !== 'error') throw new Error(`the outcome is ${answer.outcome}`)
  return answer.error
}

/** A tool whose worker answers outside the protocol. */
function raw(status: number, body: string, headers: Record<string, string> = {}): WorkerTool {
  const type = 'application/json'
  return { name: 'Raw', description: '', run: async () => ({ raw: { status, type, body, headers } }) }
}

describe('a call', () => {
  test('carries the context, and a short-lived token of its own', async () => {
    const context = {
      authorization: { token: 'at_1', user_info: { sub: '9' } },
      secrets: [{ key: 'API_KEY', value: 'k' }],
      metadata: [{ key: 'client_id', value: 'c' }],
      user_id: 'u-1',
    }
    const answer = await invokeWorker(
      outgoing,
      endpoint({ uri: `${worker.url}/` }),
      call('Echo', { text: 'hi' }, context),
    )
    expect(answer).toMatchObject({ outcome: 'value', value: { inputs: { text: 'hi' } }, logs: [] })
    expect(answer.durationMs).toBeGreaterThanOrEqual(0)
    expect(answer.finishedAt).toMatch(/Z$/)
    const [invocation] = worker.invocations
    expect(invocation?.call).toEqual({
      run_id: 'run_1',
      execution_id: 'exec_1',
      created_at: ISO,
      tool: { name: 'Echo', toolkit: 'Demo', version: '1.0.0' },
      inputs: { text: 'hi' },
      context,
    })
    const { iss, aud, ver, iat = 0, exp = 0 } = invocation?.claims ?? {}
    expect({ iss, aud, ver }).toEqual({ iss: ISSUER, aud: 'worker', ver: '1' })
    expect(exp - iat).toBeLessThanOrEqual(60)
    expect(exp).toBeGreaterThan(Date.now() / 1000)
  })

  test('carries an id of its own each time, so that a worker knows a replay', async () => {
    for (let times = 0; times < 3; times++) await invoke('Echo', { text: 'hi' })
    const ids = worker.invocations.map(({ claims }) => claims.jti)
    expect(ids.every((id) => typeof id === 'string' && id.length >= 16)).toBe(true)
    expect(new Set(ids).size).toBe(3)
  })

  test.each<[string, Record<string, unknown>, object]>([
    ['Null', {}, { outcome: 'value', value: null, logs: [] }],
    ['Array', {}, { outcome: 'value', value: [1, 'two', { three: 3 }] }],
    ['Leak', { in: 'logs' }, { logs: [{ level: 'info', message: 'token is ' }] }],
    ['Artifact', {}, { outcome: 'artifact', artifact: { contentType: 'text/csv', size: 1234 } }],
  ])('of %s %j is answered', async (name, inputs, expected) => {
    expect(await invoke(name, inputs)).toMatchObject(expected)
  })

  test("passes on a worker's requirement without its link", async () => {
    expect(await invoke('Phish')).toMatchObject({
      outcome: 'authorization_requested',
      requested: { id: 'auth_evil', status: 'pending' },
    })
    expect(JSON.stringify(await invoke('Phish'))).not.toContain('evil.example')
  })
})

describe("a tool's error", () => {
  test('is read in full', async () => {
    const sent = {
      kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
      message: 'Slow down.',
      developer_message: 'GitHub said 429',
      can_retry: true,
      additional_prompt_content: 'Wait.',
      retry_after_ms: 30000,
      status_code: 429,
      stacktrace: 'at call()',
      extra: { limit: 60 },
    }
    expect(await invoke('Fail', sent)).toMatchObject({
      outcome: 'error',
      error: {
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        message: 'Slow down.',
        developerMessage: 'GitHub said 429',
        canRetry: true,
        additionalPromptContent: 'Wait.',
        retryAfterMs: 30000,
        statusCode: 429,
        stacktrace: 'at call()',
        extra: { limit: 60 },
      },
    })
  })

  test.each([
    ['tool_runtime_retry', 'TOOL_RUNTIME_RETRY'],
    ['tool_serialization', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['tool_made_up', 'UNKNOWN'],
    ['', 'UNKNOWN'],
    [7, 'UNKNOWN'],
    [null, 'UNKNOWN'],
  ])('of the kind %j is %s', async (kind, known) => {
    expect(errorOf(await invoke('Fail', { kind })).kind).toBe(known)
  })

  test('keeps no member of a wrong type', async () => {
    const wrong = {
      message: 7,
      can_retry: 'yes',
      retry_after_ms: -1,
      status_code: 'x',
      stacktrace: [],
      extra: 'x',
    }
    expect(errorOf(await invoke('Fail', wrong))).toEqual({
      kind: 'TOOL_RUNTIME_FATAL',
      message: 'The tool failed without saying why.',
      canRetry: false,
    })
  })

  test('has its stack traces apart from its further members, also those that are not texts', async () => {
    const extra = { limit: 60, stack: 'at call()', within: { traceback: [{ toString: 1 }, 'at run()'] } }
    expect(errorOf(await invoke('Fail', { extra }))).toMatchObject({
      extra: { limit: 60, within: {} },
      stacktrace: 'at call()\n{"toString":1}\nat run()',
    })
  })

  test('is whole milliseconds', async () => {
    expect(errorOf(await invoke('Fail', { retry_after_ms: 1500.2 })).retryAfterMs).toBe(1501)
  })
})

describe('a worker that', () => {
  /** Lets the time limit pass once the worker has the call, which must not be repeated then. */
  async function tooLate(run: () => Promise<ToolAnswer>): Promise<ToolAnswer> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const answer = run()
      await until(() => worker.invocations.length === 1)
      vi.advanceTimersByTime(endpoint().timeoutSeconds * 1000)
      return await answer
    } finally {
      vi.useRealTimers()
    }
  }
  const CASES: [string, () => Promise<ToolAnswer>, object][] = [
    [
      'answers too late',
      () => tooLate(() => invoke('Slow', { ms: 600_000 }, { retry: 3 })),
      { kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', canRetry: false },
    ],
    [
      'never answers',
      () => tooLate(() => behaving('hang')),
      { kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', canRetry: false },
    ],
    ['hangs up', () => behaving('drop'), { kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED', canRetry: false }],
    [
      'redirects',
      () => behaving('redirect'),
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED', canRetry: false },
    ],
    [
      'fails',
      () => behaving('500'),
      { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', canRetry: false, statusCode: 500 },
    ],
    [
      'is down',
      () => behaving('503'),
      { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', canRetry: true, statusCode: 503 },
    ],
    ['answers HTML', () => behaving('html'), { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE', canRetry: false }],
    ['answers half an object', () => invoke('BadJson'), { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' }],
    [
      'answers too much',
      () => invoke('Huge', { bytes: 5_000_000 }),
      { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' },
    ],
    [
      'has another secret',
      () => invoke('Echo', {}, { secret: 'another-secret' }),
      { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', canRetry: false, statusCode: 401 },
    ],
    ['has no such tool', () => invoke('Nothing'), { kind: 'UPSTREAM_RUNTIME_NOT_FOUND', statusCode: 404 }],
    [
      'is asked too often',
      () => answering(raw(429, '{}', { 'retry-after': '7' })),
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', canRetry: true, retryAfterMs: 7000, statusCode: 429 },
    ],
    [
      'refuses the request',
      () => answering(raw(400, '{}')),
      { kind: 'UPSTREAM_RUNTIME_BAD_REQUEST', canRetry: false, statusCode: 400 },
    ],
    ['may not be reached', () => invoke('Echo', {}, { uri: 'http://10.0.0.1' }), { canRetry: false }],
  ]
  function behaving(invokes: FakeWorker['behaviour']['invoke']) {
    worker.behaviour.invoke = invokes
    return invoke('Echo', {}, { retry: 3 })
  }
  function answering(tool: WorkerTool) {
    worker.tools = [tool]
    return invoke('Raw')
  }

  test.each(CASES)('%s', async (_, run, expected) => {
    expect(errorOf(await run())).toMatchObject(expected)
    expect(worker.invocations.length).toBeLessThanOrEqual(1) // a request that was sent is not repeated
  })

  test.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no success', '{"output": {"value": 1}}'],
    ['an output that is a text', '{"success": true, "output": "x"}'],
    ['an artifact that is none', '{"success": true, "output": {"artifact": {"url": "x"}}}'],
    ['too deep a value', `{"success": true, "output": {"value": ${'['.repeat(5000)}${']'.repeat(5000)}}}`],
  ])('answers %s', async (_, body) => {
    expect(errorOf(await answering(raw(200, body)))).toMatchObject({
      kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
      canRetry: false,
    })
  })

  test('fails without an error', async () => {
    expect(errorOf(await answering(raw(200, '{"success": false, "output": null}'))).kind).toBe('UNKNOWN')
  })

  test('writes a byte order mark', async () => {
    expect(await answering(raw(200, '\uFEFF{"success": true, "output": {"value": 1}}'))).toMatchObject({
      value: 1,
    })
  })

  test('repeats the token in an error page', async () => {
    const context = { authorization: { token: 'gho_very_secret', user_info: {} } }
    const answer = await invokeWorker(outgoing, endpoint(), call('Leak', { in: 'body' }, context))
    expect(errorOf(answer).statusCode).toBe(502)
    expect(JSON.stringify(answer)).not.toContain('gho_very_secret')
  })

  test('is given up', async () => {
    const stop = new AbortController()
    const answer = invokeWorker(outgoing, endpoint(), call('Slow', { ms: 60_000 }), { signal: stop.signal })
    await until(() => worker.invocations.length === 1)
    stop.abort()
    expect(errorOf(await answer).kind).toBe('NETWORK_TRANSPORT_RUNTIME_UNMAPPED')
  })
})

describe('a worker that is not there', () => {
  test('is unreachable, and may be tried again', async () => {
    const uri = worker.url
    await worker.close()
    expect(errorOf(await invoke('Echo', {}, { uri }))).toMatchObject({
      kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
      canRetry: true,
      message: 'The worker of the tool could not be reached.',
    })
  })

  test('is asked again while nothing was sent', async () => {
    const port = await freePort() // no other process takes it meanwhile
    const late = new Promise<ReturnType<typeof createServer>>((resolve) => {
      setTimeout(() => {
        const body = JSON.stringify({ success: true, output: { value: 'late' } })
        const server = createServer((socket) =>
          socket.once('data', () =>
            socket.end(
              `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
            ),
          ),
        )
        server.listen(port, '127.0.0.1', () => resolve(server))
      }, 150)
    })
    const answer = await invoke('Echo', {}, { uri: `http://127.0.0.1:${port}`, retry: 4 })
    expect(answer).toMatchObject({ outcome: 'value', value: 'late' })
    ;(await late).close()
  })

  test('is asked no longer than its timeout', async () => {
    await worker.close()
    const ask = () => invoke('Echo', {}, { retry: 10, timeoutSeconds: 0.5 })
    // ten pauses take more than seven seconds
    expect(await shortest(ask, 5_000)).toBeLessThan(5_000)
  })
})

describe('the catalogue', () => {
  const catalogue = (more: Parameters<typeof endpoint>[0] = {}) =>
    workerCatalogue(outgoing, endpoint(more), { maxBytes: 1_000_000, maxSeconds: 10, owner: 'proj_1' })

  test('is a list of definitions', async () => {
    const listed = await catalogue()
    expect(listed === 'unchanged' ? [] : listed.items).toHaveLength(worker.tools.length)
  })

  test.each(['500', 'html', 'not-an-array', 'hang'] as const)(
    'that cannot be read: %s',
    async (behaviour) => {
      worker.behaviour.catalogue = behaviour
      await expect(catalogue({ timeoutSeconds: 0.3 })).rejects.toThrow(WorkerFault)
    },
  )

  test('is refused for another secret', async () => {
    await expect(catalogue({ secret: 'another-secret' })).rejects.toThrow('401')
  })
})

test('a request that only reads is made again when a gateway cannot reach the worker for a moment', async () => {
  const paths: string[] = []
  await using gateway = await listen(({ url = '' }, res) => {
    const isFirst = !paths.includes(url)
    paths.push(url)
    if (isFirst) return answerJson(res, 503, {})
    return answerJson(res, 200, url.endsWith('/tools') ? [] : { status: 'ok' })
  })
  const at = endpoint({ uri: gateway.url, retry: 1 })
  const bounds = { maxBytes: 1_000_000, maxSeconds: 10, owner: 'proj_1' }
  expect(await workerCatalogue(outgoing, at, bounds)).toMatchObject({ items: [] })
  expect(await workerHealth(outgoing, at)).toEqual({ healthy: true })
  expect(paths).toEqual(['/worker/tools', '/worker/tools', '/worker/health', '/worker/health'])
})

describe('health', () => {
  test('is asked without a token', async () => {
    expect(await workerHealth(outgoing, endpoint())).toEqual({ healthy: true })
    expect(worker.requests[0]).toMatchObject({ path: '/worker/health' })
    expect(worker.requests[0]?.headers.authorization).toBeUndefined()
  })

  test.each(['500', 'hang'] as const)('that is bad says why: %s', async (health) => {
    worker.behaviour.health = health
    const answer = await workerHealth(outgoing, endpoint({ timeoutSeconds: 0.3 }))
    expect(answer).toEqual({ healthy: false, message: expect.stringMatching(/500|in time/) })
  })
})
