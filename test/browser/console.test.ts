import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { testClock } from '../gatepass.ts'
import { startWorld, type World } from '../http/world.ts'
import { lookAt, tabStops } from './look-at.ts'
import { heading } from './looks-right.ts'

let browser: Browser
let world: World
const clock = testClock(Math.floor(Date.now() / 1000))

beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld({ gatepass: { now: clock } })
  const { call, gatepass } = world
  for (const user of ['ada', 'grace', 'a-user-with-a-rather-long-id@some-department.example.com'])
    await world.connect(user)
  for (let i = 0; i < 12; i++) await world.execute('Demo.Whoami', { user_id: 'ada' })
  await call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: 'joan',
  })
  await call('POST', '/v1/admin/auth_providers', {
    id: 'unfinished',
    oauth2: {
      authorize_request: { endpoint: world.as.authorizationUrl },
      token_request: { endpoint: world.as.tokenUrl },
    },
  })
  const projectId = (await gatepass.broker.store.projects.ensure('default', 0)).id
  const hour = clock() - (clock() % 3600)
  for (let i = 0; i < 24; i++)
    await gatepass.broker.store.counters.add(hour - i * 3600, [
      {
        projectId,
        name: 'fetches',
        byLabel: new Map([
          ['ready', 900 + 400 * Math.round(Math.sin(i / 3))],
          ['refused', 20 * (i % 3)],
        ]),
      },
      {
        projectId,
        name: 'consents',
        byLabel: new Map([
          ['completed', 12 + (i % 5)],
          ['access_denied', i % 4],
        ]),
      },
    ])
  await gatepass.broker.activity.flush()
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
})

async function tryKey({ page }: Person, key: string) {
  await page.goto(`${world.gatepass.url}/dashboard`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in' }).click()
}

async function logIn(person: Person) {
  await tryKey(person, world.gatepass.apiKey)
  await person.page.waitForURL(`${world.gatepass.url}/dashboard`)
}

const open = ({ page }: Person, path: string) => page.goto(`${world.gatepass.url}/dashboard${path}`)

test('the login', async () => {
  await using person = await newPerson(browser)
  await open(person, '')
  await lookAt(person, 'console-login')
  await tryKey(person, 'gp_unknown')
  expect(await person.page.getByRole('alert').textContent()).toContain('not known')
})

test.each([
  ['', 'Overview'],
  ['/connections', 'Connections'],
  ['/users', 'Users'],
  ['/users/details?id=ada', 'ada'],
  ['/authorizations', 'Authorizations'],
])('the page at %s', async (path, title) => {
  await using person = await newPerson(browser)
  await logIn(person)
  await open(person, path)
  expect(await heading(person.page)).toBe(title)
  await lookAt(person, `console-${title.toLowerCase()}`)
})

test('one connection and one authorization, and a form that waits for a recent login', async () => {
  await using person = await newPerson(browser)
  await logIn(person)
  await open(person, '/authorizations')
  await person.page.getByRole('cell').getByRole('link').first().click()
  await lookAt(person, 'console-authorization')
  await open(person, '/connections')
  await person.page.getByRole('cell').getByRole('link').first().click()
  await lookAt(person, 'console-connection')
  await person.page.getByRole('button', { name: 'Refresh token now' }).click()
  expect(await person.page.getByRole('status').textContent()).toContain('valid token')
  clock.advance(301)
  await person.page.reload()
  await person.page.getByRole('link', { name: 'Confirm your login first' }).click()
  await lookAt(person, 'console-confirm')
  await person.page.getByLabel('API key').fill(world.gatepass.apiKey)
  await person.page.getByRole('button', { name: 'Confirm' }).click()
  await person.page.getByRole('button', { name: 'Revoke this connection' }).click()
  expect(await person.page.getByRole('status').textContent()).toContain('was deleted here')
})

test('by keyboard: each stop is seen, from the link past the menu on', async () => {
  await using person = await newPerson(browser)
  await logIn(person)
  await open(person, '/connections')
  const stops = await tabStops(person)
  expect(stops.slice(0, 3)).toEqual(['Skip to content', 'Gatepass', expect.stringContaining('admin')])
  for (const stop of ['Overview', 'Connections', 'Users', 'user', 'date', 'Filter'])
    expect(stops).toContain(stop)
})

test('by keyboard, back from the end of a long page: the header covers no stop', async () => {
  await using person = await newPerson(browser, { height: 400 })
  const { page } = person
  await logIn(person)
  await open(person, '/audit')
  const stops: { readonly text: string; readonly isCovered: boolean }[] = []
  for (let presses = 0; presses < 200; presses++) {
    await page.keyboard.press('Shift+Tab')
    const stop = await page.evaluate(() => {
      const element = document.activeElement
      if (element?.closest('main') == null) return undefined
      const header = document.querySelector('header.top')?.getBoundingClientRect()
      return {
        text: element.textContent ?? '',
        isCovered: element.getBoundingClientRect().top < (header?.bottom ?? 0),
      }
    })
    if (stop === undefined) break
    stops.push(stop)
  }
  expect(stops.length).toBeGreaterThan(40)
  expect(stops.filter(({ isCovered }) => isCovered)).toEqual([])
})

test('without script and at the menu of a phone', async () => {
  await using person = await newPerson(browser, { width: 390 })
  await logIn(person)
  await person.page.getByText('Menu', { exact: true }).click()
  await person.page.getByRole('navigation').getByRole('link', { name: 'Users' }).click()
  expect(await heading(person.page)).toBe('Users')
})

test('a list says that there are newer rows, as the script asks when the page is seen again', async () => {
  await using person = await newPerson(browser)
  await logIn(person)
  await open(person, '/connections')
  await world.connect('newer')
  const newer = person.page.getByRole('link', { name: '1 newer: show' })
  expect(await newer.count()).toBe(0)
  await person.page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await newer.click()
  await person.page.getByRole('link', { name: 'newer', exact: true }).first().waitFor()
  expect(person.complaints).toEqual([])
})
