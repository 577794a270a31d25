import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyJson } from '../../any-json.ts'
import { digest } from '../../digest.ts'
import { approve, startWorld, type World } from '../../http/world.ts'

let world: World
let users = 0
const newUser = () => `code-user-${++users}`

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const execute = (code: string, more: Record<string, unknown> = {}, options = {}) =>
  world.call('POST', '/v1/code/execute', { language: 'javascript', code, ...more }, options)

describe('POST /v1/code/execute', () => {
  test('answers value, output, calls, duration and backend', async () => {
    const { status, body } = await execute(
      `console.log('begin')
      const { inputs } = await tools.call('Demo.Echo', { text: 'hi' })
      console.error('end')
      return { inputs, at: [1, 2] }`,
      { user_id: newUser() },
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      value: { inputs: { text: 'hi' }, at: [1, 2] },
      stdout: 'begin\n',
      stderr: 'end\n',
      toolCalls: [
        {
          toolId: 'Demo:Echo:1.0.0',
          args: { text: 'hi' },
          structured: expect.objectContaining({ inputs: { text: 'hi' } }),
          backendKind: 'provider',
          executionId: expect.stringMatching(/^exec_/),
          duration: expect.any(Number),
        },
      ],
      duration: expect.any(Number),
      backend: {
        kind: 'wasm',
        readiness: 'beta',
        details: {
          engine: 'quickjs-ng',
          language: 'javascript',
          limits: { timeout_ms: 30_000, memory_mb: 64, tool_calls: 100, chain_steps: 100 },
        },
      },
    })
  })

  test('TypeScript, and the catalogue', async () => {
    const code = `
      interface Tool { id: string; description: string; inputSchema: object }
      const all: Tool[] = await tools.list()
      return all.filter(({ id }) => id.startsWith('Demo:')).find(({ id }) => id.includes(':Echo:'))`
    const { body } = await execute(code, { language: 'typescript' })
    expect(body.value).toEqual({
      id: 'Demo:Echo:1.0.0',
      description: 'Answers what it was given.',
      inputSchema: expect.objectContaining({ type: 'object' }),
    })
  })

  test('a call that needs consent ends the run; after it the value is there, and never the token', async () => {
    const user_id = newUser()
    const code = `
      const { inputs } = await tools.call('Demo.Echo', { count: 1 })
      console.log('asking')
      try {
        const { context: { authorization } } = await tools.call('Demo.EchoWithToken', { leak: true })
        return { count: inputs.count, authorization, keys: Object.keys(authorization) }
      } catch (error) {
        await tools.call('Demo.Echo', { text: 'never' })
        return 'caught'
      } finally {
        console.log('never')
      }`
    const before = await execute(code, { user_id })
    expect(before.status).toBe(200)
    expect(before.body).toMatchObject({
      value: null,
      stdout: 'asking\n',
      requires_authorization: {
        id: expect.stringMatching(/^auth_/),
        url: expect.stringContaining('/connect/'),
        scopes: ['read'],
        status: 'pending',
        toolId: 'Demo:EchoWithToken:1.0.0',
      },
      toolCalls: [
        { toolId: 'Demo:Echo:1.0.0' },
        { toolId: 'Demo:EchoWithToken:1.0.0', error: { kind: 'requires_authorization' }, errorOp: 'run' },
      ],
    })
    expect(before.body).not.toHaveProperty('error')
    await approve(before.body.requires_authorization.url)
    const need = { id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } }
    const granted = await world.call('POST', '/v1/auth/authorize', { auth_requirement: need, user_id })
    const { token } = granted.body.context
    const { body } = await execute(code, { user_id })
    expect(body.value).toMatchObject({
      count: 1,
      authorization: { token_digest: digest(token), token: expect.any(String) },
    })
    expect(JSON.stringify(body)).not.toContain(token)
  })

  test.each(['value', 'nested', 'key', 'error', 'logs', 'body'])(
    'a tool that leaks its token in its %s leaks it to nobody',
    async (where) => {
      const user_id = newUser()
      const token = await world.connect(user_id)
      const { body } = await execute(
        `try { const said = await tools.call('Demo.Leak', { in: ${JSON.stringify(where)} })
          console.log(said, JSON.stringify(said)); return { said }
        } catch (error) {
          console.error(error); return { ...error, message: error.message, stack: error.stack, text: String(error) }
        }`,
        { user_id },
      )
      expect(body).toMatchObject({ value: expect.anything(), toolCalls: [{ toolId: 'Demo:Leak:1.0.0' }] })
      expect(JSON.stringify(body)).not.toContain(token)
    },
  )

  test('a tool that fails is an error it can catch, and is traced', async () => {
    const code = `
      const caught = []
      for (const [id, args] of [
        ['Demo.Fail', { message: 'Too fast.', kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', can_retry: true }],
        ['Demo.Nobody', {}],
        ['Demo.Slow', { ms: 'soon' }],
      ]) {
        try { await tools.call(id, args) } catch (e) { caught.push([e.kind, e.canRetry]) }
      }
      return caught`
    const { body } = await execute(code)
    expect(body.value).toEqual([
      ['UPSTREAM_RUNTIME_RATE_LIMIT', true],
      ['not_found', false],
      ['TOOL_RUNTIME_BAD_INPUT_VALUE', false],
    ])
    expect(body.toolCalls).toMatchObject([
      {
        toolId: 'Demo:Fail:1.0.0',
        error: { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', message: 'Too fast.' },
        errorOp: 'run',
      },
      { toolId: 'Demo.Nobody', error: { kind: 'not_found' }, errorOp: 'run' },
      { toolId: 'Demo:Slow:1.0.0', error: { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' } },
    ])
    expect(body.toolCalls[0]).not.toHaveProperty('structured')
    const uncaught = await execute("const a = 1\nawait tools.call('Demo.Fail', { message: 'Too fast.' })")
    expect(uncaught).toMatchObject({
      status: 200,
      body: { value: null, error: { kind: 'code_error', message: 'ToolError: Too fast.', line: 2 } },
    })
  })

  test('what the tool answers besides plain values', async () => {
    const { body } = await execute(
      "return [await tools.call('Demo.Null'), await tools.call('Demo.Array'), await tools.call('Demo.Artifact')]",
    )
    expect(body.value).toEqual([
      null,
      [1, 'two', { three: 3 }],
      expect.objectContaining({ url: 'https://files.example.test/report.csv' }),
    ])
  })

  test('the trace has copies: nothing the code does later changes it', async () => {
    const { body } = await execute(`
      const args = { text: 'first' }
      const answer = await tools.call('Demo.Echo', args)
      args.text = 'changed'; answer.inputs.text = 'changed'
      return answer.inputs.text`)
    expect(body.value).toBe('changed')
    expect(body.toolCalls).toMatchObject([
      { args: { text: 'first' }, structured: { inputs: { text: 'first' } } },
    ])
  })

  test('a trace that is too long loses what went in and out, and no call', async () => {
    const { body } = await execute(`
      for (let i = 0; i < 12; i++) await tools.call('Demo.Echo', { text: 'x'.repeat(200_000), count: i })
      return 'done'`)
    expect(body.value).toBe('done')
    expect(body.toolCalls).toHaveLength(12)
    expect(body.toolCalls[0]).toMatchObject({ args: { count: 0 } })
    expect(body.toolCalls[11]).toMatchObject({ truncated: true, executionId: expect.any(String) })
    expect(JSON.stringify(body).length).toBeLessThan(3_000_000)
  })

  test('the audit trail has each token under the tool it was for, also where several run at a time', async () => {
    const user_id = newUser()
    await world.connect(user_id)
    const { body } = await execute(
      `await Promise.all(['WhoAmI', 'EchoWithToken', 'Leak', 'WhoAmI', 'EchoWithToken', 'Leak'].map(
        (name) => tools.call('Demo.' + name, name === 'Leak' ? { in: 'logs' } : {})))`,
      { user_id },
    )
    expect(body.toolCalls).toHaveLength(6)
    const { items } = (await world.call('GET', `/v1/admin/audit?limit=1000&user_id=${user_id}`)).body
    const tools = items.flatMap(({ tool }: { tool?: string }) => (tool === undefined ? [] : [tool]))
    expect(tools.sort()).toEqual(
      ['EchoWithToken', 'Leak', 'WhoAmI'].flatMap((name) => Array(2).fill(`Demo:${name}:1.0.0`)),
    )
  })

  test('an account is chosen at the providers that a tool needs, and left out for those it does not', async () => {
    const user_id = newUser()
    const token = await world.connect(user_id)
    const code = "await tools.call('Demo.Null', {}); return tools.call('Demo.EchoWithToken', {})"
    const { items } = (await world.call('GET', `/v1/connections?user_id=${user_id}`)).body
    const { body } = await execute(code, { user_id, accounts: { demo: items[0].account.id } })
    expect(body.error).toBeUndefined()
    expect(body.value.context.authorization.token_digest).toBe(digest(token))
  })

  test('an Idempotency-Key runs it once', async () => {
    const before = world.worker.invocations.length
    const options = { headers: { 'idempotency-key': 'code-1' } }
    const [one, other] = await Promise.all([
      execute("return await tools.call('Demo.Echo', { count: 1 })", {}, options),
      execute("return await tools.call('Demo.Echo', { count: 1 })", {}, options),
    ])
    expect(one.body).toEqual(other.body)
    expect(world.worker.invocations.length).toBe(before + 1)
  })
})

describe('tools.chain', () => {
  test('runs one step after the other and answers what the last did', async () => {
    const { body } = await execute(`
      return await tools.chain([
        { toolId: 'Demo.Array' },
        { toolId: 'Demo.Echo', args: { text: 'hi', previous: 'over' }, usePrevious: true },
      ])`)
    expect(body.toolCalls).toMatchObject([
      { toolId: 'Demo:Array:1.0.0', args: {} },
      { toolId: 'Demo:Echo:1.0.0', args: { text: 'hi', previous: [1, 'two', { three: 3 }] } },
    ])
    expect(body.value?.inputs ?? body.error).toMatchObject({ text: 'hi' })
  })

  test('stops at the first that fails, which is traced as a step', async () => {
    const { body } = await execute(`
      try {
        await tools.chain([{ toolId: 'Demo.Null' }, { toolId: 'Demo.Fail' }, { toolId: 'Demo.Echo' }])
      } catch (e) { return e.kind }`)
    expect(body.value).toBe('TOOL_RUNTIME_FATAL')
    expect(body.toolCalls).toMatchObject([{}, { toolId: 'Demo:Fail:1.0.0', errorOp: 'chain' }])
    expect(body.toolCalls).toHaveLength(2)
  })

  test.each([
    ['no list', '{}'],
    ['no list at all', 'undefined'],
    ['a step without a tool', '[{ args: {} }]'],
    ['the first step wants what was before it', "[{ toolId: 'Demo.Echo', usePrevious: true }]"],
  ])('refused: %s', async (_, steps) => {
    const { body } = await execute(`try { await tools.chain(${steps}) } catch (e) { return e.kind }`)
    expect(body).toMatchObject({ value: 'TOOL_RUNTIME_BAD_INPUT_VALUE', toolCalls: [] })
  })

  test('has its number of steps, and counts them as calls', async () => {
    const chain = (n: number) => `await tools.chain(Array(${n}).fill({ toolId: 'Demo.Null' }))`
    const long = await execute(`try { ${chain(3)} } catch {}`, { limits: { chain_steps: 2 } })
    expect(long.body).toMatchObject({ error: { kind: 'chain_step_limit' }, toolCalls: [] })
    const many = await execute(`${chain(2)}; ${chain(2)}`, { limits: { tool_calls: 3 } })
    expect(many.body.error.kind).toBe('tool_call_limit')
    expect(many.body.toolCalls).toHaveLength(2) // there is room for all steps of a chain or it does not begin
    const failing = "[{ toolId: 'Demo.Fail' }, { toolId: 'Demo.Null' }, { toolId: 'Demo.Null' }]"
    const some = await execute(`try { await tools.chain(${failing}) } catch {}; ${chain(2)}; return 'room'`, {
      limits: { tool_calls: 3 },
    })
    expect(some.body.value).toBe('room') // only steps that ran count
    const manyValues = "{ toolId: 'Demo.Echo', args: { text: ','.repeat(70_000) } }"
    const refused = await execute(
      `try { await tools.chain([${manyValues}, { toolId: 'Demo.Echo', usePrevious: true }]) } catch (e) {
        await tools.call('Demo.Null'); return e.message
      }`,
      { limits: { tool_calls: 2 } },
    )
    expect(refused.body.value ?? refused.body.error).toContain('too many values') // nor does a refused step
  })
})

describe('limits', () => {
  test('that ask for more than there is get what there is, and hear it (TestExecuteCode_CapsMaxToolCalls)', async () => {
    const more = { timeout_ms: 1e9, memory_mb: 4096, tool_calls: 20_000, chain_steps: 5_000 }
    const { status, body } = await world.call('POST', '/v1/code/execute', { code: 'return 1', limits: more })
    expect([status, body.value]).toEqual([200, 1])
    const most = { timeout_ms: 120_000, memory_mb: 256, tool_calls: 10_000, chain_steps: 1_000 }
    expect(body.backend.details.limits).toEqual(most)
  })

  test.each([
    [{}, 'code'],
    [{ language: 'python', code: '1' }, 'language'],
    [{ language: 'javascript' }, 'code'],
    [{ language: 'javascript', code: '' }, 'code'],
    [{ language: 'javascript', code: 'x'.repeat(300_000) }, '262144'],
    [{ language: 'javascript', code: '1', limits: { timeout_ms: -1 } }, 'limits.timeout_ms'],
    [{ language: 'javascript', code: '1', limits: { memory_mb: 1.5 } }, 'limits.memory_mb'],
    [{ language: 'javascript', code: '1', limits: { timeout: 1 } }, 'timeout'],
  ])('refused before anything runs: %j', async (body, named) => {
    expect(await world.call('POST', '/v1/code/execute', body)).toMatchObject({
      status: 400,
      body: { name: 'invalid_request', message: expect.stringContaining(named) },
    })
  })

  test('0 asks for the most', async () => {
    const limits = { timeout_ms: 0, memory_mb: 0, tool_calls: 0, chain_steps: 0 }
    expect((await execute('return 1', { limits })).body.backend.details.limits).toEqual({
      timeout_ms: 120_000,
      memory_mb: 256,
      tool_calls: 10_000,
      chain_steps: 1_000,
    })
  })

  test('10,000 calls are stopped at the limit, with all that was done', async () => {
    const before = world.worker.invocations.length
    const { status, body } = await execute(
      "for (let i = 0; i < 10_000; i++) { try { await tools.call('Demo.Echo', { count: i }) } catch {} }; return 'all'",
      { limits: { tool_calls: 20 } },
    )
    expect([status, body.value, body.error.kind]).toEqual([200, null, 'tool_call_limit'])
    expect(body.toolCalls.map(({ args }: { args: { count: number } }) => args.count)).toEqual([
      ...Array(20).keys(),
    ])
    expect(world.worker.invocations.length).toBe(before + 20)
  })

  test('the catalogue is read once, also for code that got behind `tools.list` by the frames of an error', async () => {
    const { body } = await execute(`
      await Promise.all([tools.list(), tools.list()])
      let reply
      Error.prepareStackTrace = (_, sites) => {
        reply ??= sites.map((site) => site.getFunction()).find((one) => one?.name === 'reply')
      }
      await tools.call('Demo.Echo', { toJSON: () => new Error().stack ?? {} })
      return Promise.all([reply('list', {}), reply('list', {})])`)
    const answers = body.value.map((one: string) => JSON.parse(one))
    expect(answers).toEqual(Array(2).fill({ error: expect.objectContaining({ canRetry: false }) }))
  })

  test('the time ends the run, and the tool it waits for', async () => {
    const code = "console.log('before'); await tools.call('Demo.Slow', { ms: 600_000 })"
    let body: AnyJson
    // on a busy machine the code has not called the tool yet when a short time is over
    for (let timeout_ms = 1_000; timeout_ms < 120_000; timeout_ms *= 4) {
      ;({ body } = await execute(code, { limits: { timeout_ms } }))
      if (body.toolCalls.length > 0) break
    }
    expect(body).toMatchObject({
      value: null,
      stdout: 'before\n',
      error: { kind: 'timeout' },
      toolCalls: [{ toolId: 'Demo:Slow:1.0.0', error: { kind: expect.any(String) }, errorOp: 'run' }],
    })
  })
})

describe('the broker, while hostile code runs', () => {
  test('answers others, bounds how much of it there is, and ends it when nobody waits', async () => {
    const { gatepass, worker, execute: tool } = world
    const before = worker.invocations.length
    const gone = new AbortController()
    const key = await gatepass.makeKey('caller')
    let ended = 0
    const hostile = [
      'for (;;);',
      'for (;;) await null',
      'const a = []; for (;;) { a.push(new Uint8Array(1e6)); if (a.length > 20) a.length = 0 }',
      'for (;;) console.log("x".repeat(1e4))',
    ]
    const running = [...hostile, ...hostile].map((code) =>
      fetch(`${gatepass.url}/v1/code/execute`, {
        method: 'POST',
        signal: gone.signal,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          language: 'javascript',
          code: `await tools.call('Demo.Null'); ${code}`,
          limits: { timeout_ms: 120_000 },
        }),
      }).then(
        () => ended++,
        () => 'gone',
      ),
    )
    while (worker.invocations.length < before + running.length) await new Promise(setImmediate)

    for (let i = 0; i < 10; i++)
      expect((await tool('Demo.Echo', { input: { count: i } })).body.output.value.inputs).toEqual({
        count: i,
      })
    expect((await gatepass.call('GET', '/health')).status).toBe(200)
    // that key has all its places; another has some left
    const refused = await execute('return 1', {}, { key })
    expect(refused).toMatchObject({ status: 429, body: { name: 'rate_limited' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await execute('return 1')).body.value).toBe(1)
    expect(ended).toBe(0)

    gone.abort()
    expect(await Promise.all(running)).toEqual(running.map(() => 'gone'))
    for (;;) {
      const again = await execute('return "free"', {}, { key })
      if (again.status === 429) continue
      expect(again.body.value).toBe('free')
      break
    }
  })

  test('needs a key that may call tools', async () => {
    const readonly = await world.gatepass.makeKey('readonly')
    expect((await execute('return 1', {}, { key: readonly })).status).toBe(403)
    expect((await execute('return 1', {}, { key: null })).status).toBe(401)
  })

  test('another project: its tools alone', async () => {
    const key = await world.gatepass.makeKey('caller', 'code-other')
    const code = "try { await tools.call('Demo.Echo') } catch (e) { return [e.kind, await tools.list()] }"
    expect((await execute(code, {}, { key })).body.value).toEqual(['not_found', []])
  })
})
