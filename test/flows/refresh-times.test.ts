import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isDue, refreshDue } from '../../src/flows/refresh/refresh-due.ts'
import { backgroundRefreshAt, refreshTimes } from '../../src/flows/refresh/token-times.ts'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'
import { connection, LIFE, row } from './refresh-fixtures.ts'

const DAY = 86_400

async function start(oauth2: OAuth2, as: object = {}) {
  const scene = await startScene({ as, oauth2 })
  return scene
}
const asked = (scene: Scene) => scene.as.tokenRequests('refresh_token').length

describe('a refresh token’s own end', () => {
  test.each<[string, OAuth2, object, number]>([
    ['told (TikTok)', {}, { refresh_token_expires_in: 30 * DAY }, 30 * DAY],
    ['told, Keycloak’s name', {}, { refresh_expires_in: 1800 }, 1800],
    ['told, QuickBooks’ name', {}, { x_refresh_token_expires_in: `${101 * DAY}` }, 101 * DAY],
    ['the entry’s', { refresh_token_expires_in: 7 * DAY }, {}, 7 * DAY],
    ['told, before the entry’s', { refresh_token_expires_in: 7 * DAY }, { refresh_expires_in: DAY }, DAY],
    [
      'the earlier of the idle limit and what is told',
      { refresh_token_idle: 7200 },
      { refresh_expires_in: DAY },
      7200,
    ],
  ])('is kept: %s', async (_, oauth2, tokenMembers, seconds) => {
    await using scene = await start(oauth2, { tokenMembers })
    await scene.connect()
    expect(await row(scene)).toMatchObject({ refreshExpiresAt: scene.clock() + seconds })
  })

  test.each<[string, object, number]>([
    ['refresh tokens that stay, and are not in the answer', { omitRefreshTokenOnRefresh: true }, 2 * DAY],
    ['refresh tokens that stay, and are in the answer', {}, 2 * DAY],
    ['refresh tokens that are replaced', { refresh: 'rotate' }, 7 * DAY],
  ])('is the earlier of both limits after each refresh: %s', async (_, as, left) => {
    await using scene = await start({ refresh_token_expires_in: 10 * DAY, refresh_token_idle: 7 * DAY }, as)
    await scene.connect()
    for (const days of [4, 4]) {
      scene.clock.advance(days * DAY)
      await scene.authorize()
    }
    expect(asked(scene)).toBe(2)
    expect(await row(scene)).toMatchObject({ refreshExpiresAt: scene.clock() + left })
  })

  test('stays where an older release sealed the refresh token without it', async () => {
    await using scene = await start(
      {},
      { omitRefreshTokenOnRefresh: true, tokenMembers: { refresh_expires_in: 9 * DAY } },
    )
    await scene.connect()
    const { id, projectId, userId, providerUid, refresh = '' as never, refreshExpiresAt } = await row(scene)
    const { sealer } = scene.gatepass.broker
    const place = {
      table: 'connections',
      column: 'refresh',
      rowId: id,
      projectId,
      userId,
      providerUid,
    } as const
    const { refreshToken } = JSON.parse(sealer.open(refresh, place))
    const database = new Database(scene.gatepass.databasePath)
    database
      .prepare('update connections set refresh = ? where id = ?')
      .run(sealer.seal(JSON.stringify({ refreshToken }), place), id)
    database.close()
    scene.as.behaviour.tokenMembers = {}
    scene.clock.advance(DAY)
    await scene.authorize()
    expect(asked(scene)).toBe(1)
    expect(await row(scene)).toMatchObject({ refreshExpiresAt })
    scene.clock.advance(DAY)
    await scene.authorize()
    expect(await row(scene)).toMatchObject({ refreshExpiresAt })
  })

  test('is what a response map finds, and none where 0 or nothing is told', async () => {
    await using scene = await start({}, { tokenMembers: { data: { refreshExpiry: 5000 } } })
    const block = {
      endpoint: scene.as.tokenUrl,
      response_map: { refresh_token_expires_in: '$.data.refreshExpiry' },
    }
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { token_request: block } })
    await scene.connect()
    expect(await row(scene)).toMatchObject({ refreshExpiresAt: scene.clock() + 5000 })
    scene.as.behaviour.tokenMembers = { data: { refreshExpiry: 0 } }
    scene.clock.advance(LIFE)
    await scene.authorize()
    expect(await row(scene)).not.toHaveProperty('refreshExpiresAt', 0)
  })

  test('names the reason of a refusal that names none: the connection needs its user as refresh_token_expired', async () => {
    await using scene = await start({ refresh_token_expires_in: 7200 })
    const { token } = (await scene.connect()).body.context
    scene.clock.advance(LIFE - 1)
    expect((await scene.authorize()).body.context.token).not.toBe(token) // in time, and the token is as it was: static
    scene.clock.advance(7200)
    scene.as.behaviour.refresh = 'refuse-403'
    const begun = await scene.authorize()
    expect(begun.body).toMatchObject({ status: 'pending' })
    expect(asked(scene)).toBe(2)
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'refresh_token_expired',
    })
  })

  test('that has passed by a wrong clock, or during an outage, costs no user a consent', async () => {
    await using scene = await start({ refresh_token_expires_in: 7200 })
    await scene.connect()
    scene.clock.advance(30 * DAY)
    scene.as.behaviour.refresh = '503-later'
    expect((await scene.authorize()).status).toBe(503)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
    scene.as.behaviour.refresh = 'static'
    scene.clock.advance(600)
    expect((await scene.authorize()).body.status).toBe('completed')
  })

  test('moves with each use where only idleness ends it, and keeps the access token to its end', async () => {
    await using scene = await start({ refresh_token_idle: 2 * LIFE })
    await scene.connect()
    for (let i = 1; i <= 3; i++) {
      scene.clock.advance(LIFE + 100)
      expect((await scene.authorize()).body.status).toBe('completed')
      expect(asked(scene)).toBe(i)
    }
    scene.clock.advance(2 * LIFE)
    scene.as.behaviour.refresh = 'refuse'
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(asked(scene)).toBe(4)
  })
})

