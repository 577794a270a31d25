import { Server } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import '../random-input.ts'
import { propertyRuns } from '../property-runs.ts'
import {
  CAPABILITIES_KEY,
  eventsOf,
  exchange,
  legacy,
  MODERN,
  modern,
  openSession,
  type RawAnswer,
  send,
  VERSION_KEY,
} from './raw.ts'
import { type RemoteTools, startRemoteTools } from './remote-tools.ts'

// A plain tool call is answered by a server that all calls share, any other by one that is made for it. Each call here
// is sent both ways, and a client sees no difference.

let remote: RemoteTools
let release = () => {}
const slow = new Promise<void>((resolve) => {
  release = resolve
})
let sessions: Readonly<Record<string, Record<string, string>>>
beforeAll(async () => {
  remote = await startRemoteTools([
    {
      name: 'Echo',
      outputSchema: { type: 'object' },
      run: async ({ structured = {} }) => ({ content: [], structuredContent: structured }),
    },
    // the result is what the arguments say
    {
      name: 'Answer',
      run: async ({ result }, { progress, sdk: { mcpReq } }) => {
        await progress(1, 2, 'half')
        await mcpReq.log('warning', 'a line')
        return result
      },
    },
    {
      name: 'Slow',
      run: async () => {
        await slow
        return 'done'
      },
    },
    {
      name: 'Fail',
      run: async ({ message }) => {
        throw new Error(String(message))
      },
    },
  ])
  sessions = {
    plain: await openSession(remote.gatepass),
    asking: await openSession(remote.gatepass, { capabilities: { elicitation: { form: {}, url: {} } } }),
    older: await openSession(remote.gatepass, { version: '2025-06-18' }),
  }
})
afterAll(() => remote?.[Symbol.asyncDispose]())
afterEach(() => void vi.restoreAllMocks())

const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)
const anyJson = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>
/** Mostly what every revision permits, so that most calls are plain. */
const orFault = <T>(right: fc.Arbitrary<T>, ...faults: readonly unknown[]) =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: oneOf(...faults) })

const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text: fc.string() }),
  fc.record({ type: oneOf('image', 'audio'), data: oneOf('AAAA', '!'), mimeType: fc.constant('image/png') }),
  fc.record({
    type: oneOf('text', 'resource_link', 'resource', 'other'),
    text: anyJson,
    annotations: anyJson,
  }),
)
const result = fc.record(
  {
    content: fc.array(block, { maxLength: 3 }),
    structuredContent: fc.dictionary(fc.string(), anyJson, { maxKeys: 3 }),
    isError: fc.boolean(),
  },
  { requiredKeys: ['content'] },
)
const tool = fc.oneof(
  fc.record({ name: fc.constant('Remote_Echo'), arguments: fc.record({ structured: anyJson }) }),
  fc.record({ name: fc.constant('Remote_Answer'), arguments: fc.record({ result }) }),
  fc.record({ name: fc.constant('Remote_Fail'), arguments: fc.record({ message: fc.string() }) }),
  fc.record({
    name: orFault(oneOf('Remote_Echo', 'Unknown', 'gatepass_connections'), undefined, 7, '', '=?base64?'),
    arguments: orFault(oneOf({}, undefined), null, [], 'text'),
  }),
)
const anyMeta = {
  progressToken: orFault(oneOf<unknown>(undefined, 'token', 7), 1.5, null, {}),
  'other/key': fc.option(anyJson, { nil: undefined }),
}
const retry = {
  requestState: orFault(oneOf(undefined), 'of no call', 7),
  inputResponses: orFault(oneOf(undefined), { a: { action: 'accept' } }, []),
}
const envelope = {
  jsonrpc: orFault(oneOf('2.0'), '1.0', undefined),
  id: orFault(oneOf<unknown>(1, 'a', '', -7, 2 ** 40), 1.5, null, undefined, {}),
  method: fc.constant('tools/call'),
  more: orFault(oneOf(undefined), 'a member that JSON-RPC does not have'),
}
const modernCall = fc.record({
  tool,
  retry: fc.record(retry),
  envelope: fc.record(envelope),
  _meta: fc.record({
    ...anyMeta,
    [VERSION_KEY]: orFault(oneOf(MODERN), '2025-11-25', '2099-01-01', 7, undefined),
    [CAPABILITIES_KEY]: orFault(oneOf({}, { elicitation: { form: {}, url: {} } }), undefined, 'all', {
      elicitation: 7,
    }),
    'io.modelcontextprotocol/clientInfo': orFault(
      oneOf(undefined, { name: 'test', version: '1' }),
      {},
      'test',
    ),
    'io.modelcontextprotocol/logLevel': orFault(oneOf(undefined, 'debug', 'error'), 'loud'),
  }),
})
const legacyCall = fc.record({
  tool,
  retry: fc.record(retry),
  envelope: fc.record(envelope),
  session: oneOf('plain', 'asking', 'older', 'none'),
  _meta: fc.oneof(
    fc.constant(undefined),
    fc.record({ ...anyMeta, [CAPABILITIES_KEY]: orFault(oneOf(undefined), {}) }),
    oneOf<unknown>(null, 7),
  ),
})

