import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import type { AnyJson } from '../any-json.ts'
import { startFakeMcpServer } from '../fake-mcp-server.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { testClock } from '../gatepass.ts'
import { metadata, startWorld, WORKER_SECRET, type World } from '../http/world.ts'
import { startAuthorizationServer } from '../mcp/authorization-server-world.ts'
import { connect, ERAS } from '../mcp/clients.ts'
import { UserAgent } from '../user-agent.ts'
import { withoutJobs } from '../without-jobs.ts'

// A scripted model that tries to get its calls past the people who must approve them. It holds what a model can hold: a
// caller's key, an MCP client of its user, and the answers that it got.

const clock = testClock(1_800_000_000)
const runs: AnyJson[] = []
const tool = (name: string, more: Partial<WorkerTool> = {}): WorkerTool => ({
  name,
  description: `Does ${name}.`,
  parameters: [
    { name: 'to', val_type: 'string' },
    { name: 'amount', val_type: 'number' },
    { name: 'more', val_type: 'json' },
  ],
  ...more,
  async run(inputs) {
    runs.push({ name, ...inputs })
    return { value: name }
  },
})
const requirement = { provider_id: 'demo', scopes: ['read'] }
const tools = [tool('Send'), tool('Pay', { authorization: requirement }), tool('Imported')]

let world: World
let approver: string
let model: string

beforeAll(async () => {
  // no job in the background reads the list of tools
  world = await withoutJobs(() =>
    startWorld({
      gatepass: { now: clock, mode: 'development' },
      as: { now: () => clock() * 1000 },
      worker: { tools: [...tools] },
    }),
  )
  approver = await world.gatepass.makeKey('approver')
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  model = await world.gatepass.makeKey('caller')
  await setRule({ hints: ['destructive'] })
})
afterEach(async () => {
  for (const { id } of (await world.call('GET', '/v1/admin/policies?limit=100')).body.items)
    await world.call('DELETE', `/v1/admin/policies/${id}`)
  for (const { id } of (await world.call('GET', '/v1/admin/standing_approvals')).body.items)
    await world.call('DELETE', `/v1/admin/standing_approvals/${id}`)
  runs.length = 0
  clock.advance(7200)
})

async function setRule(match: object, approve: object = {}, id = 'ask'): Promise<void> {
  const made = await world.call('POST', '/v1/admin/policies', { id, effect: 'approve', match, approve })
  expect([made.status, made.body.message]).toEqual([201, undefined])
}

const SEND = { to: 'bob@example.test', amount: 10 }
const run = (args: object = SEND, { name = 'Demo.Send', key = model, user = 'ada', ...more } = {}) =>
  world.call('POST', '/v1/tools/run', { tool_id: name, user_id: user, args, ...more }, { key })
const asked = async (...of: Parameters<typeof run>): Promise<AnyJson> =>
  (await run(...of)).body.requires_authorization
