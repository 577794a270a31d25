import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startFakeWorker } from '../../fake-worker.ts'
import { type SdkWorld, startSdkWorld } from '../../sdk/sdk-world.ts'

let world: SdkWorld
beforeAll(async () => {
  world = await startSdkWorld({ gatepass: { mode: 'development' } })
  await world.connect('ada', ['read'])
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
  world.worker.invocations.length = 0
})

const OUTSIDE = { at: '/text', as: 'email', not: { domains: ['acme.com'] }, missing: 'no_match' }

const make = (id: string, effect: string, match: object, more: object = {}) =>
  world.call('POST', '/v1/admin/policies', { id, effect, match, ...more })

async function outcomeOf(tool: string, input: object): Promise<string> {
  const { body, headers } = await world.execute(tool, { user_id: 'ada', input })
  return body.success === true ? 'run' : (headers.get('x-gatepass-error-kind') ?? body.status ?? '?')
}

describe.each(['Demo.Echo', 'Demo.EchoWithToken'])('the arguments of %s', (tool) => {
  test('decide with deny, allow and hook what runs', async () => {
    expect((await make('outside', 'deny', { tools: [tool], arguments: [OUTSIDE] })).status).toBe(201)
    expect(await outcomeOf(tool, { text: 'a@acme.com' })).toBe('run')
    expect(await outcomeOf(tool, { text: 'a@acme.com, e@evil.com' })).toBe('CONTEXT_DENIED')
    expect(await outcomeOf(tool, { text: '"a@acme.com" <e@evil.com>' })).toBe('CONTEXT_DENIED')
    expect(await outcomeOf(tool, {})).toBe('run')
    await world.call('DELETE', '/v1/admin/policies/outside')

    await make('inside', 'allow', {
      tools: [tool],
      arguments: [{ at: '/text', as: 'email', domains: ['acme.com'] }],
    })
    expect(await outcomeOf(tool, { text: 'a@acme.com, b@acme.com' })).toBe('run')
    expect(await outcomeOf(tool, { text: 'a@acme.com, e@evil.com' })).toBe('CONTEXT_DENIED')
    expect(await outcomeOf(tool, {})).toBe('CONTEXT_DENIED')
    await world.call('DELETE', '/v1/admin/policies/inside')

    const hook = { url: 'http://127.0.0.1:9/', timeout_ms: 500 }
    await make('ask', 'hook', { tools: [tool], arguments: [{ at: '/count', one_of: [7] }] }, { hook })
    expect(await outcomeOf(tool, { count: 6 })).toBe('run')
    expect(await outcomeOf(tool, { count: 7 })).toBe('CONTEXT_CHECK_FAILED')
    expect(world.worker.invocations).toHaveLength(4)
  })

  test('are those that the worker gets: an optional null is none', async () => {
    await make('no-null', 'deny', { tools: [tool], arguments: [{ at: '/text', schema: { type: 'null' } }] })
    expect(await outcomeOf(tool, { text: null })).toBe('run')
    expect(world.worker.invocations.at(-1)?.call.inputs).not.toHaveProperty('text')
  })
})

test('in chains and in code the same rules decide', async () => {
  await make('no-evil', 'deny', { tools: ['Run.CountSafely'], arguments: [{ at: '/key', one_of: ['evil'] }] })
  const chain = await world.call('POST', '/v1/tools/run_chain', {
    steps: [
      { toolId: 'Run:CountSafely', args: { key: 'good' } },
      { toolId: 'Run:CountSafely', args: { key: 'evil' } },
    ],
  })
  expect(chain.body.steps).toMatchObject([{ status: 'completed' }, { error: { kind: 'CONTEXT_DENIED' } }])
  const code = await world.call('POST', '/v1/code/execute', {
    language: 'javascript',
    code: 'await tools.call("Run.CountSafely", { key: "ev" + "il" })',
  })
  expect(JSON.stringify(code.body)).toContain('CONTEXT_DENIED')
})

test('a tool whose arguments a rule denies is listed, and users are asked for their consent', async () => {
  await make('never', 'deny', {
    tools: ['Demo.EchoWithToken'],
    arguments: [{ at: '/text', matches: '(?s).*', missing: 'match' }],
  })
  const { body } = await world.call('POST', '/v1/tools/authorize', {
    tool_name: 'Demo.EchoWithToken',
    user_id: 'eve',
  })
  expect(body.status).toBe('pending')
  expect((await world.call('POST', '/v1/connections', {})).status).not.toBe(200)
})

