import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../digest.ts'
import { STAINLESS } from '../http/world.ts'
import { expectListedNamesToRun } from '../listed-names.ts'
import type { Leak } from './serve.ts'
import { KINDS, type Kind, type KindsWorld, type ProviderName, startKinds } from './start.ts'

// Tools of every kind in one catalogue: a worker, an OXP server, an MCP server of the official SDK and an OpenAPI
// service, each in its own process, and tools in the process of Gatepass itself.

let world: KindsWorld
beforeAll(async () => {
  world = await startKinds()
})
afterAll(() => world?.[Symbol.asyncDispose]())

const ALL = Object.keys(KINDS) as Kind[]
const nameOf = (kind: Kind, tool: ProviderName = 'demo') => `${KINDS[kind]}:${tool}`
/** Several of each kind with each token, sixteen at a time. */
const CALLS = 1_000
let users = 0
const newUser = () => `user-${++users}`

test('one catalogue lists them all, with what each needs', async () => {
  const { body } = await world.call('GET', '/v1/tools?limit=100&user_id=nobody')
  for (const kind of ALL)
    for (const name of ['demo', 'other'] as const) {
      const tool = body.items.find((one: { tool_id: string }) => one.tool_id.startsWith(nameOf(kind, name)))
      expect(tool, `${kind} ${name}`).toMatchObject({
        name,
        requirements: {
          met: false,
          authorization: { id: name, oauth2: { scopes: ['read'] }, token_status: 'not_started' },
        },
      })
    }
})

test('every name that a list gives runs in every way, of every kind', async () => {
  expect((await expectListedNamesToRun(world.call)).length).toBeGreaterThan(ALL.length * 5)
})

/** Every endpoint that runs a tool: how it reports missing consent, and the tool's value. */
const DIALECTS = {
  execute: {
    run: (tool_name: string, user_id: string) =>
      world.call('POST', '/v1/tools/execute', { tool_name, user_id, input: {} }),
    link: (body: { output: { requires_authorization: { url: string } } }) =>
      body.output.requires_authorization.url,
    value: (body: { output: { value: unknown } }) => body.output.value,
  },
  arcade: {
    run: (tool_name: string, user_id: string) =>
      world.call('POST', '/v1/tools/execute', { tool_name, user_id, input: {} }, { headers: STAINLESS }),
    link: (body: { message: string; output: { authorization: { url: string } } }) => {
      expect(body.message).toContain('authorization required')
      return body.output.authorization.url
    },
    value: (body: { output: { value: unknown } }) => body.output.value,
  },
  run: {
    run: (toolId: string, user_id: string) =>
      world.call('POST', '/v1/tools/run', { toolId, user_id, args: {} }),
    link: (body: { requires_authorization: { url: string } }) => body.requires_authorization.url,
    value: (body: { structured: unknown }) => body.structured,
  },
  run_stream: {
    run: (toolId: string, user_id: string) =>
      world.call('POST', '/v1/tools/run_stream', { toolId, user_id, args: {} }),
    link: (body: string) => lastEvent(body, 'error').requires_authorization.url,
    value: (body: string) => lastEvent(body, 'done').structured,
  },
  run_chain: {
    run: (toolId: string, user_id: string) =>
      world.call('POST', '/v1/tools/run_chain', { user_id, steps: [{ toolId }] }),
    link: (body: { requires_authorization: { url: string } }) => body.requires_authorization.url,
    value: (body: { structured: unknown }) => body.structured,
  },
  code: {
    run: (tool: string, user_id: string) =>
      world.call('POST', '/v1/code/execute', {
        user_id,
        language: 'javascript',
        code: `return await tools.call(${JSON.stringify(tool)}, {})`,
      }),
    link: (body: { requires_authorization: { url: string } }) => body.requires_authorization.url,
    value: (body: { value: unknown }) => body.value,
  },
  oxp: {
    async run(tool: string, user_id: string) {
      const { body } = await world.call('GET', '/oxp/tools')
      // OXP ids have no `-`, and no version if the tool has none
      const id = tool.replace(':', '.').replaceAll('-', '_')
      const listed = body.items.find((one: { id: string }) => one.id.replace(/@.*/, '') === id)
      return world.call('POST', '/oxp/tools/call', {
        request: { tool_id: listed.id, input: {}, context: { user_id } },
      })
    },
    link: (body: { missing_requirements: { authorization: { url: string }[] } }) =>
      body.missing_requirements.authorization[0]?.url,
    value: (body: { result: { value: unknown } }) => body.result.value,
  },
} as const

