import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/config-error.ts'
import type { Worker } from '../../src/domain/worker.ts'
import type { BackendCall } from '../../src/tools/backend.ts'
import { getTool } from '../../src/tools/catalogue/get-tool.ts'
import { moduleBackend } from '../../src/tools/module/backend.ts'
import { valueReader } from '../../src/tools/module/run-handler.ts'
import { readAnswer } from '../../src/tools/read-answer.ts'
import { executeTool } from '../../src/tools/run/execute-tool.ts'
import { scrubAnswer } from '../../src/tools/scrub/scrub-answer.ts'
import type { ToolLog } from '../../src/tools/tool-answer.ts'
import { syncWorker } from '../../src/tools/worker.ts'
import { install } from '../cli/gatepass.ts'
import { digest } from '../digest.ts'
import { startFakeOpenApiService } from '../fake-openapi-service.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { approve, providerBody, startWorld, type World } from '../http/world.ts'
import { listen } from '../loopback.ts'
import { serveProcess } from '../served.ts'

const MODULE = fileURLToPath(new URL('../fixtures/tools-module.ts', import.meta.url))
const DEFINE = new URL('../../src/sdk/tools/index.ts', import.meta.url).href

describe('in-process tools', () => {
  let world: World
  beforeAll(async () => {
    world = await startWorld({ gatepass: { environment: { GATEPASS_TOOLS: MODULE } } })
    await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  })
  afterAll(() => world[Symbol.asyncDispose]())

  const run = async (name: string, input: object = {}, more: object = {}) =>
    (await world.execute(`Local.${name}`, { input, ...more }, 'arcade')).body

  test('are a worker of the project `default`, named after the file, that only the settings change', async () => {
    const { call } = world
    const { body } = await call('GET', '/v1/workers/tools-module')
    expect(body).toMatchObject({ id: 'tools-module', type: 'module', enabled: true, managed: true })
    expect(body.sync_error).toBeUndefined()
    expect((await call('GET', '/v1/workers/tools-module/health')).body.healthy).toBe(true)
    for (const [method, path, change] of [
      ['PATCH', '/v1/workers/tools-module', { enabled: false }],
      ['DELETE', '/v1/workers/tools-module', undefined],
    ] as const) {
      const refused = await call(method, path, change)
      expect(refused).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
      expect(refused.body.message).toContain('GATEPASS_TOOLS')
    }
    expect(
      (
        await call('POST', '/v1/workers', {
          id: 'evil',
          type: 'module',
          module: { uri: 'file:///tmp/x.mjs' },
        })
      ).status,
    ).toBe(400)
  })

  test('are listed with their schemas, hints, tags and needs', async () => {
    const { body } = await world.call('GET', '/v1/tools/Local:WhoAmI')
    expect(body).toMatchObject({
      tool_id: 'Local:WhoAmI:1.0.0',
      requirements: { authorization: { id: 'demo', oauth2: { scopes: ['read'] } } },
    })
    const echo = (await world.call('GET', '/v1/tools/Local:Echo')).body
    expect(echo.input.parameters).toMatchObject([
      { name: 'text', required: true, value_schema: { val_type: 'string' } },
      { name: 'times', required: false, value_schema: { val_type: 'integer' } },
    ])
    const formatted = (await world.call('GET', '/v1/formatted_tools?format=mcp&limit=100')).body.items
    const who = formatted.find((one: { name: string }) => one.name === 'Local_WhoAmI')
    expect(who.annotations).toEqual({ readOnlyHint: true })
  })

  test('that the module has removed answer that it has no such tool', async () => {
    const { broker } = world.gatepass
    const workers = await broker.store.workers.all()
    const worker = workers.find(({ id }) => id === 'tools-module') as Worker // it is registered at the start
    const call = { tool: { namespace: 'Local', name: 'Gone' } } as BackendCall // all that is read of it
    expect(await moduleBackend.call(broker, worker, call)).toMatchObject({
      outcome: 'error',
      error: { kind: 'TOOLKIT_LOAD_FAILED', message: expect.stringContaining('has no tool Local:Gone') },
    })
  })

  test('wait for consent, and then get the token of this user with its scopes and expiry', async () => {
    const asked = await world.execute('Local:WhoAmI', { user_id: 'ada' })
    expect(asked.body.output.requires_authorization).toMatchObject({ scopes: ['read'], status: 'pending' })
    const token = await world.connect('ada')
    const other = await world.connect('ben')
    expect(token).not.toBe(other)
    for (const [user_id, held] of [
      ['ada', token],
      ['ben', other],
    ] as const) {
      const { output } = await run('WhoAmI', {}, { user_id })
      expect(output.value).toMatchObject({
        user_id,
        authorization: { token_digest: digest(held), tokenType: 'bearer', scopes: ['read'], extra: {} },
      })
      expect(Date.parse(output.value.authorization.expiresAt)).toBeGreaterThan(Date.now())
    }
  })

  test('that need several providers get each by its name', async () => {
    const asked = await world.execute('Local:Both', { user_id: 'eve' })
    await approve(asked.body.output.requires_authorization.url)
    const { output } = await run('Both', {}, { user_id: 'eve' })
    const tokens = await Promise.all(
      ['demo', 'other'].map(async (id) => {
        const need = {
          auth_requirement: { id, provider_type: 'oauth2', oauth2: { scopes: ['read'] } },
          user_id: 'eve',
        }
        return digest((await world.call('POST', '/v1/auth/authorize', need)).body.context.token)
      }),
    )
    expect(output.value).toEqual({ demo: tokens[0], other: tokens[1] })
    expect(tokens[0]).not.toBe(tokens[1])
  })

  test('are run again with a fresh token when the API refuses the first one', async () => {
    const clock = testClock()
    await using own = await startWorld({ gatepass: { now: clock, environment: { GATEPASS_TOOLS: MODULE } } })
    const token = await own.connect('ada')
    await using api = await startFakeOpenApiService({ accepts: (one) => one !== token })
    clock.advance(60)
    const { body } = await own.execute('Local:Ask', { user_id: 'ada', input: { url: `${api.url}/whoami` } })
    expect(body.output.value.token_digest).toMatch(/^[0-9a-f]{64}$/)
    expect(body.output.value.token_digest).not.toBe(digest(token))
    expect(api.calls.length).toBe(2)
  })

  test('get the secrets they declare and no others', async () => {
    expect((await run('Secret')).output.error.message).toContain('API_KEY')
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'a secret of the tools' })
    await world.call('POST', '/v1/admin/secrets/OTHER', { value: 'a secret of somebody else' })
    expect((await run('Secret')).output.value).toBe(digest('a secret of the tools'))
    const { error } = (await run('Secret', { other: 'OTHER' })).output
    expect(error).toMatchObject({ kind: 'TOOL_RUNTIME_FATAL', message: 'The tool has failed.' })
    expect(error.developer_message).toContain('requiresSecrets')
  })

  test('read their input by their own schema: defaults are set, texts trimmed', async () => {
    expect((await run('Echo', { text: '  hi ' })).output.value).toEqual({ text: 'hi', times: 1 })
    expect((await run('Echo', { text: '   ' })).output.error).toMatchObject({
      kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
      can_retry: false,
    })
    expect((await run('WrongOutput')).output.error.kind).toBe('TOOL_RUNTIME_BAD_OUTPUT_VALUE')
  })

  test.each([
    [
      { how: 'retry' },
      {
        kind: 'TOOL_RUNTIME_RETRY',
        message: 'Not yet.',
        can_retry: true,
        retry_after_ms: 1500,
        additional_prompt_content: 'Wait.',
      },
    ],
    [
      { how: 'upstream', status: 404 },
      {
        kind: 'UPSTREAM_RUNTIME_NOT_FOUND',
        status_code: 404,
        can_retry: false,
        developer_message: 'on purpose',
      },
    ],
    [
      { how: 'upstream', status: 429 },
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', can_retry: true },
    ],
    [
      { how: 'upstream', status: 500 },
      { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', can_retry: false },
    ],
    [{ how: 'upstream' }, { kind: 'UPSTREAM_RUNTIME_UNMAPPED' }],
    [{ how: 'fatal' }, { kind: 'TOOL_RUNTIME_FATAL', message: 'Never.' }],
    [{ how: 'mistake' }, { kind: 'TOOL_RUNTIME_FATAL', message: 'The tool has failed.' }],
    [{ how: 'text' }, { kind: 'TOOL_RUNTIME_FATAL', message: 'The tool has failed.' }],
  ])('fail as they say: %j', async (input, expected) => {
    const { success, output } = await run('Fail', input)
    expect(success).toBe(false)
    expect(output.error).toMatchObject(expected)
    expect(output.error.message).not.toContain('secret-path')
    expect(JSON.stringify(output)).not.toContain('tools-module.ts')
  })

  test.each(['circle', 'bigint', 'function', 'nan'])('that answer no JSON (%s) have failed', async (what) => {
    const { output } = await run('BadValue', { what })
    expect(output.error.kind).toBe('TOOL_RUNTIME_BAD_OUTPUT_VALUE')
  })

  test('may answer nothing, and dates', async () => {
    expect((await run('BadValue', { what: 'undefined' })).output).toEqual({ value: null })
    expect((await run('BadValue', { what: 'date' })).output.value).toEqual({ at: '1970-01-01T00:00:00.000Z' })
  })

  test('fail when they do not answer in time, and what they log later is dropped', async () => {
    const { output } = await run('Slow', { ms: 1500 })
    expect(output.error).toMatchObject({ kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', can_retry: false })
    expect(output.logs).toEqual([{ level: 'info', message: 'begun' }])
    expect((await run('Slow', { ms: 1 })).output.value).toBe('at last')
  })

  const stream = (toolId: string, args: object, signal?: AbortSignal) =>
    fetch(`${world.gatepass.url}/v1/tools/run_stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ toolId, args }),
      ...(signal && { signal }),
    })

  test('are cancelled when the caller disconnects', async () => {
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    await using silent = await listen((_, res) => {
      res.on('close', () => left.resolve())
      asked.resolve()
    })
    const caller = new AbortController()
    const answer = stream('Local:Fetch', { url: silent.url }, caller.signal).then((response) =>
      response.text(),
    )
    await asked.promise
    caller.abort()
    await expect(answer).rejects.toThrow()
    await left.promise
  })

  test('say that the call was cancelled, not that they took too long', async () => {
    const { broker } = world.gatepass
    const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
    const tool = await getTool(broker, projectId, 'Local:Fetch')
    const caller = new AbortController()
    await using silent = await listen(() => caller.abort())
    const call = { tool, input: { url: silent.url }, entryPoint: 'run_stream' } as const
    expect((await executeTool(broker, call, caller.signal)).outcome).toMatchObject({
      outcome: 'error',
      error: { message: 'The caller cancelled the call.' },
    })
  })

  test('stream their progress while they run', async () => {
    const text = await (await stream('Local:Count', { to: 2 })).text()
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    const told = events.map(({ kind, data }) => ({ kind, data }))
    expect(told.filter(({ data }) => data.total !== 1)).toMatchObject([
      { kind: 'progress', data: { progress: 1, total: 2, message: 'at 1' } },
      { kind: 'chunk', data: { number: 1 } },
      { kind: 'progress', data: { progress: 2, total: 2, message: 'at 2' } },
      { kind: 'chunk', data: { number: 2 } },
      { kind: 'done', data: { structured: { counted: 2 } } },
    ])
    expect((await run('Count', { to: 1 })).output.logs).toEqual([
      { level: 'debug', message: 'counted' },
      { level: 'warning', message: 'it is over' },
    ])
  })

  test.each(['value', 'error', 'mistake', 'log'])('have their token redacted in their %s', async (where) => {
    const token = await world.connect(`user ${where}`)
    for (const dialect of ['plain', 'arcade'] as const) {
      const { body } = await world.execute(
        'Local:Leak',
        { input: { in: where }, user_id: `user ${where}`, include_error_stacktrace: true },
        dialect,
      )
      expect(JSON.stringify(body)).not.toContain(token)
      expect(JSON.stringify(body)).toContain('[redacted]')
    }
  })
})

test('a large answer of a call that is cancelled is not said to be unreadable', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify('x'.repeat(100_000)))
  const reading = { secrets: [], owner: 'p1', signal: AbortSignal.abort() }
  expect(await readAnswer(valueReader, { bytes, logs: [] }, reading)).toMatchObject({
    outcome: 'error',
    isOwn: true,
    error: { message: 'The caller cancelled the call.' },
  })
})

test('what a module logs after its answer was scrubbed is not in the answer', async () => {
  const token = 'a-token-of-the-user'
  const secrets = [token]
  const logs: ToolLog[] = [{ level: 'info', message: `begun with ${token}` }]
  const bytes = new TextEncoder().encode('{}')
  const read = await readAnswer(valueReader, { bytes, logs }, { secrets, owner: 'p1' })
  const answer = scrubAnswer(read, secrets)
  logs.push({ level: 'info', message: `ended with ${token}` })
  expect(answer).toMatchObject({ logs: [{ level: 'info', message: 'begun with [redacted]' }] })
  // the same for an answer in which nothing had to be redacted
  const plain: ToolLog[] = []
  const clean = scrubAnswer(
    await readAnswer(valueReader, { bytes, logs: plain }, { secrets, owner: 'p1' }),
    secrets,
  )
  plain.push({ level: 'info', message: token })
  expect(JSON.stringify(clean)).not.toContain(token)
})

describe('GATEPASS_TOOLS', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatepass-tools-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  const write = async (name: string, text: string) => {
    const file = join(folder, name)
    await writeFile(file, `import { defineTool } from '${DEFINE}'\n${text}`)
    return file
  }
  const tool = (name: string, more = '') =>
    `defineTool({ name: '${name}', description: '', input: { type: 'object' }, handler: () => '${name}', ${more} })`

  test.each([
    [
      'list.ts',
      `export const tools = [${tool('A')}, ${tool('B')}]; export const c = ${tool('C')}`,
      ['A', 'B'],
    ],
    ['default.mjs', `export default [${tool('A')}]`, ['A']],
    ['one.ts', `export default ${tool('A')}`, ['A']],
    ['each.ts', `export const a = ${tool('A')}, b = ${tool('B')}, other: number = 1`, ['A', 'B']],
  ])('takes what a module exports: %s', async (name, text, names) => {
    const file = await write(name, text)
    await using gatepass = await startGatepass({ environment: { GATEPASS_TOOLS: file } })
    const id = name.slice(0, name.indexOf('.'))
    const { body } = await gatepass.call('GET', `/v1/workers/${id}/tools`)
    expect(body.items.map((one: { tool_id: string }) => one.tool_id)).toEqual(
      names.map((one) => `${id}:${one}`),
    )
    const { body: answer } = await gatepass.call('POST', '/v1/tools/execute', {
      tool_name: `${id}:A`,
      input: {},
    })
    expect(answer.output.value).toBe('A')
  })

  test.each([
    ['nothing.ts', 'export const a = 1', 'exports no tool'],
    [
      'stranger.ts',
      `export const tools = [${tool('A')}, { name: 'B' }]`,
      'a member (index 1) that is neither',
    ],
    ['throws.ts', "throw new Error('no database')", 'no database'],
    ['syntax.ts', 'export const = 1', 'cannot be loaded'],
    ['missing.ts', "import './not-there.ts'", 'cannot be loaded'],
    ['twice.ts', `export const tools = [${tool('A')}, ${tool('a')}]`, 'two tools called "a"'],
    ['name.ts', `export default ${tool('no spaces')}`, 'whose tool "no spaces" needs a name'],
    ['version.ts', `export default ${tool('A', "version: 'v1'")}`, 'that is not SemVer'],
    [
      'input.ts',
      `export default ${tool('A', "input: { type: 'string' }")}`,
      'input schema of the type object',
    ],
    ['tags.js', `export default ${tool('A', "tags: 'one'")}`, 'tags, which must be a list'],
    ['timeout.js', `export default ${tool('A', 'timeoutSeconds: 1e9')}`, 'timeoutSeconds'],
    ['schema.js', `export default ${tool('A', 'input: undefined')}`, 'no schema for its input'],
    ['auth.ts', `export default ${tool('A', 'requiresAuth: { scopes: [] }')}`, 'names no provider'],
  ])('stops the start if a module cannot be used, and says why: %s', async (name, text, why) => {
    const file = await write(name, text)
    const started = startGatepass({ environment: { GATEPASS_TOOLS: file } })
    await expect(started).rejects.toThrow(ConfigError)
    const { faults } = await started.catch((error) => error)
    expect(faults).toEqual([expect.stringContaining(`GATEPASS_TOOLS names ${file}, wh`)])
    expect(faults[0]).toContain(why)
    expect(faults[0]).not.toContain('\n')
  })

  test('stops the start if a file does not exist', async () => {
    await expect(startGatepass({ environment: { GATEPASS_TOOLS: join(folder, 'gone.ts') } })).rejects.toThrow(
      /GATEPASS_TOOLS names .*gone\.ts, which is not a readable file/,
    )
  })

  test('refuses a module with the name of an existing worker', async () => {
    const file = await write('demo.ts', `export default ${tool('A')}`)
    await using world = await startWorld()
    const { databasePath, broker } = world.gatepass
    expect((await broker.store.workers.all()).map(({ id }) => id)).toEqual(['demo'])
    const again = startGatepass({ databasePath, environment: { GATEPASS_TOOLS: file } })
    await expect(again).rejects.toThrow('there is already a worker "demo"')
  })

  test('a module that is no longer named loses its worker and its tools; one that was moved keeps them', async () => {
    const [a, b] = [
      await write('a.ts', `export default ${tool('A')}`),
      await write('b.ts', `export default ${tool('B')}`),
    ]
    const database = join(folder, 'tools.db')
    const names = async (environment: Record<string, string>) => {
      await using gatepass = await startGatepass({ databasePath: database, environment })
      const { items } = (await gatepass.call('GET', '/v1/tools')).body
      return items.map((one: { tool_id: string }) => one.tool_id).sort()
    }
    expect(await names({ GATEPASS_TOOLS: `${a}, ${b}` })).toEqual(['a:A', 'b:B'])
    expect(await names({ GATEPASS_TOOLS: `${b}` })).toEqual(['b:B'])
    const moved = join(folder, 'b.mts')
    await rename(b, moved)
    expect(await names({ GATEPASS_TOOLS: moved })).toEqual(['b:B'])
    expect(await names({})).toEqual([])
  })

  test('an app that adds a tool that cannot be used keeps its other tools, and its worker says why', async () => {
    const file = await write(
      'growing.mjs',
      `import { ToolApp } from '${DEFINE}'
      const of = { input: { type: 'object', properties: { name: { type: 'string' } } } }
      export const app = new ToolApp({ name: 'Growing' })
      app.tool('Add', {
        ...of,
        handler: ({ input }) => app.tool(input.name, { ...of, tags: 'no list', handler: () => 'never' }),
      })
      app.tool('Steady', { ...of, handler: () => 'steady' })`,
    )
    await using gatepass = await startGatepass({ environment: { GATEPASS_TOOLS: file } })
    const { broker, call } = gatepass
    const run = async (name: string, input: object = {}) =>
      (await call('POST', '/v1/tools/execute', { tool_name: `Growing.${name}`, input })).body
    expect((await run('Add', { name: 'Late' })).success).toBe(true)
    expect((await run('Steady')).output).toEqual({ value: 'steady' })
    const worker = (await broker.store.workers.all()).find(({ id }) => id === 'growing') as Worker // it is registered at the start
    const why = 'whose tool "Late" has tags, which must be a list of strings.'
    expect((await syncWorker(broker, worker)).syncError).toContain(why)
    await run('Add', { name: 'Steady' })
    expect((await run('Steady')).output.error.message).toBe(
      'The module "growing" has a tool that cannot be used.',
    )
  })

  test('two apps may have one tool, each under its own name', async () => {
    const file = await write(
      'shared.mjs',
      `import { ToolApp } from '${DEFINE}'
      const same = { input: { type: 'object' }, handler: () => 'same' }
      export const alpha = new ToolApp({ name: 'Alpha' })
      export const beta = new ToolApp({ name: 'Beta' })
      alpha.tool('Same', same)
      beta.tool('Same', same)`,
    )
    await using gatepass = await startGatepass({ environment: { GATEPASS_TOOLS: file } })
    for (const tool_name of ['Alpha.Same', 'Beta.Same'])
      expect((await gatepass.call('POST', '/v1/tools/execute', { tool_name, input: {} })).body).toMatchObject(
        {
          output: { value: 'same' },
        },
      )
  })

  test('loads the example', async () => {
    const example = fileURLToPath(new URL('../../examples/local-tools.ts', import.meta.url))
    await using gatepass = await startGatepass({ environment: { GATEPASS_TOOLS: example } })
    const { body } = await gatepass.call('POST', '/v1/tools/execute', {
      tool_name: 'local-tools.Dice',
      input: { sides: 2 },
    })
    expect([1, 2]).toContain(body.output.value.rolled)
    const { body: listed } = await gatepass.call('GET', '/v1/tools/local-tools.Repositories')
    expect(listed.requirements.authorization).toMatchObject({
      provider_id: 'github',
      oauth2: { scopes: ['read:user'] },
    })
  })

  test('loads its tools in each of several processes', async () => {
    await using served = await serveProcess({
      database: `file:${join(folder, 'processes.db')}`,
      environment: { GATEPASS_TOOLS: MODULE },
      args: ['--processes', '2'],
    })
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        served.call('POST', '/v1/tools/execute', { tool_name: 'Local.Echo', input: { text: `text ${i}` } }),
      ),
    )
    for (const [i, { body }] of answers.entries())
      expect(body.output.value).toEqual({ text: `text ${i}`, times: 1 })
    await served.stop()
  })

  test('on the command line, a fault is one line', async () => {
    const file = await write('broken.ts', "throw new Error('no database')")
    await using installation = await install()
    const { code, stderr } = await installation.runWith({ env: { GATEPASS_TOOLS: file } }, 'dev')
    expect(code).toBe(2)
    expect(stderr.trim()).toBe(`GATEPASS_TOOLS names ${file}, which cannot be loaded: Error: no database`)
  })
})
