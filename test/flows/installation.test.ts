import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { builtIn } from '../../src/providers/catalogue/registry.ts'
import { valuesOfHints } from '../../src/providers/installation.ts'
import { type Page, UserAgent } from '../user-agent.ts'
import { confirmAndGoOn, type Scene, type SceneOptions, startScene } from './fixtures.ts'

// Users may begin at the provider, such as in its store of apps: their browser arrives without a `state` of ours.

const HMAC = { hints: { shop: '[a-z0-9-]+\\.shops\\.example' }, hmac: { parameter: 'hmac' } }
const SHOP = { subdomain: { ask: 'user', pattern: '[a-z0-9-]{1,63}', example: 'acme' } }

async function startInstallable(installation: object = {}, options: Partial<SceneOptions> = {}) {
  const scene = await startScene({ ...options, oauth2: { ...options.oauth2, installation } })
  const { body } = await scene.call('GET', '/v1/admin/auth_providers/demo')
  return Object.assign(scene, { installation: body.oauth2.installation_url as string })
}

const DEVELOPMENT = { gatepass: { mode: 'development' } } as const

/** In development users log in by saying who they are. */
async function logIn(browser: UserAgent, arrived: Page, userId = 'ada'): Promise<Page> {
  return browser.submitForm(await browser.submitForm(arrived), { user_id: userId })
}

function sign(scene: Scene, query: Record<string, string>): URLSearchParams {
  const text = Object.entries(query)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')
  return new URLSearchParams({
    ...query,
    hmac: createHmac('sha256', scene.as.clientSecret).update(text).digest('hex'),
  })
}

const connectionsOf = async ({ call }: Scene, userId: string) =>
  (await call('GET', `/v1/connections?user_id=${userId}`)).body.items as { status: string }[]

describe('a user who begins at the provider', () => {
  test('logs in, continues, and ends with a connection of their own', async () => {
    await using scene = await startInstallable({}, DEVELOPMENT)
    const browser = new UserAgent()
    const arrived = await browser.follow(scene.installation)
    expect(arrived.body).toContain('You come from')
    expect(await connectionsOf(scene, 'ada')).toEqual([])
    const named = await logIn(browser, arrived)
    expect(named.body).toContain('Continue as <strong><bdi>ada</bdi></strong>?')
    const page = await browser.submitForm(named)
    expect(new URL(page.url).pathname).toMatch(/^\/connect\/auth_/)
    await browser.submitForm(page)
    expect(await connectionsOf(scene, 'ada')).toMatchObject([{ status: 'active' }])
  })

  test('at a caller’s verifier page is confirmed as for any login', async () => {
    await using scene = await startInstallable(
      {},
      { gatepass: { environment: { GATEPASS_USER_VERIFIER: 'https://app.example.test/verify' } } },
    )
    const browser = new UserAgent()
    const arrived = await browser.follow(scene.installation)
    const away = await browser.submitForm(arrived, {}, { until: (to) => to.host === 'app.example.test' })
    const flowId = new URL(away.hops.at(-1)?.location ?? '').searchParams.get('flow_id') ?? ''
    const { body } = await scene.call('POST', '/v1/auth/confirm_user', { flow_id: flowId, user_id: 'ada' })
    const named = await browser.follow(body.next_uri)
    const consent = await browser.submitForm(named)
    expect(consent.body).toContain('ada')
    const held = await browser.submitForm(consent, {}, { until: (to) => to.host === 'app.example.test' })
    const held_id = new URL(held.hops.at(-1)?.location ?? '').searchParams.get('flow_id') ?? ''
    await confirmAndGoOn(scene.gatepass, { browser, flowId: held_id, userId: 'ada' })
    expect(await connectionsOf(scene, 'ada')).toMatchObject([{ status: 'active' }])
  })

  test('where users cannot log in is told to begin in the application, and nothing begins', async () => {
    await using scene = await startInstallable({})
    const browser = new UserAgent()
    const arrived = await browser.follow(scene.installation)
    expect(arrived.body).toContain('cannot tell who you are')
    expect(arrived.body).not.toContain('<form')
    const { pathname } = new URL(scene.installation)
    expect((await browser.post(`${scene.gatepass.url}${pathname}`)).status).toBe(400)
  })

  test('may go to the caller’s own page, which begins with what it was given, once for its provider', async () => {
    await using scene = await startInstallable(
      { install_uri: 'https://app.example.test/install?from=store' },
      DEVELOPMENT,
    )
    const { response } = await new UserAgent().get(`${scene.installation}?x=1`)
    const page = new URL(response.headers.get('location') ?? '')
    expect(page.origin + page.pathname).toBe('https://app.example.test/install')
    expect([...page.searchParams.keys()]).toEqual(['from', 'install_id'])
    const install_id = page.searchParams.get('install_id') ?? ''
    const begin = (id: string) =>
      scene.call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'demo' },
        user_id: 'ada',
        install_id: id,
      })
    expect((await begin(install_id)).body).toMatchObject({ status: 'pending' })
    expect((await begin(`${install_id.slice(0, -2)}AA`)).body).toMatchObject({
      name: 'invalid_request',
      message: expect.stringContaining('install_id'),
    })
    scene.clock.advance(601)
    expect((await begin(install_id)).status).toBe(400)
  })
})

