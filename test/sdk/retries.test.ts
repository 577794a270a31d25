import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ClientOptions, Gatepass } from '../../src/sdk/client/gatepass.ts'

// When the client sends a request again, after which pause and with which key: against scripted answers, with the time of
// fake timers and no randomness in the pauses.

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: 1_800_000_000_000 })
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A function makes an answer whose body the client may leave early, which a clone of a response does not allow. */
type Scripted = Response | (() => Response) | Error | 'no answer'

interface Sent {
  readonly method: string
  readonly path: string
  readonly key: string | null
  /** Milliseconds since the beginning. */
  readonly at: number
}

const refused = (status: number, name: string, headers: Record<string, string> = {}) =>
  Response.json({ name, message: 'Refused.' }, { status, headers })
const page = () => Response.json({ items: [], total_count: 0, offset: 0, limit: 100, page_count: 0 })
const ran = () =>
  Response.json({ execution_id: 'exec_1', duration: 1, finished_at: '2027-01-01T00:00:00Z', success: true })

/** Runs `act` with a client to which the script answers, the last answer as often as it asks. */
async function play(
  script: readonly Scripted[],
  act: (client: Gatepass) => Promise<unknown>,
  options: ClientOptions = {},
) {
  const begun = Date.now()
  const sent: Sent[] = []
  const answers = [...script]
  const client = new Gatepass({
    baseUrl: 'http://gatepass.test/base/',
    apiKey: 'key',
    async fetch(url, { method = '', headers, signal } = {}) {
      const path = String(url).replace('http://gatepass.test/base', '')
      sent.push({ method, path, key: new Headers(headers).get('idempotency-key'), at: Date.now() - begun })
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      if (answer instanceof Response) return answer.clone()
      if (typeof answer === 'function') return answer()
      if (answer instanceof Error) throw answer
      return new Promise((_, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true }),
      )
    },
    ...options,
  })
  let isOver = false
  const ended = act(client)
    .then(
      (value) => ({ value, error: undefined }),
      (error) => ({ value: undefined, error }),
    )
    .finally(() => {
      isOver = true
    })
  // not `runAllTimersAsync`: a library that another file has loaded into this process may set timers without end
  for (let steps = 0; !isOver && steps < 1_000; steps++) await vi.advanceTimersToNextTimerAsync()
  return { sent, at: sent.map(({ at }) => at), ...(await ended) }
}

const read = (client: Gatepass) => client.executions.list().toArray()
const execute = (client: Gatepass) => client.tools.execute('Tool')
const signal = () => new AbortController().signal

/** What the test shows, the answers, what is called, when requests are sent, and the code of the error. */
type Row = [string, readonly Scripted[], (client: Gatepass) => Promise<unknown>, readonly number[], string?]

/** JSON that is no answer of a Gatepass. */
const OF_ANOTHER_SERVER: readonly (readonly [string, unknown])[] = [
  ['an object of another server', { status: 'ok' }],
  ['an array', []],
  ['null', null],
]

const NOT_REPEATED = [
  [400, 'invalid_request'],
  [401, 'invalid_authorization'],
  [403, 'insufficient_role'],
  [404, 'not_found'],
  [409, 'outcome_unknown'],
  [410, 'answer_not_kept'],
  [501, 'not_implemented'],
] as const

