import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'

const clock = testClock(1_800_000_000)

let world: World
let approver: string
beforeAll(async () => {
  world = await startWorld({
    gatepass: { now: clock, mode: 'development' },
    as: { now: () => clock() * 1000 },
  })
  approver = await world.gatepass.makeKey('approver')
  await world.connect('ada', ['read'])
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => setRule())
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
  world.worker.invocations.length = 0
  clock.advance(7200) // what was denied or asked before is forgotten
})

const TOOL = 'Demo.EchoWithToken'

async function setRule(approve: object = {}, match: object = { tools: [TOOL] }, id = 'ask'): Promise<void> {
  const made = await world.call('POST', '/v1/admin/policies', { id, effect: 'approve', match, approve })
  expect([made.status, made.body.message]).toEqual([201, undefined])
}

const run = (text = 'hello', tool = TOOL) =>
  world.call('POST', '/v1/tools/run', { tool_id: tool, user_id: 'ada', args: { text } })
const required = async (text?: string, tool?: string) => (await run(text, tool)).body.requires_authorization
const get = async (id: string) =>
  (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
async function decide(id: string, more: object = {}) {
  const { digest } = await get(id)
  const body = { decision: 'approve', digest, approver: 'ada', ...more }
  return world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
}
const runs = () => world.worker.invocations.length

test('a call waits until its user approves, and then runs once', async () => {
  const asked = await run()
  expect(asked.body.requires_authorization).toMatchObject({
    id: expect.stringMatching(/^appr_/),
    url: expect.stringContaining('/approve/appr_'),
    scopes: [],
    status: 'pending',
  })
  const { id } = asked.body.requires_authorization
  expect(await required()).toMatchObject({ id })
  expect(await world.call('GET', `/v1/auth/status?id=${id}`)).toMatchObject({ body: { status: 'pending' } })
  expect(runs()).toBe(0)

  expect(await get(id)).toMatchObject({
    status: 'pending',
    tool_id: expect.stringContaining('EchoWithToken'),
    call: { arguments: { text: 'hello' }, accounts: [{ account: expect.any(String) }] },
  })
  expect(await decide(id)).toMatchObject({ status: 200, body: { status: 'approved' } })
  expect(await world.call('GET', `/v1/auth/status?id=${id}`)).toMatchObject({ body: { status: 'completed' } })

  const ran = await run()
  expect(ran.body.requires_authorization).toBeUndefined()
  expect(runs()).toBe(1)
  expect(await get(id)).toMatchObject({
    status: 'used',
    execution_id: ran.body.executionId ?? expect.any(String),
  })
  expect((await required()).id).not.toBe(id)
  expect(runs()).toBe(1)
})

test('other arguments are another question', async () => {
  const { id } = await required('one')
  await decide(id)
  expect((await required('two')).id).not.toBe(id)
  expect(runs()).toBe(0)
})

test('of many repeats of an approved call one runs', async () => {
  const { id } = await required()
  await decide(id)
  const all = await Promise.all(Array.from({ length: 20 }, () => run()))
  expect(runs()).toBe(1)
  expect(all.filter(({ body }) => body.requires_authorization === undefined)).toHaveLength(1)
})

test('a run that a quota refuses at the last moment spends no approval', async () => {
  const quota = { limit: 2, per: 'project', window: 'day' }
  await world.call('POST', '/v1/admin/policies', {
    id: 'two',
    effect: 'deny',
    match: { tools: [TOOL], quota },
  })
  const texts = ['a', 'b', 'c', 'd', 'e']
  const ids: string[] = []
  for (const text of texts) ids.push((await required(text)).id)
  for (const id of ids) await decide(id)
  await Promise.all(texts.map((text) => run(text)))
  const states = (await Promise.all(ids.map(get))).map(({ status }) => status)
  expect(states.toSorted()).toEqual(['approved', 'approved', 'approved', 'used', 'used'])
  expect(runs()).toBe(2)
})

describe('with a quota', () => {
  const quota = { limit: 3, per: 'user', window: 'day' }
  beforeEach(async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
  })
  const used = async () => (await world.call('GET', '/v1/admin/quotas?user_id=ada')).body.items

  test('people are asked beyond it, and not below it', async () => {
    await setRule({}, { tools: [TOOL], quota }, 'beyond')
    for (const text of ['a', 'b', 'c']) expect(await required(text)).toBeUndefined()
    expect(runs()).toBe(3)
    const { id } = await required('d')
    expect(await get(id)).toMatchObject({ status: 'pending', rules: ['beyond'] })
    await decide(id)
    expect(await required('d')).toBeUndefined()
    expect(await get(id)).toMatchObject({ status: 'used' })
    expect(runs()).toBe(4)
    expect((await required('d')).id).not.toBe(id)
    expect(await used()).toMatchObject([{ policy_id: 'beyond', used: 3, limit: 3 }])
    clock.advance(86_400)
    expect(await required('d')).toBeUndefined()
  })

  test('of runs at the same time exactly so many go unasked', async () => {
    await setRule({}, { tools: [TOOL], quota }, 'at-once')
    const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
    const answers = await Promise.all(texts.map((text) => run(text)))
    const asked = answers.filter(({ body }) => body.requires_authorization !== undefined)
    expect([runs(), asked.length]).toEqual([3, 5])
  })

  test('of many repeats beyond it one runs for one approval', async () => {
    await setRule({}, { tools: [TOOL], quota: { ...quota, limit: 1 } }, 'repeats')
    await run('first')
    const { id } = await required('again')
    await decide(id)
    await Promise.all(Array.from({ length: 10 }, () => run('again')))
    expect(runs()).toBe(2)
  })

  test('tokens that are handed out are asked about beyond it', async () => {
    await setRule({}, { uses: ['token'], quota: { ...quota, limit: 1 } }, 'tokens')
    const connection = (await world.call('GET', '/v1/connections?user_id=ada')).body.items[0].id
    const fetchToken = () => world.call('POST', `/v1/connections/${connection}/token`)
    expect((await fetchToken()).status).toBe(200)
    expect(await fetchToken()).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
  })

  test('a dry run and the test of policies tell', async () => {
    for (const text of ['a', 'b', 'c', 'd']) await run(text)
    const policy = { id: 'dry', effect: 'approve', match: { tools: [TOOL], quota } }
    const since = new Date((clock() - 60) * 1000).toISOString()
    const dry = await world.call('POST', '/v1/admin/policies/dry_run', { policies: [policy], since })
    expect(dry.body).toMatchObject({ permitted: 3, asked: 1, refused: 0 })
    await world.call('POST', '/v1/admin/policies', policy)
    const { body } = await world.call('POST', '/v1/admin/policies/test', { tool_name: TOOL, user_id: 'ada' })
    expect(body).toMatchObject({ decision: 'depends', undecided: [{ id: 'dry', by: 'quota' }] })
  })
})

