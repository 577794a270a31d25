import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FAILURE_REASONS } from '../../src/domain/authorization.ts'
import { LANGUAGES } from '../../src/domain/languages.ts'
import { assets } from '../../src/http/pages/assets.ts'
import { type ConnectView, connectPage } from '../../src/http/pages/connect-page.ts'
import { ENDING_KINDS } from '../../src/http/pages/ending-kinds.ts'
import { endingPage } from '../../src/http/pages/ending-page.ts'
import type { Html } from '../../src/http/pages/layout.ts'
import { pageHeaders } from '../../src/http/pages/page-headers.ts'
import type { Texts } from '../../src/http/pages/texts/generated/texts.ts'
import { createWords, type Words, wordsOf } from '../../src/http/pages/texts/words.ts'
import { newPerson, openBrowser } from '../browser.ts'
import { freePort } from '../ports.ts'
import { type Looking, lookAt, tabStops } from './look-at.ts'
import { looksRight } from './looks-right.ts'

// Each page of an authorization in each language, as a server sends it to a real browser.

/** English in the letters of a language that is written from right to left. */
function mirrored(texts: object): Texts {
  const turn = (text: string) =>
    text.replaceAll(/[a-z]/gi, (letter) => String.fromCharCode(0x05d0 + (letter.charCodeAt(0) % 27)))
  const entries = Object.entries(texts).map(([key, value]) => [
    key,
    typeof value === 'string' ? turn(value) : typeof value === 'function' ? value : mirrored(value),
  ])
  return Object.fromEntries(entries) // of the same shape
}

const SPOKEN: readonly Words[] = [...LANGUAGES.map(wordsOf), createWords('he', mirrored(wordsOf('en').texts))]

const view: ConnectView = {
  brand: {
    appName: 'Acme Assistant',
    privacyUrl: 'https://acme.example/p',
    supportUrl: 'https://acme.example/s',
    note: () => ({ text: 'We only read what you ask about.', language: 'en' }),
  },
  requester: 'Triage issues',
  providerName: 'GitHub',
  userId: 'u-81f3',
  userDisplay: 'Ada L.',
  scopes: [
    {
      scope: 'repo',
      sentence: { text: 'Read and change your code', language: 'en' },
      level: 'write',
      sensitive: true,
      isAllowed: false,
    },
    {
      scope: 'read:user',
      sentence: { text: 'See your profile', language: 'en' },
      level: 'read',
      isAllowed: true,
    },
    { scope: 'made:up', isAllowed: false },
  ],
  fields: [
    { name: 'subdomain', label: 'Subdomain', example: 'acme', value: '', isGiven: false, isWrong: true },
    { name: 'region', label: 'Region', oneOf: ['com', 'eu'], value: 'eu', isGiven: false, isWrong: false },
    { name: 'account', label: 'Account', value: '12', isGiven: true, isWrong: false },
  ],
  step: 1,
  steps: [
    { providerName: 'Google', done: true },
    { providerName: 'GitHub', done: false },
    { providerName: 'Notion', done: false },
  ],
  expiresAt: 600,
  now: 0,
  authorizationId: 'auth_01a206',
  action: '/connect/a',
  cancelAction: '/connect/a/cancel',
  askedAgain: 'The access was withdrawn.',
  opens: 'github.com',
  loginAt: 'login.acme.example',
  ownPage: new URL('https://gatepass.example/me'),
  forBrowser: 'https://acme.example',
}

const ENDINGS = [
  ...ENDING_KINDS.filter((kind) => kind !== 'failed').map((kind) => ({ kind }) as const),
  ...FAILURE_REASONS.map((reason) => ({ kind: 'failed', reason }) as const),
]

const app = new Hono().route('/', assets())
for (const words of SPOKEN) {
  const send = (path: string, page: () => Html) =>
    app.get(`/${words.language}/${path}`, (c) => {
      pageHeaders(c, { hasForm: true })
      return c.html(page())
    })
  send('connect', () => connectPage(view, words))
  for (const ending of ENDINGS) {
    const { requester, userId, providerName, brand } = view
    const about = {
      requester,
      userId,
      providerName,
      brand,
      account: 'ada@example.test',
      nextUri: 'https://acme.example/',
    }
    const lookAgain = ending.kind === 'working' ? { lookAgain: '/' } : {}
    const again = /login|another|waiting/.test(ending.kind) ? { again: '/connect/a' } : {}
    send('reason' in ending ? ending.reason : ending.kind, () =>
      endingPage({ ...about, ...again, ...lookAgain, ...ending }, words),
    )
  }
}

let browser: Browser
let url: string
let server: ReturnType<typeof serve>
beforeAll(async () => {
  browser = await openBrowser()
  const port = await freePort()
  url = `http://127.0.0.1:${port}`
  server = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' })
})
afterAll(async () => {
  await browser.close()
  await new Promise((resolve) => server.close(resolve))
})

/** Both schemes in English: what a language changes is how wide its words are. */
const schemesOf = (language: string): Looking => (language === 'en' ? {} : { schemes: ['light'] })

describe.each(SPOKEN)('in $language', ({ language, direction }) => {
  test('the connect page', async () => {
    await using person = await newPerson(browser)
    const { page } = person
    await page.goto(`${url}/${language}/connect`)
    expect(await page.locator('html').getAttribute('dir')).toBe(direction)
    await page.locator('summary').click()
    await lookAt(person, `connect-${language}`, schemesOf(language))
  })

  test('every ending', async () => {
    await using person = await newPerson(browser, { width: 390 })
    for (const ending of ENDINGS) {
      const name = 'reason' in ending ? ending.reason : ending.kind
      await person.page.goto(`${url}/${language}/${name}`)
      // each has the same parts: all of English, and one of each other language, are looked at from everywhere
      if (name === 'access_denied' || name === 'completed')
        await lookAt(person, `${name}-${language}`, schemesOf(language))
      else if (language === 'en') await lookAt(person, `${name}-en`, { widths: [390], schemes: ['light'] })
      else await looksRight(person, `${name}-${language}`)
    }
  })
})

test('the keyboard reaches the fields, the button, and Cancel, each with a visible focus', async () => {
  await using person = await newPerson(browser)
  await person.page.goto(`${url}/en/connect`)
  expect(await tabStops(person)).toEqual([
    'value.subdomain',
    expect.stringContaining('Choose'),
    '', // the address to open in a browser, whose label is around it
    'Continue to GitHub',
    'Cancel',
    'gatepass.example/me',
    'Technical details',
    'Privacy',
    'Support',
  ])
})
