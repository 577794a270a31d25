import { describe, expect, test } from 'vitest'
import { BrokerError } from '../../src/domain/errors.ts'
import type { Behaviour } from '../fake-authorization-server.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { startPostgres } from '../postgres.ts'
import { shortest } from '../shortest.ts'
import { authorize, click, type Scene, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row, token } from './refresh-fixtures.ts'

/** Carried out, and then the answer is lost on its way. */
const LOST: Behaviour['refresh'] = 'drop'

describe('R4: a refresh whose answer is lost', () => {
  test('is written down before the request is sent', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'arrived' ? opened : undefined)
    const fetching = token(scene)
    await expect.poll(() => asked(scene)).toBe(1)
    expect(await row(scene)).toMatchObject({ unansweredRefreshes: 1, generation: 1 })
    open()
    await fetching
    expect(await row(scene)).toMatchObject({ unansweredRefreshes: 0, generation: 2 })
  })

  test('is tried once more, soon, with the old refresh token: where that is still taken, nothing is lost', async () => {
    await using scene = await startScene({ as: { refresh: LOST } })
    await scene.connect()
    scene.clock.advance(LIFE)
    expect(await scene.authorize()).toMatchObject({ status: 503, body: { name: 'provider_unavailable' } })
    expect(await connection(scene)).toMatchObject({ status: 'active' })
    scene.as.behaviour.refresh = 'rotate-grace'
    scene.clock.advance(5)
    expect(scene.as.isLive(await token(scene))).toBe(true)
    const [first, second] = scene.as.tokenRequests('refresh_token')
    expect(second?.params.refresh_token).toBe(first?.params.refresh_token)
    expect(await row(scene)).toMatchObject({ unansweredRefreshes: 0 })
  })

  test.each(['rotate', 'rotate-strict'] as const)(
    'at a server that does not take it again (%s) ends as refresh_outcome_lost, with a link, and is not tried for ever',
    async (refresh) => {
      await using scene = await startScene({ as: { refresh: LOST } })
      await scene.connect()
      scene.clock.advance(LIFE)
      expect((await scene.authorize()).status).toBe(503)
      scene.as.behaviour.refresh = refresh
      scene.clock.advance(5)
      const begun = await scene.authorize()
      expect(begun.body).toMatchObject({ status: 'pending', url: expect.any(String) })
      expect(await connection(scene)).toMatchObject({
        status: 'needs_authorization',
        status_reason: 'refresh_outcome_lost',
      })
      for (let i = 0; i < 5; i++) {
        scene.clock.advance(60)
        expect((await scene.authorize()).body.status).toBe('pending')
      }
      expect(asked(scene)).toBe(2)
      await click(begun.body.url)
      expect(await connection(scene)).toMatchObject({ status: 'active' })
    },
  )

  test.each<[string, Partial<Behaviour>]>([
    ['a server error', { refresh: 'html-500' }],
    ['503 that does not say when', { refresh: '503' }],
    ['an answer that cannot be read', { tokenFormat: 'html' }],
    ['a connection that breaks', { refresh: 'drop' }],
    ['a redirect', { tokenFormat: 'redirect' }],
  ])('is one that ended in %s: the intent stays', async (_, behaviour) => {
    await using scene = await startScene()
    await scene.connect()
    Object.assign(scene.as.behaviour, behaviour)
    scene.clock.advance(LIFE)
    expect((await scene.authorize()).status).toBe(503)
    expect(await row(scene)).toMatchObject({ unansweredRefreshes: 1, status: 'active' })
  })

  test.each<[string, Partial<Behaviour>, number]>([
    ['429', { refresh: '429' }, 503],
    ['503 with Retry-After', { refresh: '503-later' }, 503],
    ['invalid_client', { refresh: 'invalid_client' }, 502],
    ['invalid_request, "please retry"', { refresh: 'invalid_request' }, 502],
  ])(
    'is not one that was answered with %s: the refresh token is surely unused',
    async (_, behaviour, status) => {
      await using scene = await startScene()
      await scene.connect()
      Object.assign(scene.as.behaviour, behaviour)
      scene.clock.advance(LIFE)
      expect((await scene.authorize()).status).toBe(status)
      expect(await row(scene)).toMatchObject({ unansweredRefreshes: 0, status: 'active' })
      scene.as.behaviour.refresh = 'refuse'
      scene.clock.advance(30)
      expect((await scene.authorize()).body.status).toBe('pending')
      expect(await connection(scene)).toMatchObject({ status_reason: 'refresh_refused' })
    },
  )

  test('is not one that could not be sent at all', async () => {
    await using scene = await startScene()
    await scene.connect()
    await scene.as.close()
    scene.clock.advance(LIFE)
    for (let i = 0; i < 3; i++) {
      expect((await scene.authorize()).status).toBe(503)
      scene.clock.advance(5)
    }
    expect(await row(scene)).toMatchObject({ unansweredRefreshes: 0, status: 'active' })
  })

  test('again and again, for hours, costs no consent: only a refusal of the grant does', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.as.behaviour.refresh = 'html-500'
    scene.clock.advance(LIFE)
    for (let minutes = 0; minutes < 6 * 60; minutes += 5) {
      expect((await scene.authorize()).status).toBe(503)
      scene.clock.advance(300)
    }
    const { unansweredRefreshes, status } = await row(scene)
    expect(status).toBe('active')
    expect(unansweredRefreshes).toBeGreaterThan(20)
    scene.as.behaviour.refresh = 'static'
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })

  test('is tried less and less often, at least once a minute', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.as.behaviour.refresh = 'html-500'
    scene.clock.advance(LIFE)
    const moments: number[] = []
    for (let seconds = 0; seconds < 300; seconds++) {
      const before = asked(scene)
      await scene.authorize()
      if (asked(scene) > before) moments.push(seconds)
      scene.clock.advance(1)
    }
    const pauses = moments.slice(1).map((moment, i) => moment - (moments[i] ?? 0))
    expect(pauses.slice(0, 3)).toEqual([5, 10, 20])
    for (const pause of pauses) expect(pause).toBeLessThanOrEqual(61)
  })

  test('with strict_rotation: the access token is used to its end before the refresh token is tried again', async () => {
    await using scene = await startScene({ as: { refresh: LOST }, oauth2: { strict_rotation: true } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    expect(await token(scene)).toBe(old)
    scene.as.behaviour.refresh = 'rotate-strict'
    scene.clock.advance(45)
    expect(await token(scene)).toBe(old)
    expect(asked(scene)).toBe(1)
    expect(scene.as.isLive(old)).toBe(true)
    scene.clock.advance(5)
    expect((await scene.authorize()).body.status).toBe('pending')
    expect(asked(scene)).toBe(2)
    expect(await connection(scene)).toMatchObject({ status_reason: 'refresh_outcome_lost' })
  })

  test('without strict_rotation it is tried again while the access token lives', async () => {
    await using scene = await startScene({ as: { refresh: LOST } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    expect(await token(scene)).toBe(old)
    scene.as.behaviour.refresh = 'rotate-grace'
    scene.clock.advance(5)
    expect(await token(scene)).not.toBe(old)
  })

  test('strict_rotation is told by the admin API, and taken away by null', async () => {
    await using scene = await startScene({ oauth2: { strict_rotation: true } })
    const path = '/v1/admin/auth_providers/demo'
    expect((await scene.call('GET', path)).body.oauth2).toMatchObject({ strict_rotation: true })
    await scene.call('PATCH', path, { oauth2: { scope_delimiter: ' ' } })
    expect((await scene.call('GET', path)).body.oauth2).toMatchObject({ strict_rotation: true })
    await scene.call('PATCH', path, { oauth2: { strict_rotation: null } })
    expect((await scene.call('GET', path)).body.oauth2).not.toHaveProperty('strict_rotation')
  })
})

describe('R4: a late answer', () => {
  test('of a holder whose lease has lapsed is stored; the heir uses it', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-grace' } })
    await using heir = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(LIFE)
    const gates = [gate(), gate()] as const
    let arrived = 0
    scene.as.behaviour.onRefresh = (moment) =>
      moment === 'carried out' ? gates[arrived++ === 0 ? 0 : 1].opened : undefined
    const slow = scene.authorize()
    await expect.poll(() => asked(scene)).toBe(1)
    scene.clock.advance(26)
    const taken = authorize(heir)
    await expect.poll(() => asked(scene)).toBe(2)
    gates[0].open()
    const first = (await slow).body.context.token
    gates[1].open()
    expect((await taken).body.context.token).toBe(first)
    expect(scene.as.isLive(first)).toBe(true)
    expect(await row(scene)).toMatchObject({ generation: 2, unansweredRefreshes: 0 })
    expect(scene.as.requestsTo('/revoke')).toEqual([])
  })

  test('after another process was refused is not stored: the provider may have ended the grant', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await using heir = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    let isFirst = true
    scene.as.behaviour.onRefresh = (moment) => {
      if (moment === 'arrived' || !isFirst) return undefined
      isFirst = false
      return opened
    }
    const slow = scene.authorize()
    await expect.poll(() => asked(scene)).toBe(1)
    scene.clock.advance(26)
    expect((await authorize(heir)).body.status).toBe('pending')
    expect(await connection(scene)).toMatchObject({ status_reason: 'refresh_outcome_lost' })
    open()
    expect((await slow).body).toMatchObject({ status: 'pending', url: expect.any(String) })
    expect(await connection(scene)).toMatchObject({
      status: 'needs_authorization',
      status_reason: 'refresh_outcome_lost',
    })
    expect(await row(scene)).toMatchObject({ generation: 1 })
  })

  test('a refusal is not believed when another answer won meanwhile', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate' } })
    await using heir = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(LIFE)
    const gates = [gate(), gate()] as const
    let arrived = 0
    scene.as.behaviour.onRefresh = (moment) =>
      moment === 'carried out' ? gates[arrived++ === 0 ? 0 : 1].opened : undefined
    const slow = scene.authorize()
    await expect.poll(() => asked(scene)).toBe(1)
    scene.clock.advance(26)
    const refused = authorize(heir)
    await expect.poll(() => asked(scene)).toBe(2)
    gates[0].open()
    const won = (await slow).body.context.token
    gates[1].open()
    expect((await refused).body.context.token).toBe(won)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
  })
})

