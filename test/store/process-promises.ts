import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { authorizationAt } from '../../src/domain/authorization.ts'
import { claimed, defined, inProject, type OpenedStore, until } from './fixtures.ts'

/** Processes go by the clock of the database, which no test can move, so the tests wait until this short time is over. */
const LAPSE_MS = 100
const LONG_MS = 60_000

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

    test('learn at a beat how long ago the last one was', async () => {
      await using opened = await open()
      const { store } = opened
      await store.processes.enter('a')
      await sleep(60)
      const beatAt = performance.now()
      expect(defined(await store.processes.beat('a'))).toBeGreaterThan(40)
      const age = defined(await store.processes.beat('a'))
      expect(age).toBeLessThanOrEqual(Math.ceil(performance.now() - beatAt) + 1)
      expect(await store.processes.beat('never entered')).toBeUndefined()
    })

    test('that do not beat are dead, and learn it by their next beat', async () => {
      await using opened = await open()
      const { store, other } = opened
      await store.processes.enter('a')
      await sleep(LAPSE_MS + 50)
      expect(await other.processes.isAlive('a', LAPSE_MS)).toBe(false)
      expect(await store.processes.beat('a')).toBeUndefined()
      expect(await other.processes.isAlive('a', LONG_MS)).toBe(false)
    })

    test('that lapsed lose their claims; those that beat keep them', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      // long enough that a slow machine does not let the living process lapse
      const lapseMs = 1_000
      await store.processes.enter('dead')
      const lost = await claimed(store, owner, { state: 's1', claimedBy: 'dead' })
      await sleep(lapseMs + 50)
      await store.processes.enter('living')
      const kept = await claimed(store, { ...owner, userId: 'bob' }, { state: 's2', claimedBy: 'living' })
      const heard: string[] = []
      other.onChange((change) => void (change.noun === 'authorization' && heard.push(change.id)))

      expect(await other.processes.declareDead(lapseMs)).toBe(1)
      expect(heard).toContain(lost.id)
      expect(authorizationAt(defined(await store.authorizations.find(lost.id)), 1).status).toBe('pending')
      expect(authorizationAt(defined(await store.authorizations.find(kept.id)), 1).status).toBe('exchanging')
      expect(await other.processes.declareDead(lapseMs)).toBe(0)
    })

    test('a claim of a process that was declared dead before it claimed is ended too', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      const { id } = await claimed(store, owner, { claimedBy: 'dead before' })
      expect(await other.processes.declareDead(LAPSE_MS)).toBe(1)
      expect(authorizationAt(defined(await store.authorizations.find(id)), 1).status).toBe('pending')
    })

    test('a code whose claim was ended is never claimed again', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner } = await inProject(store)
      await claimed(store, owner, { state: 's1', claimedBy: 'dead' })
      await other.processes.declareDead(LAPSE_MS)
      expect(await other.authorizations.claim('s1', 2, until(30, 'living'))).toBeUndefined()
    })
  })
}
