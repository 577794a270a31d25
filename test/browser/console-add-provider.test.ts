import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { providerBody, startWorld, type World } from '../http/world.ts'
import { lookAt, tabStops } from './look-at.ts'

let browser: Browser
let world: World
let person: Person
beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld()
  person = await newPerson(browser)
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const look = (name: string) => lookAt(person, `console-wizard-${name}`, { widths: [390, 1280] })

test('a person adds a provider, copies its redirect URI, connects a test account, and is done', async () => {
  const { page, context } = person
  const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
  await page.goto(at('/catalogue'))
  await page.getByLabel('API key').fill(world.gatepass.apiKey)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByLabel('Search').fill('github')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('link', { name: 'GitHub development' }).click()
  await page.getByRole('heading', { name: 'Register a client at GitHub' }).waitFor()
  expect(await page.getByRole('listitem').and(page.locator('[aria-current=step]')).textContent()).toContain(
    'Redirect URI',
  )
  await look('redirect')

  await page.goto(at('/other-provider/definition'))
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy the redirect URI' }).click()
  await page.getByText('Copied').waitFor()
  const redirectUri = await page.evaluate(() => navigator.clipboard.readText())
  expect(redirectUri).toMatch(/\/callback\/prov_[0-9a-f]{32}$/)
  await page.getByRole('link', { name: 'I have registered it' }).click()

  const { client_id: clientId, client_secret: secret, ...oauth2 } = providerBody('acme', world.as).oauth2
  await page.getByLabel('Definition').fill('{')
  await page.getByLabel('ID', { exact: true }).fill('acme')
  await page.getByLabel('Client ID').fill(clientId)
  await page.getByRole('button', { name: 'Add the provider' }).click()
  await page.getByText('It must be an object in JSON').first().waitFor()
  await look('client-fault')
  await page.getByLabel('Definition').fill(JSON.stringify({ name: 'Acme', oauth2 }, null, 2))
  await page.getByLabel('Client secret').fill(secret)
  await page.getByRole('button', { name: 'Add the provider' }).click()

  await page.waitForURL(at('/providers/acme/test-account'))
  await look('test-account')
  const stops = await tabStops(person)
  expect(stops).toContain('Connect a test account')
  await page.getByLabel('Other scopes').fill('read admin')
  Object.assign(world.as.behaviour, { grantedScopes: ['read'] })
  await page.getByRole('button', { name: 'Connect a test account' }).click()
  await page.getByRole('button', { name: 'Continue to Acme' }).click()
  await page.getByText('one point differs').waitFor()
  await look('tested')
  await page.getByRole('link', { name: 'Finish' }).click()
  await page.getByRole('heading', { name: 'What next' }).waitFor()
  await look('ready')
  const { body } = await world.call('GET', '/v1/admin/auth_providers/acme')
  expect(body.oauth2.redirect_uri).toBe(redirectUri)
  // the refused form
  expect(person.complaints).toEqual([expect.stringContaining('status of 400')])
})

test('a person adds a service whose users type keys, on one page', async () => {
  const { page } = person
  const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
  await page.goto(at('/catalogue?search=github'))
  await page.getByRole('link', { name: 'GitHub development' }).click()
  await page.getByRole('link', { name: 'With an API key instead' }).click()
  await page.getByRole('heading', { name: 'What users type' }).waitFor()
  await look('key')
  await page.getByRole('button', { name: 'Add GitHub (API key)' }).click()
  await page.getByText('The provider github-api-key was added.').waitFor()
  await look('key-added')
})
