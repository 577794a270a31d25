import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { FAILURE_REASONS } from '../../src/domain/authorization.ts'
import type { Consent } from '../fake-authorization-server.ts'
import { UserAgent } from '../user-agent.ts'
import { addProvider, approve, click, importEntry, startScene } from './fixtures.ts'

describe('the connect page', () => {
  test('opening the link consumes nothing, however often; the click goes to the provider', async () => {
    await using scene = await startScene()
    const { id, url } = (await scene.authorize({ scopes: ['read', 'write'] })).body
    const browser = new UserAgent()
    for (const preview of [new UserAgent(), browser, browser]) {
      const page = await preview.get(url)
      expect(page.status).toBe(200)
      for (const shown of ['demo', 'u1', 'read', 'write']) expect(page.body).toContain(shown)
    }
    expect((await scene.status(id)).body.status).toBe('pending')
    expect(scene.as.requests).toEqual([])
    expect((await click(url, browser)).status).toBe(200)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.as.requestsTo('/authorize')).toHaveLength(1)
  })

  test('each click is an attempt of its own, with S256 and the entry’s redirect URI', async () => {
    await using scene = await startScene()
    const { url } = (await scene.authorize()).body
    await approve(url)
    await approve(url)
    const [first, second] = scene.as.requestsTo('/authorize')
    for (const name of ['state', 'code_challenge'] as const)
      expect(first?.params[name]).not.toBe(second?.params[name])
    const { redirect_uri: redirectUri } = (await scene.call('GET', '/v1/admin/auth_providers/demo')).body
      .oauth2
    expect(second?.params).toEqual({
      response_type: 'code',
      client_id: scene.as.clientId,
      redirect_uri: redirectUri,
      scope: 'read',
      state: expect.stringMatching(/^[\w-]{43,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    expect(redirectUri).toMatch(new RegExp(`^${scene.gatepass.url}/callback/prov_`))
  })

  test('an unknown link is a 404 page', async () => {
    await using scene = await startScene()
    const page = await new UserAgent().get(`${scene.gatepass.url}/connect/auth_nope`)
    expect(page.status).toBe(404)
    expect(page.response.headers.get('content-type')).toMatch(/^text\/html/)
  })

  test('after the end the link shows how it ended, and a click starts nothing', async () => {
    await using scene = await startScene()
    const { url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const connect = await browser.get(url)
    await browser.submitForm(connect)
    expect((await browser.get(url)).body).not.toContain('<form')
    await browser.submitForm(connect)
    expect(scene.as.requestsTo('/authorize')).toHaveLength(1)
  })

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a sibling host', { 'sec-fetch-site': 'same-site' }, 403],
    ['its own page', { 'sec-fetch-site': 'same-origin', origin: 'null' }, 303],
  ])('a POST from %s gets %3$i', async (_, headers, status) => {
    await using scene = await startScene()
    const { id, url } = (await scene.authorize()).body
    const answer = await new UserAgent().post(url, {}, { headers })
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.response.headers.getSetCookie()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test('a POST of an old browser is judged by its Origin', async () => {
    await using scene = await startScene()
    const { url } = (await scene.authorize()).body
    const post = (origin: string) => fetch(url, { method: 'POST', redirect: 'manual', headers: { origin } })
    expect((await post('https://evil.example')).status).toBe(403)
    expect((await post(scene.gatepass.url)).status).toBe(303)
  })

  test.each([
    ['http://127.0.0.1:1', 'gatepass', false],
    ['https://gatepass.example', '__Host-gatepass', true],
  ])('the cookie at %s is %s', async (publicUrl, name, secure) => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_PUBLIC_URL: publicUrl } },
    })
    const { id, url } = (await scene.authorize()).body
    expect(url).toBe(`${publicUrl}/connect/${id}`)
    const here = (to: string) => to.replace(publicUrl, scene.gatepass.url)
    const browser = new UserAgent()
    expect((await browser.get(here(url))).response.headers.getSetCookie()).toEqual([])
    const sent = await browser.post(here(url))
    expect(sent.status).toBe(303)
    const [cookie = '', ...more] = sent.response.headers.getSetCookie()
    expect(more).toEqual([])
    const [pair = '', ...attributes] = cookie.split('; ')
    expect(pair).toMatch(new RegExp(`^${name}=[\\w-]{43}$`))
    expect(attributes.map((one) => one.replace(/Max-Age=\d+/, 'Max-Age')).sort()).toEqual(
      ['HttpOnly', 'Max-Age', 'Path=/', 'SameSite=Lax', ...(secure ? ['Secure'] : [])].sort(),
    )

    const provider = await browser.get(sent.response.headers.get('location') ?? '')
    const callback = provider.response.headers.get('location') ?? ''
    expect(callback.startsWith(`${publicUrl}/callback/prov_`)).toBe(true)
    const wrongName = secure ? 'gatepass' : '__Host-gatepass'
    const value = pair.slice(name.length + 1)
    for (const [named, status] of [
      [wrongName, 403],
      [name, 303],
    ] as const) {
      const answer = await fetch(here(callback), {
        redirect: 'manual',
        headers: { cookie: `${named}=${value}` },
      })
      expect(answer.status).toBe(status)
    }
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each([
    ['600', 3600],
    ['86400', 86_400],
  ])('each click sets the cookie again; with authorizations of %s s it lives %i s', async (ttl, seconds) => {
    await using scene = await startScene({ gatepass: { environment: { GATEPASS_AUTHORIZATION_TTL: ttl } } })
    const { url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const [first, second] = [await browser.post(url), await browser.post(url)]
    const cookies = first.response.headers.getSetCookie()
    expect(cookies).toEqual([expect.stringContaining(`; Max-Age=${seconds};`)])
    expect(second.response.headers.getSetCookie()).toEqual(cookies)
  })

  test('every page: no frame, no script, no Referer, no copy', async () => {
    await using scene = await startScene()
    const { url, callback, browser } = await scene.approve()
    const answers = [
      await browser.get(url),
      await browser.post(url),
      await browser.get(`${scene.gatepass.url}/connect/nope`),
      await browser.get(`${scene.gatepass.url}/callback/prov_nope?state=x&code=y`),
      await new UserAgent().get(callback),
    ]
    for (const { response, body } of answers) {
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none'.*frame-ancestors 'none'/),
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': body.includes('<form') ? 'same-origin' : 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cache-control': 'no-store',
      })
      expect(response.headers.get('content-security-policy')).not.toMatch(/unsafe|script-src/)
    }
  })

  test('`pass`: opening the link is the click', async () => {
    await using scene = await startScene({ gatepass: { environment: { GATEPASS_CONNECT_PAGE: 'pass' } } })
    const { id, url } = (await scene.authorize()).body
    expect((await fetch(url, { method: 'HEAD', redirect: 'manual' })).status).toBe(200)
    const browser = new UserAgent()
    const page = await browser.follow(url)
    expect(page.status).toBe(200)
    expect(page.hops[0]).toMatchObject({ status: 303, location: expect.stringContaining('/authorize?') })
    expect((await scene.status(id)).body.status).toBe('completed')
    expect((await browser.follow(url)).hops).toEqual([])
  })
})