const get = async (id: string) =>
  (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
async function decide(id: string, more: object = {}) {
  const { digest } = await get(id)
  const body = { decision: 'approve', digest, approver: 'ada', ...more }
  return world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
}
const approved = async (...of: Parameters<typeof run>) => {
  const { id } = await asked(...of)
  expect(await decide(id)).toMatchObject({ status: 200, body: { status: 'approved' } })
  return id
}
/** A refusal by what a model reads of it. */
const refusal = async (...of: Parameters<typeof run>) => JSON.stringify((await run(...of)).body)

/** The page of a browser in which the user has logged in. */
async function openAs(user: string, url: string, browser = new UserAgent()) {
  return { browser, page: await browser.submitForm(await browser.follow(url), { user_id: user }) }
}

describe('threat 60: a model that answers for its user', () => {
  test.each(['caller', 'admin', 'readonly'] as const)(
    'by a key of the role %s: reads no question and decides none',
    async (role) => {
      const { id } = await asked()
      const key = await world.gatepass.makeKey(role)
      const { digest } = await get(id)
      for (const [method, path] of [
        ['GET', '/v1/approvals'],
        ['GET', `/v1/approvals/${id}`],
        ['POST', `/v1/approvals/${id}/decision`],
      ] as const) {
        const body = method === 'GET' ? undefined : { decision: 'approve', digest, approver: 'ada' }
        expect((await world.call(method, path, body, { key })).status, path).toBe(403)
      }
      expect(await asked()).toMatchObject({ id, status: 'pending' })
    },
  )

  test('by its own requests to the page: with its key, with no login, from elsewhere, as another user', async () => {
    const { id, url } = await asked()
    const { digest } = await get(id)
    const form = { digest, decision: 'approve', csrf: 'guessed' }
    const bearer = { authorization: `Bearer ${model}` }
    for (const [type, body] of [
      ['application/x-www-form-urlencoded', new URLSearchParams(form).toString()],
      ['application/json', JSON.stringify(form)],
      ['text/plain', new URLSearchParams(form).toString()],
    ] as const)
      for (const origin of [undefined, new URL(url).origin, 'https://evil.example']) {
        const headers = { ...bearer, 'content-type': type, ...(origin !== undefined && { origin }) }
        await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })
      }
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE'])
      await fetch(`${url}?decision=approve&digest=${digest}`, { method, headers: bearer, redirect: 'manual' })
    expect((await new UserAgent().post(url, form)).status).toBe(303) // to the login

    const bob = await openAs('bob', url)
    expect(bob.page.status).toBe(403)
    expect((await bob.browser.post(url, form)).status).toBe(403)
    const ada = await openAs('ada', url)
    expect((await ada.browser.post(url, form)).body).toContain('value="approve"')
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(ada.page.body) ?? []
    const elsewhere = { from: 'https://evil.example/' }
    expect((await ada.browser.post(url, { ...form, csrf }, elsewhere)).status).toBe(403)
    expect((await bob.browser.post(url, { ...form, csrf })).status).toBe(403)
    expect(await get(id)).toMatchObject({ status: 'pending', decisions: [] })
    expect(runs).toEqual([])
  })

  test.each(ERAS)('by its MCP client of $version, which accepts whatever it is asked', async ({ era }) => {
    for (const capabilities of [{ elicitation: {} }, { elicitation: { form: {} } }]) {
      await using mcp = await connect(world.gatepass, { era, key: model, capabilities })
      const questions: unknown[] = []
      mcp.client.setRequestHandler('elicitation/create', async ({ params }) => {
        questions.push(params)
        return { action: 'accept', content: { decision: 'approve', approve: true, confirmed: true } }
      })
      const result = await mcp.client.callTool({ name: 'Demo_Send', arguments: SEND }).catch(String)
      expect(JSON.stringify(result)).toContain('/approve/appr_')
      expect(runs).toEqual([])
    }
    const { id } = await asked(SEND)
    expect(await get(id)).toMatchObject({ status: 'pending', decisions: [] })
  })

  test('by the words for a consent: its id is confirmed nowhere', async () => {
    const { id } = await asked()
    const confirmed = await world.call('POST', '/v1/auth/confirm_user', { flow_id: id, user_id: 'ada' })
    expect(confirmed.status).toBe(400)
    await new UserAgent().follow(`${world.gatepass.url}/connect/${id}`)
    expect(await get(id)).toMatchObject({ status: 'pending', decisions: [] })
  })
})