test('a place that a matched tool lacks is refused, when it is set and when the tool has lost it', async () => {
  const rule = { at: '/text', as: 'email', not: { domains: ['acme.com'] } }
  const bad = await make('bad', 'deny', { tools: ['Demo.*'], arguments: [rule] })
  expect(bad.status).toBe(400)
  expect(bad.body.errors).toMatchObject([{ path: 'match.arguments.0.at', code: 'unknown' }])
  expect(bad.body.message).toMatch(/Demo:\w+:1\.0\.0.*\/text/)
  expect((await make('soon', 'deny', { tools: ['Later.Send'], arguments: [rule] })).status).toBe(201)

  const later = await startFakeWorker({
    secret: 'a-secret-of-the-worker-of-tests-12345',
    toolkit: { name: 'Later', version: '1.0.0' },
    tools: [
      {
        name: 'Send',
        description: 'Sends.',
        parameters: [{ name: 'recipients', val_type: 'string' }],
        run: async () => ({ value: 1 }),
      },
    ],
  })
  try {
    await world.call('POST', '/v1/workers', {
      id: 'later',
      type: 'http',
      http: { uri: later.url, secret: later.secret, timeout: 10, retry: 0 },
    })
    const refused = await world.execute('Later.Send', {
      user_id: 'ada',
      input: { recipients: 'e@evil.com' },
    })
    expect(refused.headers.get('x-gatepass-error-kind')).toBe('CONTEXT_CHECK_FAILED')
    expect(refused.body.output.error).toMatchObject({ can_retry: false })
    expect(later.invocations).toHaveLength(0)
    const test = await world.call('POST', '/v1/admin/policies/test', {
      tool_name: 'Later.Send',
      arguments: { recipients: 'x' },
    })
    expect(test.body).toMatchObject({ decision: 'refused', reason: 'arguments_failed', refused_by: ['soon'] })
    expect((await world.call('PATCH', '/v1/admin/policies/soon', { description: 'x' })).status).toBe(400)
    expect((await world.call('PATCH', '/v1/admin/policies/soon', { enabled: false })).status).toBe(200)
  } finally {
    await later.close()
  }
})

test('the test of policies and the dry run say what depends on arguments', async () => {
  await outcomeOf('Demo.EchoWithToken', { text: 'x' })
  await make('outside', 'deny', { tools: ['Demo.EchoWithToken'], arguments: [OUTSIDE] })
  const of = async (more: object) =>
    (
      await world.call('POST', '/v1/admin/policies/test', {
        tool_name: 'Demo.EchoWithToken',
        user_id: 'ada',
        ...more,
      })
    ).body
  expect(await of({})).toMatchObject({ decision: 'depends', undecided: [{ id: 'outside', by: 'arguments' }] })
  expect(await of({ arguments: { text: 'a@acme.com' } })).toMatchObject({ decision: 'permitted' })
  expect(await of({ arguments: { text: 'e@evil.com' } })).toMatchObject({
    decision: 'refused',
    refused_by: ['outside'],
  })
  const dry = await world.call('POST', '/v1/admin/policies/dry_run', {})
  expect(dry.body).toMatchObject({ refused: 0, undecided: expect.any(Number) })
  expect(dry.body.undecided).toBeGreaterThan(0)
  expect(dry.body.samples[0]).toMatchObject({ decision: 'undecided', because: ['arguments'] })
})

test.each<[string, object, string]>([
  ['a place that is no pointer', { at: 'to', one_of: ['x'] }, '.at'],
  ['a pointer that is not escaped', { at: '/a~b', one_of: ['x'] }, '.at'],
  ['no test', { at: '/text' }, ''],
  ['two tests', { at: '/text', one_of: ['x'], matches: 'x' }, ''],
  ['a test and not', { at: '/text', one_of: ['x'], not: { matches: 'x' } }, ''],
  ['not without a test', { at: '/text', not: {} }, '.not'],
  ['domains of plain texts', { at: '/text', domains: ['acme.com'] }, '.domains'],
  ['no domain', { at: '/text', as: 'email', not: { domains: ['https://acme.com'] } }, '.not.domains'],
  ['no address', { at: '/text', as: 'email', one_of: ['a@b, c@d'] }, '.one_of'],
  ['a schema of addresses', { at: '/text', as: 'email', schema: {} }, '.schema'],
  ['no pattern', { at: '/text', matches: '(' }, '.matches'],
  ['a pattern with lookahead', { at: '/text', matches: '(?=a)a' }, '.matches'],
  ['a pattern that repeats too much', { at: '/text', matches: '(a{500}){500}' }, '.matches'],
  ['no schema', { at: '/text', schema: { pattern: '(' } }, '.schema'],
  [
    'a schema elsewhere',
    { at: '/text', not: { schema: { $ref: 'https://evil.example/schema' } } },
    '.not.schema',
  ],
])('%s is refused with its path', async (_, rule, path) => {
  const { status, body } = await make('bad', 'deny', { tools: ['Demo.Echo'], arguments: [rule] })
  expect([status, body.errors?.[0]?.path]).toEqual([400, `match.arguments.0${path}`])
})

test('a rule is kept and shown as it was given', async () => {
  const match = {
    tools: ['Demo.Echo'],
    arguments: [
      { at: '/text', as: 'email', not: { domains: ['acme.com', '*.acme.com'] }, missing: 'match' },
      { at: '/count', schema: { minimum: 5 } },
      { at: '/count', one_of: [1, '2', null, true] },
      { at: '/text', matches: '.*' },
    ],
  }
  expect((await make('kept', 'deny', match)).body.match).toEqual(match)
  expect((await world.call('GET', '/v1/admin/policies/kept')).body.match).toEqual(match)
})

test('the policies about arguments of the guide can be set', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/policies.md', import.meta.url), 'utf8')
  const [, section = ''] = /\n## Arguments\n(.*?)\n## /s.exec(guide) ?? []
  const examples = [...section.matchAll(/^\{"id".*?\]\}\}$/gms)].map(([json]) => JSON.parse(json))
  expect(examples).toHaveLength(4)
  for (const { id, effect, match } of examples) expect((await make(id, effect, match)).status).toBe(201)
})
