import { describe, expect, test } from 'vitest'
import type { ExecutionIndex } from '../../src/store/execution-lists.ts'
import { connected, execution, inProject, type OpenedStore, pending, scheduledRun } from './fixtures.ts'
import { walk } from './walk.ts'

/** Tests the promises of `ConsoleLists`, `Users` and `Counters`. */
export function consolePromises(open: () => Promise<OpenedStore>): void {
  describe('lists of the console', () => {
    test('give the connections of one project, newest first, page by page in both directions, by one filter', async () => {
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

    test('give the authorizations by status', async () => {
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

  describe('lists of runs and keys', () => {
    test('give the runs by one filter, without their sealed input and results', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const failed = { status: 'failed', outcome: 'error' } as const
      const [first, second, third, fourth, fifth] = [
        execution({ projectId }),
        execution({ projectId, userId: 'bob' }),
        execution({ projectId, ...failed }),
        scheduledRun({ projectId, runAt: 50 }),
        execution({ projectId, userId: 'bob', toolId: 'demo:Echo:1.0.0' }),
      ]
      await store.executions.add([first, second, third, fourth, fifth])
      await store.executions.add([execution({ projectId: another.projectId })])
      const walked = (by: ExecutionIndex) =>
        walk(
          (place, limit) => other.executions.browse(projectId, by, place, limit),
          ({ id }) => id,
        )
      expect(await walked({})).toEqual([fifth, fourth, third, second, first].map(({ id }) => id))
      expect(await walked({ userId: 'bob' })).toEqual([fifth.id, second.id])
      expect(await walked({ toolId: 'demo:Echo:1.0.0' })).toEqual([fifth.id])
      expect(await walked({ status: 'failed' })).toEqual([third.id])
      expect(await walked({ type: 'scheduled' })).toEqual([fourth.id])
      const [row] = (await store.executions.browse(projectId, { type: 'scheduled' }, {}, 1)).rows
      expect(row).not.toHaveProperty('request')
    })

    test('give the keys of one project, revoked ones too', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const ids = ['1', '2', '3', '4', '5'].map((n) => `key_${n}`)
      const key = { name: '', role: 'caller', createdAt: 1 } as const
      for (const id of ids) await store.apiKeys.add({ ...key, id, projectId, hash: id })
      await store.apiKeys.add({ ...key, id: 'key_0', projectId: another.projectId, hash: 'other' })
      await store.apiKeys.revoke(projectId, 'key_3', 5)
      const listed = await walk(
        (place, limit) => store.apiKeys.browse(projectId, place, limit),
        ({ id }) => id,
      )
      expect(listed).toEqual(ids.toReversed())
    })
  })

  describe('users', () => {
    test('are listed by when they were last seen, and an earlier time does not overwrite a later one', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const first = new Map([
        ['ada', 10],
        ['bob', 30],
      ])
      const second = new Map([
        ['ada', 20],
        ['bob', 5],
        ['cid', 20],
      ])
      const another = await inProject(store, 'another')
      expect(await store.users.seen(projectId, first)).toBe(2)
      expect(await other.users.seen(projectId, second)).toBe(1)
      expect(await other.users.seen(another.projectId, first)).toBe(2)
      expect(await store.users.count(projectId)).toBe(3)
      const bob = { userId: 'bob', lastSeenAt: 30 }
      const cid = { userId: 'cid', lastSeenAt: 20 }
      const ada = { userId: 'ada', lastSeenAt: 20 }
      expect(await store.users.list(projectId, 2)).toEqual([bob, cid])
      expect(await store.users.list(projectId, 2, cid)).toEqual([ada])
      expect(await other.users.find(projectId, 'ada')).toEqual(ada)
      await other.users.forget(projectId, 'ada')
      expect(await store.users.find(projectId, 'ada')).toBeUndefined()
    })

    test('are swept in every project by when they were last seen', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const times = new Map([
        ['ada', 10],
        ['bob', 20],
      ])
      for (const id of [projectId, another.projectId]) await store.users.seen(id, times)
      expect(await other.users.sweep(20)).toBe(2)
      for (const id of [projectId, another.projectId])
        expect(await store.users.list(id, 5)).toEqual([{ userId: 'bob', lastSeenAt: 20 }])
    })
  })

  describe('counters', () => {
    test('add up by hour, name and label, also from two processes, and are swept by hour', async () => {
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
      const total = (of: Parameters<typeof store.counters.total>[1], from: number, to: number) =>
        other.counters.total(projectId, of, from, to)
      expect(await total({ name: 'runs' }, 3600, 7200)).toBe(7)
      expect(await total({ name: 'runs' }, 3600, 7201)).toBe(9)
      expect(await total({ name: 'runs', label: 'value' }, 0, 7201)).toBe(6)
      expect(await total({ name: 'consents' }, 0, 7201)).toBe(0)
      expect(await store.counters.sweep(7200)).toBe(2)
      expect(await store.counters.since(projectId, 0)).toHaveLength(2)
    })
  })
}
