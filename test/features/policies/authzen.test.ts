import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../../http/world.ts'
import { answer, answerJson } from '../../loopback.ts'
import { type DecisionPoint, PDP_SECRET, startDecisionPoint } from './decision-point.ts'

let world: World
let pdp: DecisionPoint
beforeAll(async () => {
  world = await startWorld()
  pdp = await startDecisionPoint()
  const api = { base_url: world.as.url }
  expect((await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })).status).toBe(200)
  await world.connect('ada', ['read'])
  await world.connect('bob', ['read', 'write'])
})
afterAll(async () => {
  await pdp.close()
  await world[Symbol.asyncDispose]()
})
afterEach(async () => {
  await world.call('DELETE', '/v1/admin/policies/pdp')
  world.worker.invocations.length = 0
  pdp.reset()
})

const TOOL = 'Demo.EchoWithToken'
async function setHook(hook: object = {}, match: object = {}): Promise<void> {
  const body = {
    id: 'pdp',
    effect: 'hook',
    match,
    hook: { url: pdp.url, format: 'authzen', secret: PDP_SECRET, timeout_ms: 9000, ...hook },
  }
  const made = await world.call('POST', '/v1/admin/policies', body)
  expect([made.status, made.body.message]).toEqual([201, undefined])
  expect(made.body.hook).toMatchObject({ format: 'authzen', secret: { exists: true } })
}

const run = (user_id?: string, tool = TOOL) =>
  world.execute(tool, { ...(user_id && { user_id }), input: { text: 'hello' } }, 'arcade')
async function errorOf(user_id?: string, tool?: string) {
  const { body } = await run(user_id, tool)
  return body.output?.error
}
async function handOut(user: string) {
  const { items } = (await world.call('GET', `/v1/connections?user_id=${user}`)).body
  return world.call('POST', `/v1/connections/${items[0].id}/token`)
}
const runs = () => world.worker.invocations.length