describe('a connection that dies when it is idle', () => {
  test('is kept alive in the background, though nobody uses it', async () => {
    await using scene = await start(
      { refresh_token_idle: 30 * DAY, keep_alive: true },
      { refresh: 'rotate-strict' },
    )
    await scene.connect()
    for (let day = 0; day < 200; day++) {
      scene.clock.advance(DAY)
      await refreshDue(scene.gatepass.broker)
    }
    expect(asked(scene)).toBeGreaterThanOrEqual(6)
    expect(asked(scene)).toBeLessThanOrEqual(10)
    expect((await scene.authorize()).body.status).toBe('completed')
  })

  test('is not where the entry does not say so, and is tried again after a failure', async () => {
    await using scene = await start({ refresh_token_idle: 30 * DAY })
    await scene.connect()
    scene.clock.advance(29 * DAY)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(0)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { keep_alive: true } })
    scene.as.behaviour.refresh = '503-later'
    await scene.connect({ user_id: 'kept' })
    scene.clock.advance(28 * DAY)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(1)
    scene.as.behaviour.refresh = 'rotate'
    scene.clock.advance(600)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(1)
    scene.clock.advance(301)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(2)
  })

  test('is kept alive from its import on', async () => {
    await using scene = await start({ refresh_token_idle: 30 * DAY, keep_alive: true })
    await scene.connect({ user_id: 'here' })
    const imported = await scene.call('POST', '/v1/admin/user_connections/import', {
      connections: [
        {
          user_id: 'u1',
          provider_id: 'demo',
          access_token: 'an-access-token-of-elsewhere',
          refresh_token: scene.as.secrets().find((one) => one.startsWith('rt_')),
          expires_at: scene.clock() + LIFE,
          scopes: 'read',
        },
      ],
    })
    expect(imported.status, JSON.stringify(imported.body)).toBe(200)
    const { expiresAt, refreshExpiresAt, refreshAt = 0 } = await row(scene)
    const now = scene.clock()
    expect({ expiresAt, refreshExpiresAt }).toEqual({
      expiresAt: now + LIFE,
      refreshExpiresAt: now + 30 * DAY,
    })
    expect(refreshAt).toBeGreaterThan(now + 20 * DAY)
    expect(refreshAt).toBeLessThanOrEqual(now + 24 * DAY)
  })

  test('is left alone when its provider is switched off or leads elsewhere', async () => {
    await using scene = await start({ refresh_token_idle: 30 * DAY, keep_alive: true })
    await scene.connect()
    scene.clock.advance(28 * DAY)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
    await refreshDue(scene.gatepass.broker)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      status: 'active',
      oauth2: { client_id: 'another' },
    })
    scene.clock.advance(1000)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(0)
  })
})

