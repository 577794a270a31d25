import { createServer } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newPerson, openBrowser, type Person } from '../browser.ts'
import type { Gatepass } from '../gatepass.ts'
import { metadata, oauthEntry, startWorld, type World } from '../http/world.ts'
import { clickThrough, heading, looksRight } from './looks-right.ts'

// What a user does, in a real Chromium, on a phone. `every-page.test.ts` looks at each page, at every width;
// `test/http/connect-endings.test.ts` shows which ending follows what.

const PHONE = 375

let browser: Browser
let world: World
let users = 0
const newUser = () => `user-${++users}@example.test`

beforeAll(async () => {
  browser = await openBrowser()
  world = await startWorld()
})

afterAll(async () => {
  await browser.close()
  await world[Symbol.asyncDispose]()
})

beforeEach(() => {
  world.as.behaviour.consent = 'page'
  world.as.behaviour.exchange = 'normal' // also after a test that failed before it restored that
})

/** A link for a new user, made as by a tool. */
async function newLink(more: Record<string, unknown> = {}, { call }: Pick<Gatepass, 'call'> = world) {
  const user_id = newUser()
  const { body } = await call('POST', '/v1/tools/authorize', { tool_name: 'Demo.WhoAmI', user_id, ...more })
  return { url: body.url as string, id: body.id as string, user_id }
}