describe('threat 61: a call that is edited between question and run', () => {
  test.each<[string, object]>([
    ['the recipient', { ...SEND, to: 'eve@example.test' }],
    ['the amount', { ...SEND, amount: 1000 }],
    ['the last digit', { ...SEND, amount: 10.000_000_000_000_002 }],
    ['a further argument', { ...SEND, more: { bcc: 'eve@example.test' } }],
    ['an argument left out', { to: SEND.to }],
    ['an empty object', { ...SEND, more: {} }],
    ['a letter of another alphabet', { ...SEND, to: 'bоb@example.test' }],
    ['a space at the end', { ...SEND, to: `${SEND.to} ` }],
    ['a character that draws nothing', { ...SEND, to: `${SEND.to}\u200b` }],
    ['upper case', { ...SEND, to: SEND.to.toUpperCase() }],
  ])('%s: is another question, and nothing runs', async (_, args) => {
    const id = await approved()
    const other = await asked(args)
    expect(other).toMatchObject({ status: 'pending' })
    expect(other.id).not.toBe(id)
    expect(runs).toEqual([])
    expect(await asked()).toBeUndefined() // the approved call still runs
    expect(runs).toEqual([{ name: 'Send', ...SEND }])
  })

  test('one character in two spellings is two calls', async () => {
    const [composed, decomposed] = ['é', 'e\u0301'].map((to) => ({ to, amount: 1 })) as [object, object]
    const id = await approved(composed)
    expect((await asked(decomposed)).id).not.toBe(id)
    expect(runs).toEqual([])
  })

  test.each([
    ['the order of members', `{"amount":10,"to":"${SEND.to}"}`],
    ['another spelling of a number', `{"to":"${SEND.to}","amount":1.0e1}`],
    ['an escape', `{"to":"\\u0062ob@example.test","amount":10}`],
  ])('%s is the same call', async (_, args) => {
    await approved()
    const body = `{"tool_id":"Demo.Send","user_id":"ada","args":${args}}`
    const headers = { authorization: `Bearer ${model}`, 'content-type': 'application/json' }
    const ran = await fetch(`${world.gatepass.url}/v1/tools/run`, { method: 'POST', headers, body })
    expect([ran.status, runs]).toEqual([200, [{ name: 'Send', ...SEND }]])
  })

  test('another user, another key and a later time are other questions', async () => {
    const id = await approved()
    const other = await world.gatepass.makeKey('caller')
    for (const one of [await asked(SEND, { user: 'bob' }), await asked(SEND, { key: other })])
      expect(one.id).not.toBe(id)
    clock.advance(601)
    expect((await asked()).id).not.toBe(id)
    expect(runs).toEqual([])
  })

  test('another account of the user is another question', async () => {
    await world.connect('two')
    world.as.account = { sub: 'u-2', name: 'Second', email: 'second@example.test', login: 'second' }
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'two' }
    const begun = await world.call('POST', '/v1/auth/authorize', { ...need, account: 'new' })
    const browser = new UserAgent()
    await browser.submitForm(await browser.get(begun.body.url))
    const { body } = await world.call('GET', '/v1/connections?user_id=two')
    const [first, second] = body.items.map((one: AnyJson) => one.id)
    expect(second).toMatch(/^conn_/)
    const of = (account: string) => ({ name: 'Demo.Pay', user: 'two', account })
    const { id } = await asked(SEND, of(first))
    await decide(id, { approver: 'two' })
    expect((await asked(SEND, of(second))).id).not.toBe(id)
    expect(runs).toEqual([])
    expect(await asked(SEND, of(first))).toBeUndefined()
    expect(runs).toHaveLength(1)
  })

  test('a tool that changes meanwhile is another question, at its worker and as it was imported', async () => {
    const id = await approved()
    world.worker.tools = [tool('Send', { description: 'Does something else.' }), ...tools.slice(1)]
    await syncWorkers(world.gatepass.broker)
    expect((await asked()).id).not.toBe(id)
    world.worker.tools = [...tools]
    await syncWorkers(world.gatepass.broker)

    const properties = { to: { type: 'string' }, amount: { type: 'number' } }
    const imported = (description: string) =>
      metadata('Wired', { description, parameters: { type: 'object', properties, required: [] } })
    await world.call('POST', '/v1/tools/import', imported('Wires money.'))
    await world.call('POST', '/v1/tools/Wired/binding', { worker_id: 'demo', tool: 'Imported' })
    const wired = { name: 'Wired' }
    const first = await approved(SEND, wired)
    const pending = await asked({ ...SEND, amount: 11 }, wired)
    await world.call('POST', '/v1/tools/import', imported('Wires money anywhere.'))
    expect((await asked(SEND, wired)).id).not.toBe(first)
    expect(await decide(pending.id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
    expect(await get(pending.id)).toMatchObject({ status: 'superseded' })
    expect(runs).toEqual([])
  })

  test('a request that is made of the same arguments in another way is another question', async () => {
    const request = (body: object) => ({
      name: 'Wire',
      description: 'Wires money.',
      method: 'POST',
      url: `${world.worker.url}/wire`,
      body,
      input_schema: { type: 'object', properties: { to: { type: 'string' }, amount: { type: 'number' } } },
    })
    const openapi = (body: object) => ({ openapi: { namespace: 'Bank', request: request(body) } })
    const given = { to: '{to}', amount: '{amount}' }
    const made = await world.call('POST', '/v1/workers', { id: 'bank', ...openapi(given) })
    expect([made.status, made.body.sync_error, made.body.message]).toEqual([201, undefined, undefined])
    const wire = { name: 'Bank.Wire' }
    const first = await approved(SEND, wire)
    const pending = await asked({ ...SEND, amount: 11 }, wire)
    const changed = await world.call('PATCH', '/v1/workers/bank', openapi({ ...given, amount: 1_000_000 }))
    expect([changed.status, changed.body.sync_error]).toEqual([200, undefined])
    const before = world.worker.requests.length
    expect((await asked(SEND, wire)).id).not.toBe(first)
    expect(await decide(pending.id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
    expect(world.worker.requests).toHaveLength(before)
    await world.call('DELETE', '/v1/workers/bank')
  })
})

describe('threat 62: one action in ten parts', () => {
  test('each part is a question of its own, and no more than five wait', async () => {
    const parts = Array.from({ length: 10 }, (_, i) => ({ ...SEND, amount: 1, more: { part: i } }))
    const answers = []
    for (const part of parts) answers.push(await run(part))
    expect(answers.map(({ status }) => status)).toEqual([...Array(5).fill(200), ...Array(5).fill(429)])
    expect(runs).toEqual([])
  })

  test('parts that no rule asks about one by one are counted by a quota', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ arguments: [{ at: '/amount', schema: { minimum: 100 } }], tools: ['Demo.Send'] })
    const quota = { limit: 3, per: 'user', window: 'day' }
    const body = { id: 'often', effect: 'deny', match: { tools: ['Demo.Send'], quota } }
    expect((await world.call('POST', '/v1/admin/policies', body)).status).toBe(201)
    expect(await asked({ ...SEND, amount: 100 })).toMatchObject({ status: 'pending' })
    const parts = Array.from({ length: 10 }, (_, i) => ({ ...SEND, amount: 10, more: { part: i } }))
    for (const part of parts) await run(part)
    expect(runs).toHaveLength(3)
  })

  test('an approval that is remembered covers the ticked value and nothing beside it', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ tools: ['Demo.Send'] }, { remember: ['once', 'hour', 'standing'] })
    const { id } = await asked({ ...SEND, more: { part: 0 } })
    expect(await decide(id, { remember: 'standing', fixed: ['to'] })).toMatchObject({ status: 400 })
    expect(await decide(id, { remember: 'hour' })).toMatchObject({ status: 400 })
    await decide(id, { remember: 'hour', fixed: ['amount', 'to'] })
    expect(await asked({ ...SEND, more: { part: 1 } })).toBeUndefined()
    const more = { part: 1 }
    expect(await asked({ ...SEND, more, amount: 11 })).toMatchObject({ status: 'pending' })
    expect(await asked({ ...SEND, more, to: 'eve@example.test' })).toMatchObject({ status: 'pending' })
    clock.advance(3601)
    expect(await asked({ ...SEND, more: { part: 2 } })).toMatchObject({ status: 'pending' })
    expect(runs).toHaveLength(1)
  })

  test('an approval that is remembered does not cover an argument that is added, with all others ticked', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ tools: ['Demo.Send'] }, { remember: ['once', 'hour'] })
    await decide((await asked()).id, { remember: 'hour', fixed: ['amount', 'to'] })
    expect(await asked()).toBeUndefined()
    expect(await asked({ ...SEND, more: { bcc: 'eve@example.test' } })).toMatchObject({ status: 'pending' })
    expect(await asked({ to: SEND.to })).toMatchObject({ status: 'pending' })
    expect(runs).toHaveLength(1)
  })
})