describe('the callback', () => {
  test('answers 303 to a clean page, and twice is once', async () => {
    await using scene = await startScene()
    const { id, url, browser, callback } = await scene.approve()
    for (let times = 0; times < 3; times++)
      expect(await browser.get(callback)).toMatchObject({ status: 303, body: '' })
    expect((await browser.get(callback)).response.headers.get('location')).toBe(url)
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('10 at once make one token request, and all end well', async () => {
    await using scene = await startScene({ as: { exchangeDelayMs: 50 } })
    const { id, browser, callback } = await scene.approve()
    const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get(callback)))
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(303))
    expect(scene.as.tokenRequests()).toHaveLength(1)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect((await browser.follow(callback)).body).not.toContain('<form')
  })

  test('the back button: the connect page clicked again after the end changes nothing', async () => {
    await using scene = await startScene()
    const { id, url } = (await scene.authorize()).body
    const browser = new UserAgent()
    const connect = await browser.get(url)
    await browser.submitForm(connect)
    const { token } = (await scene.status(id)).body.context
    await browser.submitForm(connect)
    expect((await scene.status(id)).body.context.token).toBe(token)
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('the wrong browser is refused and spends nothing; the right one still finishes', async () => {
    await using scene = await startScene()
    const { id, browser, callback } = await scene.approve()
    const stranger = new UserAgent()
    expect((await stranger.get(callback)).status).toBe(403)
    await stranger.get((await scene.authorize({ user_id: 'victim' })).body.url)
    expect((await stranger.get(callback)).status).toBe(403)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
    expect((await browser.follow(callback)).status).toBe(200)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('a refusal brought by the wrong browser does not end the attempt', async () => {
    await using scene = await startScene()
    const { id, callback, browser } = await scene.approve()
    const forged = new URL(callback)
    forged.searchParams.delete('code')
    forged.searchParams.set('error', 'access_denied')
    expect((await new UserAgent().get(forged)).status).toBe(403)
    await browser.follow(callback)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test('a click in another browser ends the earlier attempt, and counts itself', async () => {
    await using scene = await startScene()
    const { id, url, browser, callback } = await scene.approve()
    const other = await approve(url)
    const early = await browser.get(callback)
    expect(early.status).toBe(400)
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
    await other.browser.follow(other.callback)
    expect((await scene.status(id)).body.status).toBe('completed')
    expect(scene.as.tokenRequests()).toHaveLength(1)
  })

  test('a late callback is a 410 page and no token request', async () => {
    await using scene = await startScene()
    const { id, browser, callback } = await scene.approve()
    scene.clock.advance(600)
    const page = await browser.get(callback)
    expect(page.status).toBe(410)
    expect(page.body).toContain('expired')
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'expired' })
  })

  test('another entry’s redirect URI is refused, and the right one still works', async () => {
    await using scene = await startScene()
    const other = await addProvider(scene.gatepass, scene.as, {}, { id: 'other' })
    const { id, browser, callback } = await scene.approve()
    const mixedUp = new URL(other.body.oauth2.redirect_uri)
    mixedUp.search = callback.search
    expect((await browser.get(mixedUp)).status).toBe(400)
    expect(scene.as.tokenRequests()).toEqual([])
    await browser.follow(callback)
    expect((await scene.status(id)).body.status).toBe('completed')
  })

  test.each([
    ['made up', (url: URL) => url.searchParams.set('state', 'x'.repeat(43))],
    ['missing', (url: URL) => url.searchParams.delete('state')],
    ['empty', (url: URL) => url.searchParams.set('state', '')],
    ['repeated', (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? '')],
  ])('a state that is %s is refused and ends nothing', async (_, change) => {
    await using scene = await startScene()
    const { id, browser, callback } = await scene.approve()
    const wrong = new URL(callback)
    change(wrong)
    const page = await browser.get(wrong)
    expect(page.status).toBe(400)
    expect(page.response.headers.get('location')).toBeNull()
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.status(id)).body.status).toBe('pending')
  })

  test.each([
    ['the right issuer', true, true, undefined],
    ['another issuer', true, 'https://evil.example', 'issuer_mismatch'],
    ['two issuers', true, ['https://evil.example', 'https://evil.example'], 'issuer_mismatch'],
    ['no iss at all', true, false, undefined],
    ['any iss where no issuer is known', false, 'https://whoever.example', undefined],
    ['several where none is known', false, ['https://a.example', 'https://b.example'], undefined],
  ])('iss: %s', async (_, known, issParameter, reason) => {
    await using scene = await startScene({ oauth2: false, as: { issParameter } })
    await addProvider(scene.gatepass, scene.as, known ? { issuer: scene.as.url } : {})
    const { body } = await scene.connect()
    if (reason === undefined) expect(body.status).toBe('completed')
    else {
      expect(body).toMatchObject({ status: 'failed', reason })
      expect(scene.as.tokenRequests()).toEqual([])
    }
  })

  test.each([
    ['its own iss', true, undefined],
    ['another', 'https://evil.example', 'issuer_mismatch'],
    ['none', false, 'issuer_mismatch'],
  ])('a server that announces iss, and sends %s', async (_, issParameter, reason) => {
    await using scene = await startScene({ oauth2: false, as: { issParameter } })
    const announced = { issuer: scene.as.url, authorization_response_iss_parameter_supported: true }
    const added = await addProvider(scene.gatepass, scene.as, announced)
    expect(added.body.oauth2).toMatchObject(announced)
    const { body } = await scene.connect()
    if (reason === undefined) return expect(body.status).toBe('completed')
    expect(body).toMatchObject({ status: 'failed', reason })
    expect(scene.as.tokenRequests()).toEqual([])
    return undefined
  })

  test('an announcement without an issuer to compare with is refused', async () => {
    await using scene = await startScene({ oauth2: false })
    const announced = { authorization_response_iss_parameter_supported: true }
    await expect(addProvider(scene.gatepass, scene.as, announced)).rejects.toThrow(/needs oauth2.issuer/)
  })

  test('an iss that cannot be compared is told to the operator, and to nobody else', async () => {
    const iss = 'https://whoever.example/\u001b[31m'
    await using scene = await startScene({ as: { issParameter: iss } })
    await scene.connect()
    const told = scene.gatepass.logLines.filter((line) => line.includes('oauth2.issuer'))
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('"level":"info"')
    expect(told[0]).toContain('https://whoever.example')
    expect(told[0]).not.toContain('\\u001b')
    const [request] = scene.as.tokenRequests()
    expect(JSON.stringify(request?.params)).not.toContain('whoever')
  })

  const GOOGLE = [
    'https://accounts.google.com/o/oauth2/v2/auth',
    'https://oauth2.googleapis.com/token',
  ] as const
  const GITHUB = [
    'https://github.com/login/oauth/authorize',
    'https://github.com/login/oauth/access_token',
  ] as const
  test.each([
    ['Google', GOOGLE, 'https://accounts.google.com'],
    ['GitHub', GITHUB, 'https://github.com/login/oauth'],
  ])(
    '%s is known by its hosts, wherever the entry came from',
    async (_, [authorizationUrl, tokenUrl], issuer) => {
      await using scene = await startScene({ oauth2: false })
      const client = { client_id: 'id', client_secret: 'secret' }
      const added = await scene.call('POST', '/v1/admin/auth_providers', {
        id: 'by-hosts',
        oauth2: {
          ...client,
          authorize_request: { endpoint: authorizationUrl },
          token_request: { endpoint: tokenUrl },
        },
      })
      expect(added.body.oauth2.issuer).toBe(issuer)
      const imported = await importEntry(scene.gatepass, scene.as, { ...client, authorizationUrl, tokenUrl })
      expect(imported.status).toBe(200)
      const { items } = (await scene.call('GET', '/v1/admin/auth_providers')).body
      const ids: string[] = items.map((one: { id: string }) => one.id)
      expect(ids).toHaveLength(2)
      for (const provider of ids)
        for (const [iss, reason] of [
          [issuer, 'access_denied'],
          [new URL(issuer).origin === issuer ? `${issuer}/` : new URL(issuer).origin, 'issuer_mismatch'],
          ['https://evil.example', 'issuer_mismatch'],
        ]) {
          const { id, url } = (await scene.authorize({ provider, user_id: `u-${reason}-${iss}` })).body
          const browser = new UserAgent()
          const until = ({ origin }: URL) => origin === new URL(authorizationUrl).origin
          const sent = await browser.submitForm(await browser.get(url), {}, { until })
          const asked = new URL(sent.hops.at(-1)?.location ?? '').searchParams
          const answer = new URL(asked.get('redirect_uri') ?? '')
          answer.search = `${new URLSearchParams({ error: 'access_denied', state: asked.get('state') ?? '', iss: iss ?? '' })}`
          await browser.follow(answer)
          expect((await scene.status(id)).body, `${provider} ${iss}`).toMatchObject({
            status: 'failed',
            reason,
          })
        }
    },
  )

  test.each<[Consent, string]>([
    ['deny', 'access_denied'],
    ['server_error', 'provider_unavailable'],
    ['temporarily_unavailable', 'provider_unavailable'],
    ['invalid_scope', 'invalid_scope'],
    ['unauthorized_client', 'invalid_client'],
    ['no-code', 'provider_bad_response'],
    ['repeated-code', 'provider_bad_response'],
    ['code-and-error', 'access_denied'],
  ])('%s ends with %s, a page and a sentence, and no token request', async (consent, reason) => {
    await using scene = await startScene({ as: { consent, errorDescription: '<b>spoofed</b>\u001b[31m' } })
    const { id, url } = (await scene.authorize()).body
    const page = await click(url)
    expect(page.status).toBe(200)
    expect(page.url).toBe(url)
    // what the provider says is its word, without markup
    expect(page.body).not.toMatch(/<b>|&lt;b/)
    expect(page.body).not.toContain('\u001b')
    const { body } = await scene.status(id)
    expect(body.message).not.toMatch(/[<>\p{C}]/u)
    expect(body).toMatchObject({ status: 'failed', reason, context: {} })
    expect(body.message.length).toBeGreaterThan(20)
    expect(FAILURE_REASONS).toContain(body.reason)
    expect(body).not.toHaveProperty('url')
    expect(scene.as.tokenRequests()).toEqual([])
    expect((await scene.authorize()).body).toMatchObject({ status: 'pending' })
    expect((await scene.authorize()).body.id).not.toBe(id)
  })

  test.each<Consent>(['wrong-state', 'no-state'])(
    '%s: nothing is redeemed, and the attempt stands',
    async (consent) => {
      await using scene = await startScene({ as: { consent } })
      const { id, url } = (await scene.authorize()).body
      expect((await click(url)).status).toBe(400)
      expect((await scene.status(id)).body.status).toBe('pending')
      expect(scene.as.tokenRequests()).toEqual([])
    },
  )

  test('next_uri gets the id, the status and the reason, whatever the end: by a redirect, or a link where the page explains', async () => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_NEXT_URIS: 'http://127.0.0.1:9' } },
    })
    const nextUri = 'http://127.0.0.1:9/done?x=1'
    const { browser, callback, id } = await scene.approve({ next_uri: nextUri })
    const answer = await browser.get(callback)
    expect(answer.status).toBe(303)
    expect(answer.response.headers.get('location')).toBe(`${nextUri}&auth_id=${id}&status=completed`)
    expect((await scene.status(id)).body.status).toBe('completed')

    const late = await scene.approve({ next_uri: nextUri, user_id: 'u3' })
    scene.clock.advance(600)
    const expired = await late.browser.follow(late.callback)
    expect([expired.status, expired.url]).toEqual([410, late.url])
    const away = `${nextUri}&auth_id=${late.id}&status=failed&reason=expired`
    expect(expired.body).toContain(`href="${away.replaceAll('&', '&amp;')}">Back to your application</a>`)

    scene.as.behaviour.consent = 'deny'
    const denied = await scene.approve({ next_uri: nextUri, user_id: 'u2' })
    expect((await denied.browser.get(denied.callback)).response.headers.get('location')).toBe(
      `${nextUri}&auth_id=${denied.id}&status=failed&reason=access_denied`,
    )
    expect((await denied.browser.get(denied.url)).body).toContain('reason=access_denied')
  })

  test.each([
    ['https://app.example', 'https://app.example/?auth_id=ID&status=completed'],
    ['https://app.example/?a=b%20c&d#e', 'https://app.example/?a=b%20c&d&auth_id=ID&status=completed#e'],
    // the caller's own parameters of these names are replaced, so that its page can trust them
    [
      'https://app.example/?status=failed&reason=x&auth_id=y',
      'https://app.example/?status=completed&auth_id=ID',
    ],
  ])('of next_uri %s only these members change', async (next_uri, expected) => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example' } },
    })
    const { browser, callback, id } = await scene.approve({ next_uri })
    const { response } = await browser.get(callback)
    expect(response.headers.get('location')).toBe(expected.replace('ID', id))
  })

  test('only the browser that clicked is led on to next_uri', async () => {
    await using scene = await startScene({
      gatepass: { environment: { GATEPASS_NEXT_URIS: 'https://app.example' } },
    })
    const { browser, callback, url } = await scene.approve({ next_uri: 'https://app.example/done' })
    await browser.get(callback)
    const withCookie = (await scene.approve({ user_id: 'u2' })).browser
    for (const stranger of [new UserAgent(), withCookie]) {
      expect((await stranger.get(callback)).response.headers.get('location')).toBe(url)
      expect((await stranger.get(url)).body).not.toContain('app.example')
    }
    expect((await browser.get(callback)).response.headers.get('location')).toContain('app.example')
    expect((await browser.get(url)).body).toContain('app.example/done?auth_id=')
  })

  test('an entry that changed its hosts or client meanwhile gets no code', async () => {
    await using scene = await startScene()
    const { id, browser, callback } = await scene.approve()
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { client_id: 'another' } })
    await browser.follow(callback)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_changed' })
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('a deleted entry ends the authorization', async () => {
    await using scene = await startScene()
    const { id, browser, callback } = await scene.approve()
    await scene.call('DELETE', '/v1/admin/auth_providers/demo')
    expect((await browser.follow(callback)).status).toBe(200)
    expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_changed' })
  })
})

