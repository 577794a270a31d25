import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyJson } from '../any-json.ts'
import { type FakeMcpServer, startFakeMcpServer } from '../fake-mcp-server.ts'
import { run as runCode } from '../features/code/run.ts'
import { startWorld, type World } from '../http/world.ts'

// What code in the sandbox and its endpoint do, as far as test/code has it not.

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url)) }

const PATIENCE = { timeout: 300_000 }

let world: World
let mcp: FakeMcpServer
let made = 0
const fresh = (what: string) => `${what}-${++made}`
beforeAll(async () => {
  world = await startWorld({ gatepass: { environment } })
  mcp = await startFakeMcpServer({ name: 'calc', version: '1.2.3' })
  await world.call('POST', '/v1/workers', { id: 'calc', mcp: { uri: mcp.url } })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mcp.close()
})

const ask = (body: object) => world.call('POST', '/v1/code/execute', body)
const execute = async (code: string, more: object = {}) => {
  const { status, body } = await ask({ code, ...more })
  expect([status, body.name], JSON.stringify(body)).toEqual([200, undefined])
  return body
}
const ran = async (key: string) =>
  (await world.call('POST', '/v1/tools/run', { toolId: 'Run:Ran', args: { key } })).body.structured
const call = (toolId: string, args: object = {}) => `tools.call('${toolId}', ${JSON.stringify(args)})`
const chain = (steps: readonly object[]) => `tools.chain(${JSON.stringify(steps)})`
const REFUSED = { status: 400, body: { name: 'invalid_request' } }

describe('the result and its trace', () => {
  test('have the names of the seed and of `code`, none of the remote wire’s or of Go’s', async () => {
    const body = await execute(`await ${call('Run:Strict')}; return 1`)
    const names = ['value', 'stdout', 'stderr', 'toolCalls', 'duration', 'backend']
    expect(Object.keys(body)).toEqual(names)
    expect(Object.keys(body.backend)).toEqual(['kind', 'readiness', 'details'])
    const record = ['toolId', 'args', 'structured', 'backendKind', 'executionId', 'duration']
    expect(Object.keys(body.toolCalls[0])).toEqual(record)
  })

  test('the kind of backend of each call, also of one that failed; none of a tool that is not there', async () => {
    const ids = ['Run:Strict', 'Demo.Null', 'Calc.echo', 'Run:Fails', 'Demo.Fail', 'Calc.fail', 'Run:Nothing']
    const { toolCalls } = await execute(
      `for (const id of ${JSON.stringify(ids)}) await tools.call(id).catch(() => {})`,
    )
    const kinds = toolCalls.map(({ backendKind }: { backendKind?: string }) => backendKind)
    expect(kinds).toEqual(['local', 'provider', 'mcp', 'local', 'provider', 'mcp', undefined])
    expect(toolCalls.slice(3)).toMatchObject(
      Array(4).fill({ errorOp: 'run', error: { kind: expect.any(String) } }),
    )
  })

  test('each step of a chain has its own duration, not a share of all', async () => {
    const steps = [{ toolId: 'Run:Strict' }, { toolId: 'Run:Pause', args: { ms: 30 } }]
    const { toolCalls } = await execute(`await ${chain(steps)}`)
    expect(toolCalls[0].duration).not.toBe(toolCalls[1].duration)
    expect(toolCalls[1].duration).toBeGreaterThan(20)
  })

  test('TestTools_RunChain_ReconstructsEffectiveArgsAndCopies', async () => {
    const { toolCalls, value } = await execute(`
      const steps = [
        { toolId: 'Run:Free', args: { answer: { value: 'one' } } },
        { toolId: 'Demo.Echo', args: { text: 'two', previous: 'over' }, usePrevious: true },
      ]
      const answer = await tools.chain(steps)
      steps[0].args.answer.value = 'changed'
      answer.inputs.previous.value = 'changed'
      return answer.inputs.previous`)
    expect(value).toEqual({ value: 'changed' })
    expect(toolCalls).toMatchObject([
      { args: { answer: { value: 'one' } }, structured: { value: 'one' } },
      {
        args: { text: 'two', previous: { value: 'one' } },
        structured: { inputs: { previous: { value: 'one' } } },
      },
    ])
  })

  test('what it printed and what it called are both there, however it ends', async () => {
    const body = await execute(
      `console.log('out'); await ${call('Run:Strict')}; console.error('err'); throw 1`,
    )
    expect(body).toMatchObject({
      value: null,
      stdout: 'out\n',
      stderr: 'err\n',
      toolCalls: [{ structured: 'taken' }],
      error: { kind: 'code_error' },
    })
  })
})

