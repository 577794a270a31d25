import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../../browser.ts'
import { type Scene, startScene } from '../../flows/fixtures.ts'

// A project's own domain in a real browser, whose cookies are of one host alone. `*.localhost` is this machine.

const BRANDING = '/v1/admin/projects/default/branding'
const HOST = 'auth.acme.localhost'

let browser: Browser
let scene: Scene
let values: string[] = []
beforeAll(async () => {
  browser = await openBrowser()
  scene = await startScene({ gatepass: { lookUpTxt: async () => ({ outcome: 'found', values }) } })
})
afterAll(async () => {
  await browser.close()
  await scene[Symbol.asyncDispose]()
})

test('a consent begins, is clicked and ends at the domain, without a complaint of the browser', async () => {
  const { body } = await scene.call('PATCH', BRANDING, { domain: HOST, app_name: 'Acme' })
  values = [body.domain.challenge.value]
  const before = (await scene.authorize({ user_id: 'ada' })).body
  expect((await scene.call('POST', `${BRANDING}/domain/verify`)).status).toBe(200)
  await using person = await newPerson(browser)
  const { page } = person
  // a link of the public URL leads to the domain
  await page.goto(before.url)
  expect(new URL(page.url()).hostname).toBe(HOST)
  expect(await page.locator('body').textContent()).toContain(`${new URL(page.url()).host}/me`)
  await page.getByRole('button', { name: /^Continue to/ }).click()
  await page.waitForURL((url) => url.hostname === HOST && url.pathname === `/connect/${before.id}`)
  expect((await scene.status(before.id)).body.status).toBe('completed')
  const hosts = new Set((await person.context.cookies()).map(({ domain }) => domain))
  expect(hosts).toEqual(new Set([HOST]))
  expect(person.complaints).toEqual([])
})
