import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import { type Installation, install, type Started } from '../cli/gatepass.ts'
import { onDemand } from '../on-demand/ask.ts'
import { readPrinted, SHOTS, step, take } from './film/shots.ts'
import { smallPng } from './film/small-png.ts'
import { type Looking, lookAt } from './look-at.ts'
import { clickThrough, heading } from './looks-right.ts'

// What a developer clicks after `gatepass dev`: no command is typed after the first.

const run = promisify(execFile)
const LOOKING: Looking = { widths: [1280, 390] }

let browser: Browser
let gatepass: Installation
let server: Started
beforeAll(async () => {
  await onDemand('sdk') // which the program of the tour imports
  browser = await openBrowser()
  gatepass = await install()
  server = gatepass.start('dev')
})
afterAll(async () => {
  await browser?.close()
  await gatepass?.[Symbol.asyncDispose]()
})

/** The newest link that the terminal shows, after `after`. */
async function printedLink(after = ''): Promise<string> {
  const pattern = new RegExp(
    `${after.replaceAll(/[?]/g, '\\?')}[\\s\\S]*Console {3}(http://localhost:\\d+/dashboard/enter\\?ticket=[\\w-]{43}\\S*)`,
  )
  return (await server.prints(pattern))[1] ?? ''
}

const stateOf = async ({ page }: Person, title: string) => step(page, title).locator('.badge').textContent()

test('six lines lead into a tour that one clicks, from the first consent to the page of the user', async () => {
  const [welcome] = await server.prints(/^Gatepass [\s\S]*shown below\.\n/m)
  expect(welcome.trim().split('\n').length).toBeLessThanOrEqual(6)
  expect(welcome).not.toMatch(/gp_|curl -/)
  const printed = readPrinted(welcome)
  if (printed === undefined) throw new Error(`No link in ${welcome}`)

  await using person = await newPerson(browser)
  const { page, context } = person
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const after: Readonly<Record<string, () => Promise<void>>> = {
    '02-link': () => lookAt(person, 'first-minute-enter', LOOKING),
    '03-console': async () => {
      await lookAt(person, 'first-minute-tour', LOOKING)
      expect(await stateOf(person, 'Connect the sandbox')).toBe('next')
      expect(await step(page, 'Run the tool').getByRole('button').count()).toBe(0)
      await step(page, 'Connect the sandbox').getByRole('button').click()
      await clickThrough(page, 'Deny')
      await page.getByRole('alert').getByText('Consent was not given').waitFor()
    },
    '07-answer': async () => expect(await stateOf(person, 'See the token')).toBe('next'),
    '08-audit': () => lookAt(person, 'first-minute-audit', LOOKING),
    '09-program': async () => {
      expect(await stateOf(person, 'See the token')).toBe('done')
      await runsAsCopied(await page.evaluate(() => navigator.clipboard.readText()))
      await page.reload()
      expect(await stateOf(person, 'Do the same')).toBe('done')
      expect(await stateOf(person, 'Add a real provider')).toBe('next')
      await lookAt(person, 'first-minute-last', LOOKING)
    },
    '10-catalogue': async () => expect(await heading(page)).toBe('Add a provider'),
  }
  for (const shot of SHOTS) {
    await take(page, shot, printed)
    expect(smallPng(await page.screenshot()).length, shot.name).toBeLessThan(60_000)
    await after[shot.name]?.()
  }
  expect(Object.keys(after).filter((name) => !SHOTS.some((shot) => shot.name === name))).toEqual([])
})

async function runsAsCopied(program: string) {
  expect(program.trim().split('\n').length).toBeLessThanOrEqual(10)
  const command = /then: (.*)/.exec(program)?.[1] ?? ''
  symlinkSync(resolve('node_modules'), join(gatepass.directory, 'node_modules'))
  writeFileSync(join(gatepass.directory, 'hello.mjs'), program)
  const env = { ...process.env, PATH: `${join(process.execPath, '..')}:${process.env.PATH}` }
  const { stdout } = await run('bash', ['-c', command], { cwd: gatepass.directory, env })
  expect(stdout).toContain("message: 'Hello Ada Lovelace'")
}

test('a small picture of a page with few colours has each pixel of the page', async () => {
  await using person = await newPerson(browser)
  const { page } = person
  const squares = Array.from(
    { length: 200 },
    (_, i) => `<i style="background: hsl(${i * 7} 80% ${20 + (i % 60)}%); padding: 9px; float: left"></i>`,
  )
  await page.setContent(squares.join(''))
  const before = await page.screenshot()
  const small = smallPng(before).toString('base64')
  await page.setContent(
    `<body style="margin: 0"><img style="display: block" src="data:image/png;base64,${small}">`,
  )
  expect((await page.screenshot()).equals(before)).toBe(true)
})

test('the tour can be left, and begun again', async () => {
  await using person = await newPerson(browser)
  const { page } = person
  await page.goto(gatepass.url)
  expect(new URL(page.url()).pathname).toBe('/dashboard/login')
  await lookAt(person, 'first-minute-login', LOOKING)
  const before = await printedLink()
  await page.getByRole('button', { name: 'Show a new link in the terminal' }).click()
  await page.getByRole('status').getByText('A new link is in the terminal').waitFor()
  await page.goto(await printedLink(before))
  await page.getByRole('button', { name: 'Open the console' }).click()
  await page.getByRole('button', { name: 'Leave tour' }).click()
  expect(await heading(page)).toBe('Overview')
  await page.getByRole('button', { name: 'Start tour' }).click()
  expect(await heading(page)).toBe('Welcome to Gatepass')
  expect(await stateOf(person, 'Run the tool')).toBe('done')
  // the lines of calls and the log are on standard error; the link, which logs in, is on standard output alone
  const [calls] = await server.reports(/^[\s\S]*POST +\/dashboard\/enter[\s\S]*$/)
  expect(calls).not.toContain('ticket')
})

test('the tour is over once there is another provider', async () => {
  const added = await gatepass.runHereWith({ stdin: 's' }, 'providers', 'add', 'github', '--client-id', 'id')
  expect(added).toMatchObject({ code: 0 })
  await using person = await newPerson(browser)
  const { page } = person
  await page.goto(`${gatepass.url}/dashboard/login`)
  const key = (await run('cat', [join(gatepass.directory, 'x.db.api-key')])).stdout.trim()
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  expect(await heading(page)).toBe('Overview')
  expect(await page.getByRole('button', { name: /tour/ }).count()).toBe(0)
})