test('a user who waits too long is sent back to the provider, where nothing else can mend it', async () => {
  await using scene = await startInstallable({}, DEVELOPMENT)
  const browser = new UserAgent()
  const named = await logIn(browser, await browser.follow(scene.installation))
  scene.clock.advance(601)
  const late = await browser.submitForm(named)
  expect(late.status).toBe(400)
  expect(late.body).toContain('Go back to the page of the provider from which you came')
  expect(late.body).not.toContain('your application')
})

describe('what the provider’s page sends along', () => {
  const signed = (scene: Scene, shop = 'acme.shops.example') =>
    sign(scene, { shop, timestamp: '1800000000', host: 'abc' })
  const shops = async () => {
    const scene = await startInstallable(HMAC, {
      ...DEVELOPMENT,
      oauth2: {
        variables: SHOP,
        user_info_request: null,
      },
    })
    return scene
  }

  test('has to be signed as the entry says', async () => {
    await using scene = await shops()
    const good = signed(scene)
    const changed = new URLSearchParams(good)
    changed.set('shop', 'evil.shops.example')
    const twice = new URLSearchParams(good)
    twice.append('shop', 'evil.shops.example')
    const without = new URLSearchParams(good)
    without.delete('hmac')
    const short = new URLSearchParams(good)
    short.set('hmac', 'abcd')
    for (const query of [changed, twice, without, short, new URLSearchParams()])
      expect((await new UserAgent().follow(`${scene.installation}?${query}`)).status).toBe(400)
    const browser = new UserAgent()
    const arrived = await browser.follow(`${scene.installation}?${good}`)
    expect(arrived.status).toBe(200)
    expect(arrived.url).toBe(scene.installation)
    expect(arrived.body).toContain('acme.shops.example')
    expect(arrived.body).not.toContain('1800000000')
  })

  test('replayed in another browser shows the page, and gives nothing of the first one’s user', async () => {
    await using scene = await shops()
    const link = `${scene.installation}?${signed(scene)}`
    const first = new UserAgent()
    await logIn(first, await first.follow(link))
    const second = new UserAgent()
    const page = await second.follow(link)
    expect(page.body).not.toContain('ada')
    expect(page.body).toContain('Log in')
  })

  test('from another site starts nothing', async () => {
    await using scene = await startInstallable({}, DEVELOPMENT)
    const browser = new UserAgent()
    await logIn(browser, await browser.follow(scene.installation))
    const forged = await browser.post(scene.installation, {}, { from: 'https://evil.example/' })
    expect(forged.status).toBe(403)
    expect(await connectionsOf(scene, 'ada')).toEqual([])
  })
})

describe('a code that arrives without a state', () => {
  const arrive = (scene: Scene & { installation: string }, query: string) =>
    new UserAgent().get(`${scene.installation.replace('/install/', '/callback/')}?${query}`)

  test('is never redeemed: the browser goes to the page, with the hints alone', async () => {
    await using scene = await startInstallable({ hints: { team: '[a-z]+' } }, DEVELOPMENT)
    const { status, response } = await arrive(scene, 'code=abc&team=acme&other=1')
    expect(status).toBe(303)
    expect(new URL(response.headers.get('location') ?? '', scene.gatepass.url).href).toBe(
      `${scene.installation}?team=acme`,
    )
    expect(scene.as.tokenRequests('authorization_code')).toEqual([])
  })

  test('stays refused where users do not begin at the provider, and with a state of no attempt', async () => {
    await using scene = await startScene()
    const { body } = await scene.call('GET', '/v1/admin/auth_providers/demo')
    const callback = body.oauth2.redirect_uri as string
    expect(body.oauth2.installation_url).toBeUndefined()
    expect((await new UserAgent().get(`${callback}?code=abc`)).status).toBe(400)
    expect((await new UserAgent().get(callback.replace('/callback/', '/install/'))).status).toBe(404)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { installation: {} } })
    expect((await new UserAgent().get(`${callback}?code=abc&state=forged`)).status).toBe(400)
  })
})

test('a hint fills in the value that users are asked for, by itself or as the whole host', () => {
  const shopify = builtIn('shopify')?.provider
  if (shopify === undefined) throw new Error('shopify is not in the catalogue')
  const { shop } = shopify.variables ?? {}
  if (shop === undefined) throw new Error('shopify has no variable')
  const asking = { ...shopify, variables: { shop: { ...shop, askUser: true as const } } }
  expect(valuesOfHints(asking, { shop: 'acme.myshopify.com', other: 'x' })).toEqual({ shop: 'acme' })
  expect(valuesOfHints(asking, { shop: 'acme' })).toEqual({ shop: 'acme' })
  expect(valuesOfHints(shopify, { shop: 'acme.myshopify.com' })).toEqual({})
})

test.each([
  [{ hints: { shop: '(' } }, 'oauth2.installation.hints.shop'],
  [{ install_uri: 'http://app.example.test/install' }, 'oauth2.installation.install_uri'],
  [{ install_uri: 'javascript:alert(1)' }, 'oauth2.installation.install_uri'],
])('the entry refuses %j', async (installation, path) => {
  await using scene = await startScene()
  const { status, body } = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: { installation },
  })
  expect(status).toBe(400)
  expect(body.errors).toMatchObject([{ path }])
})