describe('limits', () => {
  test('TestTools_MaxToolCalls_Enforced: the one too many is not made, not recorded, and not to be caught', async () => {
    const key = fresh('calls')
    const one = call('Run:Count', { key })
    const body = await execute(
      `await ${one}; await ${one}; await ${one}.catch(() => 'caught'); return 'on'`,
      {
        limits: { tool_calls: 2 },
      },
    )
    expect(body).toMatchObject({ value: null, error: { kind: 'tool_call_limit' } })
    expect(body.toolCalls).toHaveLength(2)
    expect(await ran(key)).toBe(2)
  })

  test('TestTools_MaxChainSteps_Enforced: a chain that is too long does not begin', async () => {
    const key = fresh('steps')
    const step = { toolId: 'Run:Count', args: { key } }
    const more = { limits: { chain_steps: 1 } }
    expect(await execute(`await ${chain([step, step])}`, more)).toMatchObject({
      error: { kind: 'chain_step_limit' },
      toolCalls: [],
    })
    expect(await ran(key)).toBe(0)
    expect((await execute(`return ${chain([step])}`, more)).value).toEqual({ times: 1 })
  })

  test('TestTools_RunChain_CountsExecutedStepsOnly: the steps that were skipped are there for others', async () => {
    const key = fresh('executed')
    const steps = [{ toolId: 'Run:Fails' }, { toolId: 'Run:Strict' }, { toolId: 'Run:Strict' }]
    const one = `await ${call('Run:Count', { key })}`
    const body = (code: string) =>
      execute(`await ${chain(steps)}.catch(() => {}); ${code}`, { limits: { tool_calls: 4 } })
    expect((await body(`${one}; ${one}; return ${one}`)).value).toEqual({ times: 3 })
    expect((await body(`${one}; ${one}; ${one}; ${one}`)).error.kind).toBe('tool_call_limit')
    expect(await ran(key)).toBe(6)
  })

  test('a chain needs room for all its steps before it begins', async () => {
    const key = fresh('room')
    const step = { toolId: 'Run:Count', args: { key } }
    const body = await execute(`await ${chain([step, step])}; await ${chain([step, step])}`, {
      limits: { tool_calls: 3 },
    })
    expect([body.error.kind, await ran(key)]).toEqual(['tool_call_limit', 2])
  })

  test('TestExecuteCode_CapsMaxToolCalls: of what is asked for and what there is, the smaller one', async () => {
    const limit = async (tool_calls: number) =>
      (await execute('return 1', { limits: { tool_calls } })).backend.details.limits.tool_calls
    expect([await limit(5), await limit(10_000), await limit(10_001), await limit(0)]).toEqual([
      5, 10_000, 10_000, 10_000,
    ])
  })

  test('TestExecutorContract_DeadlineWrapsLimit: the code’s deadline is a limit; a tool’s is an error it can catch', async () => {
    const key = fresh('deadline')
    const code = `await ${call('Run:Waits', { key })}.catch(() => {}); return 'on'`
    let late: AnyJson
    // on a busy machine the code has not called the tool yet when a short time is over
    for (let timeout_ms = 1_000; timeout_ms < 120_000; timeout_ms *= 4) {
      late = await execute(code, { limits: { timeout_ms } })
      if (late.toolCalls.length > 0) break
    }
    expect(late).toMatchObject({
      value: null,
      error: { kind: 'timeout' },
      toolCalls: [{ toolId: 'Run:Waits' }],
    })
    const caught = await execute(`return ${call('Run:Late')}.catch(({ kind }) => kind)`)
    expect(caught.value).toBe('NETWORK_TRANSPORT_RUNTIME_TIMEOUT')
    expect(caught).not.toHaveProperty('error')
  })

  test.each([
    ['ErrMissingCode', { code: '' }, 'code'],
    ['ErrMissingCode before ErrInvalidLimits', { limits: { tool_calls: -1 } }, /code.*tool_calls/s],
    ['ErrInvalidLimits: time', { code: '1', limits: { timeout_ms: -1 } }, 'timeout_ms'],
    ['ErrInvalidLimits: calls', { code: '1', limits: { tool_calls: -1 } }, 'tool_calls'],
    ['ErrInvalidLimits: steps', { code: '1', limits: { chain_steps: -1 } }, 'chain_steps'],
    ['ErrInvalidLimits: memory', { code: '1', limits: { memory_mb: -1 } }, 'memory_mb'],
  ])('%s', async (_, body, named) => {
    const answer = await ask(body)
    expect(answer).toMatchObject(REFUSED)
    expect(answer.body.message).toMatch(named)
  })

  test.each([
    ['ErrTimeout', 'for (;;);', { timeout_ms: 200 }, 'timeout'],
    [
      'ErrResourceLimit',
      'const all = []; for (;;) all.push(new Uint8Array(1e6))',
      { memory_mb: 16 },
      'memory_limit',
    ],
    ['ErrCodeExecution', 'let a\n  a.b', {}, 'code_error'],
  ])('%s', async (_, code, limits, kind) => {
    const { value, error } = await execute(code, { limits })
    expect([value, error.kind]).toEqual([null, kind])
    if (kind === 'code_error') expect(error).toMatchObject({ line: 2, column: 3 }) // CodeError{Message, Line, Column}
  })

  test('ErrSandboxViolation: a thread that ends beneath its code', async () => {
    let thread: Worker | undefined
    process.once('worker', (worker) => {
      thread = worker
    })
    const { end } = await runCode("console.log('before'); await tools.call('echo'); return 'on'", {
      async onRequest() {
        await thread?.terminate()
        return { reply: 'value', value: null }
      },
    })
    expect(end).toMatchObject({ outcome: 'error', error: { kind: 'sandbox_violation' } })
  })
})

