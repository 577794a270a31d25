import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleMetadata } from '../../src/dev-provider/sample-metadata.ts'
import { newPerson, openBrowser } from '../browser.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { heading, looksRight, SCREENSHOTS, WIDTHS } from './looks-right.ts'

// The pages of `gatepass dev` in a real Chromium: the landing page, the API reference and the sandbox provider.

let browser: Browser
let gatepass: Gatepass
let users = 0
const newUser = () => `user-${++users}@example.test`

beforeAll(async () => {
  browser = await openBrowser()
  gatepass = await startGatepass({ mode: 'development' })
  const sample = sampleMetadata(gatepass.config.publicUrl)
  await gatepass.call('POST', '/v1/tools/import?worker_id=sandbox', sample)
})

afterAll(async () => {
  await browser.close()
  await gatepass.close()
})

test.each(WIDTHS)('landing page, reference, and the sandbox approved, at %d px', async (width) => {
  await using person = await newPerson(browser, { width })
  const { page } = person
  await page.goto(gatepass.url)
  await looksRight(person, 'landing')
  await page
    .getByRole('link', { name: /API|reference|docs/i })
    .first()
    .click()
  expect(new URL(page.url()).pathname).toBe('/docs')
  await looksRight(person, 'docs')

  const ask = { tool_name: 'Sandbox_Profile', user_id: newUser() }
  const first = await gatepass.call('POST', '/v1/tools/execute', ask)
  await page.goto(first.body.output.requires_authorization.url)
  await looksRight(person, 'sandbox-connect')
  expect(await page.locator('.scopes').textContent()).toContain('See your name and email address')
  await page.getByRole('button', { name: /^Continue to/ }).click()
  await looksRight(person, 'sandbox-consent')
  await page.getByRole('button', { name: 'Approve' }).click()
  expect(await heading(page)).toBe('Sandbox is connected')
  await looksRight(person, 'sandbox-completed')
  const second = await gatepass.call('POST', '/v1/tools/execute', ask)
  expect(second.body).toMatchObject({ success: true, output: { value: { message: expect.any(String) } } })
})

describe('the page for MCP clients', () => {
  test.each(WIDTHS)('has the text for each client, and copies it, at %d px', async (width) => {
    await using person = await newPerson(browser, { width })
    const { page, context } = person
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto(gatepass.url)
    await page.getByRole('link', { name: 'Connect an MCP client' }).click()
    expect(await heading(page)).toBe('Connect an MCP client')
    await page.goto(`${gatepass.url}/docs/mcp?toolset=mail`)
    for (const summary of await page.getByText('With an API key').all()) await summary.click()
    await looksRight(person, 'docs-mcp')
    const claudeCode = page.locator('#claude-code')
    await claudeCode.getByRole('button', { name: 'Copy' }).first().click()
    await claudeCode.getByText('Copied').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `claude mcp add --transport http mail ${gatepass.url}/mcp/mail`,
    )
    await context.clearPermissions()
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await page.locator('#goose').getByRole('button', { name: 'Copy' }).first().click()
    expect(await page.evaluate(() => getSelection()?.toString())).toContain('type: streamable_http')
  })

  test('gives the whole text by one click without scripts, and shows no button that does nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${gatepass.url}/docs/mcp`)
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0)
    const text = page.locator('#vscode pre').first()
    expect(await text.evaluate((element) => getComputedStyle(element).userSelect)).toBe('all')
    await context.close()
  })

  test('tells nothing about toolsets, and refuses what no toolset is called', async () => {
    for (const [toolset, status] of [
      ['there-is-none', 200],
      ['<script>', 404],
      ['A', 404],
      ['', 404],
    ] as const) {
      const path = `${gatepass.url}/docs/mcp?toolset=${encodeURIComponent(toolset)}`
      const answer = await fetch(path, { headers: { accept: 'text/html' } })
      expect([toolset, answer.status]).toEqual([toolset, status])
      expect(await answer.text()).not.toContain('<script>')
    }
  })
})