describe('threat 63: a flood of questions', () => {
  const ask = (i: number, key: string) => run({ ...SEND, amount: i }, { key })

  test('at most five of an agent and ten of all agents wait for a user, whatever key or client asks', async () => {
    for (let i = 0; i < 5; i++) expect((await ask(i, model)).status).toBe(200)
    expect(await ask(5, model)).toMatchObject({ status: 429, body: { name: 'too_many_pending' } })
    const statuses = []
    for (let i = 0; i < 8; i++) statuses.push((await ask(i, await world.gatepass.makeKey('caller'))).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect((await run(SEND, { user: 'bob' })).status).toBe(200)
  })

  test('after three denials of a tool the agent is refused unasked, after six all agents of the user are', async () => {
    const keys = [model, await world.gatepass.makeKey('caller'), await world.gatepass.makeKey('caller')]
    for (const key of keys.slice(0, 2)) {
      for (let i = 0; i < 3; i++)
        await decide((await asked({ ...SEND, amount: i }, { key })).id, { decision: 'deny' })
      expect(await refusal(SEND, { key })).toContain('CONTEXT_DENIED')
      expect(await refusal(SEND, { key })).toContain('were denied 3 times')
    }
    expect(await refusal(SEND, { key: keys[2] as string })).toContain('6 times to all agents')
    expect(await asked(SEND, { key: keys[2] as string, user: 'bob' })).toMatchObject({ status: 'pending' })
    clock.advance(3601)
    expect(await asked()).toMatchObject({ status: 'pending' })
  })

  test('a call that was denied is refused unasked for ten minutes, also right before it ends', async () => {
    const { id } = await asked()
    await decide(id, { decision: 'deny', reason: 'No.' })
    clock.advance(599)
    expect(await refusal()).toContain('ada denied this call. No.')
    clock.advance(2)
    expect(await asked()).toMatchObject({ status: 'pending' })
  })

  test('a block ends what the agent may do: its questions, its approvals, and what is remembered', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ hints: ['destructive'] }, { remember: ['once', 'hour'] })
    const covered = await asked()
    await decide(covered.id, { remember: 'hour', fixed: ['to'] })
    const given = await approved({ to: 'given' })
    const waiting = await asked({ to: 'waiting' })
    const { url } = await asked({ to: 'blocks' })
    const { browser, page } = await openAs('ada', url)
    await browser.submitForm(page, {}, { button: 'block' })

    for (const to of [SEND.to, 'given', 'waiting', 'another'])
      expect(await refusal({ to }), to).toContain('blocked this agent')
    expect(await get(given)).toMatchObject({ status: 'cancelled' })
    expect(await decide(waiting.id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
    expect(runs).toEqual([])
    const trail = (await world.call('GET', '/v1/admin/audit?action=standing_approval.added')).body.items
    expect(trail[0]).toMatchObject({ user_id: 'ada', reason: 'block' })
  })

  test('a group is asked no more about other users: fifty questions wait, and thirty denials an hour end them', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ tools: ['Demo.Send'] }, { by: { group: 'security', count: 1 } })
    const as = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => ({ user: `${name}-${i}` }))
    const statuses = []
    for (const more of as('waiting', 52)) statuses.push((await run(SEND, more)).status)
    expect(statuses.map((status, i) => [i, status]).filter(([, status]) => status !== 200)).toEqual([
      [50, 429],
      [51, 429],
    ])
    const other = await world.gatepass.makeKey('caller')
    expect(await asked(SEND, { key: other, user: 'bob' })).toMatchObject({ status: 'pending' })

    for (const more of as('denied', 30)) {
      const { id } = await asked(SEND, { key: other, ...more })
      await decide(id, { decision: 'deny', approver: 'carol' })
    }
    expect(await refusal(SEND, { key: other, user: 'next' })).toContain('30 times by a group')
    expect((await run(SEND, { user: 'next' })).status).toBe(429)
  })

  test('a block holds for the key that replaces the blocked one or was replaced by it, and for no other', async () => {
    const first = await world.call('POST', '/v1/admin/keys', { role: 'caller', name: 'model' })
    const second = await world.call('POST', `/v1/admin/keys/${first.body.id}/rotate`, {})
    const { url } = await asked(SEND, { key: second.body.key })
    const { browser, page } = await openAs('ada', url)
    await browser.submitForm(page, {}, { button: 'block' })
    expect(await refusal({ to: 'other' }, { key: first.body.key })).toContain('blocked this agent')
    let { id, key } = second.body
    for (let i = 0; i < 2; i++) {
      const rotated = await world.call('POST', `/v1/admin/keys/${id}/rotate`, {})
      expect(rotated.status).toBe(201)
      ;({ id, key } = rotated.body)
      expect(await refusal({ to: 'other' }, { key })).toContain('blocked this agent')
    }
    expect(await asked()).toMatchObject({ status: 'pending' })
  })
})