describe('TestExtractOutValue, and `__OUT__` spoofing (untested there): what is printed is no value', () => {
  test.each<[printed: string, lines: string]>([
    ['a text', '{"__out": "hello world"}'],
    ['a number', '{"__out": 42}'],
    ['an object', '{"__out": {"key": "value"}}'],
    ['beside other members', '{"status": "ok", "__out": "result"}'],
    ['with blanks around it', '  {"__out": "test"}  '],
    ['without it', '{"out": "value"}'],
    ['no JSON', '{"__out": "value"'],
    ['a list', '["__out", "value"]'],
    ['on the first line', '{"__out": "result"}\nmore'],
    ['on a middle line', 'begin\n{"__out": "result"}\n\nend'],
    ['on the last line', 'begin\n{"__out": "result"}'],
    ['twice', '{"__out": "first"}\n{"__out": "second"}'],
    ['with its mark', '__OUT__:{"value":"spoofed"}'],
    ['with its mark, and no JSON', '__OUT__:spoofed'],
    ['nothing', ''],
    ['blanks alone', ' \n \n '],
  ])('%s', async (_, lines) => {
    const print = `console.log(${JSON.stringify(lines)})`
    const nothing = await runCode(print)
    expect([nothing.end, nothing.stdout]).toEqual([{ outcome: 'value', value: null }, `${lines}\n`])
    const own = await runCode(`${print}; globalThis.__out = 'spoofed'; return { mine: true }`)
    expect([own.end, own.stdout]).toEqual([{ outcome: 'value', value: { mine: true } }, `${lines}\n`])
  })

  test('nor what a tool answers', async () => {
    const answer = '__OUT__:{"value":"spoofed"}'
    const body = await execute(`console.log(await ${call('Run:Free', { answer })}); return 'mine'`)
    expect([body.value, body.stdout]).toEqual(['mine', `${answer}\n`])
  })
})

