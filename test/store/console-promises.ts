import { describe, expect, test } from 'vitest'
import { connected, inProject, type OpenedStore, pending } from './fixtures.ts'

/** What `ConsoleLists`, `Users` and `Counters` promise. */
export function consolePromises(open: () => Promise<OpenedStore>): void {
  describe('lists of the console', () => {
    test('give the newest first, page by page in both directions, of one project and one index', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const ids: string[] = []
      for (const userId of ['u1', 'u2', 'u3']) ids.push((await connected(store, { ...owner, userId })).id)
      await connected(store, another.owner)
      const [oldest = '', middle = '', newest = ''] = ids
      const list = async (...args: [object, object]) => {
        const { rows, ...ends } = await store.consoleLists.connections(projectId, args[0], args[1], 2)
        return { ids: rows.map(({ id }) => id), ...ends }
      }
      expect(await list({}, {})).toEqual({ ids: [newest, middle], older: middle })
      expect(await list({}, { before: middle })).toEqual({ ids: [oldest], newer: oldest })
      expect(await list({}, { after: oldest })).toEqual({ ids: [newest, middle], older: middle })
      expect(await list({ userId: 'u2' }, {})).toEqual({ ids: [middle] })
      expect(await list({ providerUid: owner.providerUid }, {})).toMatchObject({ ids: [newest, middle] })
      expect(await list({ status: 'needs_authorization' }, {})).toEqual({ ids: [] })
    })

    test('have the authorizations by status', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, projectId } = await inProject(store)
      const ofBob = { ...owner, userId: 'bob' }
      const first = await store.authorizations.begin(pending(owner), 'one', 0)
      const second = await store.authorizations.begin(pending(ofBob), 'two', 0)
      await store.authorizations.fail(first?.id ?? '', 'access_denied', 'no', 1)
      const list = async (by: { status?: 'failed' | 'pending' }) =>
        (await store.consoleLists.authorizations(projectId, by, {}, 5)).rows.map(({ id }) => id)
      expect(await list({})).toEqual([second?.id, first?.id])
      expect(await list({ status: 'failed' })).toEqual([first?.id])
      expect(await list({ status: 'pending' })).toEqual([second?.id])
    })
  })

  describe('users', () => {
    test('are listed by when they were seen last, and an older time changes nothing', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      await store.users.seen(
        projectId,
        new Map([
          ['ada', 10],
          ['bob', 30],
        ]),
      )
      await other.users.seen(
        projectId,
        new Map([
          ['ada', 20],
          ['bob', 5],
          ['cid', 20],
        ]),
      )
      const bob = { userId: 'bob', lastSeenAt: 30 }
      const cid = { userId: 'cid', lastSeenAt: 20 }
      const ada = { userId: 'ada', lastSeenAt: 20 }
      expect(await store.users.list(projectId, 2)).toEqual([bob, cid])
      expect(await store.users.list(projectId, 2, cid)).toEqual([ada])
      expect(await other.users.find(projectId, 'ada')).toEqual(ada)
      await other.users.forget(projectId, 'ada')
      expect(await store.users.find(projectId, 'ada')).toBeUndefined()
    })
  })

  describe('counters', () => {
    test('add up by hour, name and label, also from two processes, and are swept by the hour', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const counts = (more: number) => [
        {
          projectId,
          name: 'runs' as const,
          byLabel: new Map([
            ['value', more],
            ['TOOL', 1],
          ]),
        },
      ]
      await Promise.all([store.counters.add(3600, counts(2)), other.counters.add(3600, counts(3))])
      await store.counters.add(7200, counts(1))
      const found = await other.counters.since(projectId, 3600)
      expect(found.filter(({ label }) => label === 'value')).toEqual([
        { hour: 3600, name: 'runs', label: 'value', count: 5 },
        { hour: 7200, name: 'runs', label: 'value', count: 1 },
      ])
      expect(await store.counters.sweep(7200)).toBe(2)
      expect(await store.counters.since(projectId, 0)).toHaveLength(2)
    })
  })
}
