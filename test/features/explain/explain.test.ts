import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueApiKey } from '../../../src/domain/api-key.ts'
import { CAUSE_CODES, causeOf } from '../../../src/domain/causes.ts'
import { TRAIL_STEPS } from '../../../src/domain/trail.ts'
import { failedConsents } from '../../../src/flows/causes/troubles.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { runHere } from '../../cli/gatepass.ts'
import { startFakeAuthorizationServer } from '../../fake-authorization-server.ts'
import { startFakeIssuer } from '../../fake-issuer.ts'
import { toolMetadata } from '../../fixtures.ts'
import { addProvider, authorize, click, oauth2For, type Scene, startScene } from '../../flows/fixtures.ts'
import { connection, LIFE } from '../../flows/refresh-fixtures.ts'
import type { Answer } from '../../gatepass.ts'
import { UserAgent } from '../../user-agent.ts'

let scene: Scene
/** Knows no redirect URI of Gatepass. */
let strict: Awaited<ReturnType<typeof startFakeAuthorizationServer>>
let issuer: Awaited<ReturnType<typeof startFakeIssuer>>
let users = 0

beforeAll(async () => {
  scene = await startScene()
  strict = await startFakeAuthorizationServer({ redirectUris: ['https://elsewhere.example/callback'] })
  issuer = await startFakeIssuer()
  const { gatepass, as } = scene
  await addProvider(gatepass, as, { client_secret: 'not-the-secret-of-this-client' }, { id: 'wrong-secret' })
  await addProvider(gatepass, as, { pkce: { enabled: false } }, { id: 'without-pkce' })
  await addProvider(gatepass, as, {}, { id: 'second' })
  await addProvider(gatepass, strict, {}, { id: 'unregistered' })
  const endpoint = (path: string) => ({ endpoint: `${issuer.issuer}/${path}` })
  const oauth2 = {
    client_id: issuer.clientId,
    client_secret: issuer.clientSecret,
    issuer: issuer.issuer,
    authorize_request: endpoint('authorize'),
    token_request: endpoint('token'),
  }
  await scene.call('POST', '/v1/admin/auth_providers', { id: 'openid', oauth2 })
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  await strict.close()
  await issuer.close()
})
const wellBehaved = {
  consent: 'approve',
  exchange: 'normal',
  refresh: 'static',
  requirePkce: 'none',
} as const
afterEach(() => {
  Object.assign(scene.as.behaviour, {
    ...wellBehaved,
    errorDescription: undefined,
    grantedScopes: undefined,
    rawTokenAnswer: undefined,
  })
  scene.as.account = ADA
})

const ADA = { sub: 'u-1', name: 'Ada Lovelace', email: 'ada@example.test', login: 'ada' }
const explain = (id: string, of: Scene = scene): Promise<Answer> =>
  of.call('GET', id.startsWith('conn_') ? `/v1/connections/${id}/explain` : `/v1/auth/${id}/explain`)
/** A user of whom nothing is known yet. */
const newUser = () => `user-${++users}`
const begin = async (provider = 'demo', more: object = {}): Promise<{ id: string; url: string }> =>
  (await authorize(scene.gatepass, { provider, user_id: newUser(), ...more })).body
const names = (body: Answer['body']) => body.steps.map((one: { step: string }) => one.step)

/** Begins, clicks, and answers the id. */
async function clickAt(provider = 'demo', more: object = {}): Promise<string> {
  const { id, url } = await begin(provider, more)
  await click(url)
  return id
}

