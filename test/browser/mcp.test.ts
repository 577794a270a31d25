import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPerson, openBrowser } from '../browser.ts'
import { verifierOf } from '../flows/login-fixtures.ts'
import { startWorld, type World } from '../http/world.ts'
import { answer, type Loopback, listen } from '../loopback.ts'
import { connect } from '../mcp/clients.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'

// What a user sees in Chromium: the link that a client of each era gives for a tool that needs consent, up to the result
// of the tool; and the MCP Inspector, which is a page itself and logs in by OAuth.

const INSPECTOR = dirname(
  createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector-client/package.json'),
)

let browser: Browser
let oidc: OidcProvider
let world: World
beforeAll(async () => {
  let redirectUri = ''
  oidc = await startOidcProvider({ redirectUris: () => [redirectUri], interaction: 'form' })
  world = await startWorld({ as: { consent: 'page' }, gatepass: { environment: verifierOf(oidc) } })
  redirectUri = `${world.gatepass.url}/login/callback`
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.close()
  await world?.[Symbol.asyncDispose]()
  await oidc?.close()
})

/** Opens the link, logs in, and approves at the provider. */
async function approveInBrowser(user: string, url: string): Promise<void> {
  oidc.settings.account = { sub: user, name: user, email: `${user}@example.test` }
  await using person = await newPerson(browser)
  const { page } = person
  await page.goto(url)
  await page.getByRole('button', { name: 'Continue to demo' }).click()
  for (let form = 0; form < 2; form++) await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: /connected/i }).waitFor()
}

const whoAmI = (client: Client) => client.callTool({ name: 'Demo_WhoAmI', arguments: {} })
const LINKS = { elicitation: { form: {}, url: {} } }

describe('the user approves in the browser, and the client gets the result of the tool', () => {
  test('2026-07-28: input_required, and the call that is held', async () => {
    const user = 'grace'
    await using connected = await connect(world.gatepass, { era: 'modern', user, capabilities: LINKS })
    let approved: Promise<void> | undefined
    connected.client.setRequestHandler('elicitation/create', ({ params }) => {
      approved = approveInBrowser(user, (params as { url: string }).url)
      return { action: 'accept' }
    })
    expect(JSON.stringify(await whoAmI(connected.client))).toContain(user)
    await approved
  })

  test('2025-11-25: -32042, and the notification', async () => {
    const user = 'heidi'
    await using connected = await connect(world.gatepass, { era: 'legacy', user, capabilities: LINKS })
    const completed = Promise.withResolvers<string>()
    connected.client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
      completed.resolve(params.elicitationId),
    )
    const error = await whoAmI(connected.client).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: -32_042 })
    const [link] = (error as { data: { elicitations: [{ url: string; elicitationId: string }] } }).data
      .elicitations
    await approveInBrowser(user, link.url)
    expect(await completed.promise).toBe(link.elicitationId)
    expect(JSON.stringify(await whoAmI(connected.client))).toContain(user)
  })

  test('neither: the link in the text', async () => {
    const user = 'ivan'
    await using connected = await connect(world.gatepass, { era: 'legacy', user })
    const asked = await whoAmI(connected.client)
    const url = /https?:\/\/\S+\/connect\/\w+/.exec(JSON.stringify(asked.content))?.[0] ?? ''
    await approveInBrowser(user, url)
    expect(JSON.stringify(await whoAmI(connected.client))).toContain(user)
  })
})

test('the MCP Inspector, without its proxy, logs its user in, lists and calls', async () => {
  oidc.settings.account = { sub: 'judy', name: 'Judy', email: 'judy@example.test' }
  await using inspector = await serveFolder(join(INSPECTOR, 'dist'))
  await using person = await newPerson(browser)
  const { page } = person
  const toolset = { id: 'demo', namespaces: ['Demo'] }
  expect((await world.call('POST', '/v1/toolsets', toolset)).status).toBe(201)
  const serverUrl = `${world.gatepass.url}/mcp/demo`
  // The Inspector authorizes a second time while its page is being left, beginning with this request, and saves a code
  // verifier that is not of the authorization that the browser has followed if that one was faster.
  await page.route(`${world.gatepass.url}/.well-known/oauth-protected-resource`, () => {})
  const query = new URLSearchParams({ transport: 'streamable-http', serverUrl })
  await page.goto(`${inspector.url}/?${query}`)
  await page.getByRole('combobox', { name: 'Connection Type' }).click()
  await page.getByRole('option', { name: 'Direct' }).click()
  await page.getByRole('button', { name: 'Connect' }).click()
  for (let form = 0; form < 2; form++) await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('MCP Inspector').first().waitFor()
  await page.getByRole('button', { name: 'Allow' }).click()
  // the Inspector shows the first capability, which is resources
  await page.getByRole('tab', { name: 'Tools' }).click()
  const listTools = page.getByRole('button', { name: 'List Tools' })
  await listTools.waitFor().catch(async (cause: unknown) => {
    throw new Error(`${page.url()} shows: ${await page.locator('body').innerText()}`, { cause })
  })
  await listTools.click()
  await page.getByText('Answers what it was given.').click()
  await page.getByLabel('text').fill('typed in the Inspector')
  await page.getByRole('button', { name: 'Run Tool' }).click()
  await page.getByText('Tool Result: Success').waitFor()
  await page.getByText('Valid according to output schema').waitFor()
  const told = world.worker.invocations.at(-1)?.call
  expect([told?.inputs, told?.context.user_id]).toEqual([{ text: 'typed in the Inspector' }, 'judy'])
})

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}

/** The files of a web application, whose other paths are its first page. */
function serveFolder(folder: string): Promise<Loopback> {
  return listen(async (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost')
    const path = extname(pathname) === '' ? '/index.html' : pathname
    answer(res, 200, TYPES[extname(path)] ?? 'application/octet-stream', await readFile(join(folder, path)))
  })
}
