import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAt, tabStops } from '../../browser/look-at.ts'
import { newPerson, openBrowser, type Person } from '../../browser.ts'
import { type InboxWorld, startInboxWorld } from './inbox-world.ts'

const WIDTHS = [390, 1280]

let world: InboxWorld
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  browser = await openBrowser()
  world = await startInboxWorld()
  await world.setRule({ by: { group: 'security', count: 2 }, remember: ['once', 'hour'] })
})
afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
})

async function logIn({ page }: Person, sub: string, groups: readonly string[] = []): Promise<void> {
  world.become(sub, groups)
  await page.goto(`${world.gatepass.url}/dashboard/approvals`)
  await page
    .getByRole('button', { name: /Log in|Continue/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Approvals', level: 1 }).waitFor()
}

test('an approver finds the call that waits, reads hostile text as text, and decides by keyboard', async () => {
  const text = 'To: \u202eada\u200b@pаypal.com\n<img src=x onerror=alert(1)> [approve](https://evil.example)'
  await world.ask(text)
  await world.renewAgent()
  await world.ask('z'.repeat(5_000))
  await using bob = await newPerson(browser)
  await logIn(bob, 'bob', ['security'])
  await lookAt(bob, 'inbox', { widths: WIDTHS })
  await bob.page
    .getByRole('link', { name: /Demo:EchoWithToken/ })
    .last()
    .click()
  await bob.page.getByRole('button', { name: 'Approve' }).waitFor()
  await lookAt(bob, 'inbox-call', { widths: WIDTHS })
  const shown = await bob.page.locator('.arguments .untrusted').last().innerText()
  expect(shown).toContain('[U+202E]ada[U+200B]')
  expect(await bob.page.locator('main .call img, main .call a').count()).toBe(0)
  const stops = await tabStops(bob)
  expect(stops.indexOf('Deny')).toBeGreaterThan(0)
  expect(stops.indexOf('Approve')).toBe(stops.indexOf('Deny') + 1)
  await bob.page.getByRole('button', { name: 'Approve' }).focus()
  await bob.page.keyboard.press('Enter')
  await bob.page.getByRole('status').filter({ hasText: 'You approved' }).waitFor()

  await bob.page
    .getByRole('link', { name: /Demo:EchoWithToken/ })
    .first()
    .click()
  expect(await bob.page.getByRole('button', { name: 'Approve' }).count()).toBe(0)
  await lookAt(bob, 'inbox-long', { widths: WIDTHS, schemes: ['light'] })
  await bob.page.getByRole('link', { name: 'Show everything' }).click()
  await bob.page.getByRole('button', { name: 'Deny' }).click()
  await bob.page.getByRole('status').filter({ hasText: 'You denied' }).waitFor()
  await lookAt(bob, 'inbox-after', { widths: WIDTHS, schemes: ['dark'] })

  await using boss = await newPerson(browser)
  await logIn(boss, 'boss')
  await boss.page
    .getByRole('link', { name: /Demo:EchoWithToken/ })
    .first()
    .click()
  await boss.page.getByText('Administrators can look').waitFor()
  await lookAt(boss, 'inbox-admin', { widths: WIDTHS, schemes: ['light'] })
})

test('an administrator takes back what is remembered', async () => {
  await world.renewAgent()
  const id = await world.ask('for an hour')
  const key = await world.gatepass.makeKey('approver')
  const { digest } = (await world.call('GET', `/v1/approvals/${id}`, undefined, { key })).body
  const more = { remember: 'hour', fixed: ['text'] }
  for (const approver of ['carol', 'dora']) {
    const body = { decision: 'approve', digest, approver, ...more }
    await world.call('POST', `/v1/approvals/${id}/decision`, body, { key })
  }
  await using boss = await newPerson(browser)
  await logIn(boss, 'boss')
  await boss.page.getByRole('link', { name: 'Remembered' }).click()
  await boss.page.getByText('Take back').waitFor()
  await lookAt(boss, 'inbox-remembered', { widths: WIDTHS })
  await boss.page.getByText('Take back').click()
  await boss.page.getByRole('button', { name: 'Take it back' }).click()
  await boss.page.getByRole('status').filter({ hasText: 'was taken back' }).waitFor()
  expect((await world.call('GET', '/v1/admin/standing_approvals')).body.items).toEqual([])
})
