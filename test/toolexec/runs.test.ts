import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { StreamEventWire } from '../../src/operations/dialects/runs.ts'
import { type FakeMcpServer, startFakeMcpServer } from '../fake-mcp-server.ts'
import { metadata, startWorld, type World } from '../http/world.ts'

// Runs, as far as test/http/runs.test.ts has them not: the order of what is refused, what a backend is
// called by, progress, what the `exec` facade declares, causes, and validation in the entry points besides `run`.

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url)) }

let world: World
let mcp: FakeMcpServer
beforeAll(async () => {
  world = await startWorld({ gatepass: { environment } })
  mcp = await startFakeMcpServer({ name: 'calc', version: '1.2.3' })
  await world.call('POST', '/v1/workers', { id: 'calc', mcp: { uri: mcp.url } })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mcp.close()
})

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  world.call('POST', path, body, { headers })
const run = (toolId: string, args: object = {}, more: object = {}) =>
  post('/v1/tools/run', { toolId, args, ...more })
const chain = (steps: readonly object[], more: object = {}) => post('/v1/tools/run_chain', { steps, ...more })
const code = async (text: string, more: object = {}) =>
  (await post('/v1/code/execute', { code: text, ...more })).body

/** The events of a stream, without those that say which run it was. */
async function stream(toolId: string, args: object = {}): Promise<StreamEventWire[]> {
  const { body } = await post('/v1/tools/run_stream', { toolId, args })
  const data = [...String(body).matchAll(/^data: (.*)$/gm)].map(([, text = '']) => JSON.parse(text))
  return data as StreamEventWire[] // as the endpoint documents it
}

describe('the order in which a run is refused', () => {
  const wrong = { a: 'one', text: 5 }

  test('before all an empty id, then one that is not there, then input, then what runs it', async () => {
    await post('/v1/tools/import', metadata('Loose', { tool_set: 'order' }))
    expect((await run('', wrong)).body).toMatchObject({ name: 'invalid_request' })
    expect((await run('Run:Nothing', wrong)).body).toMatchObject({ name: 'not_found' })
    // the other way round there: nothing is looked for to run what cannot run
    expect((await run('order:Loose', wrong)).body).toMatchObject({ name: 'invalid_input' })
    expect((await run('order:Loose', { text: 'x' })).body.error).toMatchObject({ op: 'select_backend' })
  })

  test('whatever else is wrong, the id is never taken apart to find another tool', async () => {
    for (const id of ['Run:Add:', ':Run:Add', 'Run::Add', 'Run:Add:1.0.0:x', ' Run:Add'])
      expect((await run(id, { a: 1 })).body, id).toMatchObject({ name: 'not_found' })
  })
})

describe('dispatch', () => {
  test('an MCP server hears the plain name, a worker its own, a module its handler’s', async () => {
    await post('/v1/tools/import?worker_id=demo', metadata('Null', { tool_set: 'alias' }))
    await run('Calc:add:1.2.3', { a: 1, b: 2 })
    expect(mcp.calls.at(-1)?.tool).toBe('add')
    expect((await run('alias:Null')).body.backend).toEqual({
      kind: 'provider',
      provider: { providerId: 'demo', toolId: 'Null' },
    })
    expect(world.worker.invocations.at(-1)?.call.tool).toMatchObject({ name: 'Null', toolkit: 'Demo' })
    expect((await run('run_add', { a: 1 })).body.backend).toEqual({ kind: 'local', local: { name: 'Add' } })
  })

  test('a backend that fails is not replaced by another, and not asked again', async () => {
    const before = world.worker.invocations.length
    expect((await run('Demo.Crash')).body).toMatchObject({
      backend: { kind: 'provider' },
      error: { op: 'execute' },
    })
    expect(world.worker.invocations.length - before).toBe(1)
  })
})

describe('progress', () => {
  const started = { kind: 'progress', data: { progress: 0, total: 1, message: 'started' } }

  test.each([
    ['a module', 'Run:Add:1.0.0', { a: 1 }],
    ['a worker', 'Demo:Null:1.0.0', {}],
    ['an MCP server', 'Calc:echo:1.2.3', {}],
  ])(
    'TestRunWithProgress_EmitsStartAndEnd, %s: 0/1 started, and `done` in place of 1/1',
    async (_, id, args) => {
      const events = await stream(id, args)
      expect(events).toMatchObject([
        { ...started, toolId: id },
        { kind: 'done', toolId: id },
      ])
    },
  )

  test.each([
    ['a module', 'Run:Fails'],
    ['a worker', 'Demo:Fail:1.0.0'],
    ['an MCP server', 'Calc:fail:1.2.3'],
  ])('of %s that fails: 0/1 started, and `error` in place of 1/1', async (_, id) => {
    expect(await stream(id)).toMatchObject([
      started,
      { kind: 'error', toolId: id, data: { error: { op: 'execute' } } },
    ])
  })

  test('TestRunChainWithProgress_EmitsStepProgress: no stream here; the answer says for every step what became of it', async () => {
    const steps = [{ toolId: 'Run:Add', args: { a: 1 } }, { toolId: 'Demo.Fail' }, { toolId: 'Run:Strict' }]
    const answer = await post('/v1/tools/run_chain', { steps }, { accept: 'text/event-stream' })
    expect(answer.headers.get('content-type')).toContain('application/json')
    expect(answer.body.steps).toMatchObject([
      { status: 'completed', duration: expect.any(Number) },
      { status: 'failed', duration: expect.any(Number) },
      { status: 'skipped' },
    ])
    expect(answer.body.steps[2]).toEqual({ toolId: 'Run:Strict', status: 'skipped' })
    expect((await chain([])).body).toEqual({ status: 'completed', steps: [] })
  })
})

