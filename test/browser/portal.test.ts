import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { portalLink } from '../http/portal-world.ts'
import { startWorld, type World } from '../http/world.ts'
import { mcpConsent } from '../store/fixtures.ts'
import { lookAt } from './look-at.ts'

// Users' own page in a real Chromium: how it looks, and that the keyboard alone is enough.

const DAY = 24 * 3600
let browser: Browser
let world: World
let clock = Math.floor(Date.now() / 1000)

beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld({ gatepass: { now: () => clock } })
  await world.call('POST', '/v1/admin/auth_providers', {
    id: 'github',
    provider_id: 'github',
    oauth2: { client_id: 'c', client_secret: 's' },
  })
})

afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
})

/** A user who has used much: a tool, two accounts, one that broke, one that rests, two applications. */
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
  const need = {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
    account: 'new',
  }
  const { body } = await call('POST', '/v1/auth/authorize', need)
  const { approve } = await import('../http/world.ts')
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
        createdAt: clock - DAY,
      }),
    )
}

async function enter(person: Person, user: string, more: Record<string, unknown> = {}): Promise<void> {
  const may = ['view', 'disconnect', 'connect', 'export', 'erase'] as const
  await person.page.goto(await portalLink(world, user, may, { user_display: 'Ada Lovelace', ...more }))
  await person.page.getByRole('button').first().click()
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
    await page.getByRole('link', { name: 'Keep it' }).click()
    await page.getByRole('link', { name: 'Your data' }).click()
    await lookAt(person, 'me-data')
    await page.getByRole('link', { name: 'Delete everything' }).click()
    await lookAt(person, 'me-erase')
    await page.getByLabel('I want to delete all of it.').check()
    await page.getByRole('button', { name: 'Delete everything' }).click()
    await lookAt(person, 'me-erased')
    await page.goto(`${world.gatepass.url}/me`)
    await lookAt(person, 'me-outside', { widths: [390] })
    await page.goto(`${world.gatepass.url}/me/enter?ticket=gpp_x`)
    await lookAt(person, 'me-gone', { widths: [390] })
  }, 300_000)
})
