import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifierOf } from '../../flows/login-fixtures.ts'
import { startWorld, type World } from '../../http/world.ts'
import { type OidcProvider, startOidcProvider } from '../../oidc-provider.ts'
import { UserAgent } from '../../user-agent.ts'
import { csrfIn, enteredAs } from './portal-world.ts'

// /me of users who log in at an issuer: the certified oidc-provider.

let oidc: OidcProvider
let world: World
let redirectUri = ''
let clock = Math.floor(Date.now() / 1000)

beforeAll(async () => {
  oidc = await startOidcProvider({
    redirectUris: () => [redirectUri],
    account: { sub: 'ada', name: 'Ada', email: 'ada@example.test' },
  })
  world = await startWorld({ gatepass: { environment: verifierOf(oidc), now: () => clock } })
  redirectUri = `${world.gatepass.url}/login/callback`
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await oidc.close()
})

const at = (path: string) => new URL(path, world.gatepass.url).href

test('a user logs in at the issuer, may all, and nobody else’s browser finishes the login', async () => {
  const browser = new UserAgent()
  const before = await browser.follow(at('/me'), { until: ({ pathname }) => pathname === '/login/callback' })
  const callback = before.hops.at(-1)?.location ?? ''
  expect((await new UserAgent().get(callback)).status).toBe(403)
  const page = await browser.follow(callback)
  expect([page.status, page.url]).toEqual([200, at('/me')])
  expect(page.body).toContain('ada')
  expect(page.body).toContain('/me/data')
  const left = await browser.post(at('/me/logout'), { csrf: csrfIn(page.body) })
  expect(left.response.headers.get('location')).toBe('/me/left')
  const { body } = await world.call('GET', '/v1/admin/audit?action=portal.entered')
  expect(body.items[0]).toMatchObject({ user_id: 'ada', reason: 'login', actor: { kind: 'user', id: 'ada' } })
})

test('download and deletion need a login of the last five minutes: the issuer is asked with prompt and max_age', async () => {
  const browser = new UserAgent()
  await browser.follow(at('/me'))
  expect((await browser.get(at('/me/data'))).body).toContain('action="/me/export"')
  clock += 301
  const data = await browser.get(at('/me/data'))
  expect(data.body).not.toContain('action="/me/export"')
  const csrf = csrfIn(data.body)
  for (const path of ['/me/export', '/me/erase'])
    expect((await browser.post(at(path), { csrf, understood: 'yes' })).response.headers.get('location')).toBe(
      '/me/data',
    )
  const asked = await browser.post(at('/me/login'), { csrf })
  const request = new URL(asked.response.headers.get('location') ?? '')
  expect([request.searchParams.get('prompt'), request.searchParams.get('max_age')]).toEqual(['login', '0'])
})

test('another site cannot start a login, and an unknown project is not told from none', async () => {
  const from = 'https://evil.example/'
  expect((await new UserAgent().post(at('/me/login'), {}, { from })).status).toBe(403)
  expect((await new UserAgent().get(at('/me?project=unknown'))).status).toBe(404)
})

test('a ticket without a right does not get it by the issuer’s absence of one; a new login replaces the session', async () => {
  const browser = await enteredAs(world, 'ada', ['view'])
  const page = await browser.get(at('/me'))
  expect(page.body).not.toContain('/me/data')
  const { response } = await browser.post(at('/me/export'), { csrf: csrfIn(page.body) })
  expect(response.headers.get('location')).toBe('/me/data')
  expect((await browser.get(at('/me/data'))).body).not.toContain('action="/me/login"')
})
