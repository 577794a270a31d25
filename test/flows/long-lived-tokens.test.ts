import { describe, expect, test } from 'vitest'
import { refreshDue } from '../../src/flows/refresh/refresh-due.ts'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'
import { connection, row } from './refresh-fixtures.ts'

// Servers without refresh tokens: the first access token is exchanged for one that lives longer, and that one is renewed.

const DAY = 86_400
const LONG = 60 * DAY

const exchange_request = (as: Scene['as']): OAuth2 => ({
  endpoint: as.exchangeUrl,
  auth_method: 'none',
  params: {
    grant_type: 'ig_exchange_token',
    client_secret: '{{client_secret}}',
    access_token: '{{access_token}}',
  },
})
const renewal_request = (as: Scene['as'], more: OAuth2 = {}): OAuth2 => ({
  endpoint: as.exchangeUrl,
  params: { grant_type: 'ig_refresh_token', access_token: '{{access_token}}' },
  least_age: DAY,
  error_response: { at: '$.error.code', codes: { '190': 'invalid_grant' } },
  ...more,
})

/** Instagram: a token of an hour, exchanged for one of 60 days, which can be renewed after a day. */
async function startInstagram(renewal: OAuth2 = {}) {
  const scene = await startScene({ as: { omitRefreshToken: true } })
  const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: {
      refresh_request: null,
      exchange_request: exchange_request(scene.as),
      renewal_request: renewal_request(scene.as, renewal),
    },
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  return scene
}

const asked = (scene: Scene) => scene.as.requestsTo('/exchange')

describe('the token of the code', () => {
  test('is exchanged for one that lives longer (Instagram, Threads)', async () => {
    await using scene = await startInstagram()
    const { body } = await scene.connect()
    expect(body.status).toBe('completed')
    const [exchanged] = asked(scene)
    expect(exchanged).toMatchObject({ method: 'GET' })
    expect(exchanged?.params).toMatchObject({
      grant_type: 'ig_exchange_token',
      client_secret: scene.as.clientSecret,
    })
    expect(body.context.token).not.toBe(exchanged?.params.access_token)
    expect(await row(scene)).toMatchObject({ expiresAt: scene.clock() + LONG })
    expect((await connection(scene)).account.name).toBe('ada@example.test')
  })

  test('is exchanged with the client’s id and secret beside it (Facebook)', async () => {
    await using scene = await startScene({ as: { omitRefreshToken: true } })
    const { as } = scene
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: {
        exchange_request: {
          endpoint: as.exchangeUrl,
          params: { grant_type: 'fb_exchange_token', access_token: '{{access_token}}' },
        },
      },
    })
    expect((await scene.connect()).body.status).toBe('completed')
    const { clientId: client_id, clientSecret: client_secret } = as
    expect(asked(scene)[0]?.query).toMatchObject({ client_id, client_secret })
  })

  test('that is not exchanged is not kept, and no URL is in a log, an answer or the trail', async () => {
    await using scene = await startInstagram()
    const wrong = exchange_request(scene.as)
    const secret = `${scene.as.clientSecret}-of-another`
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { client_secret: secret } })
    scene.as.behaviour.checkClient = () => undefined
    const { body } = await scene.connect()
    expect(body).toMatchObject({ status: 'failed', reason: 'provider_refused' })
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: { exchange_request: { ...wrong, endpoint: 'http://127.0.0.1:1/exchange' } },
    })
    expect((await scene.connect()).body).toMatchObject({ status: 'failed', reason: 'provider_unavailable' })
    expect((await scene.call('GET', '/v1/connections')).body.items).toEqual([])
    const trail = (await scene.call('GET', '/v1/admin/audit')).body
    const told = JSON.stringify([body, trail, scene.gatepass.logLines])
    for (const one of [
      secret,
      'ig_exchange_token',
      ...scene.as.secrets().filter((it) => it.startsWith('at_')),
    ])
      expect(told).not.toContain(one)
  })
})

describe('an access token that is renewed', () => {
  test('is so in the background, though nobody uses it (Instagram)', async () => {
    await using scene = await startInstagram()
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(20 * DAY)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toHaveLength(1)
    scene.clock.advance(11 * DAY)
    await refreshDue(scene.gatepass.broker)
    const [, renewed] = asked(scene)
    expect(renewed?.params).toMatchObject({ grant_type: 'ig_refresh_token', access_token: old })
    expect(renewed?.params).not.toHaveProperty('client_secret')
    expect(await row(scene)).toMatchObject({ expiresAt: scene.clock() + LONG, generation: 2 })
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toHaveLength(2)
    // two years without any use
    for (let days = 0; days < 730; days += 10) {
      scene.clock.advance(10 * DAY)
      await refreshDue(scene.gatepass.broker)
    }
    expect((await scene.authorize()).body.status).toBe('completed')
  })

  test('is not before its least age, nor after its end', async () => {
    await using scene = await startInstagram({ least_age: 59 * DAY })
    const { token } = (await scene.connect()).body.context
    scene.clock.advance(58 * DAY)
    await refreshDue(scene.gatepass.broker)
    const [{ id }] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
    await scene.call('POST', `/v1/connections/${id}/token`, { rejected_token: token })
    expect(asked(scene)).toHaveLength(1)
    scene.clock.advance(3 * DAY)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(asked(scene)).toHaveLength(1)
    expect(await connection(scene)).toMatchObject({ status_reason: 'token_expired' })
  })

  test('is used to its end when the renewal is refused, and tried again when the server is down', async () => {
    await using scene = await startInstagram()
    const { token } = (await scene.connect()).body.context
    scene.as.expireAccessTokens()
    scene.clock.advance(31 * DAY)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toHaveLength(2)
    expect((await scene.authorize()).body.context.token).toBe(token)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
    scene.clock.advance(30 * DAY)
    expect((await scene.authorize()).body.status).toBe('pending')
  })

  test.each<[string, (as: Scene['as']) => OAuth2]>([
    ['beside a refresh request', (as) => ({ renewal_request: renewal_request(as) })],
    [
      'with an age in words',
      (as) => ({ refresh_request: null, renewal_request: renewal_request(as, { least_age: 'a day' }) }),
    ],
    [
      'of a refresh token',
      (as) => ({
        refresh_request: null,
        renewal_request: renewal_request(as, { params: { t: '{{refresh_token}}' } }),
      }),
    ],
    [
      'as a member of the exchange',
      (as) => ({ exchange_request: { ...exchange_request(as), least_age: 5 } }),
    ],
    ['as a member of the refresh', () => ({ refresh_request: { least_age: 5 } })],
    ['by DELETE', (as) => ({ exchange_request: { ...exchange_request(as), method: 'DELETE' } })],
  ])('%s is refused', async (_, oauth2) => {
    await using scene = await startScene()
    const refused = await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: oauth2(scene.as) })
    expect(refused.status).toBe(400)
  })
})