describe('threat 64: a tool that is named like another', () => {
  let double: FakeWorker
  let titled: Awaited<ReturnType<typeof startFakeMcpServer>>
  beforeAll(async () => {
    const toolkit = { name: 'Dem0', version: '1.0.0' }
    const foreign = { name: 'Dеmo', version: '1.0.0' }
    double = await startFakeWorker({
      secret: WORKER_SECRET,
      tools: [tool('Send'), tool('Send', { toolkit: foreign }), tool('Sеnd')],
      toolkit,
    })
    titled = await startFakeMcpServer({
      name: 'titled',
      tools: [
        { name: 'send', title: 'Demo.Sеnd\u202e', inputSchema: { type: 'object' }, run: async () => ({}) },
      ],
    })
    const http = { uri: double.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    for (const worker of [{ http }, { mcp: { uri: titled.url, timeout: 60, retry: 0 } }]) {
      const { status, body } = await world.call('POST', '/v1/workers', {
        id: 'http' in worker ? 'double' : 'titled',
        ...worker,
      })
      expect([status, body.message]).toEqual([201, undefined])
    }
  })
  afterAll(async () => {
    await double.close()
    await titled.close()
  })

  test('of another alphabet is no tool, and the approval of one does not count for the other', async () => {
    const listed = (await world.call('GET', '/v1/tools?limit=100')).body.items
    const names = listed.map((one: AnyJson) => one.fully_qualified_name)
    expect(names).toContain('Dem0.Send@1.0.0')
    expect(names.join()).not.toMatch(/[^\w.@,-]/)

    const id = await approved(SEND, { name: 'Dem0.Send' })
    const other = await asked(SEND, { name: 'Demo.Send' })
    expect(other.id).not.toBe(id)
    expect(runs).toEqual([])
    const [of, ofOther] = [await get(id), await get(other.id)]
    expect(of.tool_id).not.toBe(ofOther.tool_id)
    expect(of.call.hosts).not.toEqual(ofOther.call.hosts)
  })

  test('its title is drawn with the letters that are not what they look like', async () => {
    const { url } = await asked({}, { name: 'titled.send' })
    const { page } = await openAs('ada', url)
    const heading = /<h1>.*?<\/h1>/s.exec(page.body)?.[0]
    expect(heading).toContain('U+0435')
    expect(heading).toContain('U+202E')
  })
})

describe('threat 71: a tool that passes for harmless', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a request of the method %s is none', async (method) => {
    const request = {
      name: 'Change',
      description: 'Changes something.',
      method,
      url: `${world.worker.url}/change`,
      body: { to: '{to}', amount: '{amount}' },
      input_schema: { type: 'object', properties: { to: { type: 'string' }, amount: { type: 'number' } } },
    }
    const openapi = { namespace: 'Bank', request }
    expect((await world.call('POST', '/v1/workers', { id: 'bank', openapi })).status).toBe(201)
    const change = { name: 'Bank.Change' }
    expect(await asked(SEND, change)).toMatchObject({ status: 'pending' })
    const annotations = { destructiveHint: false }
    await world.call('PATCH', '/v1/workers/bank', {
      openapi: { ...openapi, request: { ...request, annotations } },
    })
    expect(await asked(SEND, change)).toBeUndefined() // an administrator knows better
    await world.call('DELETE', '/v1/workers/bank')
  })
})

