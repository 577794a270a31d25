import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../../src/domain/languages.ts'
import { lookAt, tabStops } from '../../browser/look-at.ts'
import { newPerson, openBrowser, type Person } from '../../browser.ts'
import { type FakeKeyService, startFakeKeyService } from '../../fake-key-service.ts'
import { approve, startWorld, type World } from '../../http/world.ts'
import { mcpConsent } from '../../store/fixtures.ts'
import { portalLink } from './portal-world.ts'

// Users' own page in a real Chromium: how it looks, and that the keyboard alone is enough.

const DAY = 24 * 3600
let browser: Browser
let world: World
let service: FakeKeyService
let clock = Math.floor(Date.now() / 1000)

beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld({ gatepass: { now: () => clock } })
  await world.call('POST', '/v1/admin/auth_providers', {
    id: 'github',
    provider_id: 'github',
    oauth2: { client_id: 'c', client_secret: 's' },
  })
  service = await startFakeKeyService()
  await world.call('POST', '/v1/admin/auth_providers', {
    id: 'desk',
    name: 'Help Desk',
    type: 'credentials',
    owner: 'either',
    credentials: {
      fields: { api_key: { label: 'API key', secret: true } },
      place: { basic: { username: '{{api_key}}', password: 'X' } },
      test_request: { endpoint: `${service.url}/basic/me` },
      account: { id: ['$.id'], name: ['$.contact.email'] },
      api: { base_url: `${service.url}/basic`, hosts: [service.host] },
    },
  })
  const shared = await world.call('POST', '/v1/admin/connections', {
    provider_id: 'desk',
    owner: 'project',
    name: 'Support of the whole organization',
    fields: { api_key: service.key },
    shared_with: { users: ['*'] },
  })
  expect(shared.status, JSON.stringify(shared.body)).toBe(201)
})

afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
  await service[Symbol.asyncDispose]()
})

/** A user who has used much: a tool, two accounts, a key, one that broke, one that rests, two applications. */
async function busyUser(user: string): Promise<void> {
  const { store, uses } = world.gatepass.broker
  const { call, as } = world
  const started = clock
  clock -= 200 * DAY
  await world.connect(user)
  clock = started
  Object.assign(as.account, { sub: 'u-2', name: 'Grace Hopper' })
  const added = await call('POST', '/v1/admin/user_connections/import', {
    connections: [
      {
        user_id: user,
        provider_id: 'github',
        access_token: 'imported-token-of-the-tests',
        account: { id: '7', name: 'ada-lovelace' },
        scopes: ['repo', 'read:user', 'user:email', 'workflow', 'gist', 'x:unknown'],
      },
    ],
  })
  expect(added.status, JSON.stringify(added.body)).toBeLessThan(300)
  const typed = { user_id: user, provider_id: 'desk', fields: { api_key: service.key } }
  expect((await call('POST', '/v1/connections', typed)).status).toBe(201)
  const need = {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
    account: 'new',
  }
  const { body } = await call('POST', '/v1/auth/authorize', need)
  await approve(body.url)
  await world.execute('Demo.WhoAmI', { user_id: user })
  await uses.flush()
  const { id: projectId } = await store.projects.ensure('default', 0)
  const { items } = await store.connections.list(projectId, { userId: user }, { offset: 0, limit: 9 })
  const github = items.find(({ account }) => account.name === 'ada-lovelace')
  if (github === undefined) throw new Error('the import is not there')
  await store.connections.needsAuthorization(github.id, github.generation, 'refresh_refused')
  for (const [clientId, clientName] of [
    ['https://claude.ai/oauth/client', 'Claude'],
    ['local', 'MCP Inspector'],
  ] as const)
    await store.mcpConsents.put(
      mcpConsent({
        projectId,
        userId: user,
        clientId,
        clientName,
        grantId: `${user}${clientId}`,
        verifier: 'open',
        createdAt: clock - DAY,
      }),
    )
}

