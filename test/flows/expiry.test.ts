import { describe, expect, test } from 'vitest'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'

const LIFE = 1500

/** When the token of `u1` runs out, in seconds from now; `undefined` when nothing tells. */
async function lifeOf(scene: Scene): Promise<number | undefined> {
  const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
  const { expires_at } = connection
  return expires_at === undefined ? undefined : Date.parse(expires_at) / 1000 - scene.clock()
}

/** A scene whose token and refresh requests are read like this. */
const start = (block: OAuth2, more: OAuth2 = {}) =>
  startScene({
    as: { tokenMembers: { expires_in: undefined } },
    oauth2: { ...more },
  }).then(async (scene) => {
    const oauth2 = { token_request: block, refresh_request: block }
    const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    return scene
  })

const jwt = (claims: object) =>
  ['{"alg":"none"}', JSON.stringify(claims), 'c2ln']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')

describe('the expiry of an access token', () => {
  test.each<[string, OAuth2, (now: number) => object, number | undefined]>([
    [
      'milliseconds (Fiserv)',
      { expiration_format: 'relative_milliseconds' },
      () => ({ expires_in: LIFE * 1000 }),
      LIFE,
    ],
    [
      'milliseconds as text',
      { expiration_format: 'relative_milliseconds' },
      () => ({ expires_in: `${LIFE * 1000}` }),
      LIFE,
    ],
    [
      'a date under its own name (Square)',
      {},
      (now) => ({ expires_at: new Date((now + LIFE) * 1000).toISOString() }),
      LIFE,
    ],
    [
      'a date under another name',
      { expiration_format: 'iso_8601', response_map: { expires_in: '$.expireTime' } },
      (now) => ({ expireTime: new Date((now + LIFE) * 1000).toISOString() }),
      LIFE,
    ],
    [
      'the JWT’s own',
      { expiration_format: 'access_token_jwt' },
      (now) => ({ access_token: jwt({ exp: now + LIFE }), expires_in: 9999 }),
      LIFE,
    ],
    [
      'a JWT without one, and a date',
      { expiration_format: 'access_token_jwt' },
      (now) => ({ access_token: jwt({}), expires_at: now + LIFE }),
      LIFE,
    ],
    ['a token that is no JWT', { expiration_format: 'access_token_jwt' }, () => ({}), undefined],
    ['text that is no date', { expiration_format: 'iso_8601' }, () => ({ expires_in: 'soon' }), undefined],
    [
      'a moment that has passed',
      { expiration_format: 'iso_8601' },
      () => ({ expires_in: '2001-01-01T00:00:00Z' }),
      undefined,
    ],
  ])('may be %s', async (_, block, members, expected) => {
    await using scene = await start(block)
    scene.as.behaviour.tokenMembers = { expires_in: undefined, ...members(scene.clock()) }
    await scene.connect()
    expect(await lifeOf(scene)).toBe(expected)
  })

  test('is the entry’s where nothing tells it, so that the token is refreshed in time (Salesforce)', async () => {
    await using scene = await start({}, { default_expires_in: LIFE })
    expect((await scene.call('GET', '/v1/admin/auth_providers/demo')).body.oauth2.default_expires_in).toBe(
      LIFE,
    )
    await scene.connect()
    expect(await lifeOf(scene)).toBe(LIFE)
    for (const refreshes of [1, 2]) {
      scene.clock.advance(LIFE)
      expect((await scene.authorize()).body.status).toBe('completed')
      expect(scene.as.tokenRequests('refresh_token')).toHaveLength(refreshes)
      expect(await lifeOf(scene)).toBe(LIFE)
    }
  })

  test('is what an introspection tells before it is the entry’s', async () => {
    await using scene = await start({}, { default_expires_in: LIFE })
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      oauth2: {
        token_introspection_request: {
          endpoint: scene.as.introspectionUrl,
          params: { token: '{{access_token}}' },
          triggers: { on_token_grant: true },
        },
      },
    })
    await scene.connect()
    expect(await lifeOf(scene)).toBe(scene.as.behaviour.accessTokenLifetime)
  })

  test.each<[string, OAuth2]>([
    ['an unknown format', { token_request: { expiration_format: 'hours' } }],
    ['a lifetime below a minute', { default_expires_in: 5 }],
    ['a lifetime as text', { default_expires_in: '3600' }],
  ])('of %s is refused', async (_, oauth2) => {
    await using scene = await startScene()
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })).status).toBe(400)
  })
})
