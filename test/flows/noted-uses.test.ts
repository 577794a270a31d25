import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startGatepass } from '../gatepass.ts'
import { type Scene, startScene } from './fixtures.ts'
import { row } from './refresh-fixtures.ts'

// Uses of a connection are noted on the cached connection, and written at most once a minute.

async function use(scene: Scene, user_id = 'u1'): Promise<void> {
  expect((await scene.authorize({ user_id })).body.status).toBe('completed')
}

/** The users that the console lists, with when they were last seen. */
async function usersSeen({ gatepass: { broker } }: Scene): Promise<Record<string, number>> {
  await broker.activity.flush()
  const { id } = await broker.store.projects.ensure('default', 0)
  const listed = await broker.store.users.list(id, 10)
  return Object.fromEntries(listed.map(({ userId, lastSeenAt }) => [userId, lastSeenAt]))
}

describe('the last use of a connection', () => {
  test('reaches its row each minute, while the connection stays cached', async () => {
    await using scene = await startScene()
    await scene.connect()
    await use(scene)
    const { uses } = scene.gatepass.broker
    await uses.flush()
    const first = scene.clock()
    expect(await row(scene)).toMatchObject({ lastUsedAt: first })
    scene.clock.advance(59)
    await use(scene)
    await uses.flush()
    expect(await row(scene)).toMatchObject({ lastUsedAt: first })
    for (const minute of [1, 2, 3]) {
      scene.clock.advance(first + minute * 60 - scene.clock())
      await use(scene)
      await uses.flush()
      expect(await row(scene)).toMatchObject({ lastUsedAt: first + minute * 60 })
    }
  })

  test('is written when the process ends, and when the user was seen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-'))
    const databasePath = join(folder, 'gatepass.db')
    try {
      await using scene = await startScene({ gatepass: { databasePath } })
      await scene.connect()
      await use(scene)
      scene.clock.advance(60)
      await use(scene)
      const { id, projectId } = await row(scene)
      await scene.gatepass.close()
      await using next = await startGatepass({ databasePath, now: scene.clock })
      const { connections, users } = next.broker.store
      expect(await connections.find(id)).toMatchObject({ lastUsedAt: scene.clock() })
      expect(await users.find(projectId, 'u1')).toMatchObject({ lastSeenAt: scene.clock() })
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('of a new connection is written at once, although the one before it was noted just now', async () => {
    await using scene = await startScene()
    await scene.connect()
    await use(scene)
    const { uses } = scene.gatepass.broker
    await uses.flush()
    await scene.call('DELETE', `/v1/connections/${(await row(scene)).id}`)
    scene.clock.advance(1)
    await scene.connect()
    await use(scene)
    await uses.flush()
    expect(await row(scene)).toMatchObject({ lastUsedAt: scene.clock() })
  })
})

test('when users were last seen is noted for each, also for one without a connection', async () => {
  await using scene = await startScene()
  await scene.connect()
  await scene.connect({ user_id: 'u2' })
  for (const user of ['u1', 'u2']) await use(scene, user)
  await scene.authorize({ user_id: 'stranger' })
  const first = scene.clock()
  expect(await usersSeen(scene)).toEqual({ u1: first, u2: first, stranger: first })
  scene.clock.advance(60)
  await use(scene, 'u2')
  await scene.authorize({ user_id: 'stranger' })
  expect(await usersSeen(scene)).toEqual({ u1: first, u2: first + 60, stranger: first + 60 })
})
