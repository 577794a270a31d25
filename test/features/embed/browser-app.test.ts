import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleMetadata } from '../../../src/dev-provider/sample-metadata.ts'
import { lookAt } from '../../browser/look-at.ts'
import { clickThrough, heading, untilClosed } from '../../browser/looks-right.ts'
import { newPerson, openBrowser } from '../../browser.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { onDemand } from '../../on-demand/ask.ts'
import { freePort } from '../../ports.ts'

// examples/embedded-app as its reader starts it, from nothing to a disconnected account: SDK, embedded button, webhooks and
// the user's own page. The two servers are different sites to a browser (localhost and 127.0.0.1).

const PROGRAM = fileURLToPath(new URL('../../../examples/embedded-app/server.ts', import.meta.url))

let browser: Browser
let gatepass: Gatepass
let app: ChildProcess | undefined
let appExited: Promise<unknown>
let appUrl: string

beforeAll(async () => {
  await onDemand('sdk')
  const port = await freePort()
  appUrl = `http://localhost:${port}`
  gatepass = await startGatepass({
    mode: 'development',
    environment: { GATEPASS_USER_VERIFIER: `${appUrl}/verify` },
  })
  await gatepass.call('POST', '/v1/tools/import?worker_id=sandbox', sampleMetadata(gatepass.config.publicUrl))
  const webhook = await gatepass.call('POST', '/v1/webhooks', { url: `${appUrl}/webhooks` })
  expect(webhook.status, JSON.stringify(webhook.body)).toBe(201)
  app = spawn(process.execPath, [PROGRAM], {
    env: {
      PORT: String(port),
      GATEPASS_URL: gatepass.url,
      GATEPASS_API_KEY: await gatepass.makeKey('caller'),
      WEBHOOK_SECRET: webhook.body.secret,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  appExited = once(app, 'exit')
  // it prints its address when it listens
  await Promise.race([app.stdout && once(app.stdout, 'data'), appExited])
  expect(app.exitCode).toBe(null)
  browser = await openBrowser()
})

afterAll(async () => {
  await browser?.close()
  app?.kill()
  await appExited
  await gatepass?.close()
})

test('a user connects by the button, webhooks tell of it, and the user disconnects at the page of their own', async () => {
  await using person = await newPerson(browser)
  const { page } = person
  await logIn(page, 'ada')

  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Connect your account' }).click(),
  ])
  await popup.getByRole('button', { name: 'Continue to Sandbox' }).waitFor()
  await lookAt(person, 'embedded-app-waiting', { schemes: ['light'] })
  await untilClosed(popup, () => clickThrough(popup, 'Approve'))
  await page.getByText('Connected as').waitFor()
  expect(await page.locator('main').textContent()).toContain('ada@sandbox.example')
  expect((await gatepass.call('GET', '/v1/connections?user_id=ada')).body.items).toHaveLength(1)

  const told = async () => {
    await page.goto(appUrl)
    return page.locator('li').allTextContents()
  }
  // in any order
  await expect
    .poll(told, { timeout: 300_000 })
    .toEqual(expect.arrayContaining(['connection.created', 'authorization.completed']))
  await lookAt(person, 'embedded-app-connected', { schemes: ['light'] })

  await page.getByRole('button', { name: 'Manage my accounts' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page
    .getByRole('link', { name: /Disconnect/ })
    .or(page.getByRole('button', { name: /Disconnect/ }))
    .first()
    .click()
  await page
    .getByRole('button', { name: /Disconnect/ })
    .first()
    .click()
  await expect
    .poll(async () => (await gatepass.call('GET', '/v1/connections?user_id=ada')).body.items, {
      timeout: 300_000,
    })
    .toEqual([])
  await expect
    .poll(told, { timeout: 300_000 })
    .toEqual(expect.arrayContaining([expect.stringMatching(/^connection\.(revoked|deleted)$/)]))
  expect(await heading(page)).toBe('Connect your account')
  expect(person.complaints).toEqual([])
})

async function logIn(page: Page, user: string): Promise<void> {
  await page.goto(appUrl)
  await page.getByLabel('Your name').fill(user)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { name: 'Connect your account' }).waitFor()
}

const alertOf = (page: Page) => page.getByRole('alert').filter({ hasText: /./ }).textContent()

test('the page says why nothing was connected', async () => {
  await using person = await newPerson(browser)
  const { page } = person
  await logIn(page, 'grace')
  const button = page.getByRole('button', { name: 'Connect your account' })
  await page.route('**/api/connect-session', (route) => route.fulfill({ status: 403 }), { times: 1 })
  await button.click()
  expect(await alertOf(page)).toBe('This did not work. Please try again in a minute.')
  // Playwright hears of the closed popup some time later
  await expect.poll(() => person.context.pages().length).toBe(1)

  const [popup] = await Promise.all([page.waitForEvent('popup'), button.click()])
  await untilClosed(popup, () => popup.getByRole('button', { name: 'Cancel' }).last().click())
  expect(await alertOf(page)).toBe('You have cancelled. Nothing was connected.')
  await lookAt(person, 'embedded-app-cancelled', { schemes: ['light'] })
})

test('on a phone it goes on after the way back, and a link of another user connects nothing', async () => {
  const userAgent = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36'
  await using phone = await newPerson(browser, { width: 390, userAgent })
  const { page } = phone
  await logIn(page, 'alan')
  await page.getByRole('button', { name: 'Connect your account' }).click()
  await page.getByRole('button', { name: 'Continue to Sandbox' }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  expect(await alertOf(page)).toBe('You have cancelled. Nothing was connected.')
  expect(page.url()).toContain('status=failed&reason=access_denied')

  const { body } = await gatepass.call('POST', '/v1/auth/authorize', {
    user_id: 'another',
    auth_requirement: { provider_id: 'sandbox', oauth2: { scopes: ['profile:read'] } },
  })
  await page.goto(body.url)
  await page.getByRole('button', { name: 'Continue to Sandbox' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: 'This link is for another user' }).waitFor()
})

test('a webhook that Gatepass has not signed is refused', async () => {
  const headers = {
    'content-type': 'application/json',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
    'webhook-signature': 'v1,AAAA',
  }
  const answer = await fetch(`${appUrl}/webhooks`, { method: 'POST', headers, body: '{}' })
  expect([answer.status, await answer.text()]).toEqual([400, 'wrong_signature'])
})