describe('the API reference', () => {
  test.each(WIDTHS)('finds operations, by the keyboard too, at %d px', async (width) => {
    await using person = await newPerson(browser, { width })
    const { page } = person
    await page.goto(`${gatepass.url}/docs`)
    await page.getByLabel('Search operations').fill('run tool stream')
    await page.getByRole('status').getByText('1 operation').waitFor()
    await looksRight(person, 'docs-search')
    await page.getByRole('link', { name: 'POST /v1/tools/run_stream' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/running-tools#streamTool')
    await page.getByLabel('Search operations').fill('no such thing')
    await page.getByRole('status').getByText('0 operations').waitFor()
    await page.getByLabel('Search operations').fill('')
    await page.getByRole('link', { name: 'Schemas', exact: true }).waitFor()
    await looksRight(person, 'docs-group')
    await page.goto(`${gatepass.url}/docs/schemas`)
    await looksRight(person, 'docs-schemas')
  })

  test.each(WIDTHS)('sends the request of a form with the key that is typed, at %d px', async (width) => {
    await using person = await newPerson(browser, { width })
    const { page } = person
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.goto(`${gatepass.url}/docs/tools`)
    const operation = page.locator('#getTool')
    await operation.getByText('Try it').click()
    await operation.getByLabel('name path').fill('Sandbox_Profile')
    await operation.getByRole('button', { name: 'Send' }).click()
    await operation.getByText('401').waitFor()
    await page.getByLabel('API key').fill(gatepass.apiKey)
    await operation.getByLabel('name path').press('Enter')
    await operation.getByRole('status').getByText('200').waitFor()
    await operation.locator('details.try pre').getByText('"tool_id"').waitFor()
    expect(urls.at(-1)).toBe(`${gatepass.url}/v1/tools/Sandbox_Profile`)
    expect(urls.join()).not.toContain(gatepass.apiKey)
    expect(page.url()).toBe(`${gatepass.url}/docs/tools`)
    if (SCREENSHOTS !== undefined)
      await operation.screenshot({ path: `${SCREENSHOTS}/docs-try-${width}.png` })

    await page.goto(`${gatepass.url}/docs/running-tools`)
    await page.getByLabel('API key').fill(gatepass.apiKey)
    const code = page.locator('#executeCode')
    await code.getByText('Try it').click()
    await code.getByLabel('Body').fill('{"code": "return 6 * 7"}')
    await code.getByRole('button', { name: 'Send' }).click()
    await code.locator('details.try pre').getByText('"value": 42').waitFor()

    await page.goto(`${gatepass.url}/docs/proxy`)
    await page.getByLabel('API key').fill(gatepass.apiKey)
    const proxied = page.locator('#proxyGet')
    await proxied.getByText('Try it').click()
    await proxied.getByLabel('provider path').fill('unknown')
    await proxied.getByLabel('path path').fill('user/my repos')
    await proxied.getByRole('button', { name: 'Send' }).click()
    await proxied
      .getByRole('status')
      .getByText(/^4\d\d/)
      .waitFor()
    expect(urls.at(-1)).toBe(`${gatepass.url}/proxy/unknown/user/my%20repos`)
  })

  test('is readable without scripts, and then sends nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${gatepass.url}/docs/running-tools`)
    await page.getByRole('heading', { name: 'Run several tools in a row' }).waitFor()
    expect(await page.locator('form, input, textarea').filter({ visible: true }).count()).toBe(0)
    await context.close()
  })

  test('sends nothing in production', async () => {
    await using production = await startGatepass()
    await using person = await newPerson(browser)
    await person.page.goto(`${production.url}/docs/tools`)
    expect(await person.page.locator('form').count()).toBe(0)
    const sent = await person.page.evaluate(() =>
      fetch('/health').then(
        () => 'sent',
        () => 'refused',
      ),
    )
    expect(sent).toBe('refused')
  })
})

test('denied at the sandbox, in the dark', async () => {
  await using person = await newPerson(browser, { width: 375, colorScheme: 'dark' })
  const { page } = person
  const ask = { tool_name: 'Sandbox_Profile', user_id: newUser() }
  const { body } = await gatepass.call('POST', '/v1/tools/execute', ask)
  await page.goto(body.output.requires_authorization.url)
  await looksRight(person, 'dark-connect')
  await page.getByRole('button', { name: /^Continue to/ }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  expect(await heading(page)).toBe('Access was not approved')
  await looksRight(person, 'dark-denied')
})