describe('threat 65: an answer that is used again, or for something else', () => {
  test('a decision about one question decides no other, and what was shown is what is decided', async () => {
    const [one, two] = [await asked(), await asked({ ...SEND, amount: 9999 })]
    const { digest } = await get(one.id)
    expect(await decide(two.id, { digest })).toMatchObject({ status: 409, body: { name: 'digest_mismatch' } })
    const { browser, page } = await openAs('ada', one.url)
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? []
    const { digest: other } = await get(two.id)
    await browser.post(two.url, { csrf, digest: other, decision: 'approve' })
    expect(await get(two.id)).toMatchObject({ status: 'pending', decisions: [] })
  })

  test('a decision that is sent again starts no further run', async () => {
    const { id, url } = await asked()
    const { browser, page } = await openAs('ada', url)
    const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? []
    const { digest } = await get(id)
    const form = { csrf, digest, decision: 'approve' }
    await browser.post(url, form)
    expect(await asked()).toBeUndefined()
    await browser.post(url, form)
    expect(await decide(id)).toMatchObject({ status: 200, body: { status: 'used' } })
    expect((await asked()).id).not.toBe(id)
    expect(runs).toHaveLength(1)
  })

  test('a denial is not turned round', async () => {
    const { id } = await asked()
    await decide(id, { decision: 'deny' })
    expect(await decide(id)).toMatchObject({ status: 409, body: { name: 'already_decided' } })
    expect(await decide(id, { approver: 'bob' })).toMatchObject({ status: 409 })
    expect(await refusal()).toContain('denied this call')
  })

  test('the id of another user or project is answered as one that does not exist', async () => {
    const { id } = await asked()
    const unknown = await world.call('GET', '/v1/auth/status?id=appr_none')
    const foreign = await world.gatepass.makeKey('caller', 'another project')
    const bobs = await world.call('POST', '/v1/admin/keys', { role: 'caller', name: 'bob', user_id: 'bob' })
    for (const key of [foreign, bobs.body.key]) {
      const { status, body } = await world.call('GET', `/v1/auth/status?id=${id}`, undefined, { key })
      expect([status, body.name]).toEqual([unknown.status, unknown.body.name])
    }
    const key = await world.gatepass.makeKey('approver', 'another project')
    const { digest } = await get(id)
    const body = { decision: 'approve', digest, approver: 'ada' }
    expect((await world.call('POST', `/v1/approvals/${id}/decision`, body, { key })).status).toBe(404)
    expect((await run(SEND, { user: 'bob' })).body.requires_authorization.id).not.toBe(id)
    expect(await get(id)).toMatchObject({ status: 'pending' })
  })
})