describe('the margin of an entry', () => {
  test.each([
    [10, 600, 589, 591],
    [120, 600, 479, 481],
    [3600, 600, 299, 301], // never more than half the lifetime
  ])(
    'of %i s: a token of %i s is used for %i s, and not for %i s',
    async (refresh_margin, life, used, refreshed) => {
      await using scene = await start({ refresh_margin }, { accessTokenLifetime: life })
      const { token } = (await scene.connect()).body.context
      scene.clock.advance(used)
      expect((await scene.authorize()).body.context.token).toBe(token)
      scene.clock.advance(refreshed - used)
      expect((await scene.authorize()).body.context.token).not.toBe(token)
    },
  )

  test('that is short lets no background refresh come early (Exact Online takes none before 30 s)', async () => {
    await using scene = await start({ refresh_margin: 10 }, { accessTokenLifetime: 600 })
    await scene.connect()
    scene.clock.advance(70)
    await scene.authorize()
    await scene.gatepass.broker.uses.flush()
    scene.clock.advance(600 - 70 - 31)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(0)
    scene.clock.advance(12)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(1)
    const one = await row(scene)
    expect(isDue(one, (one.expiresAt ?? 0) - 31, { refreshMarginSeconds: 10 })).toBe(false)
  })

  test('that is long has connections in use refreshed in the background, and no others', async () => {
    await using scene = await start({ refresh_margin: 900 })
    await scene.connect({ user_id: 'idle' })
    await scene.connect()
    scene.clock.advance(70)
    await scene.authorize()
    await scene.gatepass.broker.uses.flush()
    const ids = (await scene.call('GET', '/v1/connections?user_id=idle')).body.items
    await scene.gatepass.broker.store.connections.used(new Map([[ids[0].id, 1]]))
    scene.clock.advance(LIFE - 70 - 1790)
    await refreshDue(scene.gatepass.broker)
    expect(asked(scene)).toBe(1)
    expect(await row(scene)).toMatchObject({ generation: 2 })
  })

  test('that is long lets a connection that was never used rest after its access token', async () => {
    await using scene = await start({ refresh_margin: 900 })
    await scene.connect()
    scene.clock.advance(LIFE - 1)
    await refreshDue(scene.gatepass.broker)
    expect(await row(scene)).toMatchObject({ refreshAt: scene.clock() + 900 }) // it may still be used
    scene.clock.advance(900)
    await refreshDue(scene.gatepass.broker)
    expect(await row(scene)).not.toHaveProperty('refreshAt')
    expect((await scene.authorize()).body.status).toBe('completed')
    expect(asked(scene)).toBe(1)
    expect(await row(scene)).toHaveProperty('refreshAt')
  })
})

describe('settings of refreshes', () => {
  let scene: Scene
  beforeAll(async () => {
    scene = await startScene()
  })
  afterAll(() => scene[Symbol.asyncDispose]())
  const change = (oauth2: OAuth2) => scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })

  test('are answered as they were given, and removed by null', async () => {
    const settings = {
      rotation: { kind: 'grace', grace_seconds: 600 },
      refresh_margin: 10,
      refresh_token_expires_in: 90 * DAY,
      refresh_token_idle: 30 * DAY,
      keep_alive: true,
    }
    expect((await change(settings)).body.oauth2).toMatchObject(settings)
    expect((await change({ refresh_token_idle: null })).body.oauth2).toMatchObject({
      refresh_token_expires_in: 90 * DAY,
    })
    const nothing = Object.fromEntries(Object.keys(settings).map((name) => [name, null]))
    const { oauth2 } = (await change(nothing)).body
    for (const name of Object.keys(settings)) expect(oauth2).not.toHaveProperty(name)
  })

  test('keep strict_rotation on the wire', async () => {
    expect((await change({ strict_rotation: true })).body.oauth2).toMatchObject({ strict_rotation: true })
    const single = (await change({ strict_rotation: null, rotation: { kind: 'single_use' } })).body.oauth2
    expect(single).toMatchObject({ strict_rotation: true, rotation: { kind: 'single_use' } })
    expect((await change({ strict_rotation: false })).body.oauth2).not.toHaveProperty('rotation')
  })

  test.each<[string, OAuth2]>([
    ['a rotation without a name', { rotation: { grace_seconds: 5 } }],
    ['a grace without its seconds', { rotation: { kind: 'grace' } }],
    ['seconds without a grace', { rotation: { kind: 'none', grace_seconds: 5 } }],
    ['two rotations', { rotation: { kind: 'none' }, strict_rotation: true }],
    ['a chain that is shared, which is not known', { rotation: { kind: 'shared' } }],
    ['no margin', { refresh_margin: 0 }],
    ['a margin of a day', { refresh_margin: DAY }],
    ['a life of a second', { refresh_token_expires_in: 1 }],
    ['keeping alive what is never refreshed', { keep_alive: true, refresh_request: null }],
  ])('refuse %s', async (_, oauth2) => {
    expect((await change(oauth2)).status).toBe(400)
  })
})

