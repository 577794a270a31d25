import { describe, expect, test } from 'vitest'
import { authorizationAt } from '../../src/domain/authorization.ts'
import { claimed, defined, inProject, type OpenedStore, until } from './fixtures.ts'

const LAPSE_MS = 600_000
const LONG_MS = 2 * LAPSE_MS
/** Moves the heartbeats of all processes into the past, since the database's clock decides when they have lapsed. */
const LAPSE = `update processes set beat_at = beat_at - ${LAPSE_MS + 1}`

/** Tests the promises of `Processes`. */
export function processPromises(open: () => Promise<OpenedStore>): void {
  describe('processes', () => {
    test('are alive from entering until they leave', async () => {
      await using opened = await open()
      const { store, other } = opened
      expect(await other.processes.isAlive('a', LONG_MS)).toBe(false)
      await store.processes.enter('a')
      expect(await other.processes.isAlive('a', LONG_MS)).toBe(true)
      await store.processes.leave('a')
      expect(await other.processes.isAlive('a', LONG_MS)).toBe(false)
    })

    test('get from each heartbeat the time since the one before', async () => {
      await using opened = await open()
      const { store } = opened
      await store.processes.enter('a')
      await opened.sql(LAPSE)
      const beatAt = performance.now()
      expect(defined(await store.processes.beat('a'))).toBeGreaterThan(LAPSE_MS)
      const age = defined(await store.processes.beat('a'))
      expect(age).toBeLessThanOrEqual(Math.ceil(performance.now() - beatAt) + 1)
      expect(await store.processes.beat('never entered')).toBeUndefined()
    })

    test('that send no heartbeat are dead, and their next heartbeat finds no process', async () => {
      await using opened = await open()
      const { store, other } = opened
      await store.processes.enter('a')
      await opened.sql(LAPSE)
      expect(await other.processes.isAlive('a', LAPSE_MS)).toBe(false)
      expect(await store.processes.beat('a')).toBeUndefined()
      expect(await other.processes.isAlive('a', LONG_MS)).toBe(false)
    })

    test('that have lapsed lose their claims, and living ones keep theirs', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      await store.processes.enter('dead')
      const lost = await claimed(store, owner, { state: 's1', claimedBy: 'dead' })
      await opened.sql(LAPSE)
      await store.processes.enter('living')
      const kept = await claimed(store, { ...owner, userId: 'bob' }, { state: 's2', claimedBy: 'living' })
      const announced: string[] = []
      other.onChange((change) => void (change.noun === 'authorization' && announced.push(change.id)))

      expect(await store.processes.beat('living')).toBeDefined()
      expect(await other.processes.declareDead(LAPSE_MS)).toBe(1)
      expect(announced).toContain(lost.id)
      expect(authorizationAt(defined(await store.authorizations.find(lost.id)), 1).status).toBe('pending')
      expect(authorizationAt(defined(await store.authorizations.find(kept.id)), 1).status).toBe('exchanging')
      expect(await other.processes.declareDead(LAPSE_MS)).toBe(0)
    })

    test('lose a claim that they made after they were declared dead', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      const { id } = await claimed(store, owner, { claimedBy: 'dead before' })
      expect(await other.processes.declareDead(LAPSE_MS)).toBe(1)
      expect(authorizationAt(defined(await store.authorizations.find(id)), 1).status).toBe('pending')
    })

    test('that died leave codes that can never be claimed again', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      await claimed(store, owner, { state: 's1', claimedBy: 'dead' })
      await other.processes.declareDead(LAPSE_MS)
      expect(await other.authorizations.claim('s1', 2, until(30, 'living'))).toBeUndefined()
    })
  })
}
