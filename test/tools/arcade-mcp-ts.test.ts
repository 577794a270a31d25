import { randomUUID } from 'node:crypto'
import { jwtVerify } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { answer, type Loopback, listen, record } from '../loopback.ts'

// A worker that answers like arcade-mcp-ts 0.18: names that contain the toolkit, `string` for every type it cannot
// express, its tools' static metadata as required keys, its own lower-case error kinds, stacks in `extra`.

const SECRET = 'worker-secret-of-the-tests'

type Inputs = Record<string, unknown>
interface TsTool {
  readonly name: string
  readonly parameters?: readonly Record<string, unknown>[]
  readonly metadata?: unknown
  readonly requires?: Record<string, unknown>
  run?(inputs: Inputs): Record<string, unknown>
}

const parameter = (name: string, value_schema: unknown, required = false) => ({
  name,
  required,
  description: null,
  value_schema,
  inferrable: true,
})
const failing = (error: Record<string, unknown>) => () => ({
  value: null,
  error: {
    developer_message: null,
    can_retry: false,
    status_code: null,
    stacktrace: null,
    extra: null,
    ...error,
  },
})

const tools: readonly TsTool[] = [
  { name: 'HeldOut.whoami' },
  { name: 'HeldOut.twice' },
  { name: 'twice' },
  { name: 'HeldOut.both' },
  { name: 'HeldOut_both' },
  {
    name: 'HeldOut_put',
    parameters: [
      parameter('fields', { val_type: 'string' }, true),
      parameter('either', { val_type: 'string' }),
      parameter('list', { val_type: 'array', inner_val_type: 'string', inner_properties: null }),
      parameter('title', { val_type: 'string', description: null }),
      parameter('count', { val_type: 'integer', description: null }),
      parameter('inner', {
        val_type: 'json',
        properties: { a: { val_type: 'string', description: null } },
        description: null,
      }),
      parameter('free', { val_type: 'json' }),
    ],
  },
  {
    name: 'categorized',
    metadata: { category: 'sales', behavior: { read_only: true } },
    requires: { metadata: [{ key: 'category' }, { key: 'behavior' }] },
  },
  { name: 'objects', requires: { metadata: { category: 'sales', owner: { team: 'a' } }, secrets: null } },
  { name: 'needy', requires: { metadata: { ticket: null } } },
  ...['tool_serialization', 'tool_runtime_execution', 'tool_runtime_response_extraction', 'made_up'].map(
    (kind) => ({
      name: `fails_${kind}`,
      run: failing({ message: 'It failed.', kind }),
    }),
  ),
  {
    name: 'fails_with_stack',
    run: failing({
      message: 'It failed.',
      kind: 'tool_runtime_fatal',
      extra: {
        stacktrace: 'Error: It failed.\n    at /srv/app/secret-place.ts:3',
        detail: { stack: 'deep', code: 7 },
      },
    }),
  },
]

let worker: Loopback
let gatepass: Gatepass
const calls: { tool: { name: string; toolkit: string }; inputs: Inputs }[] = []

beforeAll(async () => {
  worker = await listen(async (req, res) => {
    const { path, headers, body } = await record(req)
    if (path === '/worker/health')
      return answer(res, 200, 'application/json', '{"status":"ok","tool_count":"1"}')
    const token = /^Bearer (.*)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    await jwtVerify(token, new TextEncoder().encode(SECRET), { algorithms: ['HS256'], audience: 'worker' })
    if (path === '/worker/tools')
      return answer(res, 200, 'application/json', JSON.stringify(tools.map(definition)))
    const call = JSON.parse(body)
    const tool = tools.find(({ name }) => name === call.tool.name)
    if (tool === undefined || call.tool.toolkit !== 'HeldOut')
      return answer(res, 404, 'application/json', JSON.stringify({ error: 'not found' }))
    calls.push(call)
    const output = tool.run?.(call.inputs) ?? { value: { ran: tool.name, inputs: call.inputs }, error: null }
    const said = {
      execution_id: randomUUID(),
      duration: 1,
      finished_at: new Date().toISOString(),
      success: output.error === null,
      output: { ...output, requires_authorization: null },
    }
    answer(res, 200, 'application/json', JSON.stringify(said))
  })
  gatepass = await startGatepass()
  const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
  expect(await gatepass.call('POST', '/v1/workers', { id: 'ts', http })).toMatchObject({ status: 201 })
})

afterAll(async () => {
  await gatepass.close()
  await worker.close()
})

