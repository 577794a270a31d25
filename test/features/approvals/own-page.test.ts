import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { verifierOf } from '../../flows/login-fixtures.ts'
import { startWorld, type World } from '../../http/world.ts'
import { startOidcProvider } from '../../oidc-provider.ts'
import { type Page, UserAgent } from '../../user-agent.ts'
import { csrfIn, enteredAs } from '../portal/portal-world.ts'

// Users' own page where users are not verified: a link with the right `approve` vouches for them.

const TOOL = 'Demo.EchoWithToken'

let world: World
let agent: string
beforeAll(async () => {
  world = await startWorld()
  for (const userId of ['ada', 'eve']) await world.connect(userId, ['read'])
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  const standing = await world.call('GET', '/v1/admin/standing_approvals?limit=100')
  for (const { id } of standing.body.items) await world.call('DELETE', `/v1/admin/standing_approvals/${id}`)
})

const setRule = (approve: object = {}) =>
  world.call('POST', '/v1/admin/policies', {
    id: 'ask',
    effect: 'approve',
    match: { tools: [TOOL] },
    approve,
  })
async function begin(approve: object = {}) {
  agent = await world.gatepass.makeKey('caller')
  await world.call('POST', '/v1/users/ada/portal', { may: ['view', 'approve'] })
  expect((await setRule(approve)).status).toBe(201)
}
const run = async (text: string) =>
  (
    await world.call(
      'POST',
      '/v1/tools/run',
      { tool_id: TOOL, user_id: 'ada', args: { text } },
      { key: agent },
    )
  ).body
const ask = async (text: string): Promise<string> => (await run(text)).requires_authorization?.url
const me = () => `${world.gatepass.url}/me`

