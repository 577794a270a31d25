import { describe, expect, test } from 'vitest'
import type { StoreChange } from '../../../src/store/changes.ts'
import { inProject, type OpenedStore } from '../../store/fixtures.ts'
import { toolset } from './fixtures.ts'

/** Tests the promises of `Toolsets`. */
export function toolsetPromises(open: () => Promise<OpenedStore>): void {
  describe('toolsets', () => {
    test('are added once per id, changed from what was read, and listed by id', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const full = toolset({
        projectId,
        id: 'mail',
        tools: ['local:Send'],
        namespaces: ['gmail'],
        tags: ['mail'],
        providers: ['google'],
        names: 'bare',
        instructions: 'Send nothing unasked.\nAsk first.',
        listing: 'search',
      })
      const bare = toolset({ projectId, id: 'mail', updatedAt: 2 })
      const added = await Promise.all([store.toolsets.add(full), other.toolsets.add(full)])
      expect(added.toSorted()).toEqual([false, true])
      expect(await other.toolsets.find(projectId, 'mail')).toEqual(full)
      expect(await other.toolsets.change(full, bare)).toBe(true)
      expect(await store.toolsets.change(full, { ...full, tags: ['other'] })).toBe(false)
      expect(await store.toolsets.find(projectId, 'mail')).toEqual(bare)
      const first = toolset({ projectId, id: 'a' })
      await store.toolsets.add(first)
      expect(await other.toolsets.list(projectId)).toEqual([first, bare])
    })

    test('may have the same id in two projects, and are changed and deleted in their own only', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const [mine, theirs] = [toolset({ projectId }), toolset({ projectId: another.projectId })]
      await store.toolsets.add(mine)
      await store.toolsets.add(theirs)
      await store.toolsets.change(theirs, { ...theirs, tags: ['theirs'] })
      expect(await store.toolsets.list(projectId)).toEqual([mine])
      expect(await store.toolsets.delete(another.projectId, theirs.id)).toBe(true)
      expect(await store.toolsets.delete(another.projectId, theirs.id)).toBe(false)
      expect(await store.toolsets.change(theirs, theirs)).toBe(false)
      expect(await store.toolsets.find(projectId, mine.id)).toEqual(mine)
      expect(await store.toolsets.find(another.projectId, theirs.id)).toBeUndefined()
    })

    test('give each bare name once, to the first tool that needs it, and keep the names when they are changed', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const one = toolset({ projectId })
      await store.toolsets.add(one)
      expect(await store.toolsets.bareNames(projectId, one.id)).toEqual({})
      const give = (tool: string) => (given: Readonly<Record<string, string>>) => ({
        ...given,
        [tool]: Object.values(given).includes('search') ? `${tool}_search` : 'search',
      })
      await Promise.all([
        store.toolsets.giveBareNames(projectId, one.id, give('a')),
        other.toolsets.giveBareNames(projectId, one.id, give('b')),
      ])
      const given = await store.toolsets.bareNames(projectId, one.id)
      expect([
        { a: 'search', b: 'b_search' },
        { a: 'a_search', b: 'search' },
      ]).toContainEqual(given)
      await store.toolsets.change(one, { ...one, tags: ['other'] })
      expect(await other.toolsets.bareNames(projectId, one.id)).toEqual(given)
      expect(await other.toolsets.bareNames(projectId, 'none')).toEqual({})
    })

    test('are announced when they change, but not their bare names, nor a change that changed nothing', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const changes: StoreChange[] = []
      store.onChange((change) => changes.push(change))
      const one = toolset({ projectId })
      await store.toolsets.change(one, one)
      expect(changes).toEqual([])
      await store.toolsets.add(one)
      await store.toolsets.giveBareNames(projectId, one.id, () => ({ 'demo:whoami': 'whoami' }))
      expect(changes).toEqual([{ noun: 'toolset' }])
    })
  })
}
