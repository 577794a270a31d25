import { describe, expect, test } from 'vitest'
import { connectionToolKey } from '../../../src/store/connection-tools.ts'
import { BACKUP_FACT } from '../../../src/store/facts.ts'
import { connected, execution, inProject, type OpenedStore, pending, sealed } from '../../store/fixtures.ts'

/** Tests the promises of `PortalTickets` and `ConnectionTools`, and that every noun forgets a user. */
export function portalPromises(open: () => Promise<OpenedStore>): void {
  describe('portal tickets', () => {
    test('are spent once, before they expire', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const ticket = {
        hash: 'h',
        projectId,
        userId: 'ada',
        userDisplay: 'Ada L.',
        may: ['view', 'erase'] as const,
        returnUrl: 'https://app.example/',
        lang: 'de',
        createdAt: 1,
        expiresAt: 100,
      }
      await store.portalTickets.add(ticket)
      await store.portalTickets.add({ ...ticket, hash: 'late', expiresAt: 50 })
      expect(await other.portalTickets.find('h', 99)).toEqual(ticket)
      expect(await other.portalTickets.find('late', 50)).toBeUndefined()
      expect(await other.portalTickets.spend('late', 50)).toBeUndefined()
      const spent = await Promise.all(
        [0, 1, 2, 3].map((i) => (i % 2 ? store : other).portalTickets.spend('h', 99)),
      )
      expect(spent.filter(Boolean)).toEqual([ticket])
      expect(await store.portalTickets.find('h', 99)).toBeUndefined()
      expect(await store.portalTickets.sweep(50)).toBe(1)
      await store.portalTickets.add(ticket)
      await store.facts.put(BACKUP_FACT, '5')
      await store.settleRestore('restored', 6)
      expect(await other.portalTickets.find('h', 99)).toBeUndefined()
    })
  })

  describe('tools of connections', () => {
    test('keep the latest use of each, are deleted with their connection, and are swept', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner } = await inProject(store)
      const first = await connected(store, owner)
      const second = await connected(store, owner, { account: { id: '2', name: 'b' } })
      const use = (id: string, tool: string, at: number) => new Map([[connectionToolKey(id, tool), at]])
      await store.connectionTools.used(use(first.id, 'a:b c', 20))
      await other.connectionTools.used(use(first.id, 'a:b c', 10))
      await other.connectionTools.used(use(second.id, 't', 30))
      await store.connectionTools.used(use('conn_gone', 't', 30))
      const ofAda = async () =>
        (await other.connectionTools.ofUser(projectId, 'ada', 9)).map((one) => ({ ...one }))
      expect(await ofAda()).toEqual(
        expect.arrayContaining([
          { connectionId: first.id, tool: 'a:b c', lastUsedAt: 20 },
          { connectionId: second.id, tool: 't', lastUsedAt: 30 },
        ]),
      )
      expect(await other.connectionTools.ofUser(projectId, 'bob', 9)).toEqual([])
      await store.connections.delete(second.id)
      expect(await ofAda()).toEqual([{ connectionId: first.id, tool: 'a:b c', lastUsedAt: 20 }])
      expect(await store.connectionTools.sweep(20)).toBe(0)
      expect(await store.connectionTools.sweep(21)).toBe(1)
      expect(await ofAda()).toEqual([])
    })
  })

  describe('a user whose data is deleted', () => {
    test('is named in no run, and scheduled runs are cancelled', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const done = execution({ projectId, userId: 'ada', result: sealed('r'), request: sealed('q') })
      const due = execution({
        projectId,
        userId: 'ada',
        id: 'exec_due',
        status: 'scheduled',
        type: 'scheduled',
        runAt: 5,
        request: sealed('q'),
      })
      const others = execution({ projectId, userId: 'bob', id: 'exec_bob' })
      await store.executions.add([done, due, others])
      expect(await other.executions.forgetUser(projectId, 'ada', 50)).toBe(2)
      const { userId: _, request: __, result: ___, ...rest } = done
      expect(await store.executions.find(projectId, done.id)).toEqual({ ...rest, updatedAt: 50 })
      expect(await store.executions.find(projectId, due.id)).toMatchObject({
        status: 'cancelled',
        finishedAt: 50,
      })
      expect(await store.executions.find(projectId, others.id)).toEqual(others)
      expect(await store.scheduledRuns.claimDue({ owner: 'o', seconds: 60 }, 60, 5)).toEqual([])
    })

    test('has no authorizations', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner } = await inProject(store)
      const ids: string[] = []
      for (const [i, userId] of ['ada', 'ada', 'bob'].entries()) {
        const one = pending({ ...owner, userId }, { expiresAt: 600 + i })
        ids.push((await store.authorizations.begin(one, `share ${i}`, 1, 50)).id)
      }
      const sorted = ids.slice(0, 2).sort()
      const [oldest] = await other.authorizations.ofUser(projectId, 'ada', { limit: 1 })
      expect(oldest?.id).toBe(sorted[0])
      const rest = await other.authorizations.ofUser(projectId, 'ada', { limit: 5, after: sorted[0] ?? '' })
      expect(rest.map(({ id }) => id)).toEqual(sorted.slice(1))
      expect(await store.authorizations.forgetUser(projectId, 'ada')).toBe(2)
      expect(await other.authorizations.ofUser(projectId, 'ada', { limit: 5 })).toEqual([])
      expect(await other.authorizations.ofUser(projectId, 'bob', { limit: 5 })).toHaveLength(1)
    })
  })
}
