import { describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import { addProvider, approve, click } from './fixtures.ts'
import { type HostileWorld, NO_DAMAGE, ONCE, startHostileWorld, VERIFIERS } from './hostile-world.ts'
import { upToLoginCallback } from './login-fixtures.ts'

// What people and browsers do to a consent, meant or not: each time what was stored, and what the provider's token
// endpoint saw. Alice is the one who is robbed; Mallory robs.

/** Clicks and approves as that person, up to the answer of the provider, which is not yet brought back. */
async function upToCallback(world: HostileWorld, user: string, browser?: UserAgent) {
  const person = await world.person(user, browser)
  const { id, url } = await world.begin(user)
  return { id, url, ...(await approve(url, person)) }
}

describe.each(VERIFIERS)('under `%s`', (kind) => {
  test('the right person, as it should be', async () => {
    await using world = await startHostileWorld(kind)
    const { id, browser, callback } = await upToCallback(world, 'alice')
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect((await browser.follow(callback)).status).toBe(200)
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
  })

  test(`a link that another person opens ${kind === 'open' ? 'is theirs: nobody vouches for anybody' : 'stores nothing'}`, async () => {
    await using world = await startHostileWorld(kind)
    const { id, url } = await world.begin('mallory')
    await click(url, await world.person('alice'))
    if (kind === 'open') return expect(await world.damage()).toEqual(ONCE)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    // not even her approval was asked for where that can be avoided
    expect(world.as.requestsTo('/authorize')).toHaveLength(kind === 'oidc' ? 0 : 1)
    await click(url, await world.person('mallory')).catch(() => {}) // there is no button any more
    expect(await world.damage()).toEqual(NO_DAMAGE)
    return undefined
  })

  test('the provider’s address, forwarded: approved by Alice, it is worth nothing', async () => {
    await using world = await startHostileWorld(kind)
    const mallory = await upToCallback(world, 'mallory')
    const forwarded = world.as.requestsTo('/authorize')[0]
    const alice = await upToCallback(world, 'alice') // she has a cookie, and a run of her own
    const brought = await alice.browser.follow(
      `${world.as.authorizationUrl}${new URL(forwarded?.search ?? '', 'http://a').search}`,
    )
    expect(brought.url).toContain('/callback/')
    expect(brought.status).toBe(403)
    expect((await new UserAgent().get(brought.url)).status).toBe(403)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect((await world.status(mallory.id)).status).toBe('pending')
  })

  test('an answer that another browser brings is refused and spends nothing', async () => {
    await using world = await startHostileWorld(kind)
    const { id, browser, callback } = await upToCallback(world, 'alice')
    const mallory = await world.person('mallory')
    expect((await mallory.get(callback)).status).toBe(403)
    // nor with a cookie of this broker's own, which his click gave him
    await upToCallback(world, 'mallory', mallory)
    expect(mallory.cookies(callback)).toHaveProperty('gatepass')
    expect((await mallory.get(callback)).status).toBe(403)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    await world.person('alice', browser)
    await browser.follow(callback)
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
  })

  test('two browsers that bring each other’s answers', async () => {
    await using world = await startHostileWorld(kind)
    const mallory = await upToCallback(world, 'mallory')
    const alice = await upToCallback(world, 'alice')
    for (const [one, other] of [
      [alice, mallory],
      [mallory, alice],
    ] as const) {
      expect((await one.browser.get(other.callback)).status).toBe(403)
      // nor with the own state and the other's code, nor the other way round
      const mixed = new URL(one.callback)
      mixed.searchParams.set('state', other.callback.searchParams.get('state') ?? '')
      expect((await one.browser.get(mixed)).status).toBe(403)
    }
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test('without its cookie', async () => {
    await using world = await startHostileWorld(kind)
    const { id, browser, callback } = await upToCallback(world, 'alice')
    browser.clearCookies()
    expect((await browser.get(callback)).status).toBe(403)
    for (const cookie of ['gatepass=', 'gatepass=x', `gatepass=${'a'.repeat(43)}`])
      expect((await fetch(callback, { redirect: 'manual', headers: { cookie } })).status).toBe(403)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect((await world.status(id)).status).toBe('pending')
  })

  test('20 times at once: one token request', async () => {
    await using world = await startHostileWorld(kind)
    world.as.behaviour.exchangeDelayMs = 50
    const { id, browser, callback } = await upToCallback(world, 'alice')
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get(callback)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(303))
    const locations = new Set(answers.map(({ response }) => response.headers.get('location') ?? ''))
    const atVerifier = [...locations].filter((one) => one.startsWith(world.application.url))
    expect(atVerifier).toHaveLength(kind === 'caller' ? 1 : 0)
    await Promise.all(
      Array.from({ length: 20 }, () => Promise.all(atVerifier.map((one) => browser.follow(one)))),
    )
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
    expect(world.as.familyRevoked).toBe(false)
  })

  test('back, again, and again after the end', async () => {
    await using world = await startHostileWorld(kind)
    const { id, url, browser, callback } = await upToCallback(world, 'alice')
    const connect = await browser.get(url)
    await browser.follow(callback)
    const { token } = (await world.status(id)).context
    for (let times = 0; times < 3; times++) {
      expect((await browser.follow(callback)).status).toBe(200)
      await browser.submitForm(connect)
    }
    expect((await world.status(id)).context.token).toBe(token)
    expect(await world.damage()).toEqual(ONCE)
  })

  test('a double click, and two tabs: the later one counts', async () => {
    await using world = await startHostileWorld(kind)
    const first = await upToCallback(world, 'alice')
    const second = await approve(first.url, first.browser)
    expect((await first.browser.get(first.callback)).status).toBe(400)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    await first.browser.follow(second.callback)
    expect((await world.status(first.id)).status).toBe('completed')
    expect((await first.browser.get(first.callback)).status).toBe(400)
    expect(await world.damage()).toEqual(ONCE)
  })

  test('too late', async () => {
    await using world = await startHostileWorld(kind)
    const { id, url, browser, callback } = await upToCallback(world, 'alice')
    world.clock.advance(600)
    expect((await browser.get(callback)).status).toBe(410)
    expect((await browser.get(url)).status).toBe(410)
    expect(await world.damage()).toEqual(NO_DAMAGE)
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'expired' })
  })

  test('at another entry’s redirect URI', async () => {
    await using world = await startHostileWorld(kind)
    const other = await addProvider(world.gatepass, world.as, {}, { id: 'other' })
    const { id, browser, callback } = await upToCallback(world, 'alice')
    for (const elsewhere of [other.body.oauth2.redirect_uri, `${world.url}/login/callback`]) {
      const mixedUp = new URL(elsewhere)
      mixedUp.search = callback.search
      expect([400, 403, 404]).toContain((await browser.get(mixedUp)).status)
    }
    expect(await world.damage()).toEqual(NO_DAMAGE)
    await browser.follow(callback)
    expect((await world.status(id)).status).toBe('completed')
  })

  test('with the code of another session: the code verifier gives it away', async () => {
    await using world = await startHostileWorld(kind)
    const mallory = await upToCallback(world, 'mallory')
    const alice = await upToCallback(world, 'alice')
    const injected = new URL(alice.callback)
    injected.searchParams.set('code', mallory.callback.searchParams.get('code') ?? '')
    await alice.browser.follow(injected)
    expect(await world.status(alice.id)).toMatchObject({ status: 'failed', reason: 'invalid_grant' })
    expect(await world.damage()).toEqual({ connections: 0, tokenRequests: 1 })
    // Mallory's own code is spent by it
    await world.person('mallory', mallory.browser)
    await mallory.browser.follow(mallory.callback)
    expect((await world.damage()).connections).toBe(0)
  })

  test('with the issuer of another server', async () => {
    await using world = await startHostileWorld(kind)
    const { oauth2 } = (await world.call('GET', '/v1/admin/auth_providers/demo')).body
    expect(oauth2.issuer).toBeUndefined()
    await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { issuer: world.as.url } })
    const { id, browser, callback } = await upToCallback(world, 'alice')
    callback.searchParams.set('iss', 'https://evil.example')
    await browser.follow(callback)
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'issuer_mismatch' })
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })
})

