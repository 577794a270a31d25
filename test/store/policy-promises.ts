import { describe, expect, test } from 'vitest'
import { inProject, type OpenedStore, policy, sealed } from './fixtures.ts'

/** Tests the promises of `Policies`. */
export function policyPromises(open: () => Promise<OpenedStore>): void {
  describe('policies', () => {
    test('are stored with every member, replaced whole, and listed by id', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const full = policy({
        projectId,
        id: 'office hours',
        description: 'No mail at night.',
        effect: 'hook',
        match: { users: ['a*'], time: { from: '22:00', to: '06:00' } },
        hook: { url: 'https://hook.example.test', timeoutMs: 500, onFailure: 'deny' },
        hookSecret: sealed('bearer'),
      })
      await store.policies.put(full)
      expect(await other.policies.find(projectId, full.id)).toEqual(full)
      const bare = policy({ projectId, id: full.id, enabled: false, updatedAt: 2 })
      await other.policies.put(bare)
      expect(await store.policies.find(projectId, full.id)).toEqual(bare)
      const first = policy({ projectId, id: 'a' })
      await store.policies.put(first)
      expect(await other.policies.list(projectId)).toEqual([first, bare])
    })

    test('are given as those in force with a version, which each write raises', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const versionOf = async (one = store) => (await one.policies.inForce(projectId)).version
      expect(await store.policies.inForce(projectId)).toEqual({ version: 0, policies: [] })
      const one = policy({ projectId, id: 'one' })
      await store.policies.put(one)
      expect(await other.policies.inForce(projectId)).toEqual({ version: 1, policies: [one] })
      await other.policies.put({ ...one, enabled: false })
      expect(await store.policies.inForce(projectId)).toEqual({ version: 2, policies: [] })
      await other.policies.delete(projectId, 'none')
      await other.policies.put(policy({ projectId: another.projectId }))
      expect(await versionOf(other)).toBe(2)
      await other.policies.delete(projectId, 'one')
      expect(await versionOf()).toBe(3)
    })

    test('may have the same id in two projects, and are deleted in their own only', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const [mine, theirs] = [
        policy({ projectId }),
        policy({ projectId: another.projectId, effect: 'allow' }),
      ]
      await store.policies.put(mine)
      await store.policies.put(theirs)
      expect(await store.policies.list(projectId)).toEqual([mine])
      expect(await store.policies.delete(another.projectId, theirs.id)).toBe(true)
      expect(await store.policies.delete(another.projectId, theirs.id)).toBe(false)
      expect(await store.policies.find(projectId, mine.id)).toEqual(mine)
      expect(await store.policies.find(another.projectId, theirs.id)).toBeUndefined()
    })
  })
}
