import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findings, lookAt } from '../../browser/look-at.ts'
import { clickThrough, heading, untilClosed } from '../../browser/looks-right.ts'
import { newPerson, openBrowser, type Person } from '../../browser.ts'
import { type EmbeddingSite, startEmbeddingSite } from './embedding-site.ts'

// Pages of an application on another site embed Gatepass: the script, the element, and what pages of others try. In this
// Chromium third-party cookies are blocked.

const PHONE =
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Mobile Safari/537.36'

let browser: Browser
let site: EmbeddingSite
let person: Person

beforeAll(async () => {
  browser = await openBrowser({ args: ['--test-third-party-cookie-phaseout'] })
  site = await startEmbeddingSite()
})
afterAll(async () => {
  await browser.close()
  await site[Symbol.asyncDispose]()
})
beforeEach(async () => {
  site.world.as.behaviour.consent = 'page'
  person = await newPerson(browser)
  return () => person.close()
})

const settled = (page: Page, state: string) => page.waitForSelector(`gatepass-connect[state=${state}]`)

/** Loads the page, and records its events. */
async function load(page: Page, path = '/'): Promise<void> {
  await page.goto(`${site.origin}${path}`)
  await page.waitForFunction(() => customElements.get('gatepass-connect') !== undefined)
  if (path.includes('csp'))
    await page.evaluate(() => {
      const events: string[] = []
      for (const name of ['open', 'settled', 'blocked', 'expired'])
        document.addEventListener(`gatepass-${name}`, (event) =>
          events.push(`${name} ${JSON.stringify((event as CustomEvent).detail)}`),
        )
      Object.assign(globalThis, { events })
    })
}

/** This Chromium has no popup blocker, so its effect is made: `open` gives no window. */
const blockPopups = (page: Page) =>
  page.addInitScript(() => {
    window.open = () => null
  })

const eventsOf = (page: Page) => page.evaluate(() => (globalThis as unknown as { events: string[] }).events)

async function clickForPopup(page: Page, name = 'Connect demo'): Promise<Page> {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name, exact: true }).click(),
  ])
  await popup.waitForURL(/\/connect\//)
  return popup
}