function formOf({ body }: Page): Record<string, string> {
  const hidden = [...body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
}

/** The path of the form that takes something back. */
const removal = ({ body }: Page) => /action="(\/me\/remembered\/stap_\w+)"/.exec(body)?.[1]

test('a policy that asks users is accepted once an application makes links with which they decide', async () => {
  await using other = await startWorld()
  const body = { id: 'ask', effect: 'approve', match: {} }
  const set = () => other.call('POST', '/v1/admin/policies', body)
  expect((await set()).status).toBe(400)
  await other.call('POST', '/v1/users/ada/portal', { may: ['view', 'connect'] })
  expect((await set()).status).toBe(400)
  await other.call('POST', '/v1/users/ada/portal', { may: ['view', 'approve'] })
  expect((await set()).status).toBe(201)
})

test('a user with such a link finds the call on /me, decides about it, and the trail says how that is known', async () => {
  await begin()
  const url = await ask('for me')
  const browser = await enteredAs(world, 'ada', ['view', 'approve'])
  const own = await browser.get(me())
  expect(own.body).toContain('Waiting for your decision')
  expect(own.body).toContain(`href="${new URL(url).pathname}"`)
  const page = await browser.get(url)
  expect(page.body).toContain('for me')
  await browser.submitForm(page, {}, { button: 'approve' })
  const [entry] = (await world.call('GET', '/v1/admin/audit?limit=1&action=approval.approved')).body.items
  expect(entry).toMatchObject({
    approval: { approver: 'ada', proof: 'ticket' },
    actor: { kind: 'user', id: 'ada' },
  })
  expect(await ask('for me')).toBeUndefined()
  const after = await browser.get(me())
  expect(after.body).not.toContain('Waiting for your decision')
  expect(after.body).toContain('Approved, has run')
})

test.each([
  ['without the right', 'ada', ['view', 'disconnect', 'connect', 'export', 'erase']],
  ['of another user', 'eve', ['view', 'approve']],
] as const)('a link %s decides nothing', async (_, user, may) => {
  await begin()
  const url = await ask('not decided')
  const browser = await enteredAs(world, user, may)
  const page = await browser.get(url)
  expect([page.status, page.body.includes('not decided')]).toEqual([403, false])
  const owner = await enteredAs(world, 'ada', ['view', 'approve'])
  const form = { ...formOf(await owner.get(url)), decision: 'approve' }
  expect((await browser.post(url, form)).status).toBe(403)
  expect((await new UserAgent().post(url, form)).status).toBe(403)
  expect((await owner.post(url, form, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403)
  expect(await ask('not decided')).toBe(url)
})

test('where users are verified, a link does not take the place of their login', async () => {
  await using other = await startWorld({
    gatepass: { environment: { GATEPASS_USER_VERIFIER: 'https://app.example.test/verify' } },
  })
  const policy = { id: 'ask', effect: 'approve', match: { tools: ['Demo.Echo'] } }
  expect((await other.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
  const body = { tool_id: 'Demo.Echo', user_id: 'ada', args: { text: 'x' } }
  const asked = (await other.call('POST', '/v1/tools/run', body)).body
  const browser = await enteredAs(other, 'ada', ['view', 'approve'])
  const page = await browser.get(asked.requires_authorization.url)
  expect(page.response.headers.get('location')).toContain('https://app.example.test/verify')
})

test('what is remembered is taken back there', async () => {
  await begin({ remember: ['once', 'hour'] })
  const url = await ask('again')
  const browser = await enteredAs(world, 'ada', ['view', 'approve'])
  const form = formOf(await browser.get(url))
  await browser.post(url, { ...form, decision: 'approve', remember: 'hour', fixed: 'text' })
  expect(await ask('again')).toBeUndefined()
  const own = await browser.get(me())
  expect(own.body).toContain('Allowed without asking')
  const path = removal(own) ?? ''
  const stranger = await enteredAs(world, 'eve', ['view', 'approve'])
  await stranger.post(new URL(path, me()), { csrf: csrfIn((await stranger.get(me())).body) })
  const viewer = await enteredAs(world, 'ada', ['view'])
  const seen = await viewer.get(me())
  expect(removal(seen)).toBeUndefined()
  await viewer.post(new URL(path, me()), { csrf: csrfIn(seen.body) })
  await browser.post(new URL(path, me()), { csrf: 'forged' })
  expect(await ask('again')).toBeUndefined()
  const sent = await browser.post(new URL(path, me()), { csrf: csrfIn(own.body) })
  expect((await browser.follow(new URL(sent.response.headers.get('location') ?? '', me()))).body).toContain(
    'Gatepass will ask you again.',
  )
  expect(await ask('again')).toBeDefined()
})

test('a blocked agent is unblocked there, and denials are counted', async () => {
  await begin()
  const browser = await enteredAs(world, 'ada', ['view', 'approve'])
  const decide = async (text: string, decision: string) => {
    const url = await ask(text)
    await browser.post(url, { ...formOf(await browser.get(url)), decision })
  }
  await decide('one', 'deny')
  await decide('two', 'block')
  const own = await browser.get(me())
  expect(own.body).toContain('Blocked for you')
  expect(own.body).toMatch(/EchoWithToken<\/bdi> · <bdi>test<\/bdi>: 2/)
  expect(JSON.stringify(await run('three'))).toContain('blocked this agent')
  // the right to disconnect does not let an agent ask again
  const viewer = await enteredAs(world, 'ada', ['view', 'disconnect'])
  expect(removal(await viewer.get(me()))).toBeUndefined()
  await browser.post(new URL(removal(own) ?? '', me()), { csrf: csrfIn(own.body) })
  expect(await ask('three')).toBeDefined()
})

test('where users log in at an issuer, a link unblocks no agent', async () => {
  let redirectUri = ''
  await using oidc = await startOidcProvider({
    redirectUris: () => [redirectUri],
    account: { sub: 'ada', name: 'Ada', email: 'ada@example.test' },
  })
  await using other = await startWorld({ gatepass: { environment: verifierOf(oidc) } })
  redirectUri = `${other.gatepass.url}/login/callback`
  const policy = { id: 'ask', effect: 'approve', match: { tools: ['Demo.Echo'] } }
  expect((await other.call('POST', '/v1/admin/policies', policy)).status).toBe(201)
  const echo = (text = 'one') =>
    other.call('POST', '/v1/tools/run', { tool_id: 'Demo.Echo', user_id: 'ada', args: { text } })
  const ada = new UserAgent()
  const page = await ada.follow((await echo()).body.requires_authorization.url)
  await ada.submitForm(page, {}, { button: 'block' })
  expect(JSON.stringify((await echo('two')).body)).toContain('blocked this agent')

  const url = `${other.gatepass.url}/me`
  const own = await ada.follow(url)
  const path = removal(own) ?? ''
  const linked = await enteredAs(other, 'ada', ['view', 'disconnect', 'approve'])
  const seen = await linked.get(url)
  expect(removal(seen)).toBeUndefined()
  await linked.post(new URL(path, url), { csrf: csrfIn(seen.body) })
  expect(JSON.stringify((await echo('two')).body)).toContain('blocked this agent')
  await ada.post(new URL(path, url), { csrf: csrfIn(own.body) })
  expect((await echo('two')).body.requires_authorization).toMatchObject({ status: 'pending' })
})
