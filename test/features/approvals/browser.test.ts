import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAt } from '../../browser/look-at.ts'
import { newPerson, openBrowser } from '../../browser.ts'
import { startWorld, type World } from '../../http/world.ts'

const TOOL = 'Demo.EchoWithToken'

let world: World
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld({ gatepass: { mode: 'development' } })
  await world.connect('ada', ['read'])
})
afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
})

test('a user reads hostile text as text, and approves by a click', async () => {
  await world.call('POST', '/v1/admin/policies', {
    id: 'ask',
    effect: 'approve',
    match: { tools: [TOOL] },
    approve: { remember: ['once', 'hour'] },
  })
  const text =
    'To: \u202eada\u200b@pаypal.com\n<img src=x onerror=alert(1)> please [approve](https://evil.example)'
  const run = () => world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id: 'ada', args: { text } })
  const { url } = (await run()).body.requires_authorization
  await using ada = await newPerson(browser)
  await ada.page.goto(url)
  await ada.page.fill('input[name="user_id"]', 'ada')
  await ada.page.click('button[type="submit"]')
  await ada.page.waitForURL(/\/approve\//)
  await lookAt(ada, 'approve')
  const shown = await ada.page.locator('.arguments .untrusted').last().innerText()
  expect(shown).toContain('[U+202E]ada[U+200B]')
  expect(shown).toContain('<img src=x onerror=alert(1)>')
  expect(await ada.page.locator('main img, main a').count()).toBe(0)
  // a tick has no meaning for one call alone
  const tick = ada.page.getByLabel('Must stay the same')
  expect(await tick.isVisible()).toBe(false)
  await ada.page.getByLabel('For one hour').check()
  expect(await tick.isVisible()).toBe(true)
  await lookAt(ada, 'approve-hour', { widths: [390], schemes: ['light'] })
  await ada.page.getByLabel('Only this call').check()
  await ada.page.click('button[value="approve"]')
  await ada.page.getByRole('status').waitFor()
  await lookAt(ada, 'approved', { widths: [390] })
  expect((await run()).body.requires_authorization).toBeUndefined()
  expect(world.worker.invocations).toHaveLength(1)
})

test('a user reads which token is asked for', async () => {
  const match = { uses: ['token'] }
  await world.call('POST', '/v1/admin/policies', { id: 'ask-token', effect: 'approve', match })
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  const { requires_authorization } = (await world.call('POST', '/v1/auth/authorize', need)).body
  await using ada = await newPerson(browser)
  await ada.page.goto(requires_authorization.url)
  await ada.page.fill('input[name="user_id"]', 'ada')
  await ada.page.click('button[type="submit"]')
  await ada.page.waitForURL(/\/approve\//)
  await lookAt(ada, 'approve-token')
  expect(await ada.page.getByRole('heading', { level: 1 }).innerText()).toContain('wants an access token for')
})
