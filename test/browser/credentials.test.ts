import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { type FakeKeyService, startFakeKeyService } from '../fake-key-service.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { lookAt } from './look-at.ts'

// The form for keys in a real Chromium, on a phone and on a desktop.

const KEY = 'key-0123456789abcdef'

let browser: Browser
let service: FakeKeyService
let gatepass: Gatepass

beforeAll(async () => {
  browser = await openBrowser()
  service = await startFakeKeyService(KEY)
  gatepass = await startGatepass()
  const base = `${service.url}/basic/{{workspace}}`
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'desk',
    provider_id: 'Help Desk',
    credentials: {
      fields: {
        workspace: { label: 'Workspace', pattern: '[a-z]{1,20}', example: 'acme' },
        region: { label: 'Region', one_of: ['eu', 'us'] },
        api_key: { label: 'API key', secret: true, help_url: 'https://service.example/keys' },
      },
      place: { basic: { username: '{{api_key}}', password: 'X' } },
      test_request: { endpoint: `${base}/me` },
      account: { id: ['$.id'], name: ['$.contact.email'] },
      api: { base_url: base },
    },
  })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
})

afterAll(async () => {
  await browser.close()
  await gatepass.close()
  await service[Symbol.asyncDispose]()
})

describe.each([
  ['a phone', 390],
  ['a desktop', 1280],
])('on %s', (_, width) => {
  test('a key is typed, refused while it is wrong, and connected once it is right', async () => {
    const person = await newPerson(browser, { width })
    const { page } = person
    try {
      const { body } = await gatepass.call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'desk' },
        user_id: `ada-${width}`,
      })
      await page.goto(body.url)
      await lookAt(person, 'credentials-form', { widths: [width] })
      const key = page.getByLabel('API key')
      expect(await key.getAttribute('type')).toBe('password')
      await page.getByLabel('Workspace').fill('acme')
      await page.getByLabel('Region').selectOption('eu')
      await key.fill('wrong-key')
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByRole('alert').waitFor()
      expect(await page.getByRole('alert').textContent()).toContain('does not accept')
      // what is no secret need not be typed again
      expect(await page.getByLabel('Workspace').inputValue()).toBe('acme')
      expect(await page.getByLabel('API key').inputValue()).toBe('')
      await lookAt(person, 'credentials-refused', { widths: [width] })
      await page.getByLabel('API key').fill(KEY)
      await page.getByRole('button', { name: 'Connect' }).click()
      await page.getByText('ada@service.test').waitFor()
      await lookAt(person, 'credentials-connected', { widths: [width], schemes: ['light'] })
    } finally {
      await person.close()
    }
  })
})
