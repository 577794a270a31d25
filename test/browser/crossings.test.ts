import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { type HostileWorld, NO_DAMAGE, ONCE, startHostileWorld, VERIFIERS } from '../flows/hostile-world.ts'
import { formIn } from '../user-agent.ts'
import { heading } from './looks-right.ts'

// Two people with a browser profile each, and an address of one run that reaches the other: the link, either way; the
// address of the application's page; the callback. Alice is the one who is robbed, Mallory robs. What he wants is a
// connection of hers that he approved (she works in his account), or one of his that she approved (he works in hers).

let browser: Browser
beforeAll(async () => {
  browser = await openBrowser()
})
afterAll(() => browser.close())

/** With a profile of their own, signed in at the application and at the issuer as that user, or not signed in. */
async function person(world: HostileWorld, user: string | undefined): Promise<Person> {
  const made = await newPerson(browser)
  await actsAs(world, made, user)
  return made
}

async function actsAs(world: HostileWorld, { page }: Person, user: string | undefined): Promise<void> {
  if (user === undefined) return
  world.oidc.settings.account = { sub: user, name: user, email: `${user}@example.test` }
  await page.goto(`${world.application.url}/sign-in?user=${user}`)
}

async function startWorld(kind: (typeof VERIFIERS)[number]): Promise<HostileWorld> {
  const world = await startHostileWorld(kind, { crossSite: true })
  world.as.behaviour.consent = 'page'
  return world
}

/** Clicks on *Continue*, and waits until the page that it leads to is loaded: the click ends when that page begins. */
async function clickOn(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Continue to/ }).click()
  await page.waitForLoadState()
}
const approveOn = (page: Page) => page.getByRole('button', { name: 'Approve' }).click()

async function openAndApprove({ page }: Person, url: string): Promise<void> {
  await page.goto(url)
  await clickOn(page)
  if (await page.getByRole('button', { name: 'Approve' }).isVisible()) await approveOn(page)
}

/** What the provider's page would send the browser to, when the user approves there. */
async function callbackOf({ page }: Person): Promise<string> {
  const form = formIn({ url: page.url(), body: await page.content() })
  const approve = form?.buttons.find(({ text }) => text.includes('Approve'))
  const body = new URLSearchParams({ ...form?.fields, ...(approve && { [approve.name]: approve.value }) })
  const answer = await fetch(form?.action ?? '', { method: 'POST', body, redirect: 'manual' })
  return answer.headers.get('location') ?? ''
}

const owners = async (world: HostileWorld) =>
  (await world.call('GET', '/v1/connections')).body.items.map((one: { user_id: string }) => one.user_id)

