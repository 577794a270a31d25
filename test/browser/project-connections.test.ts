import { generateKeyPairSync } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { type FakeKeyService, startFakeKeyService } from '../fake-key-service.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { type GitHubAppServer, startGitHubApp } from '../github-app-server.ts'
import { lookAt } from './look-at.ts'

// Pages about connections without a user's consent, and about the choice of an installation, in a real Chromium.

const KEY = 'key-0123456789abcdef'

let browser: Browser
let gatepass: Gatepass
let service: FakeKeyService
let github: GitHubAppServer
let person: Person

beforeAll(async () => {
  browser = await openBrowser()
  const now = () => Math.floor(Date.now() / 1000)
  gatepass = await startGatepass({ now })
  service = await startFakeKeyService(KEY)
  github = await startGitHubApp(now)
  await create('/v1/admin/auth_providers', {
    id: 'desk',
    name: 'Help Desk',
    type: 'credentials',
    owner: 'either',
    credentials: {
      fields: {
        workspace: { label: 'Workspace', pattern: '[a-z]{1,20}', example: 'acme' },
        api_key: { label: 'API key', secret: true, help_url: 'https://support.example.com/where-is-the-key' },
        certificate: { label: 'Certificate', secret: true, multiline: true },
      },
      place: { basic: { username: '{{api_key}}', password: 'X' } },
      test_request: { endpoint: `${service.url}/basic/{{workspace}}/me` },
      account: { id: ['$.id'], name: ['$.contact.email'] },
      api: { base_url: `${service.url}/basic/{{workspace}}`, hosts: [service.host] },
    },
  })
  await create('/v1/admin/auth_providers', {
    id: 'service-account',
    provider_id: 'google-service-account',
    oauth2: { client_id: '1', client_secret: privateKey() },
  })
  const app = await create('/v1/admin/auth_providers', { id: 'github-app', oauth2: github.entry({}) })
  github.callbackUrl.value = app.oauth2.redirect_uri
  person = await newPerson(browser)
})
afterAll(async () => {
  await browser?.close()
  await gatepass?.close()
  await service?.[Symbol.asyncDispose]()
  await github?.server.close()
})
// forms need a login of the last five minutes, which a busy machine may have spent on the tests before
beforeEach(async () => {
  const { page, context } = person
  await context.clearCookies()
  await page.goto(at(''))
  await page.getByLabel('API key').fill(gatepass.apiKey)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(at(''))
})

const at = (path: string) => `${gatepass.url}/dashboard${path}`

async function create(path: string, body: object) {
  const made = await gatepass.call('POST', path, body)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body
}

function privateKey(): string {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}

test('an administrator adds a key of the project, and is told what is wrong with it', async () => {
  const { page } = person
  await page.goto(at('/shared'))
  await lookAt(person, 'shared-none')
  await page.getByRole('link', { name: 'desk', exact: true }).click()
  await lookAt(person, 'shared-key')
  await page.getByLabel('Name').fill('Support of Acme')
  await page.getByLabel('Users').fill('*')
  await page.getByLabel('Workspace').fill('acme')
  await page.getByLabel('API key').fill('wrong-key-0123456')
  await page.getByLabel('Certificate').fill('none')
  await page.getByRole('button', { name: 'Check and add' }).click()
  await lookAt(person, 'shared-key-refused')
  expect(await page.getByLabel('Name').inputValue()).toBe('Support of Acme')
  expect(await page.getByLabel('API key').inputValue()).toBe('')
  expect(await page.getByLabel('Workspace').inputValue()).toBe('acme')
  await page.getByLabel('API key').fill(KEY)
  await page.getByLabel('Certificate').fill('none')
  await page.getByRole('button', { name: 'Check and add' }).click()
  await page.waitForURL(/\/shared$/)
  await lookAt(person, 'shared-list')
  await page.getByRole('link', { name: 'Support of Acme' }).click()
  await lookAt(person, 'shared-one')
  await page.goto(at('/connections'))
  expect(await page.locator('main').textContent()).not.toContain('Support of Acme')
})

test('the page of a provider takes a key file', async () => {
  const { page } = person
  await page.goto(at('/providers/service-account'))
  await page.getByText('JSON key file').scrollIntoViewIfNeeded()
  await lookAt(person, 'provider-key-file')
  await page.goto(at('/catalogue/google-service-account'))
  await lookAt(person, 'catalogue-key-file')
})

test('a policy by owners reads well in the list and in its form', async () => {
  const { page } = person
  const match = { owners: ['project'], providers: ['desk'] }
  await create('/v1/admin/policies', { id: 'no-project-key', effect: 'deny', match })
  await page.goto(at('/policies'))
  expect(await page.getByText('Connections of').count()).toBe(1)
  await lookAt(person, 'policies-owners')
  await page.goto(at('/policies/no-project-key'))
  await lookAt(person, 'policy-owners')
})

test('a user chooses one of several installations, and is told where to install without any', async () => {
  const begin = async (user_id: string) => {
    const need = { auth_requirement: { id: 'github-app', oauth2: { scopes: ['contents:read'] } }, user_id }
    return (await gatepass.call('POST', '/v1/auth/authorize', need)).body
  }
  await using user = await newPerson(browser)
  const { page } = user
  await page.goto((await begin('nobody')).url)
  await page.getByRole('button').first().click()
  await page.waitForLoadState()
  await lookAt(user, 'installation-none')
  for (const [id, account] of [
    [42, 'acme'],
    [43, 'a-company-with-quite-a-long-name-that-goes-on'],
    [44, 'initech'],
  ] as const)
    github.installations.push({ id, account, permissions: { contents: 'write' }, users: ['ada'] })
  const { id, url } = await begin('ada')
  await page.goto(url)
  await lookAt(user, 'installation-connect')
  await page.getByRole('button').first().click()
  await page.getByText('initech').waitFor()
  await lookAt(user, 'installation-choice')
  await page.getByRole('button', { name: 'initech' }).click()
  await expect
    .poll(async () => (await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body.status, {
      timeout: 300_000,
    })
    .toBe('completed')
  await lookAt(user, 'installation-done')
})
