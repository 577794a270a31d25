import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleMetadata } from '../../src/dev-provider/sample-metadata.ts'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { onDemand } from '../on-demand/ask.ts'
import { freePort } from '../ports.ts'

// examples/web-app as its reader starts it, beside a Gatepass whose verifier it is. The two are different sites to a
// browser (localhost and 127.0.0.1), so its session's cookie crosses sites as it does in production.

const PROGRAM = fileURLToPath(new URL('../../examples/web-app/server.ts', import.meta.url))
/** `SCREENSHOTS=/tmp/shots vitest run test/browser` keeps pictures to look at. */
const SCREENSHOTS = process.env.SCREENSHOTS

let browser: Browser
let gatepass: Gatepass
let app: ChildProcess | undefined
let appExited: Promise<unknown>
let appUrl: string
let users = 0

beforeAll(async () => {
  await onDemand('sdk')
  if (SCREENSHOTS !== undefined) mkdirSync(SCREENSHOTS, { recursive: true })
  const port = await freePort()
  appUrl = `http://localhost:${port}`
  const environment = { GATEPASS_USER_VERIFIER: `${appUrl}/verify` }
  gatepass = await startGatepass({ mode: 'development', environment })
  const { publicUrl } = gatepass.config
  await gatepass.call('POST', '/v1/tools/import?worker_id=sandbox', sampleMetadata(publicUrl))
  app = spawn(process.execPath, [PROGRAM], {
    env: {
      PORT: String(port),
      GATEPASS_URL: gatepass.url,
      GATEPASS_API_KEY: await gatepass.makeKey('caller'),
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

async function logIn(page: Page): Promise<string> {
  const user = `user-${++users}`
  await page.getByLabel('Your name').fill(user)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText(`Logged in as ${user}`).waitFor()
  return user
}

/** From the app's button to the page of the provider, and its answer. */
async function connect(page: Page, answer: 'Approve' | 'Deny') {
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByRole('button', { name: 'Continue to Sandbox' }).click()
  await page.getByRole('button', { name: answer }).click()
  await page.waitForURL(`${appUrl}/connected?**`)
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true }).waitFor()

async function looksRight({ page, complaints }: Person, name: string) {
  const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  expect(await page.evaluate(isTooWide), name).toBe(false)
  expect(complaints.filter((one) => !/status of 40[14]/.test(one))).toEqual([])
  const { width } = page.viewportSize() ?? {}
  if (SCREENSHOTS !== undefined)
    await page.screenshot({ path: `${SCREENSHOTS}/web-app-${name}-${width}.png` })
}

test.each([1280, 375])('a user connects, sees the profile and disconnects, at %d px', async (width) => {
  await using person = await newPerson(browser, { width })
  const { page, context } = person
  await page.goto(appUrl)
  await looksRight(person, 'login')
  const user = await logIn(page)
  await heading(page, 'Connect your account')
  await looksRight(person, 'home')
  const cookie = (await context.cookies(appUrl)).find(({ name }) => name === 'web_app_session')
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Lax' })

  await connect(page, 'Approve')
  await heading(page, 'Your account is connected')
  await page.getByText('ada@sandbox.example').first().waitFor()
  await looksRight(person, 'connected')
  await page.goto(appUrl)
  await page.getByText('Ada Lovelace').waitFor()

  await page.getByRole('button', { name: 'Disconnect' }).click()
  await heading(page, 'Connect your account')
  expect((await gatepass.call('GET', `/v1/connections?user_id=${user}`)).body.items).toEqual([])
})

test('a refusal comes back with its reason, and the user can try again', async () => {
  await using person = await newPerson(browser, { width: 375 })
  const { page } = person
  await page.goto(appUrl)
  await logIn(page)
  await connect(page, 'Deny')
  expect(await page.getByRole('alert').textContent()).toContain('access_denied')
  await looksRight(person, 'refused')
  await connect(page, 'Approve')
  await heading(page, 'Your account is connected')
})

test("another user's auth_id shows nothing, and a status in the query is not believed", async () => {
  await using ada = await newPerson(browser)
  await ada.page.goto(appUrl)
  await logIn(ada.page)
  await connect(ada.page, 'Deny')
  const address = ada.page.url()

  await using eve = await newPerson(browser)
  await eve.page.goto(address)
  await eve.page.getByLabel('Your name').fill('eve')
  await eve.page.getByRole('button', { name: 'Log in' }).click() // it leads on to the address
  await heading(eve.page, 'Nothing to show')
  expect(await eve.page.locator('main').textContent()).not.toMatch(/access_denied|sandbox/i)

  await ada.page.goto(address.replace(/status=failed.*/, 'status=completed'))
  await heading(ada.page, 'Connect your account')
  expect(await ada.page.getByRole('alert').textContent()).toContain('access_denied')
})

test('a user who approves by the link of another connects nothing', async () => {
  await using ada = await newPerson(browser)
  await ada.page.goto(appUrl)
  const user = await logIn(ada.page)
  await ada.page.getByRole('button', { name: 'Connect' }).click()

  await using eve = await newPerson(browser)
  await eve.page.goto(appUrl)
  await logIn(eve.page)
  await eve.page.goto(ada.page.url())
  await eve.page.getByRole('button', { name: 'Continue to Sandbox' }).click()
  await eve.page.getByRole('button', { name: 'Approve' }).click()
  await heading(eve.page, 'This link is for another user')
  expect((await gatepass.call('GET', `/v1/connections?user_id=${user}`)).body.items).toEqual([])
})

describe('a form of another site', () => {
  test.each(['/login', '/connect', '/disconnect', '/logout'])('cannot post to %s', async (path) => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/x-www-form-urlencoded' }
    const response = await fetch(`${appUrl}${path}`, { method: 'POST', headers, body: 'user=eve' })
    expect(response.status).toBe(403)
  })
})

test('the login leads to no other site', async () => {
  const body = new URLSearchParams({ user: 'ada', path: '//evil.example/' })
  const headers = { origin: appUrl }
  const response = await fetch(`${appUrl}/login`, { method: 'POST', headers, body, redirect: 'manual' })
  expect(response.headers.get('location')).toBe('/')
})