describe('the cause of an authorization', () => {
  test.each<[string, string, string, () => Promise<string>]>([
    ['a wrong client secret', 'wrong_client_secret', 'operator', () => clickAt('wrong-secret')],
    [
      'a redirect URI that is not registered',
      'redirect_uri_not_registered',
      'operator',
      async () => {
        const id = await clickAt('unregistered')
        scene.clock.advance(121)
        return id
      },
    ],
    [
      'the same, when it has expired',
      'redirect_uri_not_registered',
      'operator',
      async () => {
        const id = await clickAt('unregistered')
        scene.clock.advance(601)
        return id
      },
    ],
    ['a user who was just sent to the provider', 'at_provider', 'user', () => clickAt('unregistered')],
    [
      'a user who left, where others came back',
      'left_at_provider',
      'user',
      async () => {
        await clickAt()
        scene.as.behaviour.consent = 'dead-end'
        const id = await clickAt()
        scene.clock.advance(121)
        return id
      },
    ],
    ['a refusal', 'access_denied', 'user', () => asServer({ consent: 'deny' })],
    [
      'a link that expired unopened',
      'link_not_opened',
      'user',
      async () => {
        const { id } = await begin()
        scene.clock.advance(601)
        return id
      },
    ],
    [
      'a link that expired after it was opened',
      'link_not_clicked',
      'user',
      async () => {
        const { id, url } = await begin()
        await new UserAgent().get(url)
        scene.clock.advance(601)
        return id
      },
    ],
    [
      'PKCE that is missing',
      'pkce_refused',
      'operator',
      () => asServer({ requirePkce: 'S256' }, 'without-pkce'),
    ],
    [
      'a code verifier that is refused',
      'pkce_refused',
      'operator',
      () => asServer({ exchange: 'refuse', errorDescription: 'PKCE verification failed' }),
    ],
    ['a scope that is refused', 'scope_refused', 'tool_author', () => asServer({ consent: 'invalid_scope' })],
    ['a provider that is down', 'provider_down', 'user', () => asServer({ exchange: 'html-500' })],
    [
      'a provider with a problem',
      'provider_down',
      'user',
      () => asServer({ consent: 'temporarily_unavailable' }),
    ],
    [
      'a provider that limits requests',
      'provider_limits_requests',
      'user',
      () => asServer({ exchange: '429' }),
    ],
    [
      'a client id that is refused',
      'client_not_accepted',
      'operator',
      () => asServer({ consent: 'unauthorized_client' }),
    ],
    ['a code that is refused', 'code_not_accepted', 'user', () => asServer({ exchange: 'refuse' })],
    [
      'a redirect URI that the token endpoint refuses',
      'redirect_uri_not_registered',
      'operator',
      () => asServer({ exchange: 'refuse', errorDescription: 'redirect_uri differs.' }),
    ],
    ['an answer without a code', 'unusable_answer', 'operator', () => asServer({ consent: 'no-code' })],
    [
      'an ID token that expired before it came',
      'clock_skew',
      'operator',
      () => asIssuer({ exp: Math.floor(Date.now() / 1000) - 3600 }),
    ],
    [
      'an ID token that is not valid yet',
      'clock_skew',
      'operator',
      () => asIssuer({ nbf: Math.floor(Date.now() / 1000) + 3600 }),
    ],
    [
      'an answer of another issuer',
      'wrong_issuer',
      'operator',
      async () => {
        issuer.behaviour.iss = 'https://another.example'
        const id = await asIssuer({})
        issuer.behaviour.iss = false
        return id
      },
    ],
    [
      'an ID token for another client',
      'id_token_refused',
      'operator',
      () => asIssuer({ aud: 'another-client' }),
    ],
    [
      'another account',
      'wrong_account',
      'user',
      async () => {
        const user_id = newUser()
        await clickAt('demo', { user_id })
        scene.as.account = { ...ADA, sub: 'u-2', name: 'Grace', login: 'grace' }
        return clickAt('demo', { user_id, account: 'u-1', scopes: ['read', 'write'] })
      },
    ],
    [
      'an entry that was switched off meanwhile',
      'entry_changed',
      'user',
      async () => {
        const { id, url } = await begin('second')
        await scene.call('PATCH', '/v1/admin/auth_providers/second', { status: 'inactive' })
        await click(url)
        await scene.call('PATCH', '/v1/admin/auth_providers/second', { status: 'active' })
        return id
      },
    ],
    [
      'an entry whose secret was taken away meanwhile',
      'client_missing',
      'operator',
      async () => {
        const { id, url } = await begin('second')
        const change = (client_secret: string | null) =>
          scene.call('PATCH', '/v1/admin/auth_providers/second', { oauth2: { client_secret } })
        await change(null)
        expect((await click(url)).status).toBe(503)
        await change(scene.as.clientSecret)
        return id
      },
    ],
    [
      'an answer in another browser',
      'other_browser',
      'user',
      async () => {
        const { id, callback } = await scene.approve({ user_id: newUser() })
        await new UserAgent().get(callback)
        return id
      },
    ],
  ])('of %s is %s, which the %s can change', async (_, code, who, act) => {
    const { status, body } = await explain(await act())
    expect({ status, cause: body.cause }).toMatchObject({ status: 200, cause: { code, who } })
    expect(body.cause.message.length).toBeGreaterThan(20)
    expect(body.cause.to_do.length).toBeGreaterThan(10)
  })

  test('of a token request that is refused as unauthorized_client names the way to authenticate', async () => {
    const body = JSON.stringify({ error: 'unauthorized_client' })
    const id = await asServer({ rawTokenAnswer: { status: 400, body } })
    const { cause } = (await explain(id)).body
    expect(cause).toMatchObject({ code: 'client_not_accepted', who: 'operator' })
    expect(cause.to_do).toContain(
      'a way other than client_secret_basic: change oauth2.token_request.auth_method',
    )
  })

  async function asServer(behaviour: Partial<Scene['as']['behaviour']>, provider = 'demo'): Promise<string> {
    Object.assign(scene.as.behaviour, behaviour)
    return clickAt(provider)
  }

  async function asIssuer(claims: Record<string, unknown>): Promise<string> {
    issuer.behaviour.claims = claims
    return clickAt('openid', { scopes: ['openid'] })
  }

  test('names the redirect URI to register, and how far the clocks are apart', async () => {
    const id = await clickAt('unregistered')
    scene.clock.advance(601)
    const { body } = await explain(id)
    const { redirect_uri } = (await scene.call('GET', '/v1/admin/auth_providers/unregistered')).body.oauth2
    expect(body.cause.to_do).toContain(redirect_uri)
    expect(body.providers[0]).toMatchObject({ provider_id: 'unregistered', redirect_uri })
    issuer.behaviour.claims = { exp: 1 }
    const skewed = (await explain(await clickAt('openid', { scopes: ['openid'] }))).body
    expect(skewed.cause.message).toMatch(/claim "exp".+The clock of Gatepass is \d+ seconds ahead of/)
  })

  test('is wrong_user when another user came back, and user_not_confirmed while none is confirmed', async () => {
    const environment = { GATEPASS_USER_VERIFIER: 'https://app.example/verify' }
    await using verified = await startScene({ gatepass: { environment } })
    const { id, browser, callback } = await verified.approve()
    const location = (await browser.get(callback)).response.headers.get('location') ?? ''
    expect((await explain(id, verified)).body.cause).toMatchObject({ code: 'user_not_confirmed' })
    const flow_id = new URL(location).searchParams.get('flow_id') ?? ''
    await verified.call('POST', '/v1/auth/confirm_user', { flow_id, user_id: 'somebody-else' })
    const { body } = await explain(id, verified)
    expect(body).toMatchObject({ reason: 'user_mismatch', cause: { code: 'wrong_user', who: 'user' } })
    expect(JSON.stringify(body)).not.toContain(flow_id)

    const second = await verified.approve({ user_id: 'u2' })
    const to = (await second.browser.get(second.callback)).response.headers.get('location') ?? ''
    const vouched = { flow_id: new URL(to).searchParams.get('flow_id'), user_id: 'u2' }
    await verified.call('POST', '/v1/auth/confirm_user', vouched)
    const confirmed = (await explain(second.id, verified)).body
    expect(confirmed.cause).toMatchObject({ code: 'not_sent_on', who: 'operator' })
    expect(names(confirmed)).toEqual([
      ...['begun', 'link_opened', 'clicked', 'sent_to_provider', 'callback', 'user_confirmed'],
    ])
  })
})

