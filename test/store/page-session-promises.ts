import { describe, expect, test } from 'vitest'
import { BACKUP_FACT } from '../../src/store/facts.ts'
import { inProject, type OpenedStore, pageSession, sealed } from './fixtures.ts'

/** Tests the promises of `PageSessions`. */
export function pageSessionPromises(open: () => Promise<OpenedStore>): void {
  describe('sessions of pages', () => {
    test('are found by kind and id until they expire, if they were used after a given time', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const session = pageSession({ projectId, lastSeenAt: 10, expiresAt: 100 })
      await store.pageSessions.add(session)
      const { id } = session
      expect(await other.pageSessions.find('console', id, { now: 99, seenSince: 9 })).toEqual(session)
      expect(await other.pageSessions.find('me', id, { now: 99, seenSince: 9 })).toBeUndefined()
      expect(await other.pageSessions.find('console', id, { now: 100, seenSince: 9 })).toBeUndefined()
      expect(await other.pageSessions.find('console', id, { now: 99, seenSince: 10 })).toBeUndefined()
      await other.pageSessions.seen(id, 50)
      expect(await store.pageSessions.find('console', id, { now: 99, seenSince: 49 })).toBeDefined()
    })

    test('replace that of an earlier login, change once of two that race, and end', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const at = { now: 1, seenSince: 0 }
      const [before, after] = [pageSession({ projectId }), pageSession({ projectId })]
      await store.pageSessions.add(before)
      await other.pageSessions.add(after, before.id)
      expect(await store.pageSessions.find('console', before.id, at)).toBeUndefined()
      const changes = [store, other].map((one, i) => one.pageSessions.change(after, sealed(`to ${i}`)))
      expect((await Promise.all(changes)).filter(Boolean)).toHaveLength(1)
      expect(await store.pageSessions.end(after.id)).toBe(true)
      expect(await other.pageSessions.end(after.id)).toBe(false)
      expect(await other.pageSessions.change(after, sealed('late'))).toBe(false)
    })

    test('end together for one subject of one kind, are swept once expired, and are deleted from a restored backup', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const at = { now: 1, seenSince: 0 }
      const [ada, bob] = [
        pageSession({ projectId, subject: 'ada' }),
        pageSession({ projectId, subject: 'bob' }),
      ]
      const own = pageSession({ projectId, subject: 'ada', kind: 'me', expiresAt: 50 })
      for (const one of [ada, bob, own]) await store.pageSessions.add(one)
      expect(await other.pageSessions.endOf('console', 'ada', 'proj_other')).toBe(0)
      expect(await other.pageSessions.endOf('console', 'ada', projectId)).toBe(1)
      expect(await store.pageSessions.find('console', ada.id, at)).toBeUndefined()
      expect(await store.pageSessions.find('me', own.id, at)).toEqual(own)
      expect(await other.pageSessions.sweep(50)).toBe(1)
      expect(await store.pageSessions.find('me', own.id, at)).toBeUndefined()
      await store.facts.put(BACKUP_FACT, '5')
      await store.settleRestore('restored', 6)
      expect(await store.pageSessions.find('console', bob.id, at)).toBeUndefined()
    })
  })
}
