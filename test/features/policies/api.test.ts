import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { BrokerError } from '../../../src/domain/errors.ts'
import type { RequestedUse } from '../../../src/domain/requested-use.ts'
import { acquireTokens } from '../../../src/flows/acquire-tokens.ts'
import { permit } from '../../../src/services/request-context.ts'
import { type Answer, testClock } from '../../gatepass.ts'
import { startMcpWorld } from '../../http/mcp-world.ts'
import { approve, providerBody, startWorld, type World } from '../../http/world.ts'
import { answer, answerJson, type Loopback, listen, type RecordedRequest, record } from '../../loopback.ts'

// Wednesday, 18 November 2026, noon in UTC.
const clock = testClock(Date.UTC(2026, 10, 18, 12) / 1000)
const HOOK_SECRET = 'hook-secret-of-the-tests'

let world: World
let hook: Hook
beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock }, as: { now: () => clock() * 1000 } })
  hook = await startHook()
  await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  await world.connect('ada', ['read'])
  await world.connect('bob', ['read', 'write'])
})
afterAll(async () => {
  await hook.close()
  await world[Symbol.asyncDispose]()
})
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
  world.worker.invocations.length = 0
  hook.asked.length = 0
  hook.say = (res) => answerJson(res, 200, { code: 'OK' })
})

interface Hook extends Loopback {
  readonly asked: RecordedRequest[]
  say: (res: Parameters<typeof answer>[0], asked: RecordedRequest) => void
}

async function startHook(): Promise<Hook> {
  const asked: RecordedRequest[] = []
  const server = await listen(async (req, res) => {
    const request = await record(req)
    asked.push(request)
    hook.say(res, request)
  })
  return Object.assign(server, {
    asked,
    say: (res: Parameters<typeof answer>[0]) => answerJson(res, 200, { code: 'OK' }),
  })
}

async function setPolicy(id: string, effect: string, match: object, more: object = {}): Promise<Answer> {
  const made = await world.call('POST', '/v1/admin/policies', { id, effect, match, ...more })
  expect([made.status, made.body.message]).toEqual([201, undefined])
  return made
}

const setHook = (match: object = {}, more: object = {}) =>
  setPolicy('ask', 'hook', match, { hook: { url: hook.url, secret: HOOK_SECRET, timeout_ms: 9000, ...more } })

const NEED = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } } }
const authorize = (user_id: string) => world.call('POST', '/v1/auth/authorize', { ...NEED, user_id })
const run = (user_id: string, tool = 'Demo.EchoWithToken', dialect: 'plain' | 'arcade' = 'plain') =>
  world.execute(tool, { user_id, input: { text: 'hello' } }, dialect)

async function connectionOf(user: string): Promise<string> {
  return (await world.call('GET', `/v1/connections?user_id=${user}`)).body.items[0].id
}

/** A token that is handed out, or what refuses it. */
async function handOut(user: string): Promise<string> {
  const { status, body } = await world.call('POST', `/v1/connections/${await connectionOf(user)}/token`)
  return status === 200 ? 'released' : `${status} ${body.name}`
}

/** A tool that is run, or what refuses it. */
async function outcomeOf(answered: Promise<Answer>): Promise<string> {
  const { body, headers } = await answered
  return body.success === true ? 'run' : (headers.get('x-gatepass-error-kind') ?? 'requires_authorization')
}

async function refusals() {
  const { body } = await world.call('GET', '/v1/admin/audit?action=policy.refused&limit=1000')
  return body.items as Record<string, unknown>[]
}