describe('threat 66: an approval that is spent twice', () => {
  test('of twenty calls at once, by every way of running a tool, one runs', async () => {
    await approved()
    const name = 'Demo.Send'
    const ways = [
      () => run(),
      () =>
        world.call(
          'POST',
          '/v1/tools/execute',
          { tool_name: name, user_id: 'ada', input: SEND },
          { key: model },
        ),
      () =>
        world.call(
          'POST',
          '/v1/tools/run_chain',
          { user_id: 'ada', steps: [{ toolId: name, args: SEND }] },
          {
            key: model,
          },
        ),
      () =>
        world.call(
          'POST',
          '/v1/code/execute',
          {
            user_id: 'ada',
            language: 'javascript',
            code: `return tools.call('Demo.Send', ${JSON.stringify(SEND)})`,
          },
          { key: model },
        ),
    ]
    await Promise.all(Array.from({ length: 20 }, (_, i) => ways[i % ways.length]?.()))
    expect(runs).toHaveLength(1)
  })

  test('one that is remembered and taken back counts for no further call', async () => {
    await world.call('DELETE', '/v1/admin/policies/ask')
    await setRule({ tools: ['Demo.Send'] }, { remember: ['once', 'hour'] })
    const { id } = await asked()
    await decide(id, { remember: 'hour', fixed: ['amount', 'to'] })
    expect(await asked()).toBeUndefined()
    const [{ id: standing }] = (await world.call('GET', '/v1/admin/standing_approvals')).body.items
    expect((await world.call('DELETE', `/v1/admin/standing_approvals/${standing}`)).status).toBe(204)
    expect(await asked()).toMatchObject({ status: 'pending' })
    expect(await get(id)).toMatchObject({ status: 'cancelled' })
    expect(runs).toHaveLength(1)
  })

  test('a run that fails has spent it too', async () => {
    const id = await approved()
    world.worker.behaviour.invoke = '500'
    await run()
    world.worker.behaviour.invoke = 'ok'
    expect(await get(id)).toMatchObject({ status: 'used' })
    expect((await asked()).id).not.toBe(id)
    expect(runs).toEqual([])
  })
})