describe('the steps of an authorization', () => {
  test('are all there, in their order, with what was sent and answered', async () => {
    const { id, url } = await begin()
    scene.clock.advance(5)
    await click(url)
    const { body } = await explain(id)
    expect(names(body)).toEqual([
      ...['begun', 'link_opened', 'clicked', 'sent_to_provider', 'callback', 'code_exchange', 'user_info'],
      ...['stored', 'ended'],
    ])
    const step = (name: string) => body.steps.find((one: { step: string }) => one.step === name)
    expect(step('sent_to_provider')).toMatchObject({
      at: new Date(scene.clock() * 1000).toISOString(),
      provider_id: 'demo',
      attempt: 1,
      details: {
        endpoint: scene.as.authorizationUrl,
        scopes: ['read'],
        code_challenge_method: 'S256',
        parameters: expect.arrayContaining(['client_id', 'redirect_uri', 'state', 'code_challenge', 'scope']),
      },
    })
    expect(step('callback').details.parameters).toEqual(['state', 'code'])
    expect(step('code_exchange').details).toMatchObject({
      endpoint: scene.as.tokenUrl,
      method: 'POST',
      authentication: 'client_secret_basic',
      status: 200,
      parameters: expect.arrayContaining(['grant_type', 'code', 'redirect_uri', 'code_verifier']),
    })
    expect(step('user_info').details).toMatchObject({ endpoint: scene.as.userInfoUrl, status: 200 })
    expect(step('stored').details).toMatchObject({ account: 'ada@example.test', scopes: ['read'] })
    expect(step('stored').details.connection_id).toBe(body.providers[0].connection_id)
    expect(body).toMatchObject({ status: 'completed', kind: 'authorization' })
    expect(body.cause).toBeUndefined()
  })

  test('say what the provider said, cleaned, and hold no secret, code, token or state', async () => {
    const { as } = scene
    as.behaviour.exchange = 'refuse'
    as.behaviour.errorDescription = `The secret ${as.clientSecret} and <b>this</b> are wrong`
    const { id, url } = await begin()
    const page = await click(url)
    const text = JSON.stringify((await explain(id)).body)
    expect(text).toContain('invalid_grant')
    expect(text).toMatch(/\[removed\] and b this .b are wrong/)
    const state = page.hops.map(({ location }) => new URL(location).searchParams.get('state')).find(Boolean)
    expect(state).toMatch(/^.{40,}$/)
    for (const secret of [...as.secrets(), state ?? '']) expect(text).not.toContain(secret)
  })

  test('of several clicks are told apart', async () => {
    const { id, url } = await begin()
    const first = new UserAgent()
    await first.submitForm(
      await first.get(url),
      {},
      { until: ({ pathname }) => pathname.startsWith('/callback/') },
    )
    await click(url)
    const { body } = await explain(id)
    const clicks = body.steps.filter((one: { attempt?: number }) => one.attempt !== undefined)
    expect(clicks.map((one: { attempt: number; step: string }) => `${one.attempt} ${one.step}`)).toEqual([
      ...['1 clicked', '1 sent_to_provider', '2 clicked', '2 sent_to_provider', '2 callback'],
      ...['2 code_exchange', '2 user_info', '2 stored'],
    ])
  })

  test('of several providers behind one link are told apart', async () => {
    const { oauth, ...tool } = toolMetadata(scene.as)
    const [entry] = oauth as readonly object[]
    const both = [entry, { ...entry, name: 'Other', scopes: ['write'] }]
    const imported = await scene.call('POST', '/v1/tools/import', { ...tool, oauth: both })
    const ids = imported.body.items[0].providers.map((one: { id: string }) => one.id)
    const asked = { tool_name: 'Who am I', user_id: newUser() }
    const { id, url } = (await scene.call('POST', '/v1/tools/authorize', asked)).body
    const browser = new UserAgent()
    scene.as.behaviour.consent = 'approve'
    const page = await browser.submitForm(await browser.get(url))
    scene.as.behaviour.consent = 'deny'
    await browser.submitForm(page)
    const { body } = await explain(id)
    const told = body.steps.map(
      (one: { provider_id?: string; step: string }) => `${one.step} ${one.provider_id ?? ''}`,
    )
    expect(told).toEqual([
      ...['begun ', 'link_opened ', `clicked ${ids[0]}`, `sent_to_provider ${ids[0]}`, `callback ${ids[0]}`],
      ...[`code_exchange ${ids[0]}`, `user_info ${ids[0]}`, `stored ${ids[0]}`],
      ...[`clicked ${ids[1]}`, `sent_to_provider ${ids[1]}`, `callback ${ids[1]}`, 'ended '],
    ])
    expect(body.cause.code).toBe('access_denied')
    expect(body.requester).toBe('Who am I')
  })

  test('stay bounded, however often somebody clicks; the latest attempt is whole', async () => {
    const { id, url } = await begin('unregistered')
    const browser = new UserAgent()
    const page = await browser.get(url)
    for (let i = 0; i < 40; i++) await browser.submitForm(page)
    const kept = await scene.gatepass.broker.store.authorizations.trail(id)
    expect(kept?.trail?.length).toBeLessThan(14_000)
    const { body } = await explain(id)
    expect(body.earlier_steps_dropped).toBe(true)
    expect(names(body).slice(-2)).toEqual(['clicked', 'sent_to_provider'])
  })

  test('are deleted with the authorization', async () => {
    const id = await clickAt()
    await scene.gatepass.broker.store.authorizations.sweep(scene.clock() + 3600)
    expect((await explain(id)).status).toBe(404)
  })
})