describe('a token that is handed out', () => {
  test('is refused by whichever way it is asked for, and the refusal names the policy', async () => {
    const begun = (await world.call('POST', '/v1/auth/authorize', { ...NEED, user_id: 'eve' })).body
    await approve(begun.url)
    const id = await connectionOf('eve')
    const released = (await world.call('GET', '/v1/admin/audit?action=token.released&limit=1000')).body.items
    await setPolicy('no-tokens', 'deny', { uses: ['token'] })

    const ways: readonly (readonly [string, string, unknown?])[] = [
      ['POST', `/v1/connections/${id}/token`],
      ['POST', '/v1/auth/authorize', { ...NEED, user_id: 'eve' }],
      ['GET', `/v1/auth/status?id=${begun.id}`],
      ['GET', `/v1/auth/status?id=${id}`],
      ['POST', '/v1/tools/authorize', { tool_name: 'Demo.EchoWithToken', user_id: 'eve' }],
    ]
    for (const [method, path, body] of ways) {
      const refused = await world.call(method, path, body)
      expect([refused.status, refused.body.name], path).toEqual([403, 'denied_by_policy'])
      expect(refused.body.message).toContain('"no-tokens"')
      expect(Object.keys(refused.body).toSorted()).toEqual(['message', 'name'])
    }
    const events = await world.call('GET', `/v1/auth/${begun.id}/events`)
    expect([events.status, events.body.name]).toEqual([403, 'denied_by_policy'])

    const after = (await world.call('GET', '/v1/admin/audit?action=token.released&limit=1000')).body.items
    expect(after).toEqual(released)
    expect(await outcomeOf(run('eve'))).toBe('run')
  })

  test('is refused or released by the policy as it is now, after a change, a switch or a deletion', async () => {
    await setPolicy('no-ada', 'deny', { users: ['ada'] })
    expect([await handOut('ada'), await handOut('bob')]).toEqual(['403 denied_by_policy', 'released'])
    await world.call('PATCH', '/v1/admin/policies/no-ada', { match: { users: ['bob'] } })
    expect([await handOut('ada'), await handOut('bob')]).toEqual(['released', '403 denied_by_policy'])
    await world.call('PATCH', '/v1/admin/policies/no-ada', { enabled: false })
    expect(await handOut('bob')).toBe('released')
    await world.call('PATCH', '/v1/admin/policies/no-ada', { enabled: true })
    expect(await handOut('bob')).toBe('403 denied_by_policy')
    await world.call('DELETE', '/v1/admin/policies/no-ada')
    expect(await handOut('bob')).toBe('released')
  })

  test.each([
    ['user', 'deny', { users: ['a*'] }, '403 denied_by_policy', 'released'],
    ['user', 'allow', { users: ['ada'] }, 'released', '403 denied_by_policy'],
    ['provider', 'deny', { providers: ['demo'] }, '403 denied_by_policy', '403 denied_by_policy'],
    ['provider', 'allow', { providers: ['other'] }, '403 denied_by_policy', '403 denied_by_policy'],
    ['provider', 'allow', { providers: ['de*'] }, 'released', 'released'],
    ['granted scopes', 'deny', { scopes: ['write'] }, 'released', '403 denied_by_policy'],
    ['granted scopes', 'allow', { scopes: ['read'] }, 'released', '403 denied_by_policy'],
    ['host, which nobody knows', 'deny', { hosts: ['*'] }, 'released', 'released'],
    ['tool, which there is none', 'allow', { tools: ['*'] }, '403 denied_by_policy', '403 denied_by_policy'],
    ['use', 'allow', { uses: ['tool'] }, '403 denied_by_policy', '403 denied_by_policy'],
    [
      'hours',
      'deny',
      { time: { from: '12:00', to: '13:00' } },
      '403 denied_by_policy',
      '403 denied_by_policy',
    ],
    ['hours', 'allow', { time: { days: [6, 7] } }, '403 denied_by_policy', '403 denied_by_policy'],
    [
      'hours of a zone',
      'deny',
      { time: { from: '12:00', to: '13:00', zone: 'Asia/Tokyo' } },
      'released',
      'released',
    ],
  ])('by %s: %s %j', async (_, effect, match, ada, bob) => {
    await setPolicy('rule', effect, match)
    expect([await handOut('ada'), await handOut('bob')]).toEqual([ada, bob])
  })

  test('within hours that end', async () => {
    await setPolicy('lunch', 'deny', { time: { from: '12:00', to: '12:30' } })
    expect(await handOut('ada')).toBe('403 denied_by_policy')
    clock.advance(30 * 60)
    expect(await handOut('ada')).toBe('released')
    clock.advance(-30 * 60)
  })

  test('so often and no more, each user apart, and says when again', async () => {
    await setPolicy('thrice', 'deny', { rate: { limit: 3, seconds: 60, per: 'user' } })
    const tries = []
    for (let i = 0; i < 4; i++) tries.push(await handOut('ada'))
    expect(tries).toEqual(['released', 'released', 'released', '403 denied_by_policy'])
    const refused = await authorize('ada')
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(refused.body.message).toMatch(/"thrice".* 60 seconds/)
    expect(await handOut('bob')).toBe('released')
    clock.advance(60)
    expect(await handOut('ada')).toBe('released')
  })

  test('is not refused by a policy of another project', async () => {
    const key = await world.gatepass.makeKey('admin', 'elsewhere')
    const everything = { id: 'no', effect: 'deny', match: {} }
    expect((await world.call('POST', '/v1/admin/policies', everything, { key })).status).toBe(201)
    expect(await handOut('ada')).toBe('released')
  })
})