describe('what the `exec` facade declares', () => {
  test('StopOnError: a chain stops at what fails, and nothing switches that off', async () => {
    const steps = [{ toolId: 'Run:Fails' }, { toolId: 'Run:Strict' }]
    const { body } = await chain(steps, {})
    expect(body.steps.map(({ status }: { status: string }) => status)).toEqual(['failed', 'skipped'])
    for (const more of [{ stopOnError: false }, { stop_on_error: false }])
      expect(await chain(steps, more)).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
  })

  test('no arguments: `previous` is put into none, not in their place', async () => {
    const { body } = await chain([
      { toolId: 'Run:Add', args: { a: 2 } },
      { toolId: 'Demo.Echo', usePrevious: true },
      { toolId: 'Run:Free', args: null },
    ])
    expect(body.status).toBe('completed')
    expect(body.steps[1].structured.inputs).toEqual({ previous: { sum: 2 } })
  })

  test('exec defaults (untested there, and off): validation is on whoever asks not', async () => {
    for (const off of [
      { validateInput: false },
      { validate: false },
      { validation: { input: false, output: false } },
    ]) {
      const { body } = await run('Run:Add', { a: 'one' }, off)
      expect(body.errors).toMatchObject([{ path: Object.keys(off)[0], code: 'unknown_member' }])
    }
    expect((await run('Run:Add', { a: 'one' })).body).toMatchObject({ name: 'invalid_input' })
    expect((await run('Run:WrongOutput', {})).body.error).toMatchObject({ op: 'validate_output' })
  })
})

describe('validation in the entry points besides `run`, `run_stream`, `run_chain` and `execute`', () => {
  const INPUT = 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  const OUTPUT = 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'
  const DRAFT7 = { at: [1, 2, 3] }

  test('code', async () => {
    const { value, toolCalls } = await code(`
      const kinds = []
      for (const [id, args] of [
        ['Run:Add', { a: 'one' }], ['Run:Draft7', ${JSON.stringify(DRAFT7)}], ['Run:WrongOutput', {}],
        ['Run:Draft7', { answer: ['one', 'two'] }],
      ]) await tools.call(id, args).catch((error) => kinds.push(error.kind))
      await tools.chain([{ toolId: 'Run:WrongOutput' }]).catch((error) => kinds.push(error.kind))
      return kinds`)
    expect(value).toEqual([INPUT, INPUT, OUTPUT, OUTPUT, OUTPUT])
    expect(JSON.stringify(toolCalls)).not.toContain('three')
  })

  test('OXP', async () => {
    const call = (tool_id: string, input: object) => post('/oxp/tools/call', { request: { tool_id, input } })
    expect((await call('Run.Add', { a: 'one' })).status).toBe(422)
    expect((await call('Run.Draft7', DRAFT7)).status).toBe(422)
    const { status, body } = await call('Run.WrongOutput', {})
    expect([status, body.result.success]).toEqual([200, false])
    expect(JSON.stringify(body)).not.toContain('three')
  })

  test('a run that is put off', async () => {
    const run_at = new Date(Date.now() + 3_000).toISOString()
    const put = (tool_name: string, input: object) => post('/v1/tools/execute', { tool_name, input, run_at })
    expect((await put('Run.Draft7', DRAFT7)).body).toMatchObject({ name: 'invalid_input' })
    const { body } = await put('Run.WrongOutput', {})
    const look = async () => (await world.call('GET', `/v1/scheduled_tools/${body.execution_id}`)).body
    await expect.poll(async () => (await look()).execution_status).toBe('failed')
    const [attempt] = (await look()).attempts
    expect(attempt).toMatchObject({ success: false, output: { error: { kind: OUTPUT } } })
    expect(JSON.stringify(attempt)).not.toContain('three')
  })
})

describe('lost causes (untested there): the kind of an error stays what it was, whoever asks', () => {
  const limited = {
    kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
    can_retry: true,
    retry_after_ms: 1500,
    status_code: 429,
  }

  test.each<[cause: string, toolId: string, args: object, error: { kind: string; can_retry: boolean }]>([
    ['a tool’s own words', 'Demo.Fail', { ...limited, message: 'Too fast.' }, limited],
    ['a deadline', 'Run:Late', {}, { kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', can_retry: false }],
    ['a mistake of the tool', 'Run:Fails', {}, { kind: 'TOOL_RUNTIME_FATAL', can_retry: false }],
    ['a crash of the worker', 'Demo.Crash', {}, { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', can_retry: false }],
    ['a requirement', 'Run:Guarded', {}, { kind: 'TOOL_REQUIREMENTS_NOT_MET', can_retry: false }],
    ['isError of an MCP server', 'Calc.fail', {}, { kind: 'TOOL_RUNTIME_FATAL', can_retry: false }],
  ])('%s', async (_, toolId, args, error) => {
    expect((await run(toolId, args)).body.error).toMatchObject(error)
    expect((await stream(toolId, args)).at(-1)).toMatchObject({ kind: 'error', data: { error } })
    expect((await chain([{ toolId, args }])).body.steps).toMatchObject([{ status: 'failed', error }])
    const plain = await world.execute(toolId, { input: args })
    expect(plain.headers.get('x-gatepass-error-kind')).toBe(error.kind)
    expect((await world.execute(toolId, { input: args }, 'arcade')).body.output.error).toMatchObject(error)
    const { value } = await code(
      `return await tools.call(${JSON.stringify(toolId)}, ${JSON.stringify(args)}).catch(({ kind, canRetry }) => [kind, canRetry])`,
    )
    expect(value).toEqual([error.kind, error.can_retry])
  })
})
