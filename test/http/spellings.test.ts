import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { STAINLESS, startWorld, type World } from './world.ts'

// `run` and `execute` have words of their own for the same things. Each takes both, and answers in its own.

let world: World

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const NAMES = ['toolId', 'tool_id', 'tool_name'] as const
const INPUTS = ['args', 'input'] as const
const bodies = NAMES.flatMap((name) => INPUTS.map((input) => [name, input] as const))

test.each(bodies)('execute takes %s and %s', async (name, input) => {
  const { status, body } = await world.call('POST', '/v1/tools/execute', {
    [name]: 'Demo.Echo',
    [input]: { text: 'hi' },
  })
  expect([status, body.output?.value?.inputs], JSON.stringify(body)).toEqual([200, { text: 'hi' }])
  expect(body.execution_id).toMatch(/^exec_/)
  expect(Object.keys(body)).not.toContain('executionId')
})

test.each(bodies)('run takes %s and %s', async (name, input) => {
  const { status, body } = await world.call('POST', '/v1/tools/run', {
    [name]: 'Demo.Echo',
    [input]: { text: 'hi' },
  })
  expect([status, body.structured?.inputs], JSON.stringify(body)).toEqual([200, { text: 'hi' }])
  expect(body.executionId).toMatch(/^exec_/)
  expect(Object.keys(body)).not.toContain('execution_id')
})

test.each(bodies)('a step of a chain takes %s and %s, and use_previous', async (name, input) => {
  const { body } = await world.call('POST', '/v1/tools/run_chain', {
    steps: [
      { [name]: 'Demo.Echo', [input]: { text: 'first' } },
      { [name]: 'Demo.Echo', [input]: { text: 'second' }, usePrevious: false },
    ],
  })
  expect(body.status, JSON.stringify(body)).toBe('completed')
  expect(body.structured.inputs).toEqual({ text: 'second' })
})

test.each(NAMES)('a stream takes %s', async (name) => {
  const { body } = await world.call('POST', '/v1/tools/run_stream', {
    [name]: 'Demo.Echo',
    input: { text: 'hi' },
  })
  expect(body).toContain('event: done')
})

test.each(NAMES)('authorize takes %s', async (name) => {
  const { status, body } = await world.call('POST', '/v1/tools/authorize', {
    [name]: 'Demo.Echo',
    user_id: 'u',
  })
  expect([status, body.status]).toEqual([200, 'completed'])
})

describe('what is said twice or not at all', () => {
  test.each([
    ['/v1/tools/run', { toolId: 'Demo.Echo', tool_name: 'Demo.Other' }, 'toolId'],
    ['/v1/tools/execute', { toolId: 'Demo.Echo', tool_name: 'Demo.Echo' }, 'tool_name'],
    ['/v1/tools/execute', { tool_name: 'Demo.Echo', args: {}, input: {} }, 'args'],
  ] as const)('%s %j is refused', async (path, body, member) => {
    const answer = await world.call('POST', path, body)
    expect([answer.status, answer.body.errors[0].path]).toEqual([400, member])
  })

  test.each([
    ['/v1/tools/run', 'toolId'],
    ['/v1/tools/run_stream', 'toolId'],
    ['/v1/tools/execute', 'tool_name'],
    ['/v1/tools/authorize', 'tool_name'],
  ])('%s without a tool says that %s is missing', async (path, member) => {
    const { body } = await world.call('POST', path, {})
    expect(body.errors).toEqual([{ path: member, code: 'missing', message: `${member} is missing.` }])
  })
})

test('a version may be said besides, by every way', async () => {
  for (const path of ['/v1/tools/run', '/v1/tools/execute']) {
    const known = await world.call('POST', path, {
      tool_name: 'Demo.Echo',
      tool_version: '1.0.0',
      input: { text: 'a' },
    })
    expect(known.status, JSON.stringify(known.body)).toBe(200)
    const other = await world.call('POST', path, {
      tool_name: 'Demo.Echo',
      tool_version: '99.0.0',
      input: { text: 'a' },
    })
    expect([other.status, other.body.name]).toEqual([404, 'not_found'])
  }
})

test('durations are whole milliseconds', async () => {
  const input = { text: 'hi' }
  const executed = (await world.call('POST', '/v1/tools/execute', { tool_name: 'Demo.Echo', input })).body
  const arcade = (await world.execute('Demo.Echo', { input }, 'arcade')).body
  const ran = (await world.call('POST', '/v1/tools/run', { toolId: 'Demo.Echo', args: input })).body
  const code = (
    await world.call('POST', '/v1/code/execute', { code: "return tools.call('Demo.Echo', {text: 'a'})" })
  ).body
  const oxp = (await world.call('POST', '/oxp/tools/call', { request: { tool_id: 'Demo.Echo', input } })).body
  const { body: history } = await world.call('GET', '/v1/executions')
  for (const duration of [
    executed.duration,
    arcade.duration,
    ran.duration,
    code.duration,
    code.toolCalls[0].duration,
    oxp.result.duration,
    ...history.items.map((one: { duration: number }) => one.duration),
  ])
    expect([Number.isInteger(duration), duration > 0], String(duration)).toEqual([true, true])
})

describe('texts that are no value', () => {
  const requirement = { id: 'demo', provider_type: 'oauth2' }

  test.each(['', ' ', '\t'])('the user %j is refused everywhere', async (user_id) => {
    for (const [method, path, body] of [
      ['POST', '/v1/auth/authorize', { user_id, auth_requirement: requirement }],
      ['POST', '/v1/auth/confirm_user', { user_id, flow_id: 'f' }],
      ['POST', '/v1/tools/execute', { user_id, tool_name: 'Demo.Echo' }],
      ['POST', '/v1/tools/run', { user_id, toolId: 'Demo.Echo' }],
      ['POST', '/v1/tools/authorize', { user_id, tool_name: 'Demo.Echo' }],
      ['POST', '/v1/tools/requirements', { user_id, tool_names: ['Demo.Echo'] }],
      ['POST', '/v1/code/execute', { user_id, code: 'return 1' }],
      ['POST', '/oxp/tools/call', { request: { tool_id: 'Demo.Echo', context: { user_id } } }],
      ['GET', `/v1/connections?user_id=${encodeURIComponent(user_id)}`, undefined],
      ['GET', `/v1/tools?user_id=${encodeURIComponent(user_id)}`, undefined],
      ['GET', `/v1/executions?user_id=${encodeURIComponent(user_id)}`, undefined],
      ['GET', `/v1/admin/audit?user_id=${encodeURIComponent(user_id)}`, undefined],
    ] as const) {
      const answer = await world.call(method, path, body)
      expect([answer.status, answer.body.name], `${method} ${path}`).toEqual([400, 'invalid_request'])
    }
  })

  test.each([[['a b']], [['read', 'write all']], [['a\u00a0b']]])(
    'the scopes %j are refused',
    async (scopes) => {
      for (const headers of [{}, STAINLESS]) {
        const body = { user_id: 'u', auth_requirement: { ...requirement, oauth2: { scopes } } }
        const answer = await world.call('POST', '/v1/auth/authorize', body, { headers })
        expect(answer.status).toBe(400)
        expect(answer.body.message).toContain('each scope as an item of its own')
      }
    },
  )
})