describe('R11: what a refresh brought', () => {
  /** As `token`: the answer is 503 as long as the machine stalls for three seconds before the token is stored. */
  async function storedToken(scene: Scene): Promise<string> {
    let answer = await scene.authorize()
    while (answer.status === 503) answer = await scene.authorize()
    return answer.body.context.token
  }

  test('is stored with its audit record or not at all', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.clock.advance(LIFE)
    const { audit } = scene.gatepass.broker
    const { of } = audit
    const broken: Partial<typeof audit> = {
      of: (projectId, event) => ({
        ...of(projectId, event),
        link() {
          throw new Error('the trail cannot be written')
        },
      }),
    }
    Object.assign(audit, broken)
    expect((await scene.authorize()).status).toBe(500)
    expect(await row(scene)).toMatchObject({ generation: 1, unansweredRefreshes: 1 })
    Object.assign(audit, { of })
    scene.clock.advance(26)
    expect(scene.as.isLive(await token(scene))).toBe(true)
    expect(await row(scene)).toMatchObject({ generation: 2, unansweredRefreshes: 0 })
  })

  test('is stored although the database is away for a moment', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await scene.connect()
    scene.clock.advance(LIFE)
    const { connections } = scene.gatepass.broker.store
    const { settleRefresh } = connections
    let times = 0
    Object.assign(connections, {
      settleRefresh: async (...args: Parameters<typeof settleRefresh>) => {
        if (++times < 4) throw new BrokerError('store_unavailable', 'The database cannot be used right now.')
        return settleRefresh(...args)
      },
    })
    expect(scene.as.isLive(await storedToken(scene))).toBe(true)
    expect(times).toBe(4)
    expect(asked(scene)).toBe(1)
    Object.assign(connections, { settleRefresh })
    scene.clock.advance(LIFE)
    expect(scene.as.isLive(await token(scene))).toBe(true)
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('is stored although the database is away for longer; whoever waits is told so meanwhile', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await scene.connect()
    scene.clock.advance(LIFE)
    const { connections } = scene.gatepass.broker.store
    const { settleRefresh } = connections
    Object.assign(connections, {
      settleRefresh: async () => {
        throw new BrokerError('store_unavailable', 'The database cannot be used right now.')
      },
    })
    const began = performance.now()
    const answers = await Promise.all([scene.authorize(), scene.authorize()])
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, body: { name: 'store_unavailable' } })
      expect(answer.headers.get('retry-after')).toBe('5')
    }
    const waited = performance.now() - began
    expect(scene.gatepass.broker.refreshes.running.size).toBe(1)
    const { id } = await connection(scene)
    const forced = () => scene.call('POST', `/v1/connections/${id}/token`, { force_refresh: true })
    for (const ask of [scene.authorize, forced]) {
      const refused = async () => expect((await ask()).status).toBe(503)
      expect(await shortest(refused, waited / 2)).toBeLessThan(waited / 2)
    }
    Object.assign(connections, { settleRefresh })
    await expect.poll(async () => (await scene.authorize()).status).toBe(200)
    expect(scene.as.isLive(await token(scene))).toBe(true)
    expect(asked(scene)).toBe(1)
    expect(scene.gatepass.broker.refreshes.running.size).toBe(0)
  })

  test('is stored once when nobody knows whether its commit was made', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    await scene.connect()
    scene.clock.advance(LIFE)
    const { connections } = scene.gatepass.broker.store
    const { settleRefresh } = connections
    let times = 0
    Object.assign(connections, {
      settleRefresh: async (...args: Parameters<typeof settleRefresh>) => {
        const settled = await settleRefresh(...args)
        if (++times === 1)
          throw new BrokerError('store_unavailable', 'The connection broke during the commit.')
        return settled
      },
    })
    expect(scene.as.isLive(await storedToken(scene))).toBe(true)
    expect(times).toBe(2)
    expect(await row(scene)).toMatchObject({ generation: 2, status: 'active' })
    expect(asked(scene)).toBe(1)
    expect(scene.as.requestsTo('/revoke')).toEqual([])
  })

  test('is stored when PostgreSQL comes back', async () => {
    await using cluster = await startPostgres()
    await using scene = await startScene({
      as: { refresh: 'rotate-strict' },
      gatepass: { environment: { GATEPASS_DATABASE_URL: cluster.url } },
    })
    await scene.connect()
    const { id } = await connection(scene)
    scene.clock.advance(LIFE)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? opened : undefined)
    const fetching = scene.authorize()
    await expect.poll(() => asked(scene)).toBe(1)
    await cluster.stop()
    open()
    expect((await fetching).status).toBe(503)
    await cluster.start()
    await expect.poll(async () => (await scene.authorize()).status).toBe(200)
    const { status, body } = await scene.call('POST', `/v1/connections/${id}/token`)
    expect(status).toBe(200)
    expect(scene.as.isLive(body.access_token)).toBe(true)
    expect(asked(scene)).toBe(1)
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('is not asked for when the intent cannot be written', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.clock.advance(LIFE)
    const { connections } = scene.gatepass.broker.store
    const { claimRefresh } = connections
    Object.assign(connections, {
      claimRefresh: async () => {
        throw new BrokerError('store_unavailable', 'The database cannot be used right now.')
      },
    })
    expect((await scene.authorize()).status).toBe(503)
    expect(asked(scene)).toBe(0)
    Object.assign(connections, { claimRefresh })
    expect(scene.as.isLive(await token(scene))).toBe(true)
  })
})

test('R8: a code whose answer is lost is not sent again, and the user may start anew', async () => {
  await using scene = await startScene({ as: { exchange: 'drop' } })
  const { id, url } = (await scene.authorize()).body
  await click(url)
  expect((await scene.status(id)).body).toMatchObject({ status: 'failed', reason: 'provider_unavailable' })
  expect(scene.as.tokenRequests('authorization_code')).toHaveLength(1)
  scene.as.behaviour.exchange = 'normal'
  const again = await scene.connect()
  expect(again.body).toMatchObject({ status: 'completed' })
  expect(scene.as.familyRevoked).toBe(false)
})