describe('threat 48: what is permitted', () => {
  const use = (userId: string): RequestedUse => ({
    projectId: '',
    userId,
    use: 'tool',
    tool: { id: 'Demo:Trusted', aliases: ['demo:trusted'], ownNames: ['demo:trusted'], hints: [] },
    providers: [{ id: 'demo', scopes: ['read'] }],
    hosts: [],
  })

  /** Asks for a token as code within a run does, which claims to be permitted for `claimed`. */
  async function release(userId: string, claimed: string): Promise<string> {
    const { broker } = world.gatepass
    const project = await broker.store.projects.findByName('default')
    const projectId = project?.id ?? ''
    const entry = await broker.store.providers.findById(projectId, 'demo')
    if (entry === undefined) throw new Error('there is no demo')
    const need = { projectId, userId, providers: [{ entry, scopes: ['read'] }] }
    try {
      const acquired = await permit({ ...use(claimed), projectId }, () => acquireTokens(broker, need))
      return acquired.outcome
    } catch (error) {
      return error instanceof BrokerError ? error.code : String(error)
    }
  }

  test('is one user’s run of one tool: another user’s token is one that is handed out', async () => {
    await setPolicy('tools-only', 'deny', { uses: ['token'] })
    expect(await release('ada', 'ada')).toBe('ready')
    expect(await release('ada', 'bob')).toBe('denied_by_policy')
  })

  test('is judged again when the token leaves, also when nobody has asked before', async () => {
    await setPolicy('no-trust', 'deny', { tools: ['Demo:Trusted'] })
    expect(await release('ada', 'ada')).toBe('denied_by_policy')
    await world.call('DELETE', '/v1/admin/policies/no-trust')
    await setHook({ tools: ['Demo:Trusted'] })
    hook.say = (res) => answerJson(res, 200, { code: 'DENIED' })
    expect(await release('ada', 'ada')).toBe('denied_by_policy')
  })
})

describe('a consent', () => {
  test('that no use could come of is not asked for', async () => {
    await setPolicy('never', 'deny', { users: ['carl'], scopes: ['read'] })
    const refused = await authorize('carl')
    expect([refused.status, refused.body.name]).toEqual([403, 'denied_by_policy'])
    expect(refused.body.message).toContain('"never"')
    expect((await authorize('dora')).body.status).toBe('pending')
  })

  test('is asked for where only some uses are refused', async () => {
    await setPolicy('no-hand-out', 'deny', { uses: ['token'] })
    await setPolicy('not-now', 'deny', { time: { from: '12:00', to: '13:00' } })
    expect((await authorize('carl')).body.status).toBe('pending')
  })
})

