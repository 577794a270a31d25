import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { advanceAccessRequests } from '../../../src/features/policies/advance-access-requests.ts'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { answerJson } from '../../loopback.ts'
import { until } from '../../until.ts'
import { type DecisionPoint, PDP_SECRET, startDecisionPoint } from './decision-point.ts'

const TOOL = 'Demo.EchoWithToken'

describe('an access request', () => {
  const clock = testClock(1_800_000_000)
  let world: World
  let pdp: DecisionPoint
  let approver: string
  beforeAll(async () => {
    world = await startWorld({ gatepass: { now: clock }, as: { now: () => clock() * 1000 } })
    pdp = await startDecisionPoint(() => clock() * 1000)
    await world.connect('ada', ['read'])
    approver = await world.gatepass.makeKey('approver')
  })
  afterAll(async () => {
    await pdp.close()
    await world[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    pdp.decides = () => 'requestable'
    const hook = {
      url: pdp.url,
      format: 'authzen',
      secret: PDP_SECRET,
      timeout_ms: 9000,
      on_failure: 'allow',
    }
    const match = { tools: ['Demo.*'] }
    const made = await world.call('POST', '/v1/admin/policies', { id: 'pdp', effect: 'hook', match, hook })
    expect([made.status, made.body.message]).toEqual([201, undefined])
  })
  afterEach(async () => {
    const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
    for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
    world.worker.invocations.length = 0
    clock.advance(90_000) // questions are over, and what was denied is forgotten
    await advance()
    pdp.reset()
  })

  const advance = () => advanceAccessRequests(world.gatepass.broker)
  const run = (text = 'hello', tool = TOOL) =>
    world.call('POST', '/v1/tools/run', { tool_id: tool, user_id: 'ada', args: { text } })
  const required = async (text?: string, tool?: string) => (await run(text, tool)).body.requires_authorization
  const kindOf = async (text?: string) => {
    const { body } = await run(text)
    return body.requires_authorization ? 'waiting' : (body.error?.kind ?? 'run')
  }
  const get = async (id: string) =>
    (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
  const runs = () => world.worker.invocations.length
  /** Lets time pass until the access request has gone as far as it can. */
  async function settle(id: string, status: string): Promise<void> {
    await until(async () => {
      clock.advance(61)
      await advance()
      return (await get(id)).status === status
    })
  }

  test('asks the people of a decision point, evaluates anew when they approve, and runs once', async () => {
    const asked = await required()
    expect(asked).toMatchObject({ id: expect.stringMatching(/^appr_/), status: 'pending', scopes: [] })
    const { id } = asked
    expect(await get(id)).toMatchObject({
      status: 'pending',
      rules: ['pdp'],
      call: { arguments: { text: 'hello' } },
    })
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    const submitted = pdp.asked.find(({ path }) => path === '/access/v1/requests')
    expect(submitted?.headers['idempotency-key']).toContain(id)
    expect(submitted?.json).toEqual({
      subject: { type: 'identity', id: 'ada' },
      action: { name: 'tools/call' },
      resource: { type: 'tool', id: 'Demo:EchoWithToken:1.0.0' },
      context: { agent: expect.stringMatching(/^key_/), arguments: { text: 'hello' } },
      denial: {
        binding_token: expect.stringMatching(/^binding-/),
        evaluation_id: expect.stringMatching(/^eval-/),
        expires_at: expect.any(String),
        reason: 'approval_required',
      },
    })
    expect(await required()).toMatchObject({ id })
    expect(pdp.tasks).toHaveLength(1)
    expect((await world.call('GET', `/v1/auth/status?id=${id}`)).body).toMatchObject({ status: 'pending' })

    pdp.approve(pdp.tasks[0] as never)
    await settle(id, 'approved')
    expect((await world.call('GET', `/v1/auth/status?id=${id}`)).body).toMatchObject({ status: 'completed' })
    expect(runs()).toBe(0)
    expect(await kindOf()).toBe('run')
    expect(runs()).toBe(1)
    const presented = pdp.evaluations().at(-1)?.context?.approval
    expect(presented).toMatchObject({ id: pdp.tasks[0]?.approval, state: { opaque: [1] } })
    expect(await get(id)).toMatchObject({
      status: 'used',
      decisions: [{ decision: 'approve', approver: 'pdp', proof: 'decision_point' }],
    })
    const trail = (await world.call('GET', `/v1/admin/audit?subject=${id}&limit=10`)).body.items
    expect(trail.map(({ action }: { action: string }) => action).toSorted()).toEqual([
      'approval.approved',
      'approval.requested',
      'approval.used',
    ])
    // ours spends once, though the decision point would permit it again
    expect((await required()).id).not.toBe(id)
    expect(runs()).toBe(1)
  })

  test('approves one run of many at the same time', async () => {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.approve(pdp.tasks[0] as never)
    await settle(id, 'approved')
    const kinds = await Promise.all(Array.from({ length: 10 }, () => kindOf()))
    expect(kinds.toSorted()).toEqual(['run', ...Array.from({ length: 9 }, () => 'waiting')])
    expect(runs()).toBe(1)
  })

  test('holds a tool without a token too', async () => {
    expect(await required('x', 'Demo.Echo')).toMatchObject({ status: 'pending' })
    expect(runs()).toBe(0)
  })

  test.each([
    ['denied', 'denied', 'CONTEXT_DENIED'],
    ['expired', 'expired', 'waiting'],
    ['cancelled', 'cancelled', 'waiting'],
    ['failed', 'cancelled', 'waiting'],
    ['partial', 'cancelled', 'waiting'],
  ])('that ends as %s runs nothing', async (status, ours, then) => {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.end(pdp.tasks[0] as never, status, {
      mode: 'reevaluate',
      approval: { id: 'x', approved_until: '2999-01-01T00:00:00Z' },
    })
    await settle(id, ours)
    expect((await world.call('GET', `/v1/auth/status?id=${id}`)).body).toMatchObject({ status: 'failed' })
    expect(await kindOf()).toBe(then)
    expect(runs()).toBe(0)
  })

  const UNTIL = { approved_until: '2999-01-01T00:00:00Z' }
  test.each<[string, object | undefined]>([
    ['an unknown mode', { mode: 'bearer', approval: { id: 'x', ...UNTIL } }],
    ['no result', undefined],
    ['no approval', { mode: 'reevaluate' }],
    ['an approval without an end', { mode: 'reevaluate', approval: { id: 'x' } }],
    [
      'an approval that is over',
      { mode: 'reevaluate', approval: { id: 'x', approved_until: '2001-01-01T00:00:00Z' } },
    ],
    ['a time that is none', { mode: 'reevaluate', approval: { id: 'x', approved_until: 'later' } }],
    ['an approval without an id', { mode: 'reevaluate', approval: { ...UNTIL } }],
  ])('that is approved with %s is not approved', async (_, result) => {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.end(pdp.tasks[0] as never, 'approved', result)
    await settle(id, 'cancelled')
    expect(await kindOf()).toBe('waiting')
    expect(runs()).toBe(0)
  })

  test('in an unknown state is not approved, and ends with its question', async () => {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.end(pdp.tasks[0] as never, 'granted', { mode: 'reevaluate', approval: { id: 'x', ...UNTIL } })
    for (let i = 0; i < 3; i++) {
      clock.advance(61)
      await advance()
    }
    expect(await get(id)).toMatchObject({ status: 'pending' })
    clock.advance(86_400)
    await advance()
    expect(await get(id)).toMatchObject({ status: 'expired' })
  })

  async function approved(): Promise<string> {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.approve(pdp.tasks[0] as never)
    await settle(id, 'approved')
    return id
  }

  test('that is approved runs nothing where the new evaluation denies', async () => {
    const id = await approved()
    pdp.instead = ({ json, path }, _, res) => {
      const { context } = (json ?? {}) as { context?: { approval?: object } }
      if (!path.endsWith('/evaluation') || context?.approval === undefined) return undefined
      answerJson(res, 200, { decision: false, context: { reason: 'out_of_scope', next_action: 'none' } })
      return true
    }
    const { body } = await run()
    expect(JSON.stringify(body)).toContain('out_of_scope')
    expect(await get(id)).toMatchObject({ status: 'superseded' })
    expect(runs()).toBe(0)
  })

  test('whose approval has no effect yet is tried again later', async () => {
    const id = await approved()
    pdp.instead = ({ json, path }, _, res) => {
      const { context } = (json ?? {}) as { context?: { approval?: object } }
      if (!path.endsWith('/evaluation') || context?.approval === undefined) return undefined
      const retry = { reason: 'grant_pending', next_action: 'retry', retry_after: 7 }
      answerJson(res, 200, { decision: false, context: retry })
      return true
    }
    expect((await run()).body.error).toMatchObject({ kind: 'CONTEXT_CHECK_FAILED', retry_after_ms: 7000 })
    pdp.instead = undefined
    expect(await kindOf()).toBe('run')
    expect(await get(id)).toMatchObject({ status: 'used' })
  })

  test('that is approved runs nothing while the decision point is away, whatever the hook permits then', async () => {
    const id = await approved()
    pdp.instead = ({ json, path }, _, res) => {
      const { context } = (json ?? {}) as { context?: { approval?: object } }
      if (!path.endsWith('/evaluation') || context?.approval === undefined) return undefined
      answerJson(res, 500, { decision: true })
      return true
    }
    expect(await kindOf()).toBe('CONTEXT_CHECK_FAILED')
    expect(await get(id)).toMatchObject({ status: 'approved' })
    expect(runs()).toBe(0)
  })

  test('counts no longer than its approval says', async () => {
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.approve(pdp.tasks[0] as never, { approved_until: new Date((clock() + 200) * 1000).toISOString() })
    await settle(id, 'approved')
    clock.advance(200)
    expect((await required()).id).not.toBe(id)
    expect(runs()).toBe(0)
  })

  test('needs the approvals of other rules besides', async () => {
    const approve = { by: { group: 'security' } }
    await world.call('POST', '/v1/admin/policies', {
      id: 'too',
      effect: 'approve',
      match: { tools: [TOOL] },
      approve,
    })
    const { id } = await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
    pdp.approve(pdp.tasks[0] as never)
    await until(async () => {
      clock.advance(30)
      await advance()
      return (await get(id)).decisions.length === 1
    })
    const { digest, status } = await get(id)
    expect(status).toBe('pending')
    const body = { decision: 'approve', digest, approver: 'bob' }
    await world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
    expect(await get(id)).toMatchObject({ status: 'approved' })
    expect(await kindOf()).toBe('run')
  })

  test('is decided by no person of Gatepass', async () => {
    const { id } = await required()
    const { digest } = await get(id)
    for (const name of ['ada', 'bob', 'pdp'])
      expect(
        await world.call(
          'POST',
          `/v1/approvals/${id}/decision`,
          { decision: 'approve', digest, approver: name },
          { key: approver },
        ),
      ).toMatchObject({ status: 403 })
    expect(await get(id)).toMatchObject({ status: 'pending' })
  })

  test('is submitted again with the same key after failures, and never after a refusal', async () => {
    let answers = 0
    pdp.instead = ({ path }, _, res) => {
      if (path !== '/access/v1/requests' || answers++ > 1) return undefined
      answerJson(res, 503, {}, { 'retry-after': '90' })
      return true
    }
    const { id } = await required()
    await until(async () => {
      clock.advance(31)
      await advance()
      return pdp.tasks.length === 1
    })
    const sent = pdp.asked.filter(({ path }) => path === '/access/v1/requests')
    expect(sent.length).toBe(3)
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)

    pdp.instead = ({ path }, _, res) => {
      if (path !== '/access/v1/requests') return undefined
      answerJson(res, 403, { type: 'urn:openid:authzen:access-request:error:unauthorized' })
      return true
    }
    const other = await required('other')
    await settle(other.id, 'cancelled')
    expect(await get(id)).toMatchObject({ status: 'pending' })
  })

  const metadata = () => ({
    policy_decision_point: pdp.url,
    access_request_endpoint: `${pdp.url}/access/v1/requests`,
  })
  const advertise = (body: () => object) => {
    pdp.denial = { endpoint: undefined }
    pdp.instead = ({ path }, _, res) => {
      if (path !== '/.well-known/authzen-configuration') return undefined
      answerJson(res, 200, body())
      return true
    }
  }

  test('goes to the endpoint of the metadata where the denial names none', async () => {
    advertise(metadata)
    await required()
    await until(async () => {
      await advance()
      return pdp.tasks.length === 1
    })
  })

  test.each<[string, () => object]>([
    ['another decision point', () => ({ ...metadata(), policy_decision_point: 'https://pdp.example' })],
    ['another origin', () => ({ ...metadata(), access_request_endpoint: 'http://127.0.0.1:1/requests' })],
    ['no endpoint', () => ({ policy_decision_point: pdp.url })],
  ])('goes nowhere by metadata of %s', async (_, body) => {
    advertise(body)
    const { id } = await required()
    await advance()
    clock.advance(86_401)
    await advance()
    await settle(id, 'expired')
    expect(pdp.tasks).toEqual([])
  })

  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['an endpoint of another origin', { endpoint: 'http://127.0.0.1:1/requests' }],
    ['no URL', { endpoint: 7 }],
    ['a past end', { expires_at: '2001-01-01T00:00:00Z' }],
    ['no end', { expires_at: undefined }],
    ['an end that is no time', { expires_at: '2999' }],
    ['a form to fill in', { request_schema_url: 'https://requests.example/schema.json' }],
    ['a catalog', { request_catalogs_url: 'https://requests.example/catalogs.json' }],
  ])('is not made for a denial with %s', async (_, denial) => {
    pdp.denial = denial
    expect(await kindOf()).toBe('CONTEXT_DENIED')
    await advance()
    expect(pdp.tasks).toEqual([])
    expect(runs()).toBe(0)
  })

  test('that leads to another origin for its state is not followed', async () => {
    pdp.instead = ({ path }, _, res) => {
      if (path !== '/access/v1/requests') return undefined
      const status_endpoint = 'http://127.0.0.1:1/task'
      answerJson(res, 202, { task: { id: 'arq_1', status: 'pending', status_endpoint } })
      return true
    }
    const { id } = await required()
    await advance()
    clock.advance(86_401)
    await settle(id, 'expired')
    expect(runs()).toBe(0)
  })

  test('that is resolved at once needs no poll, and one about another task counts for nothing', async () => {
    const approval = { id: 'apr_1', approved_until: new Date((clock() + 86_400) * 1000).toISOString() }
    pdp.instead = ({ path }, _, res) => {
      if (!path.startsWith('/access/v1/requests')) return undefined
      answerJson(res, 201, {
        task: { id: 'arq_1', status: 'approved', status_endpoint: `${pdp.url}/access/v1/requests/arq_1` },
        result: { mode: 'reevaluate', approval },
      })
      return true
    }
    const { id } = await required()
    await settle(id, 'approved')
    expect(pdp.asked.filter(({ method }) => method === 'GET')).toEqual([])
    pdp.instead = undefined
    // the decision point does not know that approval
    expect(await kindOf()).toBe('CONTEXT_DENIED')
    expect(await get(id)).toMatchObject({ status: 'superseded' })
  })

  test('ends when its policy is deleted', async () => {
    const { id } = await required()
    await world.call('DELETE', '/v1/admin/policies/pdp')
    await settle(id, 'cancelled')
  })

  test('keeps neither the binding token nor the approval readable in the database', async () => {
    const id = await approved()
    const row = await world.gatepass.broker.store.accessRequests.find(`${id} pdp`)
    expect(row).toMatchObject({ state: 'ended', userId: 'ada' })
    expect(JSON.stringify(row)).not.toMatch(/binding-|apr_/)
  })

  test('is refused for a token, which nobody waits for', async () => {
    await world.call('PATCH', '/v1/admin/policies/pdp', { match: { uses: ['token'] } })
    const { items } = (await world.call('GET', '/v1/connections?user_id=ada')).body
    const refused = await world.call('POST', `/v1/connections/${items[0].id}/token`)
    expect([refused.status, refused.body.name]).toEqual([403, 'denied_by_policy'])
  })
})