test.each<Row>([
  [
    'reads again after 503, with a growing pause',
    [refused(503, 'store_unavailable')],
    read,
    [0, 500, 1500],
    'store_unavailable',
  ],
  ['reads again after 500', [refused(500, 'internal_error'), page()], read, [0, 500]],
  ['reads again after 408', [refused(408, 'invalid_request'), page()], read, [0, 500]],
  [
    'reads again after a page of a load balancer',
    [new Response('<h1>Bad gateway</h1>', { status: 502 }), page()],
    read,
    [0, 500],
  ],
  [
    'waits as Retry-After says',
    [refused(429, 'rate_limited', { 'retry-after': '7' }), page()],
    read,
    [0, 7000],
  ],
  [
    'waits until the date in Retry-After',
    [refused(503, 'store_unavailable', { 'retry-after': new Date(1_800_000_003_000).toUTCString() }), page()],
    read,
    [0, 3000],
  ],
  [
    'leaves a long Retry-After to the caller',
    [refused(429, 'rate_limited', { 'retry-after': '61' })],
    read,
    [0],
    'rate_limited',
  ],
  [
    'reads again after a failure of the network',
    [new TypeError('fetch failed')],
    read,
    [0, 500, 1500],
    'connection_error',
  ],
  ['reads again after a deadline', ['no answer'], read, [0, 60_500, 121_500], 'timeout'],
  ...NOT_REPEATED.map(
    ([status, name]): Row => [`does not repeat after ${status}`, [refused(status, name)], read, [0], name],
  ),
  [
    'does not repeat an answer of another server',
    [new Response('<h1>Welcome</h1>')],
    read,
    [0],
    'unexpected_answer',
  ],
  ...OF_ANOTHER_SERVER.map(
    ([what, body]): Row => [
      `takes ${what} for no list`,
      [Response.json(body)],
      read,
      [0],
      'unexpected_answer',
    ],
  ),
  ...OF_ANOTHER_SERVER.map(
    ([what, body]): Row => [
      `takes ${what} for no run`,
      [Response.json(body)],
      execute,
      [0],
      'unexpected_answer',
    ],
  ),
  ['runs a tool again under its key', [refused(503, 'store_unavailable'), ran()], execute, [0, 500]],
  ['runs a tool again after a lost answer', [new TypeError('fetch failed'), ran()], execute, [0, 500]],
  [
    'does not run again what a signal may end',
    [refused(503, 'store_unavailable')],
    (client) => client.tools.execute('Tool', {}, { signal: signal() }),
    [0],
    'store_unavailable',
  ],
  [
    'does not run again a lost answer that a signal may end',
    [new TypeError('fetch failed')],
    (client) => client.tools.execute('Tool', {}, { signal: signal() }),
    [0],
    'connection_error',
  ],
  [
    'runs it again after 429, which says that nothing was done',
    [refused(429, 'rate_limited'), ran()],
    (client) => client.tools.execute('Tool', {}, { signal: signal() }),
    [0, 500],
  ],
  [
    'makes no second key',
    [refused(503, 'store_unavailable')],
    (client) => client.admin.keys.create({ role: 'caller' }),
    [0],
    'store_unavailable',
  ],
  [
    'does not run a stream again',
    [new TypeError('fetch failed')],
    (client) => client.tools.stream('Tool').result,
    [0],
    'connection_error',
  ],
  [
    'repeats as often as the call says',
    [refused(503, 'store_unavailable')],
    (client) => client.tools.get('Tool', { maxRetries: 4 }),
    [0, 500, 1500, 3500, 7500],
    'store_unavailable',
  ],
  [
    'takes the deadline of the call',
    ['no answer'],
    (client) => client.tools.get('Tool', { maxRetries: 0, timeoutMs: 50 }),
    [0],
    'timeout',
  ],
  [
    'gives back what the provider’s API answers',
    [new Response('Later', { status: 503 })],
    (client) => client.fetch('ada', 'demo', '/x'),
    [0],
  ],
  [
    'sends a read to the API again after a refusal of Gatepass',
    [refused(503, 'provider_unavailable', { 'x-gatepass-error': 'provider_unavailable' }), new Response()],
    (client) => client.fetch('ada', 'demo', '/x'),
    [0, 500],
  ],
  [
    'sends no write to the API again',
    [refused(503, 'provider_unavailable', { 'x-gatepass-error': 'provider_unavailable' })],
    (client) => client.fetch('ada', 'demo', '/x', { method: 'POST', body: '1' }),
    [0],
    'provider_unavailable',
  ],
  [
    'sends no stream to the API again',
    [new TypeError('fetch failed')],
    (client) => client.fetch('ada', 'demo', '/x', { method: 'PUT', body: new Blob(['1']).stream() }),
    [0],
    'connection_error',
  ],
])('%s', async (_, script, act, at, code) => {
  const played = await play(script, act)
  expect(played.at).toEqual(at)
  expect(played.error?.code).toBe(code)
  if (code !== undefined) expect(Gatepass.isError(played.error)).toBe(true)
})

