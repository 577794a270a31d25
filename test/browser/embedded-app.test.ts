import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleMetadata } from '../../src/dev-provider/sample-metadata.ts'
import { newPerson, openBrowser } from '../browser.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { freePort } from '../ports.ts'
import { lookAt } from './look-at.ts'
import { heading } from './looks-right.ts'

// examples/embedded-app as its reader starts it, from nothing to a disconnected account: SDK, embedded button, webhooks and
// the user's own page. The two servers are different sites to a browser (localhost and 127.0.0.1).

const PROGRAM = fileURLToPath(new URL('../../examples/embedded-app/server.ts', import.meta.url))

let browser: Browser
let gatepass: Gatepass
let app: ChildProcess | undefined
let appExited: Promise<unknown>
let appUrl: string

beforeAll(async () => {
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
  await page.goto(appUrl)
  await page.getByLabel('Your name').fill('ada')
  await page.getByRole('button', { name: 'Log in' }).click()
  expect(await heading(page)).toBe('Connect your account')

  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Connect your account' }).click(),
  ])
  await popup.getByRole('button', { name: 'Continue to Sandbox' }).waitFor()
  await lookAt(person, 'embedded-app-waiting', { schemes: ['light'] })
  const closed = popup.waitForEvent('close')
  await popup.getByRole('button', { name: 'Continue to Sandbox' }).click()
  await popup.getByRole('button', { name: 'Approve' }).click()
  await closed
  await page.getByText('Connected as').waitFor()
  expect(await page.locator('main').textContent()).toContain('ada@sandbox.example')
  expect((await gatepass.call('GET', '/v1/connections?user_id=ada')).body.items).toHaveLength(1)

  const told = async () => {
    await page.goto(appUrl)
    return page.locator('li').allTextContents()
  }
  await expect.poll(told, { timeout: 60_000 }).toContain('connection.created')
  expect(await told()).toContain('authorization.completed')
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
      timeout: 60_000,
    })
    .toEqual([])
  await expect
    .poll(told, { timeout: 60_000 })
    .toEqual(expect.arrayContaining([expect.stringMatching(/^connection\.(revoked|deleted)$/)]))
  expect(await heading(page)).toBe('Connect your account')
  expect(person.complaints).toEqual([])
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
