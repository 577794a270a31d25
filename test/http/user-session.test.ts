import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AuthorizationServerWorld, startAuthorizationServer } from '../mcp/authorization-server-world.ts'
import { UserAgent } from '../user-agent.ts'

// The session of a user who has logged in for the connect page or an MCP client. Malicious software may have copied its
// cookie, and a backup of the browser has it too.

let world: AuthorizationServerWorld
beforeAll(async () => {
  world = await startAuthorizationServer()
})
afterAll(() => world[Symbol.asyncDispose]())

const at = (path: string) => new URL(path, world.gatepass.url).href

/** A browser whose user has logged in, and whether a copy of its session cookie opens the user's list of clients. */
async function loggedIn(path = '/me/clients') {
  const browser = new UserAgent()
  await browser.follow(at('/me/clients'))
  if (path !== '/me/clients') await browser.follow(at(path))
  const cookie = `gatepass-session=${browser.cookies(at('/'))['gatepass-session']}`
  const copyOpens = async () =>
    (await new UserAgent().get(at('/me/clients'), { headers: { cookie } })).status === 200
  expect(await copyOpens()).toBe(true)
  return { browser, copyOpens }
}

describe('a copy of the cookie opens nothing', () => {
  test('after the log-out on the page of the clients', async () => {
    const { browser, copyOpens } = await loggedIn()
    await browser.submitForm(await browser.get(at('/me/clients')), {}, { button: 'logout' })
    expect(await copyOpens()).toBe(false)
  })

  test('after the log-out of /me', async () => {
    const { browser, copyOpens } = await loggedIn('/me')
    const page = await browser.get(at('/me'))
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
    await browser.post(at('/me/logout'), { csrf })
    expect(await copyOpens()).toBe(false)
  })

  test('after the user logged in as another one, or again, in this browser', async () => {
    const { browser, copyOpens } = await loggedIn()
    const request = world.request(await world.newClient())
    const page = await browser.follow(request.url)
    const again = await browser.submitForm({
      ...page,
      body: page.body.slice(page.body.indexOf('class="aside"') - 20),
    })
    expect(again.status).toBe(200)
    expect(await copyOpens()).toBe(false)
  })

  test.each(['default', 'other'])(
    'once the user has deleted everything in the project %s',
    async (project) => {
      const copies = [await loggedIn(), await loggedIn()]
      const key = await world.gatepass.makeKey('caller', project)
      const may = { may: ['view', 'erase'] }
      const { body } = await world.gatepass.call('POST', '/v1/users/ada/portal', may, { key })
      const browser = new UserAgent()
      await browser.submitForm(await browser.get(body.url))
      const page = await browser.submitForm(await browser.get(at('/me/erase')), { understood: 'yes' })
      expect(page.status).toBe(200)
      // an issuer's users are the same in every project
      expect(await Promise.all(copies.map(({ copyOpens }) => copyOpens()))).toEqual([false, false])
    },
  )

  test('and a log-out ends only the session of that browser', async () => {
    const [one, other] = [await loggedIn(), await loggedIn()]
    await one.browser.submitForm(await one.browser.get(at('/me/clients')), {}, { button: 'logout' })
    expect([await one.copyOpens(), await other.copyOpens()]).toEqual([false, true])
  })
})