describe('idempotency keys', () => {
  const failing = [refused(503, 'store_unavailable')]

  test('one key goes over all attempts of a call, another with the next call', async () => {
    const first = await play(failing, execute)
    const second = await play(failing, execute)
    const keys = [...new Set([...first.sent, ...second.sent].map(({ key }) => key))]
    expect(first.sent).toHaveLength(3)
    expect(keys).toHaveLength(2)
    expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)])
  })

  test('the caller’s key is taken, also beside a signal', async () => {
    const options = { idempotencyKey: 'mine', signal: signal() }
    const { sent } = await play(failing, (client) => client.tools.execute('Tool', {}, options))
    expect(sent.map(({ key }) => key)).toEqual(['mine', 'mine', 'mine'])
  })

  test('any letters are sent as UTF-8; a key that no header may hold is refused before', async () => {
    const execute = (idempotencyKey: string) =>
      play([ran()], (client) => client.tools.execute('Tool', {}, { idempotencyKey }))
    const [sent, ...more] = (await execute('welcome-李雷')).sent
    expect(Buffer.from(sent?.key ?? '', 'latin1').toString()).toBe('welcome-李雷')
    expect(more).toEqual([])
    expect(await execute('a\0b')).toMatchObject({ sent: [], error: expect.any(TypeError) })
    expect(await execute('a ')).toMatchObject({ sent: [], error: { code: 'invalid_request' } })
  })

  test('none goes with a signal, with a stream, and with what has no effect', async () => {
    for (const act of [
      (client: Gatepass) => client.tools.execute('Tool', {}, { signal: signal() }),
      (client: Gatepass) => client.tools.stream('Tool').result,
      read,
    ])
      expect((await play(failing, act)).sent.map(({ key }) => key)).not.toContainEqual(expect.any(String))
  })
})

test('run schedules nothing, since it waits for the result', async () => {
  const options: object = { runAt: new Date() } // as JavaScript may pass it
  const { sent, error } = await play([ran(), refused(400, 'invalid_request')], (client) =>
    client.tools.run('Tool', {}, options),
  )
  expect(sent).toEqual([])
  expect(error).toEqual(new TypeError('run waits for the result: use execute with runAt.'))
})

test('events that another server answers without end are an error at last', async () => {
  const pending = { id: 'auth_1', status: 'pending', scopes: [], url: 'http://gatepass.test/c', context: {} }
  const { sent, error } = await play([Response.json(pending), new Response('<p>Hello')], async (client) => {
    const authorization = await client.authorization('auth_1')
    for await (const _ of authorization.events());
  })
  expect(sent).toHaveLength(22)
  expect(error).toMatchObject({ code: 'unexpected_answer' })
})

describe('an authorization', () => {
  const state = (status: string) => ({ id: 'auth_1', status, scopes: [], url: 'http://gatepass.test/c' })
  const polled = (status: string) => Response.json(state(status))
  const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
  const pending = event('status', state('pending'))
  const completed = () => new Response(event('status', state('completed')))
  /** A stream that ends at once. */
  const short = () => new Response(pending)
  /** A stream with a refusal in it. */
  const failing = () =>
    new Response(pending + event('error', { name: 'store_unavailable', message: 'Later.' }))

  const wait = async (client: Gatepass, timeoutMs?: number) => {
    const { status } = await (await client.authorization('auth_1')).wait({ timeoutMs })
    return status
  }
  const follow = async (client: Gatepass, signal?: AbortSignal) => {
    const seen: string[] = []
    for await (const { status } of (await client.authorization('auth_1')).events({ signal }))
      seen.push(status)
    return seen
  }

  test('is waited for after Retry-After, not beyond the deadline', async () => {
    const late = refused(429, 'rate_limited', { 'retry-after': '7' })
    expect(await play([polled('pending'), late, polled('completed')], wait)).toMatchObject({
      at: [0, 0, 7000],
      value: 'completed',
    })
    const begun = Date.now()
    const { at, error } = await play([polled('pending'), late], (client) => wait(client, 3000))
    expect(at).toEqual([0, 0])
    expect(error).toMatchObject({ code: 'authorization_timeout', cause: { code: 'rate_limited' } })
    expect(Date.now() - begun).toBe(3000)
  })

  test('is followed with growing pauses while Gatepass holds no stream, however long that lasts', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort('enough'), 300_000)
    const { at, error } = await play([polled('pending'), short], (client) =>
      follow(client, controller.signal),
    )
    expect(at.slice(0, 8)).toEqual([0, 0, 500, 1500, 3500, 7500, 15_500, 23_500])
    expect(at.at(-1)).toBeGreaterThan(290_000)
    expect(error).toBe('enough')
  })

  test('is followed again at once after a stream that was held', async () => {
    const held = () =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(pending))
            setTimeout(() => controller.close(), 60_000)
          },
        }),
      )
    expect(await play([polled('pending'), short, short, held, completed], follow)).toMatchObject({
      at: [0, 0, 500, 1500, 62_000],
      value: ['pending', 'completed'],
    })
  })

  test('is followed through a failure that Gatepass reports in the stream', async () => {
    const unavailable = refused(503, 'store_unavailable', { 'retry-after': '3' })
    expect(await play([polled('pending'), failing, unavailable, completed], follow)).toMatchObject({
      at: [0, 0, 500, 3500],
      value: ['pending', 'completed'],
      error: undefined,
    })
  })

  test('a refusal in the stream that lasts is thrown with its status', async () => {
    expect(await play([polled('pending'), failing, refused(404, 'not_found')], follow)).toMatchObject({
      at: [0, 0, 500],
      error: { name: 'NotFound', status: 404 },
    })
  })
})

