import { afterAll, beforeAll, expect, test } from 'vitest'
import { lookAt } from '../../browser/look-at.ts'
import { newPerson, openBrowser } from '../../browser.ts'
import { startWorld, type World } from '../../http/world.ts'
import { portalLink } from '../portal/portal-world.ts'

const WIDTHS = [390, 1280]
const TOOL = 'Demo.EchoWithToken'

let world: World
let browser: Awaited<ReturnType<typeof openBrowser>>
beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld()
  await world.connect('ada', ['read'])
})
afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
})

test('a user decides from their own page, and takes back what is remembered, by keyboard', async () => {
  const link = () => portalLink(world, 'ada', ['view', 'disconnect', 'approve'], { lang: 'de' })
  await using ada = await newPerson(browser)
  const { page } = ada
  page.setDefaultTimeout(60_000)
  const url = await link()
  const approve = { remember: ['once', 'hour'] }
  await world.call('POST', '/v1/admin/policies', {
    id: 'ask',
    effect: 'approve',
    match: { tools: [TOOL] },
    approve,
  })
  const ask = (text: string, key: string) =>
    world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id: 'ada', args: { text } }, { key })
  const [first, second] = [await world.gatepass.makeKey('caller'), await world.gatepass.makeKey('caller')]
  await ask('Hello Grace', first)
  await page.goto(url)
  await page.getByRole('button').first().click()
  await page.getByRole('link', { name: /Lesen und entscheiden/ }).focus()
  await lookAt(ada, 'own-waiting', { widths: WIDTHS })
  await page.keyboard.press('Enter')
  await page.getByText('Hello Grace').waitFor()
  await page.getByRole('radio').nth(1).check()
  await page.locator('button[value="approve"]').click()
  await page.getByRole('status').waitFor()
  await ask('Hello Ada', second)
  await page.goto(`${world.gatepass.url}/me`)
  await page.getByRole('link', { name: /Lesen und entscheiden/ }).click()
  await page.locator('button[value="block"]').click()
  await page.getByRole('status').waitFor()
  await page.goto(`${world.gatepass.url}/me`)
  await lookAt(ada, 'own-decided', { widths: WIDTHS })
  await page.getByRole('button', { name: /Wieder nachfragen/ }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('status').filter({ hasText: 'Sie werden wieder gefragt.' }).waitFor()
  await page.getByRole('button', { name: /Entsperren/ }).click()
  await page.getByRole('status').filter({ hasText: 'Der Agent kann Sie wieder fragen.' }).waitFor()
  expect((await world.call('GET', '/v1/admin/standing_approvals')).body.items).toEqual([])
})