describe('the times of tokens', () => {
  type Times = Parameters<typeof refreshTimes>
  const life = (seconds?: number, idleSeconds?: number): Times[0] => ({
    refreshTokenLife: {
      ...(seconds !== undefined && { seconds }),
      ...(idleSeconds !== undefined && { idleSeconds }),
    },
  })
  const old = { refreshToken: 'old' }
  const replaced = { receivedAt: 1000, refreshToken: 'new' }
  const kept = { receivedAt: 1000 }
  const repeated = { receivedAt: 1000, ...old }
  test.each<[string, Times[0], Times[1], Times[2], [number | undefined, number | undefined]]>([
    ['nothing is known', {}, replaced, undefined, [undefined, undefined]],
    [
      'a new refresh token of unknown end takes the old end away',
      {},
      replaced,
      { ...old, endsAt: 5000 },
      [undefined, undefined],
    ],
    ['the old refresh token keeps its end', {}, kept, { ...old, endsAt: 5000 }, [5000, 5000]],
    ['so does the same one in the answer', life(9), repeated, { ...old, endsAt: 5000 }, [5000, 5000]],
    ['its end is told again', {}, { ...kept, refreshExpiresIn: 50 }, { ...old, endsAt: 5000 }, [1050, 1050]],
    ['the entry’s life is that of new ones', life(9), kept, { ...old, endsAt: 5000 }, [5000, 5000]],
    ['the entry’s life is that of one whose end is unknown', life(9), kept, old, [1009, 1009]],
    ['the idle limit begins again', life(undefined, 9), kept, old, [undefined, 1009]],
    ['both limits, the idle one is earlier', life(60, 9), replaced, { ...old, endsAt: 5000 }, [1060, 1009]],
    ['both limits, the life is earlier', life(9, 60), replaced, { ...old, endsAt: 5000 }, [1009, 1009]],
    [
      'both limits, and the old refresh token ends before it is idle',
      life(900, 60),
      kept,
      { ...old, endsAt: 1030 },
      [1030, 1030],
    ],
    [
      'both limits, and the same one in the answer ends before it is idle',
      life(900, 60),
      repeated,
      { ...old, endsAt: 1030 },
      [1030, 1030],
    ],
  ])('the refresh token: %s', (_, provider, received, before, [endsAt, expiresAt]) => {
    expect(refreshTimes(provider, received, before)).toEqual({
      ...(endsAt !== undefined && { endsAt }),
      ...(expiresAt !== undefined && { expiresAt }),
    })
  })

  const block = {} as never
  const times = { receivedAt: 0, expiresAt: 1000, refreshExpiresAt: 10_000, hasRefresh: true }
  test.each<[string, Parameters<typeof backgroundRefreshAt>[0], object, [number, number] | undefined]>([
    ['nothing is asked', { refreshRequest: block }, {}, undefined],
    ['kept alive', { refreshRequest: block, keepAlive: true }, {}, [7200, 8000]],
    [
      'kept alive, end unknown',
      { refreshRequest: block, keepAlive: true },
      { refreshExpiresAt: undefined },
      undefined,
    ],
    [
      'kept alive, no refresh token',
      { refreshRequest: block, keepAlive: true },
      { hasRefresh: false },
      undefined,
    ],
    ['a long margin', { refreshRequest: block, refreshMarginSeconds: 100 }, {}, [800, 800]],
    ['a usual margin', { refreshRequest: block, refreshMarginSeconds: 60 }, {}, undefined],
    ['renewed', { renewalRequest: { leastAgeSeconds: 0 } as never }, {}, [450, 500]],
    [
      'renewed, not before its least age',
      { renewalRequest: { leastAgeSeconds: 900 } as never },
      {},
      [900, 900],
    ],
  ])('in the background: %s', (_, provider, more, expected) => {
    const at = backgroundRefreshAt(provider, 'conn_1', { ...times, ...more })
    if (expected === undefined) expect(at).toBeUndefined()
    else {
      expect(at).toBeGreaterThanOrEqual(expected[0])
      expect(at).toBeLessThanOrEqual(expected[1])
    }
  })
})
