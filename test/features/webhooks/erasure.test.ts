import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { eraseUser } from '../../../src/flows/erase-user.ts'
import { startWorld } from '../../http/world.ts'

test('the erasure of a user is delivered, and no event keeps the user', async () => {
  await using world = await startWorld()
  const { broker, databasePath } = world.gatepass
  const user = 'user to be erased'
  await world.connect(user)
  const hook = await world.call('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/hook' })
  const { id: projectId } = await broker.store.projects.ensure('default', 0)
  await eraseUser(broker, { projectId, userId: user })
  const { body } = await world.call('GET', `/v1/webhooks/${hook.body.id}/deliveries`)
  expect(body.total_count).toBeGreaterThan(0)
  const kept = new Database(databasePath, { readonly: true })
  expect(kept.prepare('select body from events where body like ?').all(`%${user}%`)).toEqual([])
  kept.close()
})