/** What a client sees of an answer. The headers that are left out differ between any two answers, or frame the body. */
function seen({ status, headers, messages, body }: RawAnswer) {
  const unlike = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding', 'x-request-id']
  const shown = [...headers].filter(([name]) => !unlike.includes(name))
  return { status, headers: Object.fromEntries(shown), messages, body }
}

async function sendModern({ tool, retry, envelope, _meta }: Drawn<typeof modernCall>, name: string) {
  const params = { ...tool, ...retry, _meta }
  const headers = {
    'mcp-protocol-version': String(_meta[VERSION_KEY] ?? MODERN),
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  return seen(await exchange(remote.gatepass, { ...envelope, params }, { headers }))
}

async function sendLegacy(
  { tool, retry, envelope, _meta }: Drawn<typeof legacyCall>,
  headers: Record<string, string>,
) {
  return seen(
    await exchange(remote.gatepass, { ...envelope, params: { ...tool, ...retry, _meta } }, { headers }),
  )
}

type Drawn<T> = T extends fc.Arbitrary<infer Value> ? Value : never

const numRuns = propertyRuns({ rare: 10 })

describe('2026-07-28', () => {
  /** A name in Base64 is not plain. */
  const both = async (drawn: Drawn<typeof modernCall>) => {
    const name = String(drawn.tool.name)
    const plain = await sendModern(drawn, name)
    return { plain, other: await sendModern(drawn, `=?base64?${Buffer.from(name).toString('base64')}?=`) }
  }

  test('a call is answered as by a server of its own', async () => {
    await fc.assert(
      fc.asyncProperty(modernCall, async (drawn) => {
        const { plain, other } = await both(drawn)
        expect(plain).toEqual(other)
      }),
      { numRuns },
    )
  })

  test('only a call that is not plain makes a server', async () => {
    const connected = vi.spyOn(Server.prototype, 'connect')
    const call = { body: modern('tools/call', { name: 'gatepass_connections', arguments: {} }) }
    for (const [name, servers] of [
      ['gatepass_connections', 0],
      [`=?base64?${btoa('gatepass_connections')}?=`, 1],
    ] as const) {
      connected.mockClear()
      const { status } = await exchange(remote.gatepass, call.body.body, {
        headers: { ...call.body.headers, 'mcp-name': name },
      })
      expect({ status, servers: connected.mock.calls.length }).toEqual({ status: 200, servers })
    }
  })
})

describe('2025', () => {
  /** The session names the revision as well, but a call without the header is not plain. */
  const both = async (drawn: Drawn<typeof legacyCall>) => {
    const { 'mcp-protocol-version': version = '2025-06-18', ...session } = sessions[drawn.session] ?? {}
    const plain = await sendLegacy(drawn, { ...session, 'mcp-protocol-version': version })
    return { plain, other: await sendLegacy(drawn, session) }
  }

  test('a call is answered as by a server of its own', async () => {
    await fc.assert(
      fc.asyncProperty(legacyCall, async (drawn) => {
        const { plain, other } = await both(drawn)
        expect(plain).toEqual(other)
      }),
      { numRuns },
    )
  })

  test('only a call that is not plain makes a server', async () => {
    const connected = vi.spyOn(Server.prototype, 'connect')
    const { 'mcp-protocol-version': version = '', ...session } = sessions.plain ?? {}
    const body = legacy('tools/call', { name: 'gatepass_connections', arguments: {} })
    for (const [headers, servers] of [
      [{ ...session, 'mcp-protocol-version': version }, 0],
      [session, 1],
    ] as const) {
      connected.mockClear()
      const { status } = await exchange(remote.gatepass, body, { headers: { ...headers } })
      expect({ status, servers: connected.mock.calls.length }).toEqual({ status: 200, servers })
    }
  })

  test('a call that takes long gets its stream before its result', async () => {
    const timeouts = vi.spyOn(globalThis, 'setTimeout')
    const sending = send(remote.gatepass, legacy('tools/call', { name: 'Remote_Slow' }), {
      headers: { ...sessions.plain },
    })
    const afterASecond = () =>
      timeouts.mock.calls.flatMap(([callback, ms]) => (ms === 1_000 ? [callback as () => void] : []))
    await vi.waitFor(() => expect(afterASecond()).not.toHaveLength(0), { timeout: 300_000 })
    for (const callback of afterASecond()) callback()
    const sent = await sending
    expect(sent.headers.get('content-type')).toBe('text/event-stream')
    release()
    expect(eventsOf(await sent.text())).toEqual([
      expect.objectContaining({ id: 1, result: expect.anything() }),
    ])
  })
})