describe('who may ask', () => {
  test('keys of the project, of every role; the ids of others answer as unknown ones do', async () => {
    const id = await clickAt('demo', { user_id: 'owner' })
    const conn = (await scene.call('GET', '/v1/connections?user_id=owner')).body.items[0].id
    const { gatepass } = scene
    const as = (key: string) => (path: string) => scene.call('GET', path, undefined, { key })
    const stranger = as(await gatepass.makeKey('admin', 'another'))
    const caller = as(await gatepass.makeKey('caller'))
    const reader = as(await gatepass.makeKey('readonly'))
    for (const [path, unknown] of [
      [`/v1/auth/${id}/explain`, `/v1/auth/${id.slice(0, -8)}00000000/explain`],
      [`/v1/connections/${conn}/explain`, `/v1/connections/${conn.slice(0, -8)}00000000/explain`],
    ] as const) {
      expect((await caller(path)).status).toBe(200)
      expect((await reader(path)).status).toBe(200)
      const [ofAnother, ofNobody] = [await stranger(path), await caller(unknown)]
      expect(ofAnother.status).toBe(404)
      expect(ofNobody.status).toBe(404)
      expect(ofAnother.body.message.replace(/"[^"]*"/, '')).toBe(ofNobody.body.message.replace(/"[^"]*"/, ''))
    }
    const { id: projectId } = await gatepass.broker.store.projects.ensure('default', 1)
    const of = { projectId, name: 'test', role: 'caller', createdAt: scene.clock() } as const
    for (const [userId, status] of [
      ['owner', 200],
      ['another-user', 404],
    ] as const) {
      const { key, record } = issueApiKey({ ...of, userId })
      await gatepass.broker.store.apiKeys.add(record)
      expect((await as(key)(`/v1/auth/${id}/explain`)).status).toBe(status)
      expect((await as(key)(`/v1/connections/${conn}/explain`)).status).toBe(status)
    }
    expect((await explain(conn)).body).toMatchObject({ kind: 'connection', status: 'active' })
    expect((await scene.call('GET', `/v1/auth/${conn}/explain`)).body).toMatchObject({ kind: 'connection' })
  })
})