describe('a tool', () => {
  test.each([
    ['user', 'deny', { users: ['ada'] }, 'CONTEXT_DENIED', 'run'],
    ['user', 'allow', { users: ['bob'] }, 'CONTEXT_DENIED', 'run'],
    ['tool', 'deny', { tools: ['Demo.EchoWithToken'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['tool', 'deny', { tools: ['demo_*'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['tool', 'allow', { tools: ['Demo.Leak'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['tool', 'allow', { tools: ['Demo.*'] }, 'run', 'run'],
    ['provider', 'deny', { providers: ['demo'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['needed scopes', 'deny', { scopes: ['read'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    // the tool needs `read` alone, yet bob's token may do more
    ['granted scopes', 'deny', { scopes: ['write'] }, 'run', 'CONTEXT_DENIED'],
    ['granted scopes', 'allow', { scopes: ['read'] }, 'run', 'CONTEXT_DENIED'],
    ['host', 'deny', { hosts: ['127.0.0.1'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['host', 'allow', { hosts: ['worker.example.com'] }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
    ['host', 'allow', { hosts: ['127.0.0.1'] }, 'run', 'run'],
    ['use', 'deny', { uses: ['token', 'proxy'] }, 'run', 'run'],
    ['hours', 'deny', { time: { days: [3] } }, 'CONTEXT_DENIED', 'CONTEXT_DENIED'],
  ])('by %s: %s %j', async (_, effect, match, ada, bob) => {
    await setPolicy('rule', effect, match)
    expect([await outcomeOf(run('ada')), await outcomeOf(run('bob'))]).toEqual([ada, bob])
    expect(world.worker.invocations).toHaveLength([ada, bob].filter((one) => one === 'run').length)
  })

  test('that needs no token is judged too', async () => {
    await setPolicy('no-echo', 'deny', { tools: ['Demo.Echo'] })
    expect(await outcomeOf(run('ada', 'Demo.Echo'))).toBe('CONTEXT_DENIED')
    expect(world.worker.invocations).toEqual([])
  })

  test('is refused before its user is asked for anything', async () => {
    await setPolicy('no-tool', 'deny', { tools: ['Demo.EchoWithToken'] })
    expect(await outcomeOf(run('a stranger'))).toBe('CONTEXT_DENIED')
  })

  test('is counted once a run, though its token is released in it', async () => {
    await setPolicy('twice', 'deny', { rate: { limit: 2, seconds: 600, per: 'tool' } })
    const outcomes = []
    for (const user of ['ada', 'bob', 'ada']) outcomes.push(await outcomeOf(run(user)))
    expect(outcomes).toEqual(['run', 'run', 'CONTEXT_DENIED'])
    const { error } = (await run('ada')).body.output
    expect(error).toMatchObject({ can_retry: true, retry_after_ms: expect.any(Number) })
    expect(await outcomeOf(run('ada', 'Demo.Echo'))).toBe('run')
  })

  test('of a remote MCP server is judged where it is listed, too', async () => {
    await using mcp = await startMcpWorld({ wantsOAuth: true })
    await mcp.authorize('ada')
    const sync = () => mcp.call('PATCH', '/v1/workers/demo', { enabled: true })
    const deny = (id: string, match: object) =>
      mcp.call('POST', '/v1/admin/policies', { id, effect: 'deny', match })
    await deny('no-hand-out', { uses: ['token'] })
    expect((await sync()).body).not.toHaveProperty('sync_error')
    await deny('not-there', { hosts: [new URL(mcp.mcp.url).host] })
    expect((await sync()).body.sync_error).toContain('"not-there"')
  })

  test.each(['plain', 'arcade'] as const)('says which policy, to %s callers', async (dialect) => {
    await setPolicy('no-ada', 'deny', { users: ['ada'] })
    const { status, body, headers } = await run('ada', undefined, dialect)
    expect([status, body.success]).toEqual([200, false])
    const kind = dialect === 'arcade' ? body.output.error.kind : headers.get('x-gatepass-error-kind')
    expect(kind).toBe('CONTEXT_DENIED')
    expect(body.output.error).toMatchObject({
      message: expect.stringContaining('"no-ada"'),
      can_retry: false,
    })
  })
})

describe('a hook', () => {
  test('is asked by whom, for what and with what, once, and never gets a token', async () => {
    await setHook()
    expect(await outcomeOf(run('ada'))).toBe('run')
    const [asked, ...more] = hook.asked
    expect(more).toEqual([])
    expect(asked?.headers.authorization).toBe(`Bearer ${HOOK_SECRET}`)
    expect(asked?.json).toEqual({
      policy_id: 'ask',
      execution_id: expect.stringMatching(/^exec_/),
      use: 'tool',
      tool: { id: 'Demo:EchoWithToken:1.0.0', name: 'EchoWithToken', toolkit: 'Demo', version: '1.0.0' },
      inputs: { text: 'hello' },
      context: {
        user_id: 'ada',
        authorization: [{ provider_id: 'demo', oauth2: { scopes: ['read'] } }],
        secrets: [],
        hosts: [new URL(world.worker.url).host],
      },
      worker: { id: 'demo' },
    })
    const token = (await authorize('ada')).body.context.token
    expect(JSON.stringify(hook.asked)).not.toContain(token)
    expect(hook.asked.at(-1)?.json).toMatchObject({
      use: 'token',
      context: { user_id: 'ada', authorization: [{ oauth2: { scopes: ['read'], user_info: {} } }] },
    })
  })

  test('is not asked about what its rule is not about', async () => {
    await setHook({ users: ['bob'] })
    expect(await handOut('ada')).toBe('released')
    expect(hook.asked).toEqual([])
  })

  test('is asked when it is the token that makes it its business', async () => {
    await setHook({ scopes: ['write'] })
    hook.say = (res) => answerJson(res, 200, { code: 'DENIED' })
    expect(await outcomeOf(run('ada'))).toBe('run')
    expect(await outcomeOf(run('bob'))).toBe('CONTEXT_DENIED')
    expect(world.worker.invocations).toHaveLength(1)
  })

  test('is asked only beyond its rate', async () => {
    await setHook({ rate: { limit: 2, seconds: 60, per: 'user' } })
    for (let i = 0; i < 3; i++) expect(await handOut('ada')).toBe('released')
    expect(hook.asked).toHaveLength(1)
  })

  test.each(['CHECK_FAILED', 'DENIED', 'RATE_LIMIT_EXCEEDED', 'ok'])('that says %s refuses', async (code) => {
    await setHook()
    hook.say = (res) => answerJson(res, 200, { code, error_message: 'Not on a Wednesday.' })
    const { body } = await run('ada', undefined, 'arcade')
    expect(body.output.error).toMatchObject({
      kind: 'CONTEXT_DENIED',
      message: expect.stringMatching(/"ask".*: Not on a Wednesday\.$/),
    })
    expect(await handOut('ada')).toBe('403 denied_by_policy')
    expect(world.worker.invocations).toEqual([])
  })

  test('may not write what it likes: no control characters, no endless text, not its own secret', async () => {
    await setHook()
    const said = `\u001b[31mno\r\n\u202e${HOOK_SECRET} ${'x'.repeat(2_000)}`
    hook.say = (res) => answerJson(res, 200, { code: 'DENIED', error_message: said })
    const { message } = (await authorize('ada')).body
    expect(message).toMatch(/: \[31mno \[redacted\] x+…$/)
    expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(message.length).toBeLessThan(400)
  })

  test('may not change anything: an override is not looked at', async () => {
    await setHook()
    hook.say = (res) => answerJson(res, 200, { code: 'OK', override: { inputs: { text: 'changed' } } })
    await run('ada')
    expect(world.worker.invocations[0]?.call.inputs).toEqual({ text: 'hello' })
  })

  const FAILURES: readonly (readonly [string, Hook['say']])[] = [
    ['hangs', () => {}],
    ['answers 500', (res) => answerJson(res, 500, { code: 'OK' })],
    ['answers 403', (res) => answerJson(res, 403, { code: 'DENIED' })],
    ['redirects', (res) => answer(res, 302, 'text/plain', '', { location: '/elsewhere' })],
    ['answers no JSON', (res) => answer(res, 200, 'application/json', 'OK')],
    ['answers a list', (res) => answerJson(res, 200, ['OK'])],
    ['answers null', (res) => answerJson(res, 200, null)],
    ['echoes', (res, { body }) => answer(res, 200, 'application/json', body)],
    ['answers too much', (res) => answerJson(res, 200, { code: 'OK', filler: 'x'.repeat(20_000) })],
    ['hangs up', (res) => res.destroy()],
  ]
  test.each(FAILURES)('that %s has not agreed', async (_, say) => {
    await setHook({}, { timeout_ms: 500 })
    hook.say = say
    const { body } = await run('ada', undefined, 'arcade')
    expect(body.output.error).toMatchObject({
      kind: 'CONTEXT_CHECK_FAILED',
      message: expect.stringContaining('"ask"'),
    })
    expect(await handOut('ada')).toBe('503 policy_check_failed')
    expect(world.worker.invocations).toEqual([])
    await world.call('PATCH', '/v1/admin/policies/ask', { hook: { on_failure: 'allow' } })
    expect(await handOut('ada')).toBe('released')
    expect(world.gatepass.logLines.at(-1)).toContain('a policy hook gave no answer')
  })

  test('is sent its own secret and no other when its URL changes', async () => {
    await setHook()
    const url = 'http://127.0.0.1:1/'
    const refused = await world.call('PATCH', '/v1/admin/policies/ask', { hook: { url } })
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('hook.secret')])
    const taken = await world.call('PATCH', '/v1/admin/policies/ask', { hook: { url, secret: null } })
    expect(taken.body.hook).toEqual({
      url,
      format: 'arcade',
      timeout_ms: 9000,
      on_failure: 'deny',
      secret: { exists: false },
    })
  })
})

describe('the audit trail', () => {
  test('has each refusal, with the policy that refused and why', async () => {
    const before = (await refusals()).length
    await setPolicy('no-ada', 'deny', { users: ['ada'] })
    await handOut('ada')
    await run('ada')
    await world.call('DELETE', '/v1/admin/policies/no-ada')
    await setPolicy('only-carl', 'allow', { users: ['carl'] })
    await handOut('ada')
    await world.call('DELETE', '/v1/admin/policies/only-carl')
    await setPolicy('once', 'deny', { rate: { limit: 1, seconds: 60, per: 'project' } })
    await handOut('bob')
    await handOut('bob')
    await world.call('DELETE', '/v1/admin/policies/once')
    await setHook()
    hook.say = (res) => answerJson(res, 200, { code: 'DENIED' })
    await handOut('bob')
    hook.say = (res) => answerJson(res, 500, {})
    await handOut('bob')

    const told = (await refusals()).slice(0, -before || undefined).toReversed()
    const about = { provider_id: 'demo', user_id: 'bob', scopes: ['read', 'write'] }
    expect(told).toMatchObject([
      {
        subject: 'no-ada',
        reason: 'denied',
        user_id: 'ada',
        provider_id: 'demo',
        actor: { kind: 'api_key' },
      },
      { subject: 'no-ada', reason: 'denied', tool: expect.stringContaining('EchoWithToken') },
      { subject: 'only-carl', reason: 'not_allowed', user_id: 'ada', scopes: ['read'] },
      { subject: 'once', reason: 'rate', ...about },
      { subject: 'ask', reason: 'hook_refused', ...about },
      { subject: 'ask', reason: 'hook_failed', ...about, purpose: 'POST /v1/connections/{id}/token' },
    ])
    const metrics = (await world.call('GET', '/metrics')).body
    expect(metrics).toMatch(/gatepass_policy_refusals_total\{policy="once",reason="rate"\} 1\b/)
  })

  test('has who set and deleted a policy, and never its secret', async () => {
    await setHook()
    await world.call('DELETE', '/v1/admin/policies/ask')
    const { items } = (await world.call('GET', '/v1/admin/audit?limit=1000')).body
    expect(items.slice(0, 2)).toMatchObject([
      { action: 'policy.deleted', subject: 'ask', actor: { kind: 'api_key' } },
      { action: 'policy.set', subject: 'ask', actor: { kind: 'api_key' } },
    ])
    expect(JSON.stringify([items, world.gatepass.logLines])).not.toContain(HOOK_SECRET)
  })
})

describe('policies over the API', () => {
  test('come back as they were set, without their secret', async () => {
    const match = {
      users: ['ada'],
      tools: ['Demo.*'],
      providers: ['demo'],
      scopes: ['read'],
      hosts: ['*.example.com'],
      uses: ['tool', 'proxy'],
      time: { days: [1, 5], from: '22:00', to: '06:00', zone: 'Europe/Berlin' },
      rate: { limit: 5, seconds: 60, per: 'tool' },
    }
    const made = await setHook(match, { on_failure: 'allow' })
    const policy = {
      id: 'ask',
      enabled: true,
      effect: 'hook',
      match,
      hook: {
        url: hook.url,
        format: 'arcade',
        timeout_ms: 9000,
        on_failure: 'allow',
        secret: { exists: true },
      },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    }
    expect(made.body).toEqual(policy)
    expect((await world.call('GET', '/v1/admin/policies/ask')).body).toEqual(policy)
    expect((await world.call('GET', '/v1/admin/policies')).body).toMatchObject({
      items: [policy],
      total_count: 1,
    })
    const described = await world.call('PATCH', '/v1/admin/policies/ask', { description: 'Ask first.' })
    expect(described.body).toEqual({ ...policy, description: 'Ask first.' })
    const deny = { effect: 'deny', description: null }
    const { hook: _, ...rest } = policy
    expect((await world.call('PATCH', '/v1/admin/policies/ask', deny)).body).toEqual({
      ...rest,
      effect: 'deny',
    })
  })

  test.each<[string, object, number, string]>([
    ['a misspelled member', { match: { user: ['ada'] } }, 400, 'user'],
    ['a misspelled member of the time', { match: { time: { start: '09:00' } } }, 400, 'start'],
    ['a member beside', { users: ['ada'] }, 400, 'users'],
    ['no match at all', { match: undefined }, 400, 'match'],
    ['a list of nothing', { match: { users: [] } }, 400, 'match.users'],
    ['an unknown use', { match: { uses: ['read'] } }, 400, 'match.uses'],
    ['an unknown effect', { effect: 'refuse' }, 400, 'effect'],
    ['an hour that is none', { match: { time: { from: '24:00' } } }, 400, 'match.time.from'],
    ['no hours', { match: { time: { from: '09:00', to: '09:00' } } }, 400, 'match.time'],
    ['a zone alone', { match: { time: { zone: 'UTC' } } }, 400, 'match.time'],
    ['an unknown zone', { match: { time: { days: [1], zone: 'Mars' } } }, 400, 'Mars'],
    ['a day that is none', { match: { time: { days: [0] } } }, 400, 'match.time.days'],
    [
      'a limit of nothing',
      { match: { rate: { limit: 0, seconds: 1, per: 'user' } } },
      400,
      'match.rate.limit',
    ],
    [
      'a rate to allow',
      { effect: 'allow', match: { rate: { limit: 1, seconds: 1, per: 'user' } } },
      400,
      'match.rate',
    ],
    ['a hook without one', { effect: 'hook' }, 400, 'hook'],
    ['a hook that denies', { hook: { url: 'https://example.com/' } }, 400, 'hook'],
    [
      'a hook with a short secret',
      { effect: 'hook', hook: { url: 'https://example.com/', secret: 'short' } },
      400,
      'hook.secret',
    ],
    [
      'a hook with credentials',
      { effect: 'hook', hook: { url: 'https://a:b@example.com/' } },
      400,
      'hook.url',
    ],
    ['a hook of another scheme', { effect: 'hook', hook: { url: 'ftp://example.com/' } }, 400, 'hook.url'],
    ['a hook in a private network', { effect: 'hook', hook: { url: 'http://10.0.0.1/' } }, 400, '10.0.0.1'],
    ['a name with a space', { id: 'no tokens' }, 400, 'id'],
  ])('%s is refused', async (_, more, status, said) => {
    const body = { id: 'rule', effect: 'deny', match: {}, ...more }
    const refused = await world.call('POST', '/v1/admin/policies', body)
    expect([refused.status, refused.body.message]).toEqual([status, expect.stringContaining(said)])
    expect((await world.call('GET', '/v1/admin/policies')).body.items).toEqual([])
  })

  test('a name is given once', async () => {
    await setPolicy('rule', 'deny', { users: ['nobody'] })
    const again = await world.call('POST', '/v1/admin/policies', { id: 'rule', effect: 'deny', match: {} })
    expect([again.status, again.body.name]).toEqual([409, 'already_exists'])
    expect((await world.call('PATCH', '/v1/admin/policies/rule', { hook: { timeout_ms: 100 } })).status).toBe(
      400,
    )
    expect((await world.call('PATCH', '/v1/admin/policies/rule', { effect: 'hook' })).status).toBe(400)
  })

  test('can be tried out without a use, a count or a question', async () => {
    await setPolicy('a-few', 'deny', { users: ['ada'], rate: { limit: 1, seconds: 60, per: 'user' } })
    await setPolicy('no-leak', 'deny', { tools: ['Demo.Leak'] })
    await setPolicy('some', 'allow', { users: ['ada', 'bob'] })
    await setPolicy('not-at-night', 'deny', { time: { from: '22:00', to: '06:00' } })
    await setHook({ users: ['bob'] })
    const before = (await refusals()).length
    const verdictOn = async (use: object) => {
      const { status, body } = await world.call('POST', '/v1/admin/policies/test', use)
      expect(status).toBe(200)
      return body
    }
    const nothing = { refused_by: [], undecided: [] }
    for (let i = 0; i < 3; i++)
      expect(await verdictOn({ user_id: 'ada', provider_id: 'demo', scopes: ['read'] })).toEqual({
        ...nothing,
        decision: 'depends',
        undecided: [{ id: 'a-few', by: 'rate' }],
      })
    expect(await verdictOn({ user_id: 'bob', tool_name: 'Demo.Echo' })).toEqual({
      ...nothing,
      decision: 'depends',
      undecided: [{ id: 'ask', by: 'hook' }],
    })
    await world.gatepass.makeKey('approver')
    await world.call('POST', '/v1/admin/policies', {
      id: 'ask-first',
      effect: 'approve',
      match: { tools: ['Demo.Fail'] },
      approve: { by: { group: 'security' } },
    })
    expect(await verdictOn({ user_id: 'ada', tool_name: 'Demo.Fail' })).toMatchObject({
      decision: 'depends',
      undecided: expect.arrayContaining([{ id: 'ask-first', by: 'approval' }]),
      asks: [{ id: 'ask-first', by: { group: 'security', count: 1 } }],
    })
    expect(await verdictOn({ user_id: 'bob', tool_name: 'Demo.Leak' })).toEqual({
      ...nothing,
      decision: 'refused',
      reason: 'denied',
      refused_by: ['no-leak'],
    })
    expect(await verdictOn({ user_id: 'carl', use: 'proxy', host: 'api.example.com' })).toEqual({
      ...nothing,
      decision: 'refused',
      reason: 'not_allowed',
      refused_by: ['some'],
    })
    expect(await verdictOn({ user_id: 'bob', at: '2026-11-18T23:00:00Z' })).toMatchObject({
      refused_by: ['not-at-night'],
    })
    expect((await world.call('POST', '/v1/admin/policies/test', { tool_name: 'No.Tool' })).status).toBe(404)
    const noProvider = { user_id: 'bob', scopes: ['read'] }
    expect(await world.call('POST', '/v1/admin/policies/test', noProvider)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'provider_id', code: 'missing' }] },
    })
    expect([hook.asked, (await refusals()).length]).toEqual([[], before])
    expect(await handOut('ada')).toBe('released')
  })

  test('are made by administrators alone', async () => {
    const key = await world.gatepass.makeKey('caller')
    await setPolicy('no-ada', 'deny', { users: ['ada'] })
    const change = { enabled: false }
    for (const [method, path, body] of [
      ['POST', '/v1/admin/policies', { id: 'x', effect: 'allow', match: {} }],
      ['PATCH', '/v1/admin/policies/no-ada', change],
      ['DELETE', '/v1/admin/policies/no-ada'],
    ] as const)
      expect((await world.call(method, path, body, { key })).status).toBe(403)
    expect(await handOut('ada')).toBe('403 denied_by_policy')
  })
})

test('a policy that does not exist is 404, also if its id is a word of another path', async () => {
  for (const path of ['/v1/admin/policies/test', '/v1/admin/policies/dry_run'])
    for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
      const answered = await world.call(method, path, body)
      expect([answered.status, answered.body.name], `${method} ${path}`).toEqual([404, 'not_found'])
    }
})

test('a rule about the proxy matches the method and the path, however it is written', async () => {
  const api = { base_url: world.worker.url, hosts: [new URL(world.worker.url).host] }
  expect((await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })).status).toBe(200)
  await setPolicy('no-sends', 'deny', { methods: ['POST'], paths: ['*/send'] })
  const forward = (method: string, path: string) =>
    world.call(method, `/proxy/demo${path}`, undefined, { headers: { 'x-gatepass-user': 'ada' } })
  for (const path of ['/v1/send', '/v1/%73end', '/v1/x/../send?now'])
    expect(await forward('POST', path)).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
  for (const answer of [await forward('GET', '/v1/send'), await forward('POST', '/v1/list')])
    expect(answer.body.name).not.toBe('denied_by_policy')
})

test('a rule that allows a path must match every reading of it', async () => {
  const api = { base_url: world.worker.url, hosts: [new URL(world.worker.url).host] }
  expect((await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api } })).status).toBe(200)
  await setPolicy('lists-alone', 'allow', { paths: ['/v1/list', '/v1/größe'] })
  const nameOf = async (path: string) => {
    const headers = { 'x-gatepass-user': 'ada' }
    return (await world.call('POST', `/proxy/demo${path}`, undefined, { headers })).body.name
  }
  for (const path of ['/v1/list', '/v1/l%69st?all', '/v1/gr%C3%B6%C3%9Fe'])
    expect(await nameOf(path)).not.toBe('denied_by_policy')
  for (const path of ['/v1/list;x', '/v1;x/list', '/v1//list', '/v1/l%2569st', '/v1/list%ff', '/v1/list/'])
    expect(await nameOf(path), path).toBe('denied_by_policy')
})