test('an abort ends the pause before the next attempt, with its reason', async () => {
  const controller = new AbortController()
  const reason = new Error('the user left')
  setTimeout(() => controller.abort(reason), 700)
  const { at, error } = await play([refused(503, 'store_unavailable')], (client) =>
    client.tools.get('Tool', { signal: controller.signal }),
  )
  expect(at).toEqual([0, 500])
  expect(error).toBe(reason)
})

test('what is aborted already is not sent', async () => {
  const reason = new Error('too late')
  const { sent, error } = await play([page()], (client) =>
    client.executions.list().page({ signal: AbortSignal.abort(reason) }),
  )
  expect(sent).toEqual([])
  expect(error).toBe(reason)
})

test('a deadline that is too long for a timer does not end at once', async () => {
  const slow: ClientOptions['fetch'] = (_, { signal } = {}) =>
    new Promise((resolve, reject) => {
      setTimeout(() => resolve(page()), 100_000)
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  for (const timeoutMs of [2 ** 31, Number.POSITIVE_INFINITY])
    expect(await play([], read, { timeoutMs, fetch: slow })).toMatchObject({ value: [], error: undefined })
})

describe('a refusal whose body does not end', () => {
  /** Answers headers and a part of the body; the rest never comes. */
  const stalling: ClientOptions['fetch'] = async (_, { signal } = {}) =>
    new Response(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('{"name":'))
          signal?.addEventListener('abort', () => controller.error(signal.reason))
        },
      }),
      { status: 403, headers: { 'x-gatepass-error': 'denied_by_policy' } },
    )

  type Act = (client: Gatepass, signal?: AbortSignal) => Promise<unknown>
  const each = async (list: AsyncIterable<unknown>) => {
    for await (const _ of list);
  }
  const ways: readonly (readonly [string, Act])[] = [
    ['run', (client, signal) => client.tools.run('Tool', {}, { signal })],
    ['stream', (client, signal) => client.tools.stream('Tool', {}, { signal }).result],
    ['audit.export', (client, signal) => each(client.admin.audit.export({ signal }))],
    ['fetch', (client, signal) => client.fetch('ada', 'demo', '/x', { signal: signal ?? null })],
  ]

  test.each(ways)('%s: ends at the deadline', async (_, act) => {
    const options = { fetch: stalling, timeoutMs: 500, maxRetries: 0 }
    expect(await play([], act, options)).toMatchObject({ error: { code: 'timeout' } })
  })

  test.each(ways)('%s: an abort throws the reason of the signal', async (_, act) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort('the user left'), 200)
    const { error } = await play([], (client) => act(client, controller.signal), { fetch: stalling })
    expect(error).toBe('the user left')
  })
})

