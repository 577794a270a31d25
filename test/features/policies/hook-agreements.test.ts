import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../../gatepass.ts'
import { providerBody, startWorld, type World } from '../../http/world.ts'
import { answerJson, type Loopback, listen, record } from '../../loopback.ts'

// A policy whose hook agrees only to `read`. Ada's token may read, Bob's may also write; every tool needs `read`.

const MODULE = fileURLToPath(new URL('../../fixtures/tools-module.ts', import.meta.url))

let world: World
let hook: Loopback
/** The scopes in each request to the hook, by provider. */
const questions: Record<string, readonly string[]>[] = []

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment: { GATEPASS_TOOLS: MODULE } } })
  await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  const api = { base_url: world.as.url }
  expect((await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })).status).toBe(200)
  await world.connect('ada', ['read'])
  await world.connect('bob', ['read', 'write'])
  hook = await listen(async (req, res) => {
    const { context } = (await record(req)).json as {
      context: { authorization: { provider_id: string; oauth2: { scopes: string[] } }[] }
    }
    const scopes = context.authorization.map(
      ({ provider_id, oauth2 }) => [provider_id, oauth2.scopes] as const,
    )
    questions.push(Object.fromEntries(scopes))
    const agrees = scopes.every(([, all]) => all.every((scope) => scope === 'read'))
    answerJson(res, 200, { code: agrees ? 'OK' : 'DENIED' })
  })
  const policy = { id: 'ask', effect: 'hook', match: {}, hook: { url: hook.url, timeout_ms: 9000 } }
  expect((await world.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
})
afterAll(async () => {
  await hook.close()
  await world[Symbol.asyncDispose]()
})
afterEach(() => {
  questions.length = 0
})

type Way = readonly [string, (user: string) => Promise<Answer>]
const TOOL = 'Demo.EchoWithToken'
const input = { text: 'hello' }
const ways: readonly Way[] = [
  ['execute', (user_id) => world.execute(TOOL, { user_id, input })],
  ['run', (user_id) => world.call('POST', '/v1/tools/run', { user_id, toolId: TOOL, args: input })],
  [
    'run_stream',
    (user_id) => world.call('POST', '/v1/tools/run_stream', { user_id, toolId: TOOL, args: input }),
  ],
  [
    'run_chain',
    (user_id) =>
      world.call('POST', '/v1/tools/run_chain', { user_id, steps: [{ toolId: TOOL, args: input }] }),
  ],
  [
    'code',
    (user_id) =>
      world.call('POST', '/v1/code/execute', {
        user_id,
        language: 'javascript',
        code: `return await tools.call('${TOOL}', { text: 'hello' })`,
      }),
  ],
  [
    'OXP',
    (user_id) =>
      world.call('POST', '/oxp/tools/call', { request: { tool_id: TOOL, input, context: { user_id } } }),
  ],
  ['a module', (user_id) => world.execute('Local.WhoAmI', { user_id, input: {} })],
  [
    'the proxy',
    (user_id) =>
      world.call('GET', '/proxy/demo/userinfo', undefined, {
        headers: { 'x-gatepass-user': user_id, 'x-gatepass-scopes': 'read' },
      }),
  ],
  [
    'a token fetch',
    async (user_id) => {
      const { items } = (await world.call('GET', `/v1/connections?user_id=${user_id}`)).body
      return world.call('POST', `/v1/connections/${items[0].id}/token`)
    },
  ],
  [
    'an authorization',
    (user_id) =>
      world.call('POST', '/v1/auth/authorize', {
        user_id,
        auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
      }),
  ],
]

async function released(): Promise<number> {
  return (await world.call('GET', '/v1/admin/audit?action=token.released&limit=1000')).body.items.length
}

describe('a hook’s agreement', () => {
  test.each(ways)('to the scopes a tool needs does not cover a token with more, by %s', async (_, use) => {
    const before = await released()
    await use('bob')
    expect(await released()).toBe(before)
    expect(questions.at(-1)).toEqual({ demo: ['read', 'write'] })
    questions.length = 0

    await use('ada')
    expect(await released()).toBe(before + 1)
    // one question: the token has no more scopes than the hook has agreed to
    expect(questions).toEqual([{ demo: ['read'] }])
  })
})
