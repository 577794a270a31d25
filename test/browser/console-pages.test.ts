import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { startWorld, type World } from '../http/world.ts'
import { lookAt } from './look-at.ts'

let browser: Browser
let world: World
let person: Person
let run: string

beforeAll(async () => {
  ;[browser, world] = await Promise.all([openBrowser(), startWorld()])
  const { call } = world
  await world.connect('ada', ['read'])
  await world.execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'hello' }, keep_content: true })
  run = (await call('GET', '/v1/executions')).body.items[0].id
  await call('POST', '/v1/admin/auth_providers', { id: 'github', provider_id: 'github' })
  await call('POST', '/v1/admin/policies', {
    id: 'no-leaks',
    effect: 'deny',
    match: { tools: ['Demo.Leak'], time: { from: '20:00', to: '06:00' } },
  })
  await call('POST', '/v1/admin/secrets/API_KEY', { value: 'secret', description: 'Of the weather service' })
  person = await newPerson(browser)
  await logIn(person)
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

const at = (path: string) => `${world.gatepass.url}/dashboard${path}`

async function logIn({ page }: Person, key = world.gatepass.apiKey) {
  await page.goto(at(''))
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL(at(''))
}

const TOOL = encodeURIComponent('Demo:EchoWithToken:1.0.0')
const PAGES: readonly (readonly [string, () => string])[] = [
  ['providers', () => '/providers'],
  ['provider', () => '/providers/demo'],
  ['provider-missing', () => '/providers/github'],
  ['catalogue', () => '/catalogue?search=g'],
  ['catalogue-add', () => '/catalogue/zendesk'],
  ['tools', () => '/tools'],
  ['tool', () => `/tools/${TOOL}?user=ada`],
  ['tool-try', () => `/tools/${TOOL}/try`],
  ['runs', () => '/runs'],
  ['run', () => `/runs/${run}`],
  ['scheduled', () => '/scheduled'],
  ['chains', () => '/chains'],
  ['workers', () => '/workers'],
  ['worker', () => '/workers/demo'],
  ['policies', () => '/policies'],
  ['policy-new', () => '/policy/new'],
  ['policy', () => '/policies/no-leaks'],
  ['policy-dry-run', () => '/policy/dry-run'],
  ['keys', () => '/keys'],
  ['secrets', () => '/secrets'],
  ['projects', () => '/projects'],
  ['audit', () => '/audit'],
  ['audit-entry', () => '/audit/1'],
  ['settings', () => '/settings'],
  ['doctor', () => '/doctor'],
]

describe('every page of the console', () => {
  test.each(PAGES)('%s looks right at every width, in both schemes, to axe too', async (name, path) => {
    const answer = await person.page.goto(at(path()))
    expect(answer?.status()).toBe(200)
    await lookAt(person, `console-${name}`)
  })
})