describe('a body that breaks off', () => {
  /** A client to which the text is answered. The body then fails: at once, or when the signal is aborted. */
  const answering = (text: string, signal?: AbortSignal) =>
    new Gatepass({
      baseUrl: 'http://gatepass.test',
      apiKey: 'key',
      fetch: async () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
            pull(controller) {
              if (signal === undefined) controller.error(new TypeError('terminated'))
              else signal.addEventListener('abort', () => controller.error(signal.reason))
            },
          }),
        ),
    })

  test('is a connection error in an export of the audit trail', async () => {
    const seen: unknown[] = []
    const exported = async () => {
      for await (const entry of answering('{"seq":1}\n').admin.audit.export()) seen.push(entry)
    }
    await expect(exported()).rejects.toMatchObject({
      code: 'connection_error',
      cause: { message: 'terminated' },
    })
    expect(seen).toEqual([{ seq: 1 }])
  })

  test('by an abort throws the reason of the signal', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const client = answering('data: {"kind":"chunk","data":1}\n\n', signal)
    const stream = client.tools.stream('Tool', {}, { signal })
    const events = stream[Symbol.asyncIterator]()
    expect((await events.next()).value).toEqual({ type: 'chunk', data: 1 })
    const ended = events.next()
    controller.abort('the user left')
    await expect(ended).rejects.toBe('the user left')
    await expect(stream.result).rejects.toBe('the user left')
  })
})

test('the logger hears of each attempt, and of no key', async () => {
  const lines: string[] = []
  const note = (line: string) => void lines.push(line)
  await play([refused(503, 'store_unavailable'), page()], read, { logger: { debug: note, warn: note } })
  expect(lines).toEqual([
    'GET /v1/executions failed: store_unavailable; attempt 2 in 500 ms',
    'GET /v1/executions answered in 0 ms',
  ])
})

describe('the constructor', () => {
  test('takes the environment, and says what is missing', () => {
    vi.stubEnv('GATEPASS_URL', 'https://gatepass.example/')
    vi.stubEnv('GATEPASS_API_KEY', 'key')
    expect(new Gatepass().baseUrl).toBe('https://gatepass.example')
    vi.stubEnv('GATEPASS_API_KEY', '')
    expect(() => new Gatepass()).toThrow(/GATEPASS_API_KEY/)
    vi.stubEnv('GATEPASS_URL', undefined)
    expect(() => new Gatepass({ apiKey: 'key' })).toThrow(/GATEPASS_URL/)
    vi.unstubAllEnvs()
    for (const options of [
      { baseUrl: 'gatepass.example' },
      { baseUrl: 'ftp://gatepass.example' },
      { apiKey: 'a\nb' },
      { timeoutMs: 0 },
      { maxRetries: -1 },
    ])
      expect(() => new Gatepass({ baseUrl: 'http://a.test', apiKey: 'key', ...options })).toThrow(
        expect.objectContaining({ code: 'invalid_options' }),
      )
  })

  test('as() without a user is refused: the client would act for all', () => {
    const gatepass = new Gatepass({ baseUrl: 'http://a.test', apiKey: 'key' })
    // programs in JavaScript may pass `undefined`
    for (const user of ['', undefined as unknown as string])
      expect(() => gatepass.as(user)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
  })

  test('works where there is no process', () => {
    vi.stubGlobal('process', undefined)
    try {
      expect(new Gatepass({ baseUrl: 'http://a.test', apiKey: 'key' }).baseUrl).toBe('http://a.test')
      expect(() => new Gatepass({ apiKey: 'key' })).toThrow(/baseUrl/)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test('refuses a browser, where every visitor could read the key', () => {
    vi.stubGlobal('window', {})
    vi.stubGlobal('document', {})
    const options = { baseUrl: 'http://a.test', apiKey: 'key' }
    try {
      expect(() => new Gatepass(options)).toThrow(/browser/)
      expect(new Gatepass({ ...options, dangerouslyAllowBrowser: true })).toBeInstanceOf(Gatepass)
    } finally {
      vi.unstubAllGlobals()
    }
  })
})

test('errors are recognised by their brand, also those of another copy of the package', async () => {
  vi.resetModules()
  const copy: typeof import('../../src/sdk/client/gatepass.ts') = await import(
    '../../src/sdk/client/gatepass.ts'
  )
  const error = new copy.RateLimited('rate_limited', 'Slowly.', { status: 429 })
  expect(error instanceof Error && error.name).toBe('RateLimited')
  expect(Gatepass.isError(error)).toBe(true)
  expect(Gatepass.isError(error, 'rate_limited')).toBe(true)
  expect(Gatepass.isError(error, 'timeout')).toBe(false)
  expect(Gatepass.isError(new Error('rate_limited'))).toBe(false)
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({
    name: 'RateLimited',
    code: 'rate_limited',
    status: 429,
    message: 'Slowly.',
  })
})