describe('threat 67: an answer for an agent that may no longer ask', () => {
  const superseded = async (id: string, approver = 'ada') => {
    expect(await decide(id, { approver })).toMatchObject({ status: 409, body: { name: 'already_decided' } })
    expect(await get(id)).toMatchObject({ status: 'superseded' })
  }

  test('whose key was revoked or has expired', async () => {
    for (const end of ['revoked', 'expired']) {
      const expires_at = new Date((clock() + 60) * 1000).toISOString()
      const made = await world.call('POST', '/v1/admin/keys', { role: 'caller', name: end, expires_at })
      expect(made.status, JSON.stringify(made.body)).toBe(201)
      const { id } = await asked(SEND, { key: made.body.key })
      if (end === 'revoked') await world.call('DELETE', `/v1/admin/keys/${made.body.id}`)
      else clock.advance(61)
      await superseded(id)
    }
  })

  test('whose connection was deleted', async () => {
    await world.connect('cyd')
    const { id } = await asked(SEND, { name: 'Demo.Pay', user: 'cyd' })
    const { body } = await world.call('GET', '/v1/connections?user_id=cyd')
    await world.call('DELETE', `/v1/connections/${body.items[0].id}`)
    await superseded(id, 'cyd')
  })
})

test('threat 67: the MCP client that asked was disconnected meanwhile', async () => {
  await using server = await startAuthorizationServer()
  const worker = await startFakeWorker({ secret: WORKER_SECRET, tools: [tool('Send')] })
  try {
    const { gatepass } = server
    const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    await gatepass.call('POST', '/v1/workers', { id: 'demo', http })
    const policy = { id: 'ask', effect: 'approve', match: { hints: ['destructive'] } }
    expect((await gatepass.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
    const { accessToken } = await server.connect()
    await using mcp = await connect(gatepass, { era: 'legacy', key: accessToken, user: null })
    const result = await mcp.client.callTool({ name: 'Demo_Send', arguments: SEND })
    const [id = ''] = /appr_\w+/.exec(JSON.stringify(result)) ?? []
    const key = await gatepass.makeKey('approver')
    const question = (await gatepass.call('GET', `/v1/approvals/${id}`, undefined, { key })).body
    const clients = (await gatepass.call('GET', '/v1/admin/mcp_clients')).body.items
    await gatepass.call('DELETE', `/v1/admin/mcp_clients/${clients[0].id}`)
    const body = { decision: 'approve', digest: question.digest, approver: question.user_id }
    expect(await gatepass.call('POST', `/v1/approvals/${id}/decision`, body, { key })).toMatchObject({
      status: 409,
      body: { name: 'already_decided' },
    })
  } finally {
    await worker.close()
  }
})
