import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAt } from '../../browser/look-at.ts'
import { newPerson, openBrowser, type Person } from '../../browser.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { packsFolder, TOOL, writePack } from './pack-folders.ts'

// The pages about tool packs, in a real Chromium.

let browser: Browser
let gatepass: Gatepass
let person: Person
const at = (path: string) => `${gatepass.url}/dashboard${path}`

beforeAll(async () => {
  const folder = packsFolder()
  writePack(folder)
  writePack(folder, { head: { id: 'broken', namespace: 'Broken' }, tools: [{ ...TOOL, aproval: 'ask' }] })
  browser = await openBrowser()
  gatepass = await startGatepass({ environment: { GATEPASS_PACKS: folder } })
  await gatepass.call('POST', '/v1/admin/keys', { role: 'approver', groups: ['support'] })
  person = await newPerson(browser)
  const { page } = person
  await page.goto(at(''))
  await page.getByLabel('API key').fill(gatepass.apiKey)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(at(''))
})
afterAll(async () => {
  await browser?.close()
  await gatepass?.close()
})

test('an administrator finds a pack, adds some of its tools, and sets the client', async () => {
  const { page } = person
  await page.goto(at('/packs'))
  await lookAt(person, 'packs')
  const text = await page.locator('main').textContent()
  expect(text).toContain('broken/GetNote.json: aproval is not a known member: did you mean approval?')
  await page.getByLabel('Search').fill('gmail')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('link', { name: 'Gmail' }).click()
  await lookAt(person, 'pack')
  await page.getByLabel('ChangeLabels').or(page.getByLabel('DeleteDraft')).first().uncheck()
  await page.getByLabel('Calls with “asks” are approved by').selectOption('user')
  await page.getByRole('button', { name: 'Add these tools' }).click()
  expect(await page.locator('main').textContent()).toContain('Nothing was added')
  await lookAt(person, 'pack-refused')
  expect(await page.getByLabel('DeleteDraft').isChecked()).toBe(false)
  await page.getByLabel('Calls with “asks” are approved by').selectOption('group')
  await page.getByLabel('Group').fill('support')
  await page.getByRole('button', { name: 'Add these tools' }).click()
  await page.getByText('19 tools were added.').waitFor()
  await lookAt(person, 'pack-added')
  const { body: entry } = await gatepass.call('GET', '/v1/admin/auth_providers/google')
  const added = await page.locator('main').textContent()
  expect(added).toContain(entry.oauth2.redirect_uri)
  expect(added).toContain(`${gatepass.url}/mcp/gmail`)
  await page.getByLabel('Client ID').fill('client')
  await page.getByLabel('Client secret').fill('secret-0123456789')
  await page.getByRole('button', { name: 'Set client' }).click()
  await page.getByText('The client of google was set.').waitFor()
  expect((await gatepass.call('GET', '/v1/admin/auth_providers/google')).body.status).toBe('active')
  await lookAt(person, 'pack-ready')
  await page.goto(at('/packs'))
  expect(await page.locator('tr', { hasText: 'Gmail' }).textContent()).toContain('added')
})

test('a pack for reading alone, and an own one', async () => {
  const { page } = person
  await page.goto(at('/packs/google-calendar'))
  await page.getByLabel('Only tools that change nothing').check()
  await page.getByRole('button', { name: 'Add these tools' }).click()
  await page.getByText('tools were added.').waitFor()
  const { body } = await gatepass.call('GET', '/v1/workers/google-calendar')
  expect(
    body.openapi.requests.every(
      ({ annotations }: { annotations: { readOnlyHint: boolean } }) => annotations.readOnlyHint,
    ),
  ).toBe(true)
  await page.goto(at('/packs/notes'))
  expect(await page.locator('main').textContent()).toContain('own')
  await lookAt(person, 'pack-own')
})

test('an update says what would change before it changes it', async () => {
  const { page } = person
  const { body } = await gatepass.call('GET', '/v1/workers/google-calendar')
  const [first, ...others] = body.openapi.requests
  const requests = [{ ...first, description: 'What an earlier release said.' }, ...others]
  await gatepass.call('PATCH', '/v1/workers/google-calendar', { openapi: { requests } })
  await page.goto(at('/packs/google-calendar'))
  expect(await page.locator('main').textContent()).toContain(`${first.name}: /description`)
  await lookAt(person, 'pack-update')
  await page.getByRole('button', { name: 'Take these definitions' }).click()
  await page.getByText('Definitions that changed: 1.').waitFor()
})
