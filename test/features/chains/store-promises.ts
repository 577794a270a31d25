import { describe, expect, test } from 'vitest'
import { BACKUP_FACT } from '../../../src/store/facts.ts'
import { inProject, type OpenedStore } from '../../store/fixtures.ts'
import { chain } from './fixtures.ts'

/** Tests the promises of `Chains`. */
export function chainPromises(open: () => Promise<OpenedStore>): void {
  describe('paused chains', () => {
    test('are taken by one of several racing processes, and are deleted then', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const paused = chain({ projectId })
      await store.chains.add(paused)
      const taken = await Promise.all(
        [store, other, store, other].map((one) => one.chains.take(projectId, paused.id, 99)),
      )
      expect(taken.filter((one) => one !== undefined)).toEqual([paused])
      expect(await other.chains.take(projectId, paused.id, 99)).toBeUndefined()
    })

    test('cannot be taken once they have expired, nor by another project', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const paused = chain({ projectId })
      await store.chains.add(paused)
      expect(await other.chains.take(projectId, paused.id, 100)).toBeUndefined()
      expect(await other.chains.take(another.projectId, paused.id, 99)).toBeUndefined()
      expect(await other.chains.take(projectId, paused.id, 99)).toEqual(paused)
    })

    test('are counted for their own project until they expire', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      await store.chains.add(chain({ projectId, expiresAt: 10 }))
      await store.chains.add(chain({ projectId, expiresAt: 20 }))
      expect([await other.chains.count(projectId, 9), await other.chains.count(projectId, 10)]).toEqual([
        2, 1,
      ])
      expect(await other.chains.count(another.projectId, 9)).toBe(0)
    })

    test('are swept once they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [old, fresh] = [chain({ projectId, expiresAt: 10 }), chain({ projectId, expiresAt: 20 })]
      await store.chains.add(old)
      await store.chains.add(fresh)
      expect(await other.chains.sweep(20)).toBe(1)
      expect(await store.chains.take(projectId, old.id, 0)).toBeUndefined()
      expect(await store.chains.take(projectId, fresh.id, 0)).toEqual(fresh)
    })

    test('of a restored backup are deleted, since they may have been resumed after it', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const paused = chain({ projectId })
      await store.chains.add(paused)
      await store.facts.put(BACKUP_FACT, '5')
      await store.settleRestore('restored', 6)
      expect(await other.chains.find(projectId, paused.id, 6)).toBeUndefined()
    })

    test('are not announced', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const changes: unknown[] = []
      store.onChange((change) => changes.push(change))
      const paused = chain({ projectId })
      await store.chains.add(paused)
      await store.chains.take(projectId, paused.id, 1)
      expect(changes).toEqual([])
    })
  })
}