describe.each(VERIFIERS)('under `%s`', (kind) => {
  test('Mallory’s link, forwarded to Alice', async () => {
    await using world = await startWorld(kind)
    await using alice = await person(world, 'alice')
    const { id, url } = await world.begin('mallory')
    await openAndApprove(alice, url)
    // with `open` no user is verified, and `serve` warns of it
    if (kind === 'open') return expect(await owners(world)).toEqual(['mallory'])
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    return expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test('Alice’s link, forwarded to Mallory', async () => {
    await using world = await startWorld(kind)
    await using mallory = await person(world, 'mallory')
    const { id, url } = await world.begin('alice')
    await openAndApprove(mallory, url)
    if (kind === 'open') return expect(await owners(world)).toEqual(['alice'])
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    return expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test.each([
    ['Mallory’s, in Alice’s browser', 'mallory', 'alice'],
    ['Alice’s, in Mallory’s browser', 'alice', 'mallory'],
  ])('the callback, forwarded: %s', async (_, whose, other) => {
    await using world = await startWorld(kind)
    await using one = await person(world, whose)
    const { id, url } = await world.begin(whose)
    await one.page.goto(url)
    await clickOn(one.page)
    const callback = await callbackOf(one)
    expect(new URL(callback).pathname).toMatch(/^\/callback\//)
    await using another = await person(world, other)
    // he or she has a run, and a cookie
    await another.page.goto((await world.begin(other)).url)
    await clickOn(another.page)
    await another.page.goto(callback)
    expect(await heading(another.page)).toBe('Continue in the other browser')
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect((await world.status(id)).status).toBe('pending')
    await actsAs(world, one, whose)
    await one.page.goto(callback)
    expect(await heading(one.page)).toBe('demo is connected')
    expect(await owners(world)).toEqual([whose])
  })
})

describe('under `caller`, the address of the application’s page', () => {
  /** Clicks and approves up to the application, which asks the user to sign in. */
  async function upToApplication(world: HostileWorld, somebody: Person, user: string) {
    const begun = await world.begin(user)
    await openAndApprove(somebody, begun.url)
    expect(await heading(somebody.page)).toBe('Sign in first')
    return { ...begun, visit: somebody.page.url() }
  }

  test('of Alice’s link that Mallory has approved, forwarded to Alice: she confirms, and nothing is redeemed', async () => {
    await using world = await startWorld('caller')
    await using mallory = await person(world, undefined)
    const { id, url, visit } = await upToApplication(world, mallory, 'alice')
    await using alice = await person(world, 'alice')
    await alice.page.goto(visit)
    expect(await heading(alice.page)).toBe('This was approved in another browser')
    expect(alice.page.url()).toContain('/finish')
    const finish = new URL(alice.page.url())
    // nor does the browser that clicked get on by itself, although she has confirmed
    for (const guess of [url, `${url}/finish`, `${url}/finish?confirmation=`, visit]) {
      await mallory.page.goto(guess)
      expect(await world.damage()).toEqual(NO_DAMAGE)
    }
    expect((await world.status(id)).status).toBe('pending')

    // she opens her own link, and it is her approval that counts
    await openAndApprove(alice, url)
    expect(await heading(alice.page)).toBe('demo is connected')
    expect(await owners(world)).toEqual(['alice'])
    expect(await world.damage()).toEqual(ONCE)
    await mallory.page.goto(finish.href)
    expect(await world.damage()).toEqual(ONCE)
  })

  test.each([
    ['of his own run', 'mallory', 'alice'],
    ['of hers', 'alice', 'mallory'],
  ])('%s, opened by the other: it ends', async (_, whose, other) => {
    await using world = await startWorld('caller')
    await using one = await person(world, undefined)
    const { id, visit } = await upToApplication(world, one, whose)
    await using another = await person(world, other)
    await another.page.goto(visit)
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    await actsAs(world, one, whose)
    await one.page.goto(visit)
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test('by whoever clicked and approved: the documented page works as it is', async () => {
    await using world = await startWorld('caller')
    await using alice = await person(world, undefined)
    const { visit } = await upToApplication(world, alice, 'alice')
    await actsAs(world, alice, 'alice') // she signs in, and the application shows her the page again
    await alice.page.goto(visit)
    expect(await heading(alice.page)).toBe('demo is connected')
    expect(new URL(alice.page.url()).search).toBe('')
    await alice.page.goBack({ timeout: 10_000 }).catch(() => null)
    await alice.page.goto(visit)
    expect(await heading(alice.page)).toBe('demo is connected')
    expect(await world.damage()).toEqual(ONCE)
  })
})

describe('under `oidc`', () => {
  test('the login of Alice’s link, begun by Mallory and forwarded to her, counts in neither browser', async () => {
    await using world = await startWorld('oidc')
    world.oidc.settings.interaction = 'form'
    await using mallory = await person(world, 'mallory')
    const { id, url } = await world.begin('alice')
    await mallory.page.goto(url)
    await clickOn(mallory.page)
    const loginPage = mallory.page.url()
    expect(new URL(loginPage).origin).toBe(world.oidc.issuer)
    await using alice = await person(world, 'alice')
    await alice.page.goto(loginPage, { timeout: 10_000 }).catch(() => null)
    // the issuer binds its own page to his browser; what it would answer is bound to his here
    expect(await world.damage()).toEqual(NO_DAMAGE)
    await mallory.page.goto(url)
    expect(await mallory.page.locator('main').textContent()).toMatch(
      /First, .+ opens so that you can log in\./,
    )
    expect((await world.status(id)).status).toBe('pending')
    expect(world.as.requests).toEqual([])
  })
})