function definition({ name, parameters = [], metadata = null, requires = {} }: TsTool) {
  return {
    name,
    fully_qualified_name: `HeldOut.${name}`,
    description: `Does ${name}.`,
    toolkit: { name: 'HeldOut', description: null, version: '1.0.0' },
    input: { parameters },
    output: { description: null, available_modes: ['value', 'error', 'null'], value_schema: null },
    requirements: { authorization: null, secrets: null, metadata: null, ...requires },
    deprecation_message: null,
    metadata,
  }
}

const execute = async (tool_name: string, input: Inputs = {}, more: object = {}) =>
  (
    await gatepass.call(
      'POST',
      '/v1/tools/execute',
      { tool_name, input, user_id: 'ada', ...more },
      { headers: { 'x-stainless-lang': 'js' } },
    )
  ).body

describe('a worker made with arcade-mcp-ts', () => {
  test('has each of its tools under one toolkit name, and is called by the name it gave', async () => {
    const { body } = await gatepass.call('GET', '/v1/tools?limit=100&toolkit=HeldOut')
    const names = body.items.map((one: { qualified_name: string }) => one.qualified_name)
    expect(names).toContain('HeldOut.whoami')
    expect(names).toContain('HeldOut.put')
    expect(names.filter((one: string) => /twice/.test(one)).sort()).toEqual([
      'HeldOut.HeldOut.twice',
      'HeldOut.twice',
    ])
    expect(names.filter((one: string) => /both/.test(one)).sort()).toEqual([
      'HeldOut.HeldOut.both',
      'HeldOut.HeldOut_both',
    ])
    expect(names).toHaveLength(tools.length)
    expect(await execute('HeldOut.whoami')).toMatchObject({ output: { value: { ran: 'HeldOut.whoami' } } })
    expect(await execute('HeldOut_whoami')).toMatchObject({ success: true })
    expect(await execute('HeldOut:twice:1.0.0')).toMatchObject({ output: { value: { ran: 'twice' } } })
  })

  test('judges by itself what fits the parameters whose type it cannot say', async () => {
    for (const input of [
      { fields: { a: 1 } },
      { fields: 'text', either: 7 },
      { fields: {}, either: ['a'], list: [{ a: 1 }, 'b'] },
    ])
      expect(await execute('HeldOut.put', input)).toMatchObject({ output: { value: { inputs: input } } })
    const wrong = await execute('HeldOut.put', { fields: {}, count: 'many' })
    expect(wrong.output.error).toMatchObject({ kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' })
    expect((await execute('HeldOut.put', { fields: {}, title: 7 })).success).toBe(false)
  })

  test('is not told of a null for what is optional, and of one in free data', async () => {
    const input = { fields: 'x', title: null, count: null, inner: { a: null }, free: { kept: null } }
    expect((await execute('HeldOut.put', input)).output.value.inputs).toEqual({
      fields: 'x',
      inner: {},
      free: { kept: null },
    })
  })

  test('need not be told what its tools say of themselves', async () => {
    expect(await execute('HeldOut.categorized')).toMatchObject({ success: true })
    expect(await execute('HeldOut.objects')).toMatchObject({ success: true })
    expect((await execute('HeldOut.needy')).output.error).toMatchObject({ kind: 'TOOL_REQUIREMENTS_NOT_MET' })
  })

  test.each([
    ['tool_serialization', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['tool_runtime_execution', 'TOOL_RUNTIME_FATAL'],
    ['tool_runtime_response_extraction', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
    ['made_up', 'UNKNOWN'],
  ])('fails with the kind %s, which callers know as %s', async (kind, known) => {
    expect((await execute(`HeldOut.fails_${kind}`)).output.error).toMatchObject({ kind: known })
  })

  test('keeps its stack traces from callers who do not ask for them', async () => {
    const { output } = await execute('HeldOut.fails_with_stack')
    expect(output.error).toMatchObject({ message: 'It failed.', extra: { detail: { code: 7 } } })
    expect(JSON.stringify(output)).not.toMatch(/secret-place|deep/)
    const run = await gatepass.call('POST', '/v1/tools/run', {
      user_id: 'ada',
      toolId: 'HeldOut:fails_with_stack',
      args: {},
    })
    expect(JSON.stringify(run.body)).not.toMatch(/secret-place|deep/)
    const asked = await execute('HeldOut.fails_with_stack', {}, { include_error_stacktrace: true })
    expect(asked.output.error.stacktrace).toContain('secret-place')
  })
})