test('a denied call is not asked about again, and the model learns why', async () => {
  const { id } = await required()
  await decide(id, { decision: 'deny', reason: 'Not on a Sunday.\u202e' })
  expect((await world.call('GET', `/v1/auth/status?id=${id}`)).body).toMatchObject({
    status: 'failed',
    reason: 'approval_denied',
  })
  const { body } = await run()
  expect(JSON.stringify(body)).toContain('ada denied this call. Not on a Sunday.')
  expect(JSON.stringify(body)).toContain('CONTEXT_DENIED')
  expect(runs()).toBe(0)
})

test('a remembered approval covers calls with the same fixed arguments until it is taken back', async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  await setRule({ remember: ['once', 'hour'] })
  const { id } = await required()
  expect(await decide(id, { remember: 'hour' })).toMatchObject({ status: 400 })
  expect(await decide(id, { remember: 'standing', fixed: ['text'] })).toMatchObject({ status: 400 })
  expect(await decide(id, { remember: 'hour', fixed: ['text'] })).toMatchObject({ status: 200 })
  for (const _ of [1, 2]) expect(await required()).toBeUndefined()
  expect(runs()).toBe(2)
  expect(await required('other')).toMatchObject({ status: 'pending' })
  const { body } = await world.call('GET', '/v1/admin/standing_approvals?user_id=ada')
  await world.call('DELETE', `/v1/admin/standing_approvals/${body.items[0].id}`)
  await required() // spends the approval itself, which was not used
  expect(await required()).toMatchObject({ status: 'pending' })
})

test('a group decides by different people, and never the user of the call', async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  await setRule({ by: { group: 'security', count: 2 } })
  const { id } = await required()
  expect(await decide(id)).toMatchObject({ status: 403 })
  expect(await decide(id, { approver: 'bob' })).toMatchObject({ body: { status: 'pending' } })
  expect(await decide(id, { approver: 'bob' })).toMatchObject({ body: { status: 'pending' } })
  expect(await decide(id, { approver: 'eve' })).toMatchObject({ body: { status: 'approved' } })
  expect(await required()).toBeUndefined()
})

