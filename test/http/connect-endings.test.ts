import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testClock } from '../gatepass.ts'
import { type Page, UserAgent } from '../user-agent.ts'
import { providerBody, startWorld, type World } from './world.ts'

// Which ending of the connect page follows what. `test/browser/every-page.test.ts` looks at each of them.

const clock = testClock(Math.floor(Date.now() / 1000))
let world: World
let users = 0
const newUser = () => `user-${++users}@example.test`

beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock } })
})
afterAll(() => world[Symbol.asyncDispose]())
beforeEach(() => {
  world.as.behaviour.consent = 'page'
  world.as.behaviour.exchange = 'normal' // also after a test that failed before it restored that
})

/** A link for a new user, made as by a tool. */
async function newLink(): Promise<string> {
  const body = { tool_name: 'Demo.WhoAmI', user_id: newUser() }
  return (await world.call('POST', '/v1/tools/authorize', body)).body.url
}

const headingOf = ({ body }: Page) =>
  /<h1[^>]*>(.*?)<\/h1>/s
    .exec(body)?.[1]
    ?.replaceAll(/<[^>]+>/g, '')
    .trim()

/** The page after *Continue*, and after an answer at the provider if one is given. */
async function clickThrough(url: string, answer?: 'Approve' | 'Deny'): Promise<Page> {
  const browser = new UserAgent()
  const page = await browser.submitForm(await browser.get(url))
  return answer === undefined ? page : browser.submitForm(page, {}, { button: answer })
}

test('denied', async () => {
  expect(headingOf(await clickThrough(await newLink(), 'Deny'))).toBe('Access was not approved')
})

test.each([
  ['server_error', 'The provider is unavailable'],
  ['invalid_scope', 'These permissions are not available'],
  ['unauthorized_client', 'This service is not registered properly'],
  ['no-code', 'The provider’s response could not be used'],
  ['wrong-state', 'This response does not match any open request'],
] as const)('a provider that answers %s', async (consent, title) => {
  world.as.behaviour.consent = consent
  expect(headingOf(await clickThrough(await newLink()))).toBe(title)
})

test('a provider whose token endpoint fails', async () => {
  world.as.behaviour.exchange = 'html-500'
  expect(headingOf(await clickThrough(await newLink(), 'Approve'))).toMatch(/^The provider/)
})

test('a provider that was removed meanwhile', async () => {
  const { call } = world
  await call('POST', '/v1/admin/auth_providers', providerBody('brief', world.as))
  const body = { auth_requirement: { id: 'brief' }, user_id: newUser() }
  const begun = (await call('POST', '/v1/auth/authorize', body)).body
  await call('DELETE', '/v1/admin/auth_providers/brief')
  expect(headingOf(await clickThrough(begun.url))).toBe('The provider’s settings have changed')
})

test('a link that is unknown', async () => {
  const page = await new UserAgent().get(`${world.gatepass.url}/connect/auth_unknown`)
  expect([page.status, headingOf(page)]).toEqual([404, 'This page does not exist'])
})

test('a link that has expired', async () => {
  const url = await newLink()
  clock.advance(24 * 3600)
  const page = await new UserAgent().get(url)
  expect([page.status, headingOf(page)]).toEqual([410, 'This link has expired'])
})
