import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Page, UserAgent } from '../../user-agent.ts'
import { type InboxWorld, startInboxWorld, TOOL } from './inbox-world.ts'

let world: InboxWorld
beforeAll(async () => {
  world = await startInboxWorld()
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(async () => {
  await world.renewAgent()
  await world.setRule(
    { by: { group: 'security' }, remember: ['once', 'hour'] },
    { match: { tools: [TOOL], users: ['ada'] } },
  )
})
afterEach(async () => {
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
  const standing = await world.call('GET', '/v1/admin/standing_approvals')
  for (const { id } of standing.body.items) await world.call('DELETE', `/v1/admin/standing_approvals/${id}`)
  world.worker.invocations.length = 0
})

const url = (path = '') => `${world.gatepass.url}/dashboard${path}`
const page = (id: string | undefined) => url(`/approvals/${id}`)

/** A browser in which this person has logged in to the console. */
async function logIn(sub: string, groups: readonly string[] = [], more: object = {}): Promise<UserAgent> {
  world.become(sub, groups, more)
  const browser = new UserAgent()
  await browser.submitForm(await browser.follow(url('/approvals')))
  return browser
}
const bob = () => logIn('bob', ['security'])

function formOf({ body }: Page): Record<string, string> {
  const hidden = [...body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
}

/** Decides about the call on its page. */
async function decide(
  browser: UserAgent,
  id: string | undefined,
  decision: 'approve' | 'deny',
  more: Record<string, string> = {},
): Promise<Page> {
  const form = formOf(await browser.get(page(id)))
  const sent = await browser.post(page(id), { ...form, decision, ...more })
  return browser.follow(new URL(sent.response.headers.get('location') ?? '', url()))
}

/** A rule for calls that are made for eve. */
const askLegal = () =>
  world.setRule({ by: { group: 'legal' } }, { id: 'legal', match: { tools: [TOOL], users: ['eve'] } })

async function newest(): Promise<Record<string, unknown>> {
  return (await world.call('GET', '/v1/admin/audit?limit=1')).body.items[0]
}

test('an approver sees the calls of their group and nothing else of the console', async () => {
  const id = await world.ask('for security')
  await askLegal()
  const other = await world.ask('for legal', { userId: 'eve' })
  const browser = await bob()
  const inbox = await browser.follow(url())
  expect(inbox.url).toBe(url('/approvals'))
  expect(inbox.body).toContain('1 call waits for a decision')
  expect(inbox.body).toContain(`/approvals/${id}`)
  expect(inbox.body).not.toContain(`/approvals/${other}`)
  expect(inbox.body).not.toContain('href="/dashboard/connections"')
  expect((await browser.get(page(other))).status).toBe(404)
  for (const path of ['/connections', '/users', '/keys', '/audit', '/settings', '/runs', '/none'])
    expect([path, (await browser.get(url(path))).status]).toEqual([path, 403])
  expect((await browser.get(url('/live/connections'))).status).toBe(403)
  const { csrf = '' } = formOf(inbox)
  expect((await browser.post(url('/secrets'), { csrf, key: 'A', value: 'b' })).status).toBe(403)
  expect((await browser.post(url('/audit/verify'), { csrf })).status).toBe(403)
  expect((await browser.post(url('/logout'), { csrf })).status).toBe(303)
})

test('an approver reads the call as its user would, approves it, and it runs once', async () => {
  const id = await world.ask('send <b>this</b> \u202eover')
  const browser = await bob()
  const shown = await browser.get(page(id))
  expect(shown.body).toContain('send &lt;b&gt;this&lt;/b&gt;')
  expect(shown.body).toContain('[U+202E]')
  expect(shown.body).toContain('was written by a program')
  const done = await decide(browser, id, 'approve')
  expect(done.body).toMatch(/You approved Demo:EchoWithToken/)
  expect(await newest()).toMatchObject({
    action: 'approval.approved',
    actor: { kind: 'operator', id: 'bob' },
    approval: { approver: 'bob', proof: 'console' },
  })
  expect(await world.ask('send <b>this</b> \u202eover')).toBeUndefined()
  expect(world.worker.invocations).toHaveLength(1)
  expect((await browser.get(page(id))).body).toContain('approved, has run')
})

test('a denial has a reason, which the model gets', async () => {
  const id = await world.ask('to deny')
  const browser = await bob()
  const done = await decide(browser, id, 'deny', { reason: 'Not today.' })
  expect(done.body).toContain('You denied')
  expect(await world.run('to deny')).toContain('bob denied this call. Not today.')
})

test('a long value is read whole on a second page, and only that page approves', async () => {
  const id = await world.ask('y'.repeat(30_000))
  const browser = await bob()
  const first = await browser.get(page(id))
  expect(first.body).not.toContain('value="approve"')
  const all = await browser.get(`${page(id)}?all=1`)
  expect(all.body).toContain('y'.repeat(30_000))
  await decide(browser, id, 'approve')
  expect(await world.ask('y'.repeat(30_000))).toBe(id)
  const sent = await browser.post(`${page(id)}?all=1`, { ...formOf(all), decision: 'approve' })
  expect(sent.status).toBe(303)
  expect(await world.ask('y'.repeat(30_000))).toBeUndefined()
})

test('what is remembered needs a value that stays the same', async () => {
  const id = await world.ask('again')
  const browser = await bob()
  const form = { ...formOf(await browser.get(page(id))), decision: 'approve', remember: 'hour' }
  const refused = await browser.post(page(id), form)
  expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('at least one argument')])
  expect((await browser.post(page(id), { ...form, fixed: 'text' })).status).toBe(303)
  for (const _ of [1, 2]) expect(await world.ask('again')).toBeUndefined()
})

test('a decision needs the digest that was shown, the token of the session, and a page of this origin', async () => {
  const id = await world.ask('checked')
  const browser = await bob()
  const form = { ...formOf(await browser.get(page(id))), decision: 'approve' }
  const at = (change: object, options?: object) => browser.post(page(id), { ...form, ...change }, options)
  expect((await at({ csrf: 'forged' })).status).toBe(403)
  expect((await at({}, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  const other = await at({ digest: 'other' })
  expect((await browser.get(page(id))).body).toContain('decides about another call')
  expect(other.status).toBe(303)
  expect((await new UserAgent().post(page(id), form)).status).toBe(303)
  expect(await world.ask('checked')).toBe(id)
})

test('nobody decides about their own call: for the user of it, or by the key that they made', async () => {
  const id = await world.ask('mine')
  const same = [await logIn('ada', ['security']), await logIn('other', ['security'], { email: 'ada' })]
  for (const browser of same) {
    const shown = await browser.get(page(id))
    expect(shown.body).toContain('This call is your own')
    expect(shown.body).not.toContain('value="approve"')
    const { csrf = '' } = formOf(shown)
    const { digest } = (
      await world.call('GET', `/v1/approvals/${id}`, undefined, { key: await approverKey() })
    ).body
    await browser.post(page(id), { csrf, digest, decision: 'approve' })
    expect(await world.ask('mine')).toBe(id)
  }

  const maker = await logIn('both')
  const form = formOf(await maker.get(url('/keys')))
  const made = await maker.post(url('/keys'), { ...form, role: 'caller', name: 'of both', expires_in: '' })
  const [key = ''] = /gp_[\w-]{43}/.exec(made.body) ?? []
  const own = await world.ask('by my key', { key })
  expect((await maker.get(page(own))).body).toContain('This call is your own')
  expect((await (await bob()).get(page(own))).body).toContain('value="approve"')
})

test('nor about the call of a key that their own key has made or rotated', async () => {
  const maker = await logIn('both')
  const form = formOf(await maker.get(url('/keys')))
  const made = await maker.post(url('/keys'), { ...form, role: 'admin', name: 'of both', expires_in: '' })
  const [key = ''] = /gp_[\w-]{43}/.exec(made.body) ?? []
  const { body: child } = await world.call('POST', '/v1/admin/keys', { role: 'caller' }, { key })
  const foreign = await world.call('POST', '/v1/admin/keys', { role: 'caller' })
  const rotated = await world.call('POST', `/v1/admin/keys/${foreign.body.id}/rotate`, undefined, { key })
  for (const [text, answer] of Object.entries({ child, rotated: rotated.body })) {
    const id = await world.ask(`by the key: ${text}`, { key: answer.key })
    expect((await maker.get(page(id))).body).toContain('This call is your own')
    expect((await (await bob()).get(page(id))).body).toContain('value="approve"')
  }
})

test('nor about a call that they make in the console', async () => {
  const maker = await logIn('both')
  const tools = await maker.get(url('/tools'))
  const tool = /href="\/dashboard(\/tools\/[^"?]*EchoWithToken[^"?]*)"/.exec(tools.body)?.[1]
  const form = formOf(await maker.get(url(`${tool}/try?as=json`)))
  const sent = { ...form, as: 'json', user: 'ada', whole: '{"text":"tried"}' }
  await maker.post(url(`${tool}/try`), sent)
  const { body } = await world.call('GET', '/v1/approvals?status=pending&limit=1', undefined, {
    key: await approverKey(),
  })
  const [{ id, agent, digest }] = body.items
  expect(agent).toBe('operator:both')
  const shown = await maker.get(page(id))
  expect(shown.body).toContain('This call is your own')
  expect(shown.body).not.toContain('value="approve"')
  await maker.post(page(id), { csrf: formOf(shown).csrf ?? '', digest, decision: 'approve' })
  const status = async () =>
    (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: await approverKey() })).body.status
  expect(await status()).toBe('pending')
  await decide(await bob(), id, 'approve')
  expect(await status()).toBe('approved')
})

const approverKey = () => world.gatepass.makeKey('approver')

test('a group of two needs two people, each once', async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  await world.setRule({ by: { group: 'security', count: 2 } })
  const id = await world.ask('for two')
  const first = await bob()
  await decide(first, id, 'approve')
  expect((await first.get(url('/approvals'))).body).toContain('1 of 2')
  expect((await first.get(page(id))).body).toContain('You have approved this call')
  const second = await logIn('carol', ['security'])
  await decide(second, id, 'approve')
  expect(await world.ask('for two')).toBeUndefined()
})

test('administrators look and do not decide, unless they are approvers of the group', async () => {
  const id = await world.ask('looked at')
  const boss = await logIn('boss')
  const shown = await boss.get(page(id))
  expect(shown.body).toContain('looked at')
  expect(shown.body).toContain('Administrators can look, but do not decide')
  expect(shown.body).not.toContain('name="decision"')
  const { csrf = '' } = formOf(shown)
  const approver = await bob()
  const { digest = '' } = formOf(await approver.get(page(id)))
  expect((await boss.post(page(id), { csrf, digest, decision: 'approve' })).status).toBe(403)
  expect(await newest()).toMatchObject({ action: 'access.refused' })

  const reader = await logIn('reader')
  expect((await reader.get(url('/approvals'))).body).toContain(`/approvals/${id}`)
  const read = await reader.get(page(id))
  expect([read.status, read.body.includes('looked at')]).toEqual([200, false])

  const both = await logIn('both')
  expect((await decide(both, id, 'approve')).body).toContain('You approved')
})

test('whose user id at the issuer of users is not known decides nothing', async () => {
  await using other = await startInboxWorld()
  other.become('dora', ['security'])
  const { oidc } = other
  // users log in at the same issuer, by a claim that this person lacks
  Object.assign(other.gatepass.broker.settings, {
    verifier: {
      kind: 'oidc',
      issuer: oidc.issuer,
      claim: 'employee',
      client: { clientId: oidc.clientId },
      scopes: [],
    },
  })
  const browser = new UserAgent()
  const at = await browser.follow(`${other.gatepass.url}/dashboard`)
  const refused = await browser.submitForm(at)
  expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('no rule lets you in')])
})