describe('the cause of a connection', () => {
  /** A connection whose token has expired, and what a caller is then told. */
  async function afterExpiry(refresh: () => void | Promise<void>, provider = 'demo') {
    const user_id = newUser()
    await clickAt(provider, { user_id })
    scene.clock.advance(LIFE)
    await refresh()
    const { id } = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items[0]
    const fetched = await scene.call('POST', `/v1/connections/${id}/token`)
    return { id, fetched, fetch: () => scene.call('POST', `/v1/connections/${id}/token`) }
  }
  const refusing = (errorDescription?: string) => () => {
    Object.assign(scene.as.behaviour, { refresh: 'refuse', errorDescription })
  }

  test.each<[string, string, string, () => void, number]>([
    ['withdrawn', 'consent_withdrawn', 'user', refusing('Token has been revoked by the user.'), 403],
    [
      'expired',
      'refresh_token_expired',
      'user',
      refusing('Refresh token has expired due to inactivity.'),
      403,
    ],
    ['used twice', 'refresh_token_used_twice', 'operator', refusing('Refresh token was already used.'), 403],
    [
      'refused without a reason',
      'grant_refused',
      'user',
      refusing('Token has been expired or revoked.'),
      403,
    ],
    [
      'a wrong client secret',
      'wrong_client_secret',
      'operator',
      () => {
        scene.as.behaviour.refresh = 'invalid_client'
      },
      502,
    ],
    [
      'a provider that is down',
      'provider_down',
      'user',
      () => {
        scene.as.behaviour.refresh = '503'
      },
      503,
    ],
    [
      'a provider that limits requests',
      'provider_limits_requests',
      'user',
      () => {
        scene.as.behaviour.refresh = '429'
      },
      503,
    ],
  ])('whose refresh is %s is %s, which the %s can change', async (_, code, who, behave, status) => {
    const { id, fetched } = await afterExpiry(behave)
    expect(fetched.status).toBe(status)
    const { body } = await explain(id)
    expect(body.cause).toMatchObject({ code, who })
    expect(names(body)).toContain('refresh_failed')
    const failed = body.steps.find((one: { step: string }) => one.step === 'refresh_failed')
    expect(failed.details).toMatchObject({
      endpoint: scene.as.tokenUrl,
      authentication: 'client_secret_basic',
      parameters: expect.arrayContaining(['grant_type', 'refresh_token']),
    })
    for (const secret of scene.as.secrets()) expect(JSON.stringify(body)).not.toContain(secret)
  })

  test('is refresh_token_used_twice when the answer to a refresh was lost', async () => {
    const { id, fetch } = await afterExpiry(() => {
      scene.as.behaviour.refresh = 'drop'
    })
    scene.as.behaviour.refresh = 'rotate-strict'
    scene.clock.advance(5)
    expect((await fetch()).status).toBe(403)
    const { body } = await explain(id)
    expect(body).toMatchObject({
      status: 'needs_authorization',
      reason: 'refresh_outcome_lost',
      cause: { code: 'refresh_token_used_twice' },
    })
    expect(names(body)).toEqual([...['connected', 'refresh_failed', 'refresh_failed', 'needs_authorization']])
  })

  test('is refresh_token_used_twice when another installation has used it', async () => {
    scene.as.behaviour.refresh = 'rotate'
    const { id } = await afterExpiry(async () => {
      const sent = scene.as.secrets().findLast((one) => one.startsWith('rt_')) ?? ''
      const basic = Buffer.from(`${scene.as.clientId}:${scene.as.clientSecret}`).toString('base64')
      await fetch(scene.as.tokenUrl, {
        method: 'POST',
        headers: { authorization: `Basic ${basic}` },
        body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: sent }),
      })
    })
    expect((await explain(id)).body.cause).toMatchObject({
      code: 'refresh_token_used_twice',
      who: 'operator',
    })
  })

  test('counts the same failure in a row, and is gone after a good refresh', async () => {
    const { id, fetch } = await afterExpiry(() => {
      scene.as.behaviour.refresh = '503'
    })
    for (let i = 0; i < 3; i++) {
      scene.clock.advance(120)
      await fetch()
    }
    const { body } = await explain(id)
    expect(names(body).filter((name: string) => name === 'refresh_failed')).toHaveLength(1)
    expect(body.steps.at(-1).details.times).toBeGreaterThan(1)
    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(120)
    expect((await fetch()).status).toBe(200)
    const healed = (await explain(id)).body
    expect(healed.cause).toBeUndefined()
    expect(names(healed)).toContain('refreshed')
  })

  test('without a refresh token is no_refresh_token', async () => {
    scene.as.behaviour.omitRefreshToken = true
    const { id } = await afterExpiry(() => {})
    scene.as.behaviour.omitRefreshToken = false
    expect((await explain(id)).body).toMatchObject({
      reason: 'token_expired',
      cause: { code: 'no_refresh_token', who: 'operator' },
    })
  })

  test('is endpoints_changed after a change of the client', async () => {
    await addProvider(scene.gatepass, scene.as, {}, { id: 'moves' })
    const user_id = newUser()
    await clickAt('moves', { user_id })
    const oauth2 = oauth2For(scene.as, { client_id: 'another-client' })
    await scene.call('PATCH', '/v1/admin/auth_providers/moves', { oauth2: { client_id: oauth2.client_id } })
    const { id } = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items[0]
    expect((await explain(id)).body.cause).toMatchObject({ code: 'endpoints_changed' })
  })

  test('is forgotten with a new consent', async () => {
    await using fresh = await startScene({ as: { refresh: 'refuse' } })
    await fresh.connect()
    fresh.clock.advance(LIFE)
    const { body } = await fresh.authorize()
    const { id } = await connection(fresh)
    expect((await explain(id, fresh)).body.cause).toMatchObject({ code: 'grant_refused' })
    await click(body.url)
    expect((await explain(id, fresh)).body).toMatchObject({ status: 'active' })
    expect((await explain(id, fresh)).body.cause).toBeUndefined()
  })
})

