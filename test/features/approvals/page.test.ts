import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { testClock } from '../../gatepass.ts'
import { startWorld, type World } from '../../http/world.ts'
import { UserAgent } from '../../user-agent.ts'

const clock = testClock(1_800_000_000)
const TOOL = 'Demo.EchoWithToken'

let world: World
beforeAll(async () => {
  world = await startWorld({
    gatepass: { now: clock, mode: 'development' },
    as: { now: () => clock() * 1000 },
  })
  await world.connect('ada', ['read'])
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => setRule({}))
afterEach(async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  world.worker.invocations.length = 0
  clock.advance(7200)
})

const setRule = (approve: object) =>
  world.call('POST', '/v1/admin/policies', {
    id: 'ask',
    effect: 'approve',
    match: { tools: [TOOL] },
    approve,
  })
const run = async (text = 'hello') =>
  (await world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id: 'ada', args: { text } })).body
const ask = async (text?: string): Promise<string> => (await run(text)).requires_authorization.url

/** The page of a browser in which the user has logged in. */
async function openAs(user: string, url: string, browser = new UserAgent()) {
  const login = await browser.follow(url)
  return { browser, page: await browser.submitForm(login, { user_id: user }) }
}

test('a user reads the call, approves it, and it runs', async () => {
  const { browser, page } = await openAs('ada', await ask('send <b>this</b>'))
  expect(page.status).toBe(200)
  expect(page.body).toContain('send &lt;b&gt;this&lt;/b&gt;')
  expect(wordsOf((await browser.submitForm(page, {}, { button: 'approve' })).body)).toMatch(
    /You approved this call EchoWithToken It applies to this one call/,
  )
  // a browser whose user is not known reads neither whose decision it was nor what was asked
  const { body } = await new UserAgent().follow(page.url)
  expect(wordsOf(body)).toMatch(/This call was approved There is nothing left/)
  expect((await run('send <b>this</b>')).requires_authorization).toBeUndefined()
  expect(world.worker.invocations).toHaveLength(1)
})

test('text that hides something is drawn', async () => {
  const { page } = await openAs('ada', await ask('pay \u202e10\u200b to pаypal.com'))
  for (const shown of ['[U+202E]', '[U+200B]', 'U+0430']) expect(page.body).toContain(shown)
  expect(page.body).not.toContain('\u202e')
})

test('a long value is read whole before the call can be approved', async () => {
  const url = await ask('x'.repeat(50_000))
  const { browser, page } = await openAs('ada', url)
  expect(page.body).not.toContain('value="approve"')
  expect(page.body).toContain('50,000')
  const all = await browser.follow(`${url}?all=1`)
  expect(all.body).toContain('x'.repeat(50_000))
  expect(all.body).toContain('value="approve"')
})

test('opening the page decides nothing, and another user cannot decide', async () => {
  const url = await ask()
  const { browser, page } = await openAs('bob', url)
  expect(page.status).toBe(403)
  const own = await openAs('ada', url)
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(own.page.body) ?? []
  const [, digest = ''] = /name="digest" value="([^"]+)"/.exec(own.page.body) ?? []
  const sent = { csrf, digest, decision: 'approve' }
  expect((await browser.post(url, sent)).status).toBe(403)
  expect((await new UserAgent().post(url, sent)).status).toBe(303)
  const elsewhere = { from: 'https://evil.example/' }
  expect((await own.browser.post(url, sent, elsewhere)).status).toBe(403)
  expect((await own.browser.post(url, { ...sent, csrf: 'forged' })).status).toBe(200)
  expect((await run()).requires_authorization).toMatchObject({ status: 'pending' })
})

test('a denial is said to the caller, and a block ends all questions of the agent', async () => {
  const { browser, page } = await openAs('ada', await ask())
  expect((await browser.submitForm(page, {}, { button: 'block' })).body).toContain('You denied this call')
  expect(JSON.stringify(await run('other'))).toContain('blocked this agent')
  const { body } = await world.call('GET', '/v1/admin/standing_approvals')
  await world.call('DELETE', `/v1/admin/standing_approvals/${body.items[0].id}`)
})

test('what is remembered needs a value that stays the same', async () => {
  await world.call('DELETE', '/v1/admin/policies/ask')
  await setRule({ remember: ['once', 'hour'] })
  const { browser, page } = await openAs('ada', await ask())
  const refused = await browser.post(page.url, {
    ...formOf(page.body),
    decision: 'approve',
    remember: 'hour',
  })
  expect(refused.status).toBe(400)
  expect(refused.body).toContain('Tick at least one value')
  const sent = { ...formOf(page.body), decision: 'approve', remember: 'hour', fixed: 'text' }
  expect((await browser.post(page.url, sent)).body).toContain('For one hour it also applies')
  for (const _ of [1, 2]) expect((await run()).requires_authorization).toBeUndefined()
})

test('an unknown question has no page', async () => {
  expect((await new UserAgent().get(`${world.gatepass.url}/approve/appr_none`)).status).toBe(404)
})

function wordsOf(body: string): string {
  return body.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
}

function formOf(body: string): Record<string, string> {
  const hidden = [...body.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
}

test('the release of a token is asked about in its own words', async () => {
  await world.call('PATCH', '/v1/admin/policies/ask', { match: { uses: ['token'] } })
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  const get = () => world.call('POST', '/v1/auth/authorize', need)
  const { browser, page } = await openAs('ada', (await get()).body.requires_authorization.url)
  expect(page.body).toMatch(/wants an access token for .*demo/is)
  expect(page.body).not.toContain('not described by the tool')
  await browser.submitForm(page, {}, { button: 'approve' })
  expect((await get()).body.context.token).toEqual(expect.any(String))
})