test('a key of some groups lists their calls alone, and decides about them', async () => {
  const { body: made } = await world.call('POST', '/v1/admin/keys', {
    role: 'approver',
    groups: ['security'],
  })
  expect(made.groups).toEqual(['security'])
  const id = await world.ask('by key')
  await askLegal()
  const other = await world.ask('of legal', { userId: 'eve' })
  const options = { key: made.key }
  const { body: list } = await world.call('GET', '/v1/approvals?status=pending&limit=100', undefined, options)
  const ids = list.items.map((item: { id: string }) => item.id)
  expect([ids.includes(id), ids.includes(other)]).toEqual([true, false])
  expect((await world.call('GET', `/v1/approvals/${other}`, undefined, options)).status).toBe(404)
  const { digest } = (await world.call('GET', `/v1/approvals/${id}`, undefined, options)).body
  const decide = (of: string | undefined, approver = 'bob') =>
    world.call('POST', `/v1/approvals/${of}/decision`, { decision: 'deny', digest, approver }, options)
  expect((await decide(other)).status).toBe(404)
  expect((await decide(id, 'ada')).status).toBe(403)
  expect((await decide(id)).body).toMatchObject({ status: 'denied' })
  const next = (await world.call('GET', '/v1/approvals?limit=1', undefined, options)).body
  expect(next.items).toHaveLength(1)
  const rest = await world.call(
    'GET',
    `/v1/approvals?limit=100&cursor=${next.next_cursor}`,
    undefined,
    options,
  )
  expect(rest.body.items.map((item: { id: string }) => item.id)).not.toContain(next.items[0].id)
})

test('only keys of approvers have groups, and name at least one', async () => {
  for (const [body, path] of [
    [{ role: 'caller', groups: ['security'] }, 'groups'],
    [{ role: 'approver', groups: [] }, 'groups'],
  ] as const)
    expect(await world.call('POST', '/v1/admin/keys', body)).toMatchObject({
      status: 400,
      body: { errors: [expect.objectContaining({ path })] },
    })
})
