import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { NO_DAMAGE, ONCE, startHostileWorld, type VerifierKind } from '../flows/hostile-world.ts'
import { heading, looksRight } from './looks-right.ts'

// What only a real browser shows: which cookies it brings from another site, what it does with redirects out of a form,
// with Back and with a reload, and whether the pages of the login look right.

/** `every-page.test.ts` looks at the pages of the login at every width. */
const PHONE = 390

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

const clickOn = (page: Page) => page.getByRole('button', { name: /^Continue to/ }).click()

const startWorld = (kind: VerifierKind) => startHostileWorld(kind, { crossSite: true })

describe('the login, on a phone', () => {
  test('leads from the click to the provider and back, with its own forms on the way', async () => {
    await using world = await startWorld('oidc')
    await using person = await newPerson(browser, { width: PHONE })
    const { page } = person
    world.oidc.settings.interaction = 'form'
    world.as.behaviour.consent = 'page'
    const { id, url } = await world.begin('alice')
    await page.goto(url)
    expect(await page.locator('main').textContent()).toMatch(/First, .+ opens so that you can log in\./)
    await looksRight(person, 'login-connect')
    await clickOn(page)
    expect(new URL(page.url()).origin).toBe(world.oidc.issuer)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(new URL(page.url()).origin).toBe(world.as.url)
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await heading(page)).toBe('demo is connected')
    expect(page.url()).toBe(url)
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
    for (let back = 0; back < 4; back++) await page.goBack({ timeout: 10_000 }).catch(() => null)
    await page.goto(url)
    expect(await heading(page)).toBe('demo is connected')
    expect(await world.damage()).toEqual(ONCE)
    expect(world.oidc.tokenRequests).toHaveLength(1)
  })

  test('cancelled, and tried again', async () => {
    await using world = await startWorld('oidc')
    await using person = await newPerson(browser, { width: PHONE })
    const { page } = person
    world.oidc.settings.interaction = 'form'
    const { id, url } = await world.begin('alice')
    await page.goto(url)
    await clickOn(page)
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await heading(page)).toBe('You did not log in')
    expect(page.url()).toBe(`${url}?login=cancelled`)
    await looksRight(person, 'login-cancelled')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
    expect(await heading(page)).toBe('demo is connected')
    expect((await world.status(id)).status).toBe('completed')
  })

  test('of another person ends the link, and names nobody', async () => {
    await using world = await startWorld('oidc')
    await using person = await newPerson(browser, { width: PHONE })
    const { page } = person
    const { id, url } = await world.begin('mallory@example.test')
    await page.goto(url)
    await clickOn(page)
    expect(await heading(page)).toBe('This link was meant for someone else')
    const text = (await page.locator('body').textContent()) ?? ''
    for (const whose of ['mallory', 'alice', 'demo']) expect(text).not.toContain(whose)
    await looksRight(person, 'login-another-user')
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect(world.as.requests).toEqual([])
  })

  test('begun elsewhere, gone wrong, or out of reach', async () => {
    await using world = await startWorld('oidc')
    await using person = await newPerson(browser, { width: PHONE })
    const { page } = person
    const { id, url } = await world.begin('alice')
    await page.goto(new URL('/login/callback?code=of-mallory&state=of-mallory', url).href)
    expect(await heading(page)).toBe('This login was not started here')
    await looksRight(person, 'login-not-here')
    await page.goto(`${url}?login=failed`)
    expect(await heading(page)).toBe('The login failed')
    await looksRight(person, 'login-failed')
    await world.oidc.close()
    await page.goto(url)
    await clickOn(page)
    expect(await heading(page)).toBe('You cannot log in right now')
    await looksRight(person, 'login-unavailable')
    expect((await world.status(id)).status).toBe('pending')
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })
})

describe('in a real browser', () => {
  test.each(['open', 'caller', 'oidc'] as const)('%s: the answer is refused in another one', async (kind) => {
    await using world = await startWorld(kind)
    await using alice = await newPerson(browser)
    await using mallory = await newPerson(browser)
    world.as.behaviour.consent = 'page'
    const { id, url } = await world.begin('alice')
    await alice.page.goto(url)
    await clickOn(alice.page)
    const providerPage = alice.page.url()
    expect(new URL(providerPage).origin).toBe(world.as.url)
    await mallory.page.goto(providerPage) // forwarded: he approves what she started
    await mallory.page.getByRole('button', { name: 'Approve' }).click()
    expect(await heading(mallory.page)).toBe('Continue in the other browser')
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect((await world.status(id)).status).toBe('pending')
  })

  test.each(['open', 'oidc'] as const)(
    '%s: two tabs of one browser, then Back and a reload',
    async (kind) => {
      await using world = await startWorld(kind)
      await using alice = await newPerson(browser)
      world.as.behaviour.consent = 'page'
      const { id, url } = await world.begin('alice')
      const other = await alice.context.newPage()
      for (const tab of [alice.page, other]) {
        await tab.goto(url)
        await clickOn(tab)
      }
      await alice.page.getByRole('button', { name: 'Approve' }).click()
      expect(await heading(alice.page)).toBe('This response does not match any open request')
      await other.getByRole('button', { name: 'Approve' }).click()
      expect(await heading(other)).toBe('demo is connected')
      await other.reload()
      await other.goBack()
      await other.goForward({ timeout: 10_000 }).catch(() => null)
      await alice.page.goto(url)
      expect(await heading(alice.page)).toBe('demo is connected')
      expect((await world.status(id)).status).toBe('completed')
      expect(await world.damage()).toEqual(ONCE)
    },
  )

  test('a form of another site cannot click for Alice', async () => {
    await using world = await startWorld('oidc')
    await using alice = await newPerson(browser)
    const { id, url } = await world.begin('alice')
    await alice.page.goto(world.as.url)
    await alice.page.setContent(`<form method="post" action="${url}"><button>Win</button></form>`)
    await alice.page.getByRole('button').click()
    expect(await heading(alice.page)).toBe('This did not come from our page')
    expect(world.oidc.tokenRequests).toEqual([])
    expect((await world.status(id)).status).toBe('pending')
  })
})
