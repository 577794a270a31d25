import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { startWorld, type World } from '../http/world.ts'
import { looksRight } from './looks-right.ts'

let browser: Browser
let world: World

beforeAll(async () => {
  ;[browser, world] = await Promise.all([openBrowser(), startWorld()])
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

async function logIn({ page }: Person, key = world.gatepass.apiKey) {
  await page.goto(`${world.gatepass.url}/dashboard`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
}

describe.each([
  { width: 1280, colorScheme: 'light' },
  { width: 390, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'dark' },
] as const)('at $width px, $colorScheme', ({ width, colorScheme }) => {
  test('every page looks right', async () => {
    await using person = await newPerson(browser, { width, colorScheme, height: 900 })
    await person.page.goto(`${world.gatepass.url}/dashboard`)
    await looksRight(person, `console-login-${colorScheme}`)
    await logIn(person)
    expect(await person.page.locator('h1').textContent()).toBe('Overview')
    await looksRight(person, `console-overview-${colorScheme}`)
  })
})