describe('what a consent withheld or changed', () => {
  test('is in the status, in the explanation and on the page: scopes that were not granted', async () => {
    scene.as.behaviour.grantedScopes = ['read']
    const { id, url } = await begin('demo', { scopes: ['read', 'write'] })
    const page = await click(url)
    expect(page.body).toMatch(/Not granted<\/dt><dd><bdi>write</)
    const { body } = await scene.status(id)
    expect(body).toMatchObject({ status: 'completed', scopes: ['read'], missing_scopes: ['write'] })
    const explained = (await explain(id)).body
    expect(explained.cause).toMatchObject({ code: 'scopes_withheld', who: 'user' })
    expect(explained.cause.message).toContain('write')
    expect(explained.providers[0].missing_scopes).toEqual(['write'])
    const { connection_id: conn } = explained.providers[0]
    expect((await explain(conn)).body.cause).toMatchObject({ code: 'scopes_withheld' })
  })

  test('is in the same places: another account than before, which stays connected', async () => {
    const user_id = newUser()
    await clickAt('demo', { user_id })
    const [before] = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items
    scene.as.account = { sub: 'u-2', name: 'Grace', email: 'grace@example.test', login: 'grace' }
    const { id, url } = await begin('demo', { user_id, scopes: ['read', 'write'] })
    const page = await click(url)
    expect(page.body).toContain('Until now, <bdi>ada@example.test</bdi> was used')
    const { body } = await scene.status(id)
    expect(body.context.previous_account).toEqual({
      id: before.account.id,
      name: 'ada@example.test',
      connection_id: before.id,
    })
    const { cause } = (await explain(id)).body
    expect(cause).toMatchObject({ code: 'account_changed', who: 'user' })
    expect(cause.message).toContain('(grace@example.test) from the one that was connected before (ada@')
    const { items } = (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body
    expect(items.map((one: { default: boolean }) => one.default).sort()).toEqual([false, true])
  })

  test('is not said of a consent that gives all, to the same account or to one more that was asked for', async () => {
    const user_id = newUser()
    await clickAt('demo', { user_id })
    for (const more of [{ scopes: ['read', 'write'] }, { scopes: ['read'], account: 'new' }]) {
      const { id, url } = await begin('demo', { user_id, ...more })
      if ('account' in more) scene.as.account = { ...ADA, sub: 'u-3', email: 'third@example.test' }
      await click(url)
      const { body } = await scene.status(id)
      expect(body.status).toBe('completed')
      expect(body.missing_scopes).toBeUndefined()
      expect(body.context.previous_account).toBeUndefined()
      expect((await explain(id)).body.cause).toBeUndefined()
    }
  })
})

describe('what callers, pages and doctor are told', () => {
  test.each<[string, object, number, string, string | undefined]>([
    ['a provider that is down', { refresh: '503' }, 503, 'provider_down', undefined],
    ['a wrong client secret', { refresh: 'invalid_client' }, 502, 'wrong_client_secret', undefined],
    [
      'a withdrawn consent',
      { refresh: 'refuse', errorDescription: 'The user revoked the access: token_revoked' },
      403,
      'consent_withdrawn',
      'consent_withdrawn',
    ],
    [
      'an expired refresh token',
      { refresh: 'refuse', errorDescription: 'The refresh token has expired' },
      403,
      'refresh_token_expired',
      'refresh_token_expired',
    ],
    ['a refusal without a reason', { refresh: 'refuse' }, 403, 'grant_refused', 'refresh_refused'],
  ])('tells %s from the others', async (_, behaviour, status, code, statusReason) => {
    await using own = await startScene()
    await own.connect()
    own.clock.advance(LIFE)
    Object.assign(own.as.behaviour, behaviour)
    const { id } = await connection(own)
    const fetched = await own.call('POST', `/v1/connections/${id}/token`)
    expect(fetched).toMatchObject({ status, body: { cause: { code, to_do: expect.any(String) } } })
    expect((await connection(own)).status_reason).toBe(statusReason)
    const { checks } = (await own.call('GET', '/v1/admin/diagnosis')).body
    const client = new Gatepass({ baseUrl: own.gatepass.url, apiKey: own.gatepass.apiKey, maxRetries: 0 })
    if (statusReason === undefined)
      await expect(client.token('u1', 'demo')).rejects.toMatchObject({ why: { code } })
    const check = checks.find(({ name }: { name: string }) => name === 'connections at demo')
    expect(check).toMatchObject({
      status: fetched.body.cause.who === 'user' ? 'warning' : 'failed',
      message: expect.stringContaining(`1 does not work (${code})`),
      fix: expect.stringContaining(`gatepass explain ${id}`),
    })
    if (statusReason === undefined) return
    const { url } = (await own.authorize()).body
    expect((await new UserAgent().get(url)).body).toContain(
      `your earlier connection no longer works. ${fetched.body.cause.message}`,
    )
  })

  test('names the cause of the latest failed consent in doctor, until one succeeds', async () => {
    await using own = await startScene({ as: { clientAuth: 'refuse' } })
    const failed = await own.connect()
    const consent = async () => {
      const { checks } = (await own.call('GET', '/v1/admin/diagnosis')).body
      return checks.find(({ name }: { name: string }) => name === 'consent at demo')
    }
    expect(await consent()).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('wrong_client_secret'),
      fix: expect.stringContaining(`gatepass explain ${failed.body.id}`),
    })
    own.as.behaviour.clientAuth = 'either'
    own.clock.advance(1)
    await own.connect()
    expect(await consent()).toBeUndefined()
  })

  test('of the failed consents, those at other providers that succeeded later take no place', async () => {
    await using own = await startScene({ as: { clientAuth: 'refuse' } })
    const { gatepass, as, clock } = own
    await addProvider(gatepass, as, {}, { id: 'second' })
    const failed = await own.connect()
    as.behaviour.clientAuth = 'either'
    clock.advance(1)
    expect((await own.connect({ provider: 'second' })).body.status).toBe('completed')
    const project = await gatepass.broker.store.projects.findByName('default')
    const limits = { ended: 10, causes: 1 }
    expect(await failedConsents(gatepass.broker, project?.id ?? '', 0, limits)).toMatchObject([
      { provider: 'demo', authorizationId: failed.body.id, cause: { code: 'wrong_client_secret' } },
    ])
  })

  test('names the cause in the status and on the page, with what the operator can change', async () => {
    const { id, url } = await begin('wrong-secret')
    expect((await scene.status(id)).body.cause).toBeUndefined()
    const page = await click(url)
    expect(page.body).toContain('For the operator of this service: ')
    expect((await scene.status(id)).body.cause).toEqual((await explain(id)).body.cause)
    expect(page.body).toContain('<code>invalid_client</code> (<code>wrong_client_secret</code>)')
    scene.as.behaviour.consent = 'deny'
    const denied = await click((await begin()).url)
    expect(denied.body).not.toContain('For the operator')
    expect(denied.body).toContain('Reason: <code>access_denied</code></p>')
  })

  test('is printed by gatepass explain, as text and as JSON', async () => {
    const environment = { GATEPASS_URL: scene.gatepass.url, GATEPASS_API_KEY: scene.gatepass.apiKey }
    const id = await clickAt('wrong-secret')
    const { code, stdout } = await runHere(environment, 'explain', id)
    const text = stripVTControlCharacters(stdout)
    expect(code).toBe(0)
    expect(text).toContain(`${id}  failed: invalid_client`)
    expect(text).toMatch(/code exchange +POST .+\/token\n.+\n.+client_secret_basic\n +HTTP 401 after/)
    expect(text).toMatch(
      /✗ wrong_client_secret: .+\n {2}→ Set client_secret .+\n {2}The operator of Gatepass/,
    )
    expect(text).toContain('try client_secret_basic_unencoded')
    const json = await runHere(environment, 'explain', id, '--json')
    expect(JSON.parse(json.stdout)).toEqual((await explain(id)).body)
    expect((await runHere(environment, 'explain', 'prov_1')).code).toBe(2)
    expect((await runHere(environment, 'explain', 'auth_unknown')).code).toBe(3)
  })
})

describe('docs/guides/explain.md', () => {
  const page = readFileSync('docs/guides/explain.md', 'utf8')
  const facts = {
    provider: 'the provider',
    providerId: '<id>',
    redirectUri: 'the redirect URI',
    scopes: [],
    missingScopes: ['some scopes'],
    authentication: '`auth_method`',
    pkce: '`pkce`',
  }

  test.each(CAUSE_CODES)('has the cause %s as the table of the source has it', (code) => {
    const { message, who } = causeOf(code, facts)
    expect(message).not.toMatch(/undefined|\(\)| {2}/)
    expect(page).toContain(`| \`${code}\` | ${who} | ${message[0]?.toUpperCase()}${message.slice(1)} |`)
  })

  test('has every step', () => {
    for (const step of TRAIL_STEPS) expect(page).toContain(`\`${step}\``)
  })
})