describe('on a phone', () => {
  let person: Person
  beforeEach(async () => {
    person = await newPerson(browser, { width: PHONE })
    return () => person.close()
  })

  test('a value that users are asked for is a field with its example, and what is wrong with it is said', async () => {
    const { call, as } = world
    const at = (path: string) => ({ endpoint: `${as.url}${path}?desk={{subdomain}}` })
    const added = await call('POST', '/v1/admin/auth_providers', {
      id: 'desk',
      oauth2: {
        client_id: as.clientId,
        client_secret: as.clientSecret,
        variables: {
          subdomain: { label: 'Subdomain', pattern: '[a-z0-9-]{1,63}', example: 'acme', ask: 'user' },
          region: { label: 'Region', one_of: ['com', 'eu'], ask: 'user' },
        },
        authorize_request: at('/authorize'),
        token_request: { endpoint: as.tokenUrl },
      },
    })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    const requirement = { id: 'desk', oauth2: { scopes: ['read'] } }
    const { body } = await call('POST', '/v1/auth/authorize', {
      auth_requirement: requirement,
      user_id: newUser(),
    })
    const { page } = person
    await page.goto(body.url)
    expect(await page.getByText('For example, acme').count()).toBe(1)
    await looksRight(person, 'connect-values')
    await page.getByLabel('Subdomain').fill('Not a subdomain')
    await page.getByLabel('Region').selectOption('eu')
    await page.getByRole('button', { name: /^Continue to/ }).click()
    await page.waitForLoadState() // the click ends when the page begins
    expect(
      await page.getByText('Subdomain is not in the right format. It should look like acme.').count(),
    ).toBe(1)
    expect(await page.getByLabel('Subdomain').inputValue()).toBe('Not a subdomain')
    expect(await page.getByLabel('Region').inputValue()).toBe('eu')
    await looksRight(person, 'connect-values-refused')
    await page.getByLabel('Subdomain').fill('beta')
    await clickThrough(page, 'Approve')
    expect(await heading(page)).toBe('desk is connected')
    const asked = as.requests.findLast(({ path }) => path === '/authorize')
    expect(asked?.params.desk).toBe('beta')
  })

  test('the connect page says who asks for what for whom; approving ends with the account', async () => {
    const { url, id, user_id } = await newLink()
    const { page } = person
    await page.goto(url)
    const text = await page.locator('main').textContent()
    for (const part of ['WhoAmI', 'demo', user_id, 'read']) expect(text).toContain(part)
    await looksRight(person, 'connect')
    await page.getByRole('button', { name: /^Continue to/ }).click()
    expect(new URL(page.url()).origin).toBe(world.as.url) // under the connect page's CSP
    expect(await heading(page)).toBe('Allow access as Ada Lovelace?')
    await page.getByRole('button', { name: 'Approve' }).click()
    expect(await heading(page)).toBe('demo is connected')
    expect(await page.locator('main').textContent()).toContain('ada@example.test')
    expect(page.url()).toBe(url) // without the code
    await looksRight(person, 'completed')
    expect((await world.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
    await page.reload()
    expect(await heading(page)).toBe('demo is connected')
  })

  test('the button is reached and pressed by the keyboard alone', async () => {
    const { url } = await newLink()
    const { page } = person
    await page.goto(url)
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    for (let tabs = 0; tabs < 10 && !(await focused()).startsWith('Continue to'); tabs++)
      await page.keyboard.press('Tab')
    expect(await focused()).toMatch(/^Continue to/)
    const outline = await page.evaluate(() => {
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(
        document.activeElement ?? document.body,
      )
      return { outline: outlineStyle !== 'none' && outlineWidth !== '0px', boxShadow }
    })
    expect(outline.outline || outline.boxShadow !== 'none').toBe(true)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Approve' }).press('Enter')
    expect(await heading(page)).toBe('demo is connected')
  })

  test('another browser brings the answer; this one can still go on', async () => {
    world.as.behaviour.consent = 'dead-end'
    const { url } = await newLink()
    await person.page.goto(url)
    await clickThrough(person.page)
    world.as.behaviour.consent = 'approve'
    await using other = await newPerson(browser, { width: PHONE })
    await other.page.goto(person.page.url())
    expect(await heading(other.page)).toBe('Continue in the other browser')
    await looksRight(other, 'wrong-browser')
    await person.page.reload()
    expect(await heading(person.page)).toBe('demo is connected')
  })

  test('two providers, one after the other', async () => {
    const oauth = ['First', 'Second'].map((name) => oauthEntry(name, world.as))
    await world.call('POST', '/v1/tools/import', metadata('Needs both', { oauth }))
    const { url } = await newLink({ tool_name: 'Needs both' })
    const { page } = person
    await page.goto(url)
    expect(await page.locator('main').textContent()).toContain('Step 1 of 2')
    await clickThrough(page, 'Approve')
    expect(await page.locator('[aria-current=step]').textContent()).toBe('Second')
    await looksRight(person, 'second-step')
    await clickThrough(page, 'Approve')
    expect(await heading(page)).toBe('First, Second is connected')
  })

  test('names of any length and kind stay on the page', async () => {
    const name = 'Überlanger-Werkzeugname'.repeat(8)
    const scopes = [`https://www.googleapis.com/auth/${'very.long.scope'.repeat(10)}`, 'a'.repeat(180)]
    await world.call(
      'POST',
      '/v1/tools/import',
      metadata(name, { oauth: [oauthEntry('L'.repeat(90), world.as, { scopes })] }),
    )
    const { body } = await world.call('POST', '/v1/tools/authorize', {
      tool_name: name,
      user_id: 'u'.repeat(300),
    })
    await person.page.goto(body.url)
    await looksRight(person, 'long-names')
  })
})

describe("with the caller's own page as verifier", () => {
  test('the wrong user, and the right one', async () => {
    let session = 'nobody'
    const application = createServer(async (req, res) => {
      const flow_id = new URL(req.url ?? '', 'http://a').searchParams.get('flow_id')
      const answer = await confirming.call('POST', '/v1/auth/confirm_user', { flow_id, user_id: session })
      if (answer.status === 200) res.writeHead(303, { location: answer.body.next_uri }).end()
      else res.writeHead(400, { 'content-type': 'text/html' }).end(`<h1>${answer.body.name}</h1>`)
    })
    await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
    const address = application.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await using confirming = await startWorld({
      as: { consent: 'page' },
      gatepass: { environment: { GATEPASS_USER_VERIFIER: `http://127.0.0.1:${port}/verify` } },
    })
    try {
      await using person = await newPerson(browser, { width: PHONE })
      const { page } = person
      const stolen = await newLink({}, confirming)
      session = 'someone-else'
      await page.goto(stolen.url)
      await clickThrough(page, 'Approve')
      expect(await heading(page)).toBe('user_mismatch')
      await page.goto(stolen.url)
      expect(await heading(page)).toBe('This link was meant for someone else')
      await looksRight(person, 'user-mismatch')
      expect(confirming.as.tokenRequests()).toHaveLength(0)

      const mine = await newLink({}, confirming)
      session = mine.user_id
      await page.goto(mine.url)
      await clickThrough(page, 'Approve')
      expect(await heading(page)).toBe('demo is connected')
    } finally {
      application.closeAllConnections()
      await new Promise((resolve) => application.close(resolve))
    }
  })
})
