import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DEFAULT_PROJECT } from '../../src/domain/project.ts'
import type { StreamEventWire } from '../../src/operations/dialects/runs.ts'
import { readMcpResult } from '../../src/tools/mcp/read-mcp-result.ts'
import { runTool, type StreamEvent, streamTool, toBackend } from '../../src/tools/run/run-tool.ts'
import { startFakeMcpServer } from '../fake-mcp-server.ts'
import type { Answer } from '../gatepass.ts'
import { answerJson, listen } from '../loopback.ts'
import { approve, metadata, providerBody, STAINLESS, startWorld, WORKER_SECRET, type World } from './world.ts'

// run, run_stream and run_chain on tools in the process and on a worker.

const RUN_TOOLS = fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url))
const environment = { GATEPASS_TOOLS: RUN_TOOLS }

let world: World
let projectId: string
let made = 0
const fresh = (what: string) => `${what}-${++made}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment } })
  await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  projectId = (await world.gatepass.broker.store.projects.findByName(DEFAULT_PROJECT))?.id ?? ''
})
afterAll(() => world[Symbol.asyncDispose]())

const run = (toolId: string, args: object = {}, more: object = {}): Promise<Answer> =>
  world.call('POST', '/v1/tools/run', { toolId, args, ...more })
const chain = (steps: readonly object[], more: object = {}): Promise<Answer> =>
  world.call('POST', '/v1/tools/run_chain', { steps, ...more })
const ask = async (tool: 'Ran' | 'Heard', key: string) => (await run(`Run.${tool}`, { key })).body.structured

interface Stream {
  readonly status: number
  readonly type: string
  readonly events: readonly StreamEventWire[]
}

function startStream(toolId: string, args: object = {}, more: object = {}, signal?: AbortSignal) {
  return fetch(new URL('/v1/tools/run_stream', world.gatepass.url), {
    method: 'POST',
    headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ toolId, args, ...more }),
    ...(signal && { signal }),
  })
}

async function stream(toolId: string, args: object = {}, more: object = {}): Promise<Stream> {
  const response = await startStream(toolId, args, more)
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    events: readEvents(await response.text()),
  }
}

/** Server-sent events, whose `event` is the kind that their data says too. */
function readEvents(text: string): StreamEventWire[] {
  return text.split('\n\n').flatMap((block) => {
    const lines = block.split('\n')
    const member = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
    const data = member('data')
    if (data === undefined) return []
    const event = JSON.parse(data) as StreamEventWire // as the endpoint documents it
    expect(member('event')).toBe(event.kind)
    return [event]
  })
}

const kindsOf = ({ events }: Stream) => events.map(({ kind }) => kind)

async function connect(userId: string, provider = 'demo', sub = 'u-1') {
  const { account } = world.as
  world.as.account = { ...account, sub }
  const need = {
    auth_requirement: { id: provider, oauth2: { scopes: ['read'] } },
    user_id: userId,
    account: 'new',
  }
  await approve((await world.call('POST', '/v1/auth/authorize', need)).body.url)
  world.as.account = account
}

const FAILED_INPUT = { status: 400, body: { name: 'invalid_input' } }
const started = { kind: 'progress', data: { progress: 0, total: 1, message: 'started' } }

describe("toolexec's tests of `run`", () => {
  // the original's name, what holds here, and the proof
  const rows: [string, string, () => Promise<void>][] = [
    [
      'TestRun_EmptyToolID',
      'is no request',
      async () => {
        for (const toolId of ['', undefined, null, 7])
          expect(await world.call('POST', '/v1/tools/run', { toolId })).toMatchObject({
            status: 400,
            body: { name: 'invalid_request', message: expect.stringContaining('toolId') },
          })
      },
    ],
    [
      'TestRun_InputValidation_Pass',
      'answers tool, backend and structured',
      async () => {
        const { status, body } = await run('Run:Add', { a: 1, b: 2 })
        expect(status).toBe(200)
        expect(body).toEqual({
          tool: expect.objectContaining({
            name: 'Add',
            namespace: 'Run',
            version: '1.0.0',
            tags: ['maths', 'pure-function'],
            inputSchema: expect.objectContaining({ type: 'object' }),
            outputSchema: expect.objectContaining({ required: ['sum'] }),
          }),
          backend: { kind: 'local', local: { name: 'Add' } },
          structured: { sum: 3 },
          executionId: expect.stringMatching(/^exec_/),
          duration: expect.any(Number),
        })
      },
    ],
    [
      'TestRun_InputValidation_Fail',
      'refuses, and runs nothing',
      async () => {
        const key = fresh('refused')
        const { status, body } = await run('Run:Add', { a: 'one', key })
        expect([status, body.name]).toEqual([400, 'invalid_input'])
        expect(body.message).toContain('a')
        expect(await ask('Ran', key)).toBe(0)
      },
    ],
    [
      'TestRun_InputValidation_Disabled',
      'does not apply: nothing switches validation off',
      async () =>
        expect(await run('Run:Add', { a: 'one' }, { validateInput: false })).toMatchObject({
          status: 400,
          body: { errors: [{ path: 'validateInput', code: 'unknown_member' }] },
        }),
    ],
    [
      'TestRun_OutputValidation_Pass',
      'gives the value',
      async () => expect((await run('Run:Add', { a: 4 })).body.structured).toEqual({ sum: 4 }),
    ],
    [
      'TestRun_OutputValidation_Fail',
      'discards the result',
      async () => {
        const { status, body } = await run('Run:WrongOutput')
        expect(status).toBe(200)
        expect(body).not.toHaveProperty('structured')
        expect(body.error).toMatchObject({
          op: 'validate_output',
          kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
          toolId: 'Run:WrongOutput',
        })
        expect(JSON.stringify(body)).not.toContain('three')
      },
    ],
    [
      'TestRun_OutputValidation_NoSchema',
      'takes whatever there is; nothing at all is left out',
      async () => {
        for (const answer of [1, 'text', [1, 2], { deep: [null] }, false])
          expect((await run('Run:Free', { answer })).body.structured).toEqual(answer)
        expect((await run('Run:Free')).body).not.toHaveProperty('structured')
      },
    ],
    [
      'TestRun_ContextCancelled_BeforeExecution',
      'runs nothing',
      async () => {
        const key = fresh('cancelled')
        const before = { projectId, toolId: 'Run:Waits', args: { key }, entryPoint: 'run' } as const
        const { result } = await runTool(world.gatepass.broker, before, AbortSignal.abort())
        expect(result).toMatchObject({ error: { op: 'execute', toolId: 'Run:Waits' } })
        expect(await ask('Ran', key)).toBe(0)
      },
    ],
    [
      'TestRun_ToolErrorContext',
      'says where, what and in which words',
      async () => {
        const { status, body } = await run('run.fails')
        expect(status).toBe(200)
        expect(body).toMatchObject({
          backend: { kind: 'local' },
          error: { op: 'execute', toolId: 'Run:Fails', kind: 'TOOL_RUNTIME_FATAL', can_retry: false },
        })
        expect(body.error).not.toHaveProperty('stacktrace')
      },
    ],
    [
      'TestResolveTool_ViaIndex_WithAllBackends',
      'finds it by each of its names; it has one backend',
      async () => {
        for (const name of [
          'Run:Add',
          'Run:Add:1.0.0',
          'Run.Add',
          'run_add',
          'Add',
          'Run.Add@1.0.0',
          'Run:Add:^1',
        ])
          expect((await run(name, { a: 1 })).body.structured, name).toEqual({ sum: 1 })
      },
    ],
    [
      'TestResolveTool_IndexNotFound_FallsBack',
      'does not apply: one catalogue has the tools of all sources, so what is not in it is not there',
      async () => {
        for (const name of ['Run:Nothing', 'Run::Add', ':Add', 'Run:Add:9.0.0', 'a:b:c:d'])
          expect(await run(name), name).toMatchObject({ status: 404, body: { name: 'not_found' } })
      },
    ],
    [
      'TestResolveTool_NoBackends',
      'says so, and what to do',
      async () => {
        await world.call('POST', '/v1/tools/import', metadata('Loose', { tool_set: 'unbound' }))
        const { status, body } = await run('unbound:Loose')
        expect(status).toBe(200)
        expect(body).not.toHaveProperty('backend')
        expect(body.error).toMatchObject({
          op: 'select_backend',
          kind: 'TOOL_REQUIREMENTS_NOT_MET',
          message: expect.stringContaining('bind it'),
        })
      },
    ],
    [
      'TestSelectBackend_*',
      'does not apply: a tool has one backend, so there is nothing to prefer; it is said which',
      async () => {
        expect((await run('Demo.Array')).body).toMatchObject({
          backend: { kind: 'provider', provider: { providerId: 'demo', toolId: 'Array' } },
          structured: [1, 'two', { three: 3 }],
        })
        const { broker } = world.gatepass
        const [tool] = await broker.store.tools.named(projectId, 'run:add')
        if (tool === undefined) throw new Error('no tool')
        expect(toBackend({ id: 'remote', type: 'mcp' }, tool)).toEqual({
          kind: 'mcp',
          mcp: { serverName: 'remote' },
        })
      },
    ],
    [
      'TestRunStream_Local_NotSupported',
      'does not apply: every tool may be streamed, and one that says nothing has its end',
      async () => {
        const told = await stream('Run:Add', { a: 1 })
        expect(told).toMatchObject({ status: 200, type: expect.stringContaining('text/event-stream') })
        expect(told.events).toEqual([
          { ...started, toolId: 'Run:Add:1.0.0' },
          {
            kind: 'done',
            toolId: 'Run:Add:1.0.0',
            data: {
              backend: { kind: 'local', local: { name: 'Add' } },
              structured: { sum: 1 },
              executionId: expect.stringMatching(/^exec_/),
              duration: expect.any(Number),
            },
          },
        ])
      },
    ],
    [
      'TestRunStream_StampsToolID_WhenMissing, _PreservesExistingToolID',
      "every event has the tool's own id, by whatever name it was called",
      async () => {
        for (const name of ['run.says', 'Says', 'Run:Says'])
          expect(new Set((await stream(name)).events.map(({ toolId }) => toolId))).toEqual(
            new Set(['Run:Says']),
          )
      },
    ],
    [
      'TestRunStream_NilChannel_IsError',
      'does not apply: a backend tells by a function, and its answer is the end',
      async () => expect(kindsOf(await stream('Demo.Null'))).toEqual(['progress', 'done']),
    ],
    [
      'events after `done` (untested there, and let through)',
      'nothing follows the end',
      async () => {
        const told = await stream('Run:Says', { to: 2 })
        expect(kindsOf(told)).toEqual(['progress', 'progress', 'chunk', 'progress', 'chunk', 'done'])
        expect(told.events[1]?.data).toEqual({ progress: 1, total: 2, message: 'at 1' })
        expect(told.events[4]?.data).toEqual({ part: 2 })
      },
    ],
    [
      'TestRunChain_StopsOnError',
      'names each step: completed, failed, skipped',
      async () => {
        const [key, after] = [fresh('stops'), fresh('after')]
        const { status, body } = await chain([
          { toolId: 'Run:Count', args: { key } },
          { toolId: 'Run:Fails', args: { key } },
          { toolId: 'Run:Count', args: { key: after } },
        ])
        expect(status).toBe(200)
        expect(body).toMatchObject({
          status: 'failed',
          steps: [
            { toolId: 'Run:Count', status: 'completed', structured: { times: 1 } },
            { toolId: 'Run:Fails', status: 'failed', error: { kind: 'TOOL_RUNTIME_FATAL' } },
            { toolId: 'Run:Count', status: 'skipped' },
          ],
        })
        expect(body).not.toHaveProperty('structured')
        expect([await ask('Ran', key), await ask('Ran', after)]).toEqual([2, 0])
      },
    ],
    [
      'TestRunChain_Empty',
      'is completed with nothing',
      async () => {
        expect(await chain([])).toMatchObject({ status: 200, body: { status: 'completed', steps: [] } })
        expect((await world.call('POST', '/v1/tools/run_chain', {})).body).toEqual({
          status: 'completed',
          steps: [],
        })
      },
    ],
    [
      'TestRunChain_UsePrevious_Overwrites',
      "puts the last step's value over what is there, and a step that answered nothing gives null",
      async () => {
        const { body } = await chain([
          { toolId: 'Run:Add', args: { a: 1, b: 1 } },
          { toolId: 'Run:Add', args: { a: 10, previous: { sum: 500 } }, usePrevious: true },
          { toolId: 'Run:Add', args: { a: 100, previous: { sum: 1000 } } },
        ])
        expect(body).toMatchObject({ status: 'completed', structured: { sum: 1100 } })
        expect(body.steps[1].structured).toEqual({ sum: 12 })
        const nothing = await chain([
          { toolId: 'Demo.Null' },
          { toolId: 'Run:Add', args: { a: 1, previous: { sum: 500 } }, usePrevious: true },
        ])
        expect(nothing.body.structured).toEqual({ sum: 1 })
      },
    ],
    [
      'TestRunChain_UsePrevious_FirstStep_InjectsNil',
      'is refused here, before anything runs',
      async () => {
        const key = fresh('first')
        const steps = [{ toolId: 'Run:Count', args: { key }, usePrevious: true }]
        expect(await chain(steps)).toMatchObject({
          status: 400,
          body: { name: 'invalid_request', message: expect.stringContaining('steps[0]') },
        })
        expect(await ask('Ran', key)).toBe(0)
      },
    ],
    [
      'a tool without room for `previous`',
      'fails by its schema',
      async () => {
        const steps = [
          { toolId: 'Run:Add', args: { a: 1 } },
          { toolId: 'Run:Strict', usePrevious: true },
        ]
        expect((await chain(steps)).body.steps[1]).toMatchObject({
          status: 'failed',
          error: { op: 'validate_input', kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' },
        })
        expect((await chain([{ toolId: 'Run:Strict' }])).body.structured).toBe('taken')
      },
    ],
    [
      'TestRunChain_BackendInStepResult_OnError',
      'says which backend failed, where there was one',
      async () => {
        const failed = await chain([{ toolId: 'Run:Fails' }])
        expect(failed.body.steps[0].backend).toEqual({ kind: 'local', local: { name: 'Fails' } })
        const lost = await chain([{ toolId: 'Run:Nothing' }])
        expect(lost.body.steps[0]).not.toHaveProperty('backend')
        expect(lost.body.steps[0]).toMatchObject({ status: 'failed', error: { op: 'resolve' } })
      },
    ],
    [
      'TestRunChain_ContextCancelled_BetweenSteps',
      'runs no further step',
      async () => {
        const [key, after, user_id] = [fresh('between'), fresh('after'), fresh('user')]
        const gone = new AbortController()
        const steps = [
          { toolId: 'Run:Waits', args: { key } },
          { toolId: 'Run:Count', args: { key: after } },
        ]
        const asked = fetch(new URL('/v1/tools/run_chain', world.gatepass.url), {
          method: 'POST',
          headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
          body: JSON.stringify({ steps, user_id }),
          signal: gone.signal,
        }).catch(() => 'gone')
        await expect.poll(() => ask('Ran', key)).toBe(1)
        gone.abort()
        expect(await asked).toBe('gone')
        await expect.poll(() => ask('Heard', key)).toBe('cancelled')
        const history = await world.call('GET', `/v1/executions?user_id=${user_id}`)
        expect(history.body.items).toMatchObject([{ tool_id: 'Run:Waits', execution_status: 'failed' }])
        expect(await ask('Ran', after)).toBe(0)
      },
    ],
    [
      'TestToolError_Is*',
      'a deadline is recognisable as one, by every way',
      async () => {
        const kind = 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT'
        expect((await run('Run:Late')).body.error).toMatchObject({ op: 'execute', kind })
        expect((await stream('Run:Late')).events.at(-1)).toMatchObject({
          kind: 'error',
          data: { error: { kind } },
        })
        expect((await chain([{ toolId: 'Run:Late' }])).body.steps[0].error).toMatchObject({ kind })
        expect((await world.execute('Run:Late')).headers.get('x-gatepass-error-kind')).toBe(kind)
      },
    ],
  ]
  test.each(rows)('%s: %s', (_, __, proof) => proof())
})

describe('TestNormalize_MCP_*', () => {
  const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }))
  test.each<[string, Record<string, unknown>, unknown]>([
    ['structured content before any text', { structuredContent: { a: 1 }, content: text('other') }, { a: 1 }],
    ['one text that is JSON', { content: text('42') }, 42],
    ['one text that is an object', { content: text('{"a":[1]}') }, { a: [1] }],
    ['one text that is none', { content: text('forty-two') }, 'forty-two'],
    ['several texts', { content: text('1', 'two') }, ['1', 'two']],
    ['no text', { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }, null],
    ['a text beside an image', { content: [{ type: 'image', data: 'AAAA' }, ...text('true')] }, true],
    ['no content at all', {}, null],
  ])('%s', (_, result, value) => {
    expect(readMcpResult(result)).toMatchObject({ outcome: 'value', value, mcpResult: result })
  })

  test('`isError` is a failure, with its texts', () => {
    const result = { isError: true, content: text('No such city.') }
    expect(readMcpResult(result)).toMatchObject({ outcome: 'error', error: { message: 'No such city.' } })
  })
})

describe('validation, in every way to run a tool', () => {
  const DRAFT7 = [
    ['a tuple that is too long', { at: [1, 2, 3] }],
    ['a tuple of the wrong items', { at: ['north'] }],
    ['dependencies', { card: '4111' }],
  ] as const
  const refused = [
    ...DRAFT7.map(([what, args]) => [`draft-07: ${what}`, 'Run:Draft7', args] as const),
    ['2020-12: a type', 'Run:Add', { a: 'one' }],
    ['2020-12: what is required', 'Run:Add', {}],
    ['2020-12: no more than said', 'Run:Strict', { more: 1 }],
  ] as const

  test.each(refused)('input, %s', async (_, toolId, args) => {
    expect(await run(toolId, args)).toMatchObject(FAILED_INPUT)
    const streamed = await startStream(toolId, args)
    expect([streamed.status, await streamed.json()]).toMatchObject([400, { name: 'invalid_input' }])
    expect((await chain([{ toolId, args }])).body).toMatchObject({
      status: 'failed',
      steps: [{ status: 'failed', error: { op: 'validate_input', kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' } }],
    })
    expect(await world.execute(toolId, { input: args }, 'arcade')).toMatchObject({
      status: 200,
      body: { success: false, output: { error: { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', can_retry: false } } },
    })
    const plain = await world.execute(toolId, { input: args })
    expect(plain).toMatchObject({ status: 200, body: { success: false, output: { error: {} } } })
    expect(plain.headers.get('x-gatepass-error-kind')).toBe('TOOL_RUNTIME_BAD_INPUT_VALUE')
  })

  test.each([
    ['draft-07', 'Run:Draft7', { answer: ['one', 'too many'] }],
    ['2020-12', 'Run:WrongOutput', {}],
  ])('output, %s', async (_, toolId, args) => {
    const kind = 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'
    const error = { op: 'validate_output', kind }
    expect((await run(toolId, args)).body).toMatchObject({ error })
    expect((await stream(toolId, args)).events.at(-1)).toMatchObject({ kind: 'error', data: { error } })
    expect((await chain([{ toolId, args }])).body.steps).toMatchObject([{ status: 'failed', error }])
    expect((await world.execute(toolId, { input: args }, 'arcade')).body).toMatchObject({
      success: false,
      output: { error: { kind } },
    })
  })

  test('what both dialects allow', async () => {
    expect((await run('Run:Draft7', { at: [1, 2], card: '4111', billing: 'here' })).body.structured).toEqual([
      'fine',
    ])
    expect((await run('Run:Add', { a: 1.0, unknown: true })).body.structured).toEqual({ sum: 1 })
    expect(
      (await world.call('POST', '/v1/tools/run', { toolId: 'Run:Strict', args: null })).body.structured,
    ).toBe('taken')
  })
})

describe('streams', () => {
  test.each<[string, string, object, object, number, string]>([
    ['a tool that there is not', 'Run:Nothing', {}, {}, 404, 'not_found'],
    ['input that is wrong', 'Run:Add', {}, {}, 400, 'invalid_input'],
    ['no user for one that acts for a user', 'Run:Acts', {}, {}, 400, 'invalid_request'],
    [
      'an account at a provider it does not need',
      'Run:Add',
      { a: 1 },
      { accounts: { demo: 'x' } },
      400,
      'invalid_request',
    ],
  ])('before their start: %s', async (_, toolId, args, more, status, name) => {
    const response = await startStream(toolId, args, more)
    expect(response.headers.get('content-type')).toContain('application/json')
    expect([response.status, await response.json()]).toMatchObject([status, { name }])
  })

  test('missing consent and a tool that fails end with `error`', async () => {
    const user_id = fresh('user')
    expect((await stream('Run:Acts', {}, { user_id })).events).toMatchObject([
      {
        kind: 'error',
        toolId: 'Run:Acts',
        data: {
          requires_authorization: {
            url: expect.stringContaining('/connect/'),
            scopes: ['read'],
            status: 'pending',
          },
        },
      },
    ])
    const failed = await stream('Run:Fails')
    expect(kindsOf(failed)).toEqual(['progress', 'error'])
    expect(failed.events[1]?.data).toMatchObject({ error: { op: 'execute', kind: 'TOOL_RUNTIME_FATAL' } })
  })

  test('no token in what the tool says meanwhile', async () => {
    const user_id = fresh('user')
    const token = await world.connect(user_id)
    const told = await stream('Run:Blabs', {}, { user_id })
    expect(kindsOf(told)).toEqual(['progress', 'progress', 'chunk', 'done'])
    expect(JSON.stringify(told)).not.toContain(token)
    expect(JSON.stringify(told)).toContain('[redacted]')
  })

  test('a client that goes away reaches the tool', async () => {
    const key = fresh('gone')
    const gone = new AbortController()
    const response = await startStream('Run:Waits', { key }, {}, gone.signal)
    const reader = response.body?.getReader()
    await reader?.read()
    await expect.poll(() => ask('Ran', key)).toBe(1)
    gone.abort()
    await expect.poll(() => ask('Heard', key)).toBe('cancelled')
  })

  test('one that is cancelled ends with `error`, and nothing after it', async () => {
    const key = fresh('cancelled')
    const events: StreamEvent[] = []
    const gone = new AbortController()
    const of = { projectId, toolId: 'Run:Waits', args: { key }, entryPoint: 'run_stream' } as const
    await streamTool(
      world.gatepass.broker,
      of,
      (event) => {
        events.push(event)
        if (event.kind === 'chunk') gone.abort()
      },
      gone.signal,
    )
    expect(events.map(({ kind }) => kind)).toEqual(['progress', 'chunk', 'error'])
  })

  test('a tool that says more than its listener reads is stopped, and the stream ends with `error`', async () => {
    const key = fresh('flood')
    const response = await startStream('Run:Floods', { key })
    await expect.poll(() => ask('Heard', key)).toBe('stopped')
    const kinds = readEvents(await response.text()).map(({ kind }) => kind)
    expect(kinds.at(-1)).toBe('error')
    expect(kinds.filter((kind) => kind === 'error' || kind === 'done')).toEqual(['error'])
  })
})

describe('what runs elsewhere', () => {
  test('an MCP server: `backend` and the result as it had it; `isError` is a failure', async () => {
    const mcp = await startFakeMcpServer({ name: 'calc-mcp-server' })
    try {
      await world.call('POST', '/v1/workers', { id: 'remote', mcp: { uri: mcp.url } })
      const backend = { kind: 'mcp', mcp: { serverName: 'remote' } }
      expect((await run('Calc.add', { a: 40, b: 2 })).body).toMatchObject({
        tool: { name: 'add', namespace: 'Calc', title: 'Add two numbers' },
        backend,
        structured: { sum: 42 },
        mcpResult: { structuredContent: { sum: 42 }, content: [{ type: 'text', text: '{"sum":42}' }] },
      })
      const failed = (await run('Calc.fail')).body
      expect(failed).toMatchObject({
        backend,
        error: { op: 'execute', message: 'It went wrong.' },
        mcpResult: { isError: true },
      })
      expect(failed).not.toHaveProperty('structured')
      const told = await stream('Calc.count')
      expect(kindsOf(told)).toEqual(['progress', 'progress', 'progress', 'progress', 'done'])
      expect(told.events[2]?.data).toEqual({ progress: 2, total: 3, message: 'at 2' })
    } finally {
      await world.call('DELETE', '/v1/workers/remote')
      await mcp.close()
    }
  })

  test('a worker hears that its caller is gone', async () => {
    let isAsked = false
    let isClosed = false
    await using silent = await listen((req, res) => {
      if (req.url?.endsWith('/invoke') !== true) return answerJson(res, 200, [silentTool])
      isAsked = true
      res.on('close', () => {
        isClosed = true
      })
    })
    await world.call('POST', '/v1/workers', {
      id: 'silent',
      http: { uri: silent.url, secret: WORKER_SECRET },
    })
    const gone = new AbortController()
    const asked = fetch(new URL('/v1/tools/run', world.gatepass.url), {
      method: 'POST',
      headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ toolId: 'Silent.Never' }),
      signal: gone.signal,
    }).catch(() => 'gone')
    await expect.poll(() => isAsked).toBe(true)
    expect(isClosed).toBe(false)
    gone.abort()
    expect(await asked).toBe('gone')
    await expect.poll(() => isClosed).toBe(true)
    await world.call('DELETE', '/v1/workers/silent')
  })
})

const silentTool = {
  name: 'Never',
  fully_qualified_name: 'Silent.Never',
  description: 'Never answers.',
  toolkit: { name: 'Silent', version: '1.0.0' },
  input: { parameters: [] },
  output: { available_modes: ['value'] },
  requirements: {},
}

describe('what a tool is given', () => {
  test('each provider its own account', async () => {
    const user_id = fresh('user')
    for (const provider of ['demo', 'other'])
      for (const sub of ['u-1', 'u-2']) await connect(user_id, provider, sub)
    const both = (more: object) => run('Run:Both', {}, { user_id, ...more })
    expect((await both({})).body.structured).toEqual({ demo: 'u-1', other: 'u-1' })
    expect((await both({ accounts: { other: 'u-2' } })).body.structured).toEqual({
      demo: 'u-1',
      other: 'u-2',
    })
    expect((await both({ accounts: { demo: 'u-2', other: 'u-1' } })).body.structured).toEqual({
      demo: 'u-2',
      other: 'u-1',
    })
    expect((await both({ account: 'u-2' })).body.structured).toEqual({ demo: 'u-2', other: 'u-2' })
    const unknown = { accounts: { demo: 'u-1', github: 'u-1' } }
    expect(await both(unknown)).toMatchObject({
      status: 400,
      body: { name: 'invalid_request', message: expect.stringContaining('"github"') },
    })
    expect((await world.execute('Run:Both', { user_id, ...unknown })).status).toBe(400)
  })

  test('several providers are shown in `authorizations`, and asked for by one link', async () => {
    const user_id = fresh('user')
    await connect(user_id, 'other')
    const { body } = await world.call('GET', `/v1/tools/Run:Both?user_id=${user_id}`)
    expect(body.requirements).toMatchObject({
      met: false,
      authorization: { id: 'demo', token_status: 'not_started' },
      authorizations: [
        { id: 'demo', token_status: 'not_started' },
        { id: 'other', token_status: 'completed' },
      ],
    })
    const neither = fresh('user')
    const asked = (await run('Run:Both', {}, { user_id: neither })).body
    expect(asked).not.toHaveProperty('error')
    await approve(asked.requires_authorization.url)
    expect((await run('Run:Both', {}, { user_id: neither })).body.structured).toEqual({
      demo: 'u-1',
      other: 'u-1',
    })
  })

  test('the metadata it declares, and no other', async () => {
    const told = { locale: 'fr', undeclared: 'x' }
    for (const answer of [
      (await run('Run:Told', {}, { metadata: told })).body.structured,
      (await chain([{ toolId: 'Run:Told' }], { metadata: told })).body.structured,
      (await stream('Run:Told', {}, { metadata: told })).events.at(-1)?.data,
    ])
      expect(JSON.stringify(answer)).toMatch(/\{"locale":"fr"\}/)
    expect((await run('Run:Told')).body.error).toMatchObject({
      op: 'execute',
      kind: 'TOOL_REQUIREMENTS_NOT_MET',
      message: expect.stringContaining('locale'),
    })
  })
})

test('an Idempotency-Key runs a tool and a chain once; a stream takes none', async () => {
  const [key, other] = [fresh('once'), fresh('once')]
  for (const [path, body] of [
    ['/v1/tools/run', { toolId: 'Run:Count', args: { key } }],
    ['/v1/tools/run_chain', { steps: [{ toolId: 'Run:Count', args: { key: other } }] }],
  ] as const) {
    const headers = { 'idempotency-key': fresh('name') }
    const answers = await Promise.all([1, 2, 3].map(() => world.call('POST', path, body, { headers })))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size, path).toBe(1)
  }
  expect([await ask('Ran', key), await ask('Ran', other)]).toEqual([1, 1])
  const ofArcade = { headers: { 'idempotency-key': `stainless-node-retry-${fresh('name')}` } }
  const sdk = await world.call(
    'POST',
    '/v1/tools/run_stream',
    { toolId: 'Demo:Echo', args: { text: 'x' } },
    ofArcade,
  )
  expect(sdk.status, 'which every SDK sends by itself').toBe(200)
  const named = { headers: { 'idempotency-key': fresh('name') } }
  const streamed = await world.call(
    'POST',
    '/v1/tools/run_stream',
    { toolId: 'Run:Count', args: { key } },
    named,
  )
  expect(streamed).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('Idempotency-Key') },
  })
  expect(await ask('Ran', key)).toBe(1)
})

test('an answer that is too large to be kept is given once, and the same request again says so', async () => {
  const headers = { 'idempotency-key': fresh('large') }
  const body = { tool_name: 'Demo.Echo', input: { text: 'x'.repeat(1_100_000) } }
  const ran = () => world.worker.invocations.length
  const before = ran()
  const first = await world.call('POST', '/v1/tools/execute', body, { headers })
  expect(first.body.output.value.inputs.text).toHaveLength(1_100_000)
  const again = await world.call('POST', '/v1/tools/execute', body, { headers })
  expect(again).toMatchObject({ status: 410, body: { name: 'answer_not_kept' } })
  expect(ran() - before).toBe(1)
})

describe('null for what is not required, as models in strict mode write it', () => {
  test('is left out for a worker', async () => {
    const { body } = await run('Demo.Echo', { text: 'hi', count: null })
    expect(body.structured.inputs).toEqual({ text: 'hi' })
    const executed = await world.execute('Demo.Echo', { input: { text: null } })
    expect(executed.body.success).toBe(true)
  })

  test('is refused where it is required, and where the schema is the tool’s own JSON Schema', async () => {
    expect(await run('Demo.Slow', { ms: null })).toMatchObject({
      status: 400,
      body: { name: 'invalid_input' },
    })
    expect(await run('Run.Add', { a: 1, b: null })).toMatchObject({
      status: 400,
      body: { name: 'invalid_input', message: 'input.b: must be integer.' },
    })
  })
})

describe('an Idempotency-Key under which nothing was run yet', () => {
  test.each(['execute', 'run', 'arcade'] as const)(
    'is carried out once the user has approved, by %s',
    async (way) => {
      const user_id = fresh('user')
      const headers = { 'idempotency-key': fresh('job'), ...(way === 'arcade' && STAINLESS) }
      const ask = () =>
        way === 'run'
          ? world.call(
              'POST',
              '/v1/tools/run',
              { user_id, toolId: 'Demo:EchoWithToken', args: {} },
              { headers },
            )
          : world.call('POST', '/v1/tools/execute', { user_id, tool_name: 'Demo.EchoWithToken' }, { headers })
      const before = JSON.stringify((await ask()).body)
      expect(before).toContain('/connect/auth_')
      await world.connect(user_id)
      const ran = world.worker.invocations.length
      const after = await ask()
      expect(after.status).toBe(200)
      expect(JSON.stringify(after.body)).toContain('token_digest')
      expect((await ask()).body).toEqual(after.body)
      expect(world.worker.invocations.length - ran).toBe(1)
    },
  )

  test('is carried out once its secret is set', async () => {
    const headers = { 'idempotency-key': fresh('job') }
    const ask = () => world.call('POST', '/v1/tools/run', { toolId: 'Demo:NeedsSecret' }, { headers })
    expect((await ask()).body.error.kind).toBe('TOOL_REQUIREMENTS_NOT_MET')
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'set by now' })
    expect((await ask()).body).toHaveProperty('structured')
  })
})

test('a worker cannot pass its failure off as a refusal of the broker', async () => {
  for (const kind of ['CONTEXT_DENIED', 'context_check_failed', 'TOOL_REQUIREMENTS_NOT_MET']) {
    const { body } = await run('Demo.Fail', { kind })
    expect(body.error).toMatchObject({ kind: 'UNKNOWN', op: 'execute' })
  }
})

test('a call that its caller gives up is no timeout', async () => {
  const user_id = fresh('user')
  const gone = new AbortController()
  const asked = fetch(new URL('/v1/tools/execute', world.gatepass.url), {
    method: 'POST',
    headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ tool_name: 'Demo.Slow', user_id, input: { ms: 600_000 } }),
    signal: gone.signal,
  }).catch(() => undefined)
  const before = world.worker.invocations.length
  await expect.poll(() => world.worker.invocations.length).toBeGreaterThan(before)
  gone.abort()
  await asked
  const errorKind = async () =>
    (await world.call('GET', `/v1/executions?user_id=${user_id}`)).body.items[0]?.error_kind
  await expect.poll(errorKind).toBe('NETWORK_TRANSPORT_RUNTIME_UNMAPPED')
})
