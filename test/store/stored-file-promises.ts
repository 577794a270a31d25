import { describe, expect, test } from 'vitest'
import { inProject, type OpenedStore, storedFile } from './fixtures.ts'

/** Tests the promises of `StoredFiles`. */
export function storedFilePromises(open: () => Promise<OpenedStore>): void {
  describe('files that tools answered', () => {
    test('are found until they expire, and by their own project only', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const file = storedFile({ projectId, userId: 'ada', caller: 'key_1' })
      await store.storedFiles.add(file)
      expect(await other.storedFiles.find(projectId, file.id, 99)).toEqual(file)
      expect(await other.storedFiles.find(projectId, file.id, 100)).toBeUndefined()
      expect(await other.storedFiles.find(another.projectId, file.id, 99)).toBeUndefined()
    })

    test('are counted for their own project up to a limit, and are swept when they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const fresh = storedFile({ projectId, expiresAt: 20 })
      await store.storedFiles.add(storedFile({ projectId, expiresAt: 10 }))
      await store.storedFiles.add(fresh)
      const counted = (most: number, now: number) => other.storedFiles.count(projectId, most, now)
      expect([await counted(5, 9), await counted(1, 9), await counted(5, 10)]).toEqual([2, 1, 1])
      expect(await other.storedFiles.count(another.projectId, 5, 9)).toBe(0)
      expect(await other.storedFiles.sweep(10)).toBe(1)
      expect(await store.storedFiles.find(projectId, fresh.id, 10)).toEqual(fresh)
    })

    test('are deleted with their user', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [hers, his] = [storedFile({ projectId, userId: 'ada' }), storedFile({ projectId, userId: 'bob' })]
      await store.storedFiles.add(hers)
      await store.storedFiles.add(his)
      await other.storedFiles.forgetUser({ projectId, userId: 'ada' })
      expect(await store.storedFiles.find(projectId, hers.id, 1)).toBeUndefined()
      expect(await store.storedFiles.find(projectId, his.id, 1)).toEqual(his)
    })
  })
}