describe('a popup', () => {
  test('opens the connect page, closes itself, and the page that opened it hears how it ended from Gatepass', async () => {
    const { page } = person
    await load(page)
    const popup = await clickForPopup(page)
    expect(await page.locator('[role=status]').textContent()).toBe('Go on in the other window.')
    expect(await findings(person)).toEqual([])
    expect(popup.url()).not.toContain('gps_')
    expect(await popup.evaluate(() => window.opener)).toBeNull()
    await untilClosed(popup, () => clickThrough(popup, 'Approve'))
    await settled(page, 'completed')
    expect(await page.locator('[role=status]').textContent()).toBe('Connected')
    expect(page.url()).toBe(`${site.origin}/`)
    const [opened, ended] = await eventsOf(page)
    expect(opened).toBe('open {"in":"popup"}')
    expect(ended).toMatch(
      /^settled \{"status":"completed","connection":\{"id":"conn_\w+","provider_id":"demo"\}\}$/,
    )
    expect(person.complaints).toEqual([])
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  test('that the user refuses closes itself too; one that the provider fails stays to be read', async () => {
    const { page } = person
    await load(page)
    const refused = await clickForPopup(page)
    await untilClosed(refused, () => clickThrough(refused, 'Deny'))
    await settled(page, 'failed')
    expect(await page.locator('[role=status]').textContent()).toBe('Not connected')
    expect((await eventsOf(page)).at(-1)).toContain('"reason":"access_denied"')

    site.world.as.behaviour.consent = 'invalid_scope'
    const failed = await clickForPopup(page)
    await clickThrough(failed)
    expect(await heading(failed)).toBe('These permissions are not available')
    const csp = (await failed.reload())?.headers()['content-security-policy']
    expect(csp).toContain("default-src 'none'")
    expect(csp).toContain("script-src 'self'")
    expect(csp).not.toContain('connect-src')
    await lookAt({ ...person, page: failed }, 'embedded-failed')
    await untilClosed(failed, () => failed.getByRole('button', { name: 'Close this window' }).click())
  })

  test('that was closed is opened again, or the user cancels in the page', async () => {
    const { page } = person
    await load(page)
    const first = await clickForPopup(page)
    await first.close()
    const second = await clickForPopup(page, 'Open again')
    expect(second.url()).toBe(site.sessions.at(-1)?.url)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await settled(page, 'failed')
    await untilClosed(second, () => second.getByRole('button', { name: /^Continue to/ }).click())
  })

  test('goes on when the page is loaded again', async () => {
    const { page } = person
    await load(page)
    const popup = await clickForPopup(page)
    await load(page)
    await page.waitForSelector('gatepass-connect[state=open]')
    await untilClosed(popup, () => clickThrough(popup, 'Approve'))
    await settled(page, 'completed')
  })

  test('may be any that this browser has opened for the session; the others close when they are used', async () => {
    const { page } = person
    await load(page)
    const first = await clickForPopup(page)
    const second = await clickForPopup(page, 'Open again')
    await untilClosed(first, () => clickThrough(first, 'Approve'))
    await settled(page, 'completed')
    await untilClosed(second, () => second.getByRole('button', { name: /^Continue to/ }).click())
  })

  test('speaks the language of the page, and its texts can be replaced', async () => {
    const { page } = person
    await load(page, '/?lang=de-CH')
    await page.evaluate(() =>
      document.querySelector('gatepass-connect')?.setAttribute('text-cancel', 'Lieber nicht'),
    )
    await clickForPopup(page)
    expect(await page.locator('gatepass-connect').textContent()).toBe(
      'Connect demo Weiter im anderen Fenster. Neu öffnen Lieber nicht',
    )
  })

  test('ends when the session is over, and a click begins another', async () => {
    const { page } = person
    await load(page)
    await clickForPopup(page)
    await page.evaluate(() => {
      const [name = ''] = Object.keys(sessionStorage)
      const kept = JSON.parse(sessionStorage.getItem(name) ?? '')
      sessionStorage.setItem(name, JSON.stringify({ ...kept, token: `gps_${'A'.repeat(43)}` }))
    })
    await load(page)
    await settled(page, 'failed')
    await clickForPopup(page)
    await page.waitForSelector('gatepass-connect[state=open]')
  })
})

test('a button of the page’s own keeps its label, which a framework may change', async () => {
  const { page } = person
  await load(page, '/bare')
  await page.evaluate(() => {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Connect' })
    const element = document.createElement('gatepass-connect')
    element.setAttribute('session-url', '/session')
    element.append(button)
    document.querySelector('main')?.append(element)
    button.textContent = 'Connect demo'
  })
  const popup = await clickForPopup(page)
  await untilClosed(popup, () => clickThrough(popup, 'Approve'))
  await settled(page, 'completed')
  expect(await page.locator('gatepass-connect').textContent()).toBe('Connect demo Connected ')
})

describe('this tab', () => {
  test('is used where the browser blocks popups, and the way back goes on', async () => {
    const { page } = person
    await blockPopups(page)
    await page.goto(`${site.origin}/bare?mode=auto`)
    await page.waitForURL(/\/connect\/auth_/)
    await clickThrough(page, 'Approve')
    await page.waitForURL(/\/\?back&auth_id=auth_\w+&status=completed$/)
    await settled(page, 'completed')
  })

  test('is used on phones', async () => {
    await using phone = await newPerson(browser, { width: 390, userAgent: PHONE })
    const { page } = phone
    await load(page)
    await page.getByRole('button', { name: 'Connect demo' }).click()
    await page.waitForURL(/\/connect\/auth_/)
    expect(phone.context.pages()).toHaveLength(1)
    await clickThrough(page, 'Deny')
    await page.waitForURL(/status=failed&reason=access_denied$/)
    await settled(page, 'failed')
  })

  test('is not left where the mode is `popup`', async () => {
    const { page } = person
    await blockPopups(page)
    await page.goto(`${site.origin}/bare?mode=popup`)
    await expect
      .poll(() => eventsOf(page), { timeout: 300_000 })
      .toContain('settled {"status":"failed","reason":"popup_blocked"}')
    expect(await eventsOf(page)).toContain('blocked {"by":"popup_blocker"}')
  })
})

describe('a page’s own policy', () => {
  const strict = "default-src 'none'; img-src data:; script-src GATEPASS"

  test.each([
    ['form-action', `${strict}; connect-src 'self' GATEPASS; form-action 'self'`],
    ['connect-src', `${strict}; connect-src 'self'; form-action GATEPASS`],
  ])('that forbids %s is named, and no empty window stays', async (directive, csp) => {
    const { page } = person
    await load(page, `/?csp=${encodeURIComponent(csp)}`)
    await page.getByRole('button', { name: 'Connect demo' }).click()
    await settled(page, 'failed')
    expect(await eventsOf(page)).toContain('blocked {"by":"csp"}')
    // a window that has gone to Gatepass is out of reach
    if (directive === 'form-action')
      await expect.poll(() => person.context.pages().length, { timeout: 300_000 }).toBe(1)
  })

  test('needs no more than Gatepass in three directives, with Trusted Types', async () => {
    const { page } = person
    const csp = `${strict}; connect-src 'self' GATEPASS; form-action GATEPASS; require-trusted-types-for 'script'; trusted-types 'none'`
    await load(page, `/?csp=${encodeURIComponent(csp)}`)
    const popup = await clickForPopup(page)
    await untilClosed(popup, () => clickThrough(popup, 'Approve'))
    await settled(page, 'completed')
    expect(person.complaints).toEqual([])
  })

  test('without a referrer ends in a page that says so', async () => {
    const { page } = person
    await load(page, '/?referrer=no-referrer')
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').first().click()])
    await popup.waitForURL(/\/connect\/session/)
    expect(await heading(popup)).toBe('This did not come from your application')
    await lookAt({ ...person, page: popup }, 'embedded-other-origin')
  })
})

describe('another person and another site', () => {
  test('a forwarded link ends in `wrong_browser`, although nobody verifies users here', async () => {
    const { page } = person
    await load(page)
    const popup = await clickForPopup(page)
    await using victim = await newPerson(browser)
    await victim.page.goto(popup.url())
    expect(await heading(victim.page)).toBe('This link belongs to another browser')
    expect(await victim.page.locator('.reason').textContent()).toContain('wrong_browser')
    expect(await victim.page.locator('form').count()).toBe(0)
    await lookAt(victim, 'embedded-wrong-browser')
    await untilClosed(popup, () => clickThrough(popup, 'Approve'))
    await settled(page, 'completed')
  })

  test('a session of the attacker’s own is not opened by the attacker’s page in a victim’s browser', async () => {
    await load(person.page)
    await clickForPopup(person.page)
    const { session_token } = site.sessions.at(-1) ?? { session_token: '' }
    await using victim = await newPerson(browser)
    const { page } = victim
    await page.goto(`${site.evil}/bare`)
    const fetched = await page.evaluate(
      ([url, token]) =>
        fetch(`${url}/v1/connect_sessions/current`, { headers: { authorization: `Bearer ${token}` } }).then(
          (one) => one.text(),
          (error) => error.name,
        ),
      [site.world.gatepass.url, session_token],
    )
    expect(fetched).toBe('TypeError')
    await page.evaluate(
      ([url, token = '']) => {
        const form = document.createElement('form')
        Object.assign(form, { method: 'post', action: `${url}/connect/session` })
        form.append(Object.assign(document.createElement('input'), { name: 'session_token', value: token }))
        document.body.append(form)
        form.submit()
      },
      [site.world.gatepass.url, session_token],
    )
    await page.waitForURL(/\/connect\/session/)
    expect(await heading(page)).toBe('This did not come from your application')
    expect((await victim.context.cookies()).filter(({ name }) => name.includes('open'))).toEqual([])
  })

  test('messages and a window’s handle change nothing', async () => {
    const { page } = person
    await load(page)
    const popup = await clickForPopup(page)
    await using other = await newPerson(browser)
    await other.page.goto(`${site.evil}/bare`)
    await page.evaluate(() => {
      for (const data of [{ status: 'completed' }, 'completed', { type: 'gatepass', status: 'completed' }])
        window.postMessage(data, '*')
    })
    expect(await popup.evaluate(() => window.opener)).toBeNull()
    expect(await page.locator('gatepass-connect').getAttribute('state')).toBe('open')
    expect((await eventsOf(page)).filter((one) => one.startsWith('settled'))).toEqual([])
  })

  test('no page of a session shows itself in a frame', async () => {
    const { page } = person
    await load(page)
    const popup = await clickForPopup(page)
    const url = popup.url()
    await page.evaluate((src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }))
    }, url)
    await expect
      .poll(() => page.frames().find((frame) => frame.url().startsWith('chrome-error:')) !== undefined, {
        timeout: 300_000,
      })
      .toBe(true)
  })
})
