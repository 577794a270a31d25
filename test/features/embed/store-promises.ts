import { describe, expect, test } from 'vitest'
import { BACKUP_FACT } from '../../../src/store/facts.ts'
import { defined, inProject, type OpenedStore } from '../../store/fixtures.ts'
import { connectSession } from './fixtures.ts'

/** Tests the promises of `ConnectSessions`. */
export function connectSessionPromises(open: () => Promise<OpenedStore>): void {
  describe('connect sessions', () => {
    test('are found by their id and by the hash of their token, by every process', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const session = connectSession({ projectId })
      await store.connectSessions.add(session)
      expect(await other.connectSessions.find(session.id)).toEqual(session)
      expect(await other.connectSessions.findByToken(session.tokenHash)).toEqual(session)
      expect(await other.connectSessions.findByToken('another')).toBeUndefined()
    })

    test('keep the browser that opened them last', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const session = connectSession({ projectId })
      await store.connectSessions.add(session)
      await store.connectSessions.open(session.id, { openerHash: 'first', openedIn: 'popup' })
      const last = { openerHash: 'second', openedIn: 'tab' } as const
      expect(await other.connectSessions.open(session.id, last)).toEqual({ ...session, ...last })
      expect(await store.connectSessions.find(session.id)).toEqual({ ...session, ...last })
      expect(await store.connectSessions.open('cs_gone', last)).toBeUndefined()
    })

    test('are restarted by one of two racing processes', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const session = connectSession({ projectId })
      await store.connectSessions.add(session)
      const taken = await Promise.all([
        store.connectSessions.restart(session, { authorizationId: 'auth_b' }),
        other.connectSessions.restart(session, { authorizationId: 'auth_c' }),
      ])
      expect(taken.toSorted()).toEqual([false, true])
      expect(await other.connectSessions.find(session.id)).toEqual({
        ...session,
        authorizationId: taken[0] ? 'auth_b' : 'auth_c',
        restarts: 1,
      })
    })

    test('are swept once they have expired', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const [old, fresh] = [10, 20].map((expiresAt) => connectSession({ projectId, expiresAt }))
      await store.connectSessions.add(defined(old))
      await store.connectSessions.add(defined(fresh))
      expect(await other.connectSessions.sweep(10)).toBe(1)
      expect(await store.connectSessions.find(defined(old).id)).toBeUndefined()
      expect(await store.connectSessions.find(defined(fresh).id)).toEqual(fresh)
    })

    test('are deleted when a backup is restored', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const session = connectSession({ projectId })
      await store.connectSessions.add(session)
      await store.facts.put(BACKUP_FACT, '5')
      await store.settleRestore('restored', 6)
      expect(await other.connectSessions.find(session.id)).toBeUndefined()
    })
  })
}