async function enter(person: Person, user: string, more: Record<string, unknown> = {}): Promise<void> {
  const may = ['view', 'disconnect', 'connect', 'export', 'erase'] as const
  await person.page.goto(await portalLink(world, user, may, { user_display: 'Ada Lovelace', ...more }))
  await person.page.getByRole('button').first().click()
  await person.page.waitForURL(/\/me$/)
}

describe('users’ own page', () => {
  test('looks right, at every width and in both schemes', async () => {
    await busyUser('ada')
    await using person = await newPerson(browser)
    const { page } = person
    await page.goto(await portalLink(world, 'ada', undefined, { user_display: 'Ada Lovelace' }))
    await lookAt(person, 'me-enter')
    await enter(person, 'ada', { return_url: `${world.gatepass.url}/docs` })
    await lookAt(person, 'me')
    await page
      .getByRole('link', { name: /^Disconnect: demo/ })
      .first()
      .click()
    await lookAt(person, 'me-disconnect')
    await page.getByRole('link', { name: 'Keep connected' }).click()
    await page.getByRole('link', { name: 'Download or delete' }).click()
    await lookAt(person, 'me-data')
    await page.getByRole('link', { name: 'Delete everything' }).click()
    await lookAt(person, 'me-erase')
    await page.getByLabel('I want to delete everything.').check()
    await page.getByRole('button', { name: 'Delete everything' }).click()
    await lookAt(person, 'me-erased')
    await page.goto(`${world.gatepass.url}/me`)
    await lookAt(person, 'me-outside', { widths: [390] })
    await page.goto(`${world.gatepass.url}/me/enter?ticket=gpp_x`)
    await lookAt(person, 'me-gone', { widths: [390] })
  })

  test.each(LANGUAGES.filter((one) => one !== 'en'))('reads well in %s', async (lang) => {
    const user = `ada-${lang}`
    await busyUser(user)
    await using person = await newPerson(browser, { width: 390 })
    const { page } = person
    const once = { widths: [390], schemes: ['light'] } as const
    await page.goto(await portalLink(world, user, undefined, { user_display: 'Ada Lovelace', lang }))
    await lookAt(person, `me-enter-${lang}`, once)
    await enter(person, user, { lang })
    expect(await page.locator('html').getAttribute('lang')).toBe(lang)
    await lookAt(person, `me-${lang}`, once)
    await page.goto(`${world.gatepass.url}/me/erase`)
    await lookAt(person, `me-erase-${lang}`, once)
  })

  test('is used by the keyboard alone', async () => {
    await busyUser('keys')
    await using person = await newPerson(browser)
    const { page } = person
    await enter(person, 'keys')
    const stops = await tabStops(person)
    for (const part of [
      'Log out',
      'Reconnect',
      'Disconnect: GitHub, ada-lovelace',
      'End access: Claude',
      'Download or delete',
    ])
      expect(stops).toContainEqual(expect.stringContaining(part))
    await page.getByRole('link', { name: 'Disconnect: GitHub' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(/disconnect$/)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForURL(/note=/)
    expect(await page.getByRole('status').textContent()).toContain('GitHub')
    expect(await page.getByRole('heading', { name: 'GitHub' }).count()).toBe(0)
    expect(person.complaints).toEqual([])
  })

  test('a link that another site opens or sends as a form starts no session', async () => {
    const url = await portalLink(world, 'victim')
    const ticket = new URL(url).searchParams.get('ticket') ?? ''
    await using person = await newPerson(browser)
    const { page, context } = person
    await page.route('https://evil.localhost/**', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<h1>x</h1><form method="post" action="${world.gatepass.url}/me/enter"><input name="ticket" value="${ticket}"></form><script>document.forms[0].submit()</script>`,
      }),
    )
    await page.goto('https://evil.localhost/')
    await page.waitForURL(/\/me\/enter$/)
    expect(await page.getByRole('heading').textContent()).toBe('This link no longer works')
    expect((await context.cookies()).filter(({ name }) => name.includes('gatepass-me'))).toEqual([])
    // it was not spent either
    await page.goto(url)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL(/\/me$/)
  })
})
