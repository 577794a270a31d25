import { describe, expect, test } from 'vitest'
import type { Connection } from '../../src/domain/connection.ts'
import { refreshConnection } from '../../src/flows/refresh/refresh-connection.ts'
import { isDue, refreshDue } from '../../src/flows/refresh/refresh-due.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { withoutJobs } from '../without-jobs.ts'
import { authorize, type Scene, type SceneOptions, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row, token } from './refresh-fixtures.ts'

/** That much later than its last use, a use is written down again. */
const LATER = 70

/** Uses the connection and writes that down. */
async function use(scene: Scene, user_id = 'u1') {
  scene.clock.advance(LATER)
  await scene.authorize({ user_id })
  await scene.gatepass.broker.uses.flush()
}

const inBackground = (scene: Scene) => refreshDue(scene.gatepass.broker)

const startQuietScene = (options?: SceneOptions) => withoutJobs(() => startScene(options))
const startSecond = ({ clock, gatepass: { databasePath } }: Scene) =>
  withoutJobs(() => startGatepass({ now: clock, databasePath }))

describe('in the background', () => {
  test('a connection that is used is refreshed before anybody waits for it', async () => {
    await using scene = await startQuietScene({ as: { refresh: 'rotate-strict' } })
    const old = (await scene.connect()).body.context.token
    await use(scene)
    scene.clock.advance(LIFE - LATER - 181)
    await inBackground(scene)
    expect(asked(scene)).toBe(0)
    scene.clock.advance(61)
    await inBackground(scene)
    expect(asked(scene)).toBe(1)
    const fresh = await token(scene)
    expect(fresh).not.toBe(old)
    expect(scene.as.isLive(fresh)).toBe(true)
    expect(asked(scene)).toBe(1)
  })

  test('one that nobody uses is not, nor again when nobody has used what came', async () => {
    await using scene = await startQuietScene()
    await scene.connect({ user_id: 'idle' })
    await scene.connect()
    await use(scene)
    await scene.gatepass.broker.store.connections.used(
      new Map((await idsOf(scene, 'idle')).map((id) => [id, scene.clock() - 3600])),
    )
    for (let i = 0; i < 3; i++) {
      scene.clock.advance(LIFE - LATER - 120)
      await inBackground(scene)
    }
    expect(asked(scene)).toBe(1)
  })

  test.each([
    ['lives shortly', { as: { accessTokenLifetime: 299 } }, 299],
    ['has no refresh token', { as: { omitRefreshToken: true } }, LIFE],
  ] as const)('one that %s is left to whoever asks', async (_, options, life) => {
    await using scene = await startQuietScene(options)
    await scene.connect()
    await use(scene)
    scene.clock.advance(life - LATER - 5)
    await inBackground(scene)
    expect(asked(scene)).toBe(0)
  })

  test('one that is being refreshed, cools down or whose provider is down is left alone', async () => {
    await using scene = await startQuietScene({ as: { refresh: 'html-500' } })
    await scene.connect()
    await use(scene)
    scene.clock.advance(LIFE - LATER - 120)
    await inBackground(scene)
    await inBackground(scene)
    expect(asked(scene)).toBe(1)
    expect(await row(scene)).toMatchObject({ status: 'active', unansweredRefreshes: 1 })
    scene.clock.advance(5)
    scene.as.behaviour.refresh = 'static'
    await inBackground(scene)
    expect(asked(scene)).toBe(2)
    expect(await row(scene)).toMatchObject({ generation: 2 })
  })

  test('one whose provider is switched off, or leads elsewhere by now, is not sent there', async () => {
    await using scene = await startQuietScene()
    await scene.connect()
    await use(scene)
    scene.clock.advance(LIFE - LATER - 120)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' })
    await inBackground(scene)
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
      status: 'active',
      oauth2: { client_id: 'another' },
    })
    await inBackground(scene)
    expect(asked(scene)).toBe(0)
  })

  test('a refusal costs nothing while the token lives', async () => {
    await using scene = await startQuietScene({ as: { refresh: 'refuse' } })
    const old = (await scene.connect()).body.context.token
    await use(scene)
    scene.clock.advance(LIFE - LATER - 120)
    await inBackground(scene)
    expect(asked(scene)).toBe(1)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
    expect(await token(scene)).toBe(old)
  })

  test('many are refreshed eight at a time, each once, also by two servers', async () => {
    await using scene = await startQuietScene({ as: { refresh: 'rotate-strict' } })
    await using second = await startSecond(scene)
    const users = Array.from({ length: 24 }, (_, i) => `user ${i}`)
    for (const user_id of users) await scene.connect({ user_id })
    for (const user_id of users) await use(scene, user_id)
    scene.clock.advance(LIFE - 24 * LATER - 110)
    let [now, most] = [0, 0]
    // none is answered before eight are there; a ninth would come meanwhile
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = async (moment) => {
      if (moment === 'arrived') most = Math.max(most, ++now)
      if (now === 8) open()
      await opened
      await new Promise((resolve) => setTimeout(resolve, 20))
      if (moment === 'carried out') now--
    }
    await inBackground(scene)
    expect(asked(scene)).toBe(24)
    expect(most).toBe(8)
    scene.as.behaviour.onRefresh = undefined
    for (const user_id of users) await use(scene, user_id)
    scene.clock.advance(LIFE - 24 * LATER - 110)
    await Promise.all([inBackground(scene), refreshDue(second.broker)])
    expect(asked(scene)).toBe(48)
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('one that another server refreshes is waited for by a fetch that came during it', async () => {
    await using scene = await startQuietScene({ as: { refresh: 'rotate-strict' } })
    await using second = await startSecond(scene)
    await scene.connect()
    scene.clock.advance(LIFE)
    const [answered, claimed] = [gate(), gate()]
    scene.as.behaviour.onRefresh = (moment) => (moment === 'arrived' ? answered.opened : undefined)
    const elsewhere = authorize(second)
    await expect.poll(() => asked(scene)).toBe(1)
    const { broker } = scene.gatepass
    const { connections, providers } = broker.store
    const { claimRefresh } = connections
    Object.assign(connections, {
      async claimRefresh(...args: Parameters<typeof claimRefresh>) {
        await claimed.opened
        return claimRefresh(...args)
      },
    })
    const found = await row(scene)
    const entry = await providers.findByUid(found.providerUid)
    if (entry === undefined) throw new Error('there is no entry')
    const background = refreshConnection(broker, entry, found, { waits: false })
    const fetched = token(scene)
    await new Promise((resolve) => setTimeout(resolve, 100))
    claimed.open()
    expect(await background).toMatchObject({ outcome: 'provider_unavailable' })
    answered.open()
    expect(await fetched).toBe((await elsewhere).body.context.token)
    expect(asked(scene)).toBe(1)
  })

  test('nothing new is begun once the server stops', async () => {
    await using scene = await startQuietScene()
    const users = Array.from({ length: 12 }, (_, i) => `user ${i}`)
    for (const user_id of users) await scene.connect({ user_id })
    for (const user_id of users) await use(scene, user_id)
    scene.clock.advance(LIFE - 12 * LATER - 110)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'arrived' ? opened : undefined)
    const running = inBackground(scene)
    await expect.poll(() => asked(scene)).toBe(8)
    scene.gatepass.broker.refreshes.stop()
    open()
    await running
    expect(asked(scene)).toBe(8)
  })
})

test('those received together are spread over a minute', () => {
  const begins = Array.from({ length: 500 }, (_, i) => {
    const one = { id: `conn_${i}`, generation: 1, receivedAt: 0, expiresAt: LIFE } as Connection
    return Array.from({ length: 200 }, (_, back) => LIFE - 200 + back).find((now) => isDue(one, now)) ?? 0
  })
  expect(Math.min(...begins)).toBeGreaterThanOrEqual(LIFE - 180)
  expect(Math.max(...begins)).toBeLessThanOrEqual(LIFE - 120)
  expect(new Set(begins).size).toBeGreaterThan(50)
})

async function idsOf(scene: Scene, user: string): Promise<string[]> {
  const { body } = await scene.call('GET', `/v1/connections?user_id=${user}`)
  return body.items.map(({ id }: { id: string }) => id)
}