function lastEvent(text: string, kind: string) {
  const event = text.trim().split('\n\n').at(-1) ?? ''
  const { kind: actual, data } = JSON.parse(event.split('data: ')[1] ?? '')
  expect(actual).toBe(kind)
  return data
}

describe.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])('by %s', (name) => {
  const dialect = DIALECTS[name]
  test.each(ALL)('a tool of the kind %s asks for consent, then runs with its user’s token', async (kind) => {
    const user = newUser()
    const before = await dialect.run(nameOf(kind), user)
    expect(dialect.link(before.body as never)).toMatch(/\/connect\/auth_/) // each dialect reads its own answer
    const token = await world.connect('demo', user)
    const after = await dialect.run(nameOf(kind), user)
    expect(after.status, JSON.stringify(after.body)).toBe(200)
    expect(dialect.value(after.body as never)).toMatchObject({ token_digest: digest(token) })
    expect(JSON.stringify(after.body)).not.toContain(token)
  })
})

test(`${CALLS} calls over all kinds, of two users with two accounts at two providers, see each the right token`, async () => {
  const held: { user: string; provider: ProviderName; account: string; token: string }[] = []
  for (const user of [newUser(), newUser()])
    for (const provider of ['demo', 'other'] as const)
      for (const account of ['work', 'home']) {
        const named = `${account}-of-${user}-at-${provider}`
        held.push({ user, provider, account: named, token: await world.connect(provider, user, named) })
      }
  expect(new Set(held.map(({ token }) => token)).size).toBe(8)

  const calls = Array.from({ length: CALLS }, (_, i) => ({
    kind: ALL[i % ALL.length] as Kind, // within the list
    ...(held[(i * 7) % held.length] as (typeof held)[number]),
  }))
  const wrong: unknown[] = []
  const lane = async () => {
    for (let next = calls.pop(); next !== undefined; next = calls.pop()) {
      const { kind, user, provider, account, token } = next
      const { body } = await world.call('POST', '/v1/tools/execute', {
        tool_name: nameOf(kind, provider),
        user_id: user,
        accounts: { [provider]: account },
        input: {},
      })
      if (body.output?.value?.token_digest !== digest(token))
        wrong.push({ kind, user, provider, account, body })
      if (JSON.stringify(body).includes(token)) wrong.push({ leaked: kind })
    }
  }
  await Promise.all(Array.from({ length: 16 }, lane))
  expect(wrong).toEqual([])
})

describe('a tool that hands out its token', () => {
  const LEAKS: readonly Leak[] = ['value', 'error', 'log', 'header']
  test.each(ALL.flatMap((kind) => LEAKS.map((leak) => [kind, leak] as const)))(
    'of the kind %s, in its %s: the caller sees none of it',
    async (kind, leak) => {
      const user = newUser()
      const token = await world.connect('demo', user)
      const forms = [
        token,
        encodeURIComponent(token),
        Buffer.from(token).toString('base64'),
        token.slice(4, -4),
      ]
      const body = { tool_name: nameOf(kind), user_id: user, input: { leak }, include_error_stacktrace: true }
      const answers = [
        await world.call('POST', '/v1/tools/execute', body, { headers: STAINLESS }),
        await world.call('POST', '/v1/tools/execute', { ...body, keep_content: true }),
        await world.call('POST', '/v1/tools/run_stream', {
          toolId: nameOf(kind),
          user_id: user,
          args: { leak },
        }),
      ]
      const kept = await world.call('GET', `/v1/executions/${answers[1]?.body.execution_id}`)
      expect(kept.body.attempts).toHaveLength(1)
      for (const answer of [...answers, kept]) {
        const said = JSON.stringify([answer.body, [...answer.headers]])
        for (const form of forms) expect(said).not.toContain(form)
      }
      expect(world.gatepass.logLines.join('\n')).not.toContain(token)
      // the tool did run: the answer is its own
      const said = JSON.stringify(answers[0]?.body)
      expect(said).toContain(leak === 'error' ? 'was refused' : digest(token))
    },
  )
})