describe('a policy decision point', () => {
  test('is asked about a tool’s call as COAZ-MCP maps it, once, and never gets a token', async () => {
    await setHook()
    expect((await run('bob')).body.success).toBe(true)
    const [asked, ...more] = pdp.asked
    expect(more).toEqual([])
    expect([asked?.method, asked?.path]).toEqual(['POST', '/access/v1/evaluation'])
    expect(asked?.headers).toMatchObject({
      authorization: `Bearer ${PDP_SECRET}`,
      'content-type': 'application/json',
      'x-request-id': expect.stringMatching(/^exec_/),
    })
    expect(asked?.json).toEqual({
      subject: { type: 'identity', id: 'bob' },
      action: { name: 'tools/call' },
      resource: { type: 'tool', id: 'Demo:EchoWithToken:1.0.0' },
      context: { agent: expect.stringMatching(/^key_/), arguments: { text: 'hello' } },
    })
    expect(runs()).toBe(1)
  })

  test('is asked about tokens and forwarded requests by the provider', async () => {
    await setHook()
    expect((await handOut('bob')).status).toBe(200)
    const headers = { 'x-gatepass-user': 'ada', 'x-gatepass-scopes': 'read' }
    expect((await world.call('GET', '/proxy/demo/userinfo?a=b', undefined, { headers })).status).toBe(200)
    const resource = { type: 'provider', id: 'demo' }
    const { host } = new URL(world.as.url)
    expect(pdp.evaluations()).toMatchObject([
      { subject: { id: 'bob' }, action: { name: 'token' }, resource, context: { scopes: ['read', 'write'] } },
      {
        subject: { id: 'ada' },
        action: { name: 'proxy', properties: { method: 'GET', path: '/userinfo' } },
        resource,
        context: { scopes: ['read'], hosts: [host] },
      },
    ])
  })

  test('that denies refuses, with its reason for users', async () => {
    await setHook()
    pdp.decides = () => 'deny'
    expect(await errorOf('ada')).toMatchObject({
      kind: 'CONTEXT_DENIED',
      message: expect.stringMatching(/"pdp".*: Insufficient privileges\.$/),
    })
    expect(JSON.stringify(await errorOf('ada'))).not.toContain('Rule 7')
    expect(await handOut('ada')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect(runs()).toBe(0)
    const { body } = await world.call('GET', '/v1/admin/audit?action=policy.refused&limit=1')
    expect(body.items[0]).toMatchObject({ subject: 'pdp', reason: 'hook_refused' })
  })

  test('may not write what it likes', async () => {
    await setHook()
    const reason = `\u001b[31mno\r\n\u202e\u{e0041}\u200b${PDP_SECRET} ${'x'.repeat(2_000)}`
    pdp.instead = (_, __, res) => {
      answerJson(res, 200, { decision: false, context: { reason } })
      return true
    }
    const { message } = await errorOf('ada')
    expect(message).toMatch(/: \[31mno \[redacted\] x+…$/)
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(message.length).toBeLessThan(400)
  })

  test('decides about users: a call that names none is refused unasked', async () => {
    await setHook({ on_failure: 'allow' })
    expect(await errorOf(undefined, 'Demo.Echo')).toMatchObject({
      kind: 'CONTEXT_DENIED',
      message: expect.stringContaining('user_id'),
    })
    expect(pdp.asked).toEqual([])
  })

  test('may answer members that nobody knows', async () => {
    await setHook()
    pdp.instead = (_, __, res) => {
      answerJson(res, 200, { decision: true, context: { obligations: [1] }, extra: null })
      return true
    }
    expect((await run('ada')).body.success).toBe(true)
  })

  type Say = (res: Parameters<typeof answer>[0], body: string) => void
  test.each<[string, Say]>([
    ['hangs', () => {}],
    ['answers 201', (res) => answerJson(res, 201, { decision: true })],
    ['answers 401', (res) => answerJson(res, 401, { decision: true })],
    ['answers 500', (res) => answerJson(res, 500, { decision: true })],
    ['redirects', (res) => answer(res, 302, 'text/plain', '', { location: '/access/v1/evaluation' })],
    ['answers no JSON', (res) => answer(res, 200, 'application/json', 'true')],
    ['answers a list', (res) => answerJson(res, 200, [{ decision: true }])],
    ['answers null', (res) => answerJson(res, 200, null)],
    ['answers in Arcade’s format', (res) => answerJson(res, 200, { code: 'OK' })],
    ['answers a text', (res) => answerJson(res, 200, { decision: 'true' })],
    ['answers a number', (res) => answerJson(res, 200, { decision: 1 })],
    ['answers many decisions', (res) => answerJson(res, 200, { evaluations: [{ decision: true }] })],
    ['echoes', (res, body) => answer(res, 200, 'application/json', body)],
    ['answers too much', (res) => answerJson(res, 200, { decision: true, filler: 'x'.repeat(70_000) })],
    ['hangs up', (res) => res.destroy()],
  ])('that %s has not permitted', async (_, say) => {
    await setHook({ timeout_ms: 500 })
    pdp.instead = ({ body }, __, res) => {
      say(res, body)
      return true
    }
    expect(await errorOf('ada')).toMatchObject({ kind: 'CONTEXT_CHECK_FAILED' })
    expect(await handOut('ada')).toMatchObject({ status: 503, body: { name: 'policy_check_failed' } })
    expect(runs()).toBe(0)
  })

  test.each(['/access/v1/evaluation', '?tenant=1', '/#x'])(
    'is named by its address alone: %s',
    async (rest) => {
      const hook = { url: `${pdp.url}${rest}`, format: 'authzen' }
      const refused = await world.call('POST', '/v1/admin/policies', {
        id: 'pdp',
        effect: 'hook',
        match: {},
        hook,
      })
      expect([refused.status, refused.body.errors?.[0]?.path]).toEqual([400, 'hook.url'])
    },
  )

  test('may have a path of its own, and a hook may change its format', async () => {
    await setHook({ url: `${pdp.url}/tenant1/` })
    await run('ada')
    expect(pdp.asked.at(-1)?.path).toBe('/tenant1/access/v1/evaluation')
    await world.call('PATCH', '/v1/admin/policies/pdp', { hook: { format: 'arcade' } })
    await run('ada')
    expect(pdp.asked.at(-1)).toMatchObject({ path: '/tenant1/', json: { policy_id: 'pdp' } })
  })
})
