import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAt } from '../../browser/look-at.ts'
import { heading } from '../../browser/looks-right.ts'
import { newPerson, openBrowser } from '../../browser.ts'
import { type Scene, startScene } from '../../flows/fixtures.ts'

// A project's own name, logo and colours, in a real browser.

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let browser: Browser
let scene: Scene
beforeAll(async () => {
  browser = await openBrowser()
  scene = await startScene()
})
afterAll(async () => {
  await browser.close()
  await scene[Symbol.asyncDispose]()
})

test('the connect page and its end look as the project wants, and can be read in any accepted colour', async () => {
  const branding = {
    app_name: 'Acme Assistant',
    logo: `data:image/png;base64,${PNG}`,
    accent: '#7a1fa2',
    privacy_url: 'https://acme.example/privacy',
    texts: { en: { 'connect.note': 'Acme reads only what you ask about.' } },
  }
  const path = '/v1/admin/projects/default/branding'
  expect((await scene.call('PATCH', path, branding)).status).toBe(200)
  await using person = await newPerson(browser)
  const { page } = person
  const { body } = await scene.authorize({ user_id: 'ada', user_display: 'Ada L.' })
  await page.goto(body.url)
  const background = () =>
    page
      .getByRole('button', { name: /^Continue to/ })
      .evaluate((button) => getComputedStyle(button).backgroundColor)
  expect(await background()).toBe('rgb(122, 31, 162)')
  expect(await page.locator('.tile img').evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1)
  await lookAt(person, 'branded-connect')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('button', { name: 'Cancel' }).last().click()
  expect(await heading(page)).toBe('Access was not approved')
  await lookAt(person, 'branded-cancelled')
})
