import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

// The first minute after `npm start`, picture by picture: no command is typed after the first.

/** One picture: the clicks that lead to it from the one before, and what it must show. */
export interface Shot {
  readonly name: string
  readonly clicks: (page: Page, printed: Printed) => Promise<unknown>
  readonly shows: readonly string[]
  /** The picture of docs/images, if pages of the documentation have it: all of this one or a part. */
  readonly inDocs?: {
    readonly name: string
    readonly clip?: {
      readonly x: number
      readonly y: number
      readonly width: number
      readonly height: number
    }
  }
}

/** What the terminal shows once Gatepass runs, with the one-time link and the file of the API key in it. */
export interface Printed {
  readonly text: string
  readonly link: string
  readonly keyFile: string
}

export function readPrinted(output: string): Printed | undefined {
  const [text] = /^Gatepass [\s\S]*shown below\.$/m.exec(output) ?? []
  const [, link, keyFile] = /Console {3}(\S+)[\s\S]*API key {3}(.+)/.exec(text ?? '') ?? []
  return text && link && keyFile ? { text, link, keyFile } : undefined
}

/** Makes the clicks of a picture, and waits until the part of the page that is in the window shows all that it must. */
export async function take(page: Page, { name, clicks, shows }: Shot, printed: Printed): Promise<void> {
  await clicks(page, printed)
  await page.waitForLoadState()
  for (const text of shows) {
    const place = page.getByText(text).first()
    await place.waitFor().catch((cause) => {
      throw new Error(`${name} does not show “${text}”.`, { cause })
    })
    const box = await place.boundingBox()
    const height = page.viewportSize()?.height ?? 0
    if (box === null || box.y < 0 || box.y + box.height > height)
      throw new Error(`In ${name}, “${text}” is outside of the picture.`)
  }
}

/** The middle of a page of users, with its card: a phone shows this part large enough to read. */
const CARD = { x: 320, y: 0, width: 640, height: 800 }

export const step = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) })

const showStep = (page: Page, title: string) =>
  step(page, title).evaluate((item) => item.scrollIntoView({ block: 'center' }))

export const SHOTS: readonly Shot[] = [
  {
    name: '01-terminal',
    clicks: (page, { text }) => page.setContent(terminal(text)),
    shows: ['$ npm start', '/dashboard/enter?ticket=', 'Ctrl+C'],
  },
  {
    name: '02-link',
    clicks: (page, { link }) => page.goto(link),
    shows: ['Open the console'],
  },
  {
    name: '03-console',
    clicks: (page) => page.getByRole('button', { name: 'Open the console' }).click(),
    shows: ['Welcome to Gatepass', '1. Connect the sandbox as ada', '2. Run the tool'],
  },
  {
    name: '04-consent',
    clicks: (page) => step(page, 'Connect the sandbox').getByRole('button').click(),
    shows: ['Continue to'],
    inDocs: { name: 'consent.png', clip: CARD },
  },
  {
    name: '05-provider',
    clicks: (page) => page.getByRole('button', { name: /^Continue to/ }).click(),
    shows: ['Approve', 'Deny'],
  },
  {
    name: '06-connected',
    clicks: async (page) => {
      await page.getByRole('button', { name: 'Approve' }).click()
      await step(page, 'Connect the sandbox').getByText('done').waitFor()
    },
    shows: ['1. Connect the sandbox as ada', 'done', 'Run it'],
  },
  {
    name: '07-answer',
    clicks: async (page) => {
      await step(page, 'Run the tool').getByRole('button').click()
      await step(page, 'Run the tool').getByText('done').waitFor()
    },
    shows: ['2. Run the tool', '"message": "Hello Ada Lovelace"'],
    inDocs: { name: 'console.png' },
  },
  {
    name: '08-audit',
    clicks: (page) => step(page, 'See the token').getByRole('button').click(),
    shows: ['token.released', 'fingerprint'],
  },
  {
    name: '09-program',
    clicks: async (page) => {
      await page.getByRole('link', { name: 'Overview' }).click()
      await step(page, 'Do the same').getByRole('button', { name: 'Copy' }).click()
      await showStep(page, 'Do the same')
    },
    shows: ['4. Do the same from a program', "import { Gatepass } from '@gatepass/sdk'", 'Copied'],
  },
  {
    name: '10-catalogue',
    clicks: async (page) => {
      await step(page, 'Add a real provider').getByRole('link').click()
      await page.getByLabel('Search').fill('git')
      await page.getByLabel('Search').press('Enter')
      await page.waitForURL('**/catalogue?*')
    },
    shows: ['Add a provider', 'GitHub'],
  },
  {
    name: '11-user',
    clicks: async (page) => {
      await page.getByRole('link', { name: 'Users' }).click()
      await page.getByRole('main').getByRole('link', { name: 'ada' }).click()
    },
    shows: ['ada', 'Sandbox', 'active'],
  },
  {
    name: '12-me',
    clicks: async (page, printed) => {
      await page.goto(await linkToOwnPage(printed))
      await page.getByRole('button').click()
    },
    shows: ['Sandbox', 'Disconnect'],
    inDocs: { name: 'me.png', clip: { ...CARD, y: 120, height: 540 } },
  },
]

/** An application asks for this link, and shows it to its user. */
async function linkToOwnPage({ link, keyFile }: Printed): Promise<string> {
  const response = await fetch(new URL('/v1/users/ada/portal', link), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(keyFile, 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: '{}',
  })
  const { url } = (await response.json()) as { url: string }
  return url
}

/** What the terminal shows, as a page. */
function terminal(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<!doctype html><title>Terminal</title>
<body style="margin: 0; padding: 32px; background: #1c1f26; color: #e6e6e6">
<pre style="font-size: 15px; line-height: 1.7; white-space: pre-wrap; overflow-wrap: anywhere">$ npm start
${escaped}</pre></body>`
}