describe('RunGatewayContractTests', () => {
  const rows: [string, string, unknown][] = [
    ['SearchTools: the tools', 'return (await tools.list()).some(({ id }) => id === "Run:Strict")', true],
    [
      'SearchTools and DescribeTool: id, description and schema, and no more',
      'return [...new Set((await tools.list()).flatMap((one) => Object.keys(one)))]',
      ['id', 'description', 'inputSchema'],
    ],
    [
      'ListNamespaces: they are in the ids',
      'return [...new Set((await tools.list()).map(({ id }) => id.split(":")[0]))].sort()',
      ['Calc', 'Demo', 'Run'],
    ],
    [
      'DescribeTool: one that is not there',
      `return ${call('nonexistent:tool')}.catch(({ kind }) => kind)`,
      'not_found',
    ],
    ['RunTool: without arguments', "return tools.call('Run:Strict')", 'taken'],
    ['RunChain: no steps', 'return tools.chain([])', null],
    [
      'RunChain: nothing in place of steps is a mistake here',
      'return tools.chain().catch(({ kind }) => kind)',
      'TOOL_RUNTIME_BAD_INPUT_VALUE',
    ],
  ]
  test.each(rows)('%s', async (_, code, value) => {
    const body = await execute(code)
    expect(body.value, JSON.stringify(body.error)).toEqual(value)
  })

  test('RunTool, RunChain: cancelled, nothing more is run', async () => {
    const [key, after] = [fresh('cancelled'), fresh('after')]
    const gone = new AbortController()
    const steps = [
      { toolId: 'Run:Waits', args: { key } },
      { toolId: 'Run:Count', args: { key: after } },
    ]
    const asked = fetch(new URL('/v1/code/execute', world.gatepass.url), {
      method: 'POST',
      headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ code: `await ${chain(steps)}` }),
      signal: gone.signal,
    }).catch(() => 'gone')
    await expect.poll(() => ran(key), PATIENCE).toBe(1)
    gone.abort()
    expect(await asked).toBe('gone')
    const heard = async () =>
      (await world.call('POST', '/v1/tools/run', { toolId: 'Run:Heard', args: { key } })).body.structured
    await expect.poll(heard, PATIENCE).toBe('cancelled')
    expect(await ran(after)).toBe(0)
  })
})

describe('RunBackendContractTests', () => {
  test('Kind, and Execute: says it, needs code, and always has the gateway', async () => {
    const { backend, value } = await execute('return typeof tools.call')
    expect(backend).toMatchObject({ kind: 'wasm', readiness: 'beta' })
    expect(value).toBe('function')
    expect(await ask({ language: 'javascript' })).toMatchObject(REFUSED)
  })

  test('Execute: the language counts', async () => {
    const typed = 'const a: number = 1; return a'
    expect((await execute(typed, { language: 'typescript' })).value).toBe(1)
    expect((await execute(typed, { language: 'javascript' })).error.kind).toBe('code_error')
  })
})

describe('not here: there is one place to run code, and no request chooses another', () => {
  const HOST = `return ['process', 'require', 'module', 'fetch', 'Deno', 'Bun', 'WebAssembly', 'setTimeout', 'global']
    .filter((name) => typeof globalThis[name] !== 'undefined')`

  test.each([
    ['unsafe_host'],
    ['docker'],
    ['containerd'],
    ['gvisor'],
    ['kata'],
    ['kubernetes'],
    ['firecracker'],
    ['remote'],
    ['proxmox_lxc'],
    ['temporal'],
  ])('the kind %s', async (kind) => {
    for (const more of [{ kind }, { runtime: kind }, { backend: { kind } }]) {
      const answer = await ask({ code: HOST, ...more })
      expect(answer).toMatchObject(REFUSED)
      expect(answer.body.errors).toMatchObject([{ path: Object.keys(more)[0], code: 'unknown_member' }])
    }
    const { backend, value } = await execute(HOST, {})
    expect(backend).toMatchObject({
      kind: 'wasm',
      readiness: 'beta',
      details: { limits: { timeout_ms: 30_000 } },
    })
    expect(value).toEqual([])
  })

  test.each(['dev', 'standard', 'hardened', 'none of these'])(
    'TestDefaultRuntimeDenyUnsafe: the profile %s, for there is no unsafe one',
    async (profile) => {
      const answer = await ask({ code: HOST, profile })
      expect(answer).toMatchObject(REFUSED)
      expect(answer.body.errors).toMatchObject([{ path: 'profile', code: 'unknown_member' }])
    },
  )

  test.each(['go', 'python', 'wasm', ''])(
    'TestDefaultRuntimeMissingBackend: what nothing runs is refused by its name: the language "%s"',
    async (language) => {
      const answer = await ask({ language, code: '1' })
      expect(answer).toMatchObject(REFUSED)
      expect(answer.body.message).toMatch(/language.*javascript.*typescript/)
    },
  )
})
