import { describe, expect, test } from 'vitest'
import { BACKUP_FACT } from '../../../src/store/facts.ts'
import { inProject, type OpenedStore, sealed } from '../../store/fixtures.ts'
import { pausedCode } from './fixtures.ts'

/** Tests the promises of `PausedRuns`. */
export function codePromises(open: () => Promise<OpenedStore>): void {
  describe('runs of code that wait for their users', () => {
    test('are claimed by one of several racing processes, until they are paused again', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const paused = pausedCode({ projectId })
      await store.pausedCode.add(paused)
      const claim = (of: typeof store) => of.pausedCode.claim(projectId, paused.id, 99, 200)
      const claimed = await Promise.all([store, other, store, other].map(claim))
      expect(claimed.filter((one) => one)).toHaveLength(1)
      expect(await other.pausedCode.find(projectId, paused.id, 99)).toEqual({ ...paused, runningUntil: 200 })
      const later = { ...paused, state: sealed('later'), expiresAt: 300 }
      expect(await store.pausedCode.pauseAgain(later)).toBe(true)
      expect(await other.pausedCode.find(projectId, paused.id, 299)).toEqual(later)
      expect(await claim(other)).toBe(true)
    })

    test('cannot be claimed once they have expired, nor by another project, nor after they were removed', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const paused = pausedCode({ projectId })
      await store.pausedCode.add(paused)
      expect(await other.pausedCode.claim(projectId, paused.id, 100, 200)).toBe(false)
      expect(await other.pausedCode.claim(another.projectId, paused.id, 99, 200)).toBe(false)
      await store.pausedCode.remove(another.projectId, paused.id)
      expect(await other.pausedCode.find(projectId, paused.id, 99)).toEqual(paused)
      await store.pausedCode.remove(projectId, paused.id)
      expect(await other.pausedCode.claim(projectId, paused.id, 99, 200)).toBe(false)
      expect(await other.pausedCode.pauseAgain(paused)).toBe(false)
    })

    test('are counted for their own project until they expire, and are swept then', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const fresh = pausedCode({ projectId, expiresAt: 20 })
      await store.pausedCode.add(pausedCode({ projectId, expiresAt: 10 }))
      await store.pausedCode.add(fresh)
      expect([
        await other.pausedCode.count(projectId, 9),
        await other.pausedCode.count(projectId, 10),
      ]).toEqual([2, 1])
      expect(await other.pausedCode.count(another.projectId, 9)).toBe(0)
      expect(await other.pausedCode.sweep(20)).toBe(1)
      expect(await store.pausedCode.find(projectId, fresh.id, 0)).toEqual(fresh)
    })

    test('are deleted with their user', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [hers, his] = [pausedCode({ projectId, userId: 'ada' }), pausedCode({ projectId, userId: 'bob' })]
      await store.pausedCode.add(hers)
      await store.pausedCode.add(his)
      await other.pausedCode.forgetUser({ projectId, userId: 'ada' })
      expect(await store.pausedCode.find(projectId, hers.id, 1)).toBeUndefined()
      expect(await store.pausedCode.find(projectId, his.id, 1)).toEqual(his)
    })

    test('of a restored backup are deleted, since they may have been resumed after it', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const paused = pausedCode({ projectId })
      await store.pausedCode.add(paused)
      await store.facts.put(BACKUP_FACT, '5')
      await store.settleRestore('restored', 6)
      expect(await other.pausedCode.find(projectId, paused.id, 6)).toBeUndefined()
    })
  })
}