test('several providers in one authorization: one link leads through each in turn', async () => {
  await using scene = await startScene()
  const { as, gatepass, call } = scene
  const imported = await call('POST', '/v1/tools/import', {
    name: 'Two',
    version: '1.0.0',
    description: 'Needs two',
    parameters: { type: 'object', properties: {} },
    oauth: ['One', 'Another'].map((name) => ({
      name,
      version: '2.0',
      authorizationUrl: as.authorizationUrl,
      tokenUrl: as.tokenUrl,
      clientId: as.clientId,
      clientSecret: as.clientSecret,
      scopes: [name.toLowerCase()],
      responseType: 'code',
    })),
  })
  expect(imported.body.items[0].providers).toHaveLength(2)
  const begun = await call('POST', '/v1/tools/authorize', { tool_name: 'Two', user_id: 'u1' })
  expect(begun.body).toMatchObject({ status: 'pending', scopes: ['one', 'another'] })
  const { id, url } = begun.body
  const browser = new UserAgent()
  const second = await click(url, browser)
  expect(second.url).toBe(url)
  expect((await scene.status(id)).body).toMatchObject({ id, status: 'pending', url })
  await browser.submitForm(second)
  expect((await scene.status(id)).body).toMatchObject({ id, status: 'completed' })
  const redirects = as.requestsTo('/authorize').map(({ params }) => params.redirect_uri)
  expect(new Set(redirects).size).toBe(2)
  expect((await gatepass.call('GET', '/v1/connections?user_id=u1')).body.total_count).toBe(2)
})

test('no token, code, verifier, state or secret stands in the log, the pages or the database file', async () => {
  await using scene = await startScene()
  const { as, gatepass } = scene
  const { url, browser, callback } = await scene.approve()
  await browser.follow(callback)
  scene.clock.advance(3600)
  await scene.authorize()
  as.behaviour.exchange = 'refuse'
  as.behaviour.errorDescription = `leaks ${as.clientSecret}`
  const refused = await scene.connect({ user_id: 'u2' })
  expect(refused.body.reason).toBe('invalid_grant')
  const files = await Promise.all(
    ['', '-wal'].map((end) => readFile(`${gatepass.databasePath}${end}`, 'latin1').catch(() => '')),
  )
  const places = {
    log: gatepass.logLines.join('\n'),
    page: (await browser.get(url)).body,
    status: JSON.stringify(refused.body),
    database: files.join(''),
  }
  const state = callback.searchParams.get('state') ?? ''
  for (const [place, text] of Object.entries(places))
    for (const secret of [...as.secrets(), state])
      expect(text.includes(secret), `${secret.slice(0, 4)}… in the ${place}`).toBe(false)
})