test.each([
  ['another case', 'BOB'],
  ['a space', 'bob '],
  ['wide letters', 'ｂｏｂ'],
  ['a variation selector', 'bob\uFE0F'],
  ['a filler, which is a letter', 'bob\u3164'],
  ['a grapheme joiner', 'bo\u034Fb'],
  ['a Cyrillic letter', 'b\u043Eb'],
])('one person is not two by %s', async (_, other) => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  await setRule({ by: { group: 'security', count: 2 } })
  const { id } = await required()
  await decide(id, { approver: 'bob' })
  await decide(id, { approver: other })
  expect(await get(id)).toMatchObject({ status: 'pending' })
})

test('rules that match together need all their approvals', async () => {
  await setRule({ by: { group: 'security' } }, { uses: ['tool'] }, 'second')
  const { id } = await required()
  await decide(id)
  expect(await get(id)).toMatchObject({ status: 'pending', rules: ['ask', 'second'] })
  await decide(id, { approver: 'bob' })
  expect(await get(id)).toMatchObject({ status: 'approved' })
})

test.each(['admin', 'caller', 'readonly'] as const)('a key of the role %s decides nothing', async (role) => {
  const { id } = await required()
  const key = await world.gatepass.makeKey(role)
  const { digest } = await get(id)
  const body = { decision: 'approve', digest, approver: 'ada' }
  for (const [method, path] of [
    ['GET', '/v1/approvals'],
    ['GET', `/v1/approvals/${id}`],
    ['POST', `/v1/approvals/${id}/decision`],
  ] as const)
    expect(await world.call(method, path, method === 'POST' ? body : undefined, { key })).toMatchObject({
      status: 403,
    })
  expect(await get(id)).toMatchObject({ status: 'pending' })
})

test('a decision names what was shown, and is made once', async () => {
  const { id } = await required()
  expect(await decide(id, { digest: 'other' })).toMatchObject({
    status: 409,
    body: { name: 'digest_mismatch' },
  })
  expect(await decide(id)).toMatchObject({ status: 200 })
  expect(await decide(id)).toMatchObject({ status: 200 })
  expect(await decide(id, { decision: 'deny' })).toMatchObject({
    status: 409,
    body: { name: 'already_decided' },
  })
})

test('a question and an approval end by time', async () => {
  const { id } = await required()
  clock.advance(601)
  expect(await decide(id)).toMatchObject({ status: 409 })
  const again = await required()
  expect(again.id).not.toBe(id)
  await decide(again.id)
  clock.advance(601)
  expect(await get(again.id)).toMatchObject({ status: 'expired' })
  expect((await required()).id).not.toBe(again.id)
  expect(runs()).toBe(0)
})

test('a rule that changes ends the question', async () => {
  const { id } = await required()
  await world.call('PATCH', '/v1/admin/policies/ask', { approve: { by: 'user', expires_seconds: 900 } })
  expect(await decide(id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
  expect(await get(id)).toMatchObject({ status: 'superseded' })
})

test('a rule that is disabled takes no answer, and is the same once it is enabled unchanged', async () => {
  const enabled = (is: boolean) => world.call('PATCH', '/v1/admin/policies/ask', { enabled: is })
  const [{ id }, answered] = [await required(), await required('answered')]
  await enabled(false)
  expect(await decide(answered.id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
  expect(await get(answered.id)).toMatchObject({ status: 'superseded' })
  await enabled(true)
  expect(await required()).toMatchObject({ id })
  expect((await required('answered')).id).not.toBe(answered.id)
})

test('a rule that denies beats an approval that was given before', async () => {
  const { id } = await required()
  await decide(id)
  await world.call('POST', '/v1/admin/policies', { id: 'stop', effect: 'deny', match: { tools: [TOOL] } })
  expect(JSON.stringify((await run()).body)).toContain('CONTEXT_DENIED')
  expect(runs()).toBe(0)
})

test('an agent may not flood its user', async () => {
  for (const text of ['1', '2', '3', '4', '5'])
    expect(await required(text)).toMatchObject({ status: 'pending' })
  expect(await run('6')).toMatchObject({ status: 429, body: { name: 'too_many_pending' } })
  clock.advance(700)
  for (const text of ['a', 'b', 'c']) await decide((await required(text)).id, { decision: 'deny' })
  expect(JSON.stringify((await run('d')).body)).toContain('denied 3 times')
})

test('a number that JSON does not keep is refused before anyone is asked', async () => {
  const sent = await world.call('POST', '/v1/tools/run', {
    tool_id: TOOL,
    user_id: 'ada',
    args: { text: 'hello', more: 2 ** 60 },
  })
  expect(sent).toMatchObject({ status: 400, body: { name: 'invalid_input' } })
  expect(sent.body.message).toContain('/more')
})