describe('under `caller`, at the application’s page', () => {
  /** Up to the visit of the verifier page. */
  async function upToVerifier(world: HostileWorld, user: string) {
    const run = await upToCallback(world, user)
    const page = await run.browser.get(run.callback)
    return { ...run, visit: page.response.headers.get('location') ?? '' }
  }

  test('a visit that is forwarded, either way, ends the run', async () => {
    await using world = await startHostileWorld('caller')
    const mallory = await upToVerifier(world, 'mallory')
    const alice = await upToVerifier(world, 'alice')
    expect((await alice.browser.follow(mallory.visit)).body).toBe('user_mismatch')
    expect((await mallory.browser.follow(alice.visit)).body).toBe('user_mismatch')
    for (const { id } of [alice, mallory])
      expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    await alice.browser.follow(alice.visit)
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })
})

describe('under `oidc`, on the way back from the login', () => {
  /** Clicks up to the answer of the issuer, which is not yet brought back. */
  async function upToLogin(world: HostileWorld, user: string, browser?: UserAgent) {
    const person = await world.person(user, browser)
    const { id, url } = await world.begin(user)
    return { id, url, browser: person, login: await upToLoginCallback(person, await person.get(url)) }
  }
  const startWorld = () => startHostileWorld('oidc')
  const untouched = async (world: HostileWorld) => {
    expect(world.as.requests).toEqual([])
    expect(await world.damage()).toEqual(NO_DAMAGE)
  }

  test('Mallory’s answer in Alice’s browser (login CSRF), and Alice’s in Mallory’s', async () => {
    await using world = await startWorld()
    const mallory = await upToLogin(world, 'mallory')
    const alice = await upToLogin(world, 'alice')
    const fresh = await world.person('alice')
    for (const [browser, { login }] of [
      [alice.browser, mallory],
      [mallory.browser, alice],
      [fresh, mallory],
    ] as const) {
      const page = await browser.get(login)
      expect(page.status).toBe(403)
      expect(page.body).toContain('not started here')
      expect(page.response.headers.getSetCookie()).toEqual([])
    }
    await untouched(world)
    expect(world.oidc.tokenRequests).toEqual([])
    for (const { id } of [alice, mallory]) expect((await world.status(id)).status).toBe('pending')
    await world.person('alice', alice.browser)
    await alice.browser.follow(alice.login)
    expect((await world.status(alice.id)).status).toBe('completed')
  })

  test('the login of another browser, with its cookie too', async () => {
    await using world = await startWorld()
    const mallory = await upToLogin(world, 'mallory')
    const alice = await upToLogin(world, 'alice')
    const cookiesOf = ({ browser, login }: typeof alice) => Object.entries(browser.cookies(login))
    const planted = [
      ...cookiesOf(alice).filter(([name]) => name === 'gatepass'),
      ...cookiesOf(mallory).filter(([name]) => name.startsWith('gatepass-login-')),
    ]
    expect(planted).toHaveLength(2)
    const cookie = planted.map(([name, value]) => `${name}=${value}`).join('; ')
    expect((await fetch(mallory.login, { redirect: 'manual', headers: { cookie } })).status).toBe(403)
    // Alice's state under a cookie of Mallory's that was given its name
    const name = cookiesOf(alice).find(([one]) => one.startsWith('gatepass-login-'))?.[0]
    const value = cookiesOf(mallory).find(([one]) => one.startsWith('gatepass-login-'))?.[1]
    const renamed = `gatepass=${mallory.browser.cookies(world.url).gatepass}; ${name}=${value}`
    expect((await fetch(alice.login, { redirect: 'manual', headers: { cookie: renamed } })).status).toBe(403)
    expect(world.oidc.tokenRequests).toEqual([])
    await untouched(world)
  })

  test('Mallory’s code with Alice’s state: nobody is logged in, and the link stands', async () => {
    await using world = await startWorld()
    const mallory = await upToLogin(world, 'mallory')
    const alice = await upToLogin(world, 'alice')
    alice.login.searchParams.set('code', mallory.login.searchParams.get('code') ?? '')
    const page = await alice.browser.follow(alice.login)
    expect(page.url).toBe(`${alice.url}?login=failed`)
    expect((await world.status(alice.id)).status).toBe('pending')
    await untouched(world)
  })

  test.each([
    ['made up', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['missing', (url: URL) => url.searchParams.delete('state')],
    ['repeated', (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? '')],
  ])('a state that is %s', async (_, change) => {
    await using world = await startWorld()
    const { id, browser, login } = await upToLogin(world, 'alice')
    const wrong = new URL(login)
    change(wrong)
    expect((await browser.get(wrong)).status).toBe(403)
    expect(world.oidc.tokenRequests).toEqual([])
    await untouched(world)
    await browser.follow(login)
    expect((await world.status(id)).status).toBe('completed')
  })

  test.each([
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'https://evil.example')],
    ['no issuer, although it announces one', (url: URL) => url.searchParams.delete('iss')],
  ])('from %s', async (_, change) => {
    await using world = await startWorld()
    const { id, browser, login } = await upToLogin(world, 'alice')
    change(login)
    expect((await browser.follow(login)).url).toContain('?login=failed')
    expect(world.oidc.tokenRequests).toEqual([])
    expect((await world.status(id)).status).toBe('pending')
    await untouched(world)
  })

  test('20 times at once: one token request there, one attempt here', async () => {
    await using world = await startWorld()
    const { id, browser, login } = await upToLogin(world, 'alice')
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.get(login)))
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(303))
    const locations = new Set(answers.map(({ response }) => response.headers.get('location') ?? ''))
    expect(locations.size).toBe(1)
    expect(world.oidc.tokenRequests).toHaveLength(1)
    await browser.follow([...locations][0] ?? '')
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
  })

  test('again after the end', async () => {
    await using world = await startWorld()
    const { id, url, browser, login } = await upToLogin(world, 'alice')
    await browser.follow(login)
    expect((await browser.get(login)).status).toBe(403)
    expect(world.oidc.tokenRequests).toHaveLength(1)
    expect((await browser.follow(url)).status).toBe(200)
    expect((await world.status(id)).status).toBe('completed')
    expect(await world.damage()).toEqual(ONCE)
  })

  test('two tabs, and two runs, in one browser', async () => {
    await using world = await startWorld()
    const first = await upToLogin(world, 'alice')
    const { browser } = first
    const sameAgain = await upToLoginCallback(browser, await browser.get(first.url))
    const other = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes: ['write'] } },
      user_id: 'alice',
    })
    const another = await upToLoginCallback(browser, await browser.get(other.body.url))
    for (const login of [another, first.login, sameAgain])
      expect((await browser.follow(login)).status).toBe(200)
    expect((await world.status(first.id)).status).toBe('completed')
    expect((await world.status(other.body.id)).status).toBe('completed')
  })

  test('a login for one authorization stands for no other: not for another user’s, nor for the same user’s', async () => {
    await using world = await startWorld()
    const mallory = await upToLogin(world, 'mallory')
    await mallory.browser.get(mallory.login)
    expect(mallory.browser.cookies(mallory.url)).toHaveProperty('gatepass-user')
    const hers = await world.begin('alice')
    const his = await world.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes: ['write'] } },
      user_id: 'mallory',
    })
    const asked = world.as.requestsTo('/authorize').length
    for (const url of [hers.url, his.body.url]) {
      const until = () => true
      const clicked = await mallory.browser.submitForm(await mallory.browser.get(url), {}, { until })
      expect(clicked.hops[0]?.location).toContain(world.oidc.issuer)
    }
    expect(world.as.requestsTo('/authorize')).toHaveLength(asked)
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test('more tabs than anybody has', async () => {
    await using world = await startWorld()
    const { id, url, browser } = await upToLogin(world, 'alice')
    for (let tabs = 0; tabs < 30; tabs++) await upToLoginCallback(browser, await browser.get(url))
    const cookies = Object.keys(browser.cookies(url))
    expect(cookies.filter((name) => name.startsWith('gatepass-login-')).length).toBeLessThanOrEqual(8)
    await browser.follow(await upToLoginCallback(browser, await browser.get(url)))
    expect((await world.status(id)).status).toBe('completed')
  })

  test('too late', async () => {
    await using world = await startHostileWorld('oidc', {
      environment: { GATEPASS_AUTHORIZATION_TTL: '3600' },
    })
    const slow = await upToLogin(world, 'alice')
    world.clock.advance(600)
    expect((await slow.browser.get(slow.login)).status).toBe(403)
    const next = await upToLogin(world, 'alice', slow.browser)
    expect(next.id).toBe(slow.id)
    world.clock.advance(599)
    expect((await next.browser.get(next.login)).status).toBe(303)

    await using short = await startHostileWorld('oidc', {
      environment: { GATEPASS_AUTHORIZATION_TTL: '300' },
    })
    const expired = await upToLogin(short, 'alice')
    short.clock.advance(300)
    expect((await expired.browser.get(expired.login)).status).toBe(410)
    expect(short.oidc.tokenRequests).toEqual([])
    await untouched(short)
  })

  test('Mallory clicks Alice’s link while she logs in: only her own login counts, and his ends it for both', async () => {
    await using world = await startWorld()
    const alice = await upToLogin(world, 'alice')
    const mallory = await world.person('mallory')
    const his = await upToLoginCallback(mallory, await mallory.get(alice.url))
    await alice.browser.get(alice.login)
    expect((await world.status(alice.id)).status).toBe('pending')
    await mallory.follow(his)
    expect(await world.status(alice.id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
    expect(await world.damage()).toEqual(NO_DAMAGE)
  })

  test('every page of it: no frame, no script, no Referer, no copy', async () => {
    await using world = await startWorld()
    const alice = await upToLogin(world, 'alice')
    const { browser, url } = alice
    const answers = [
      await new UserAgent().get(alice.login),
      await browser.get(alice.login),
      ...(await Promise.all(
        ['cancelled', 'failed', 'unavailable', 'made-up'].map((one) => browser.get(`${url}?login=${one}`)),
      )),
    ]
    for (const { response, body } of answers) {
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-security-policy': expect.stringMatching(
          /^default-src 'none'.*frame-ancestors 'none'.*require-trusted-types-for 'script'/,
        ),
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': body.includes('<form') ? 'same-origin' : 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(response.headers.get('content-security-policy')).not.toMatch(/unsafe|script-src/)
    }
    expect(answers.at(-1)?.body).toContain('wants to use your')
  })

  test('its cookies are this host’s alone wherever there is TLS', async () => {
    const publicUrl = 'https://gatepass.example'
    await using world = await startHostileWorld('oidc', { environment: { GATEPASS_PUBLIC_URL: publicUrl } })
    const { url } = await world.begin('alice')
    const sent = await new UserAgent().post(url.replace(publicUrl, world.url))
    const cookies = sent.response.headers.getSetCookie()
    expect(cookies).toHaveLength(2)
    for (const cookie of cookies)
      expect(cookie).toMatch(
        /^__Host-gatepass(-login-[\w-]+)?=[\w.-]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      )
    expect(sent.response.headers.get('location')).toContain(encodeURIComponent(`${publicUrl}/login/callback`))
  })
})
