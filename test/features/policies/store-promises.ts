import { describe, expect, test } from 'vitest'
import { inProject, type OpenedStore, policy, sealed } from '../../store/fixtures.ts'

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
      expect(await store.policies.add(full)).toEqual(full)
      expect(await other.policies.find(projectId, full.id)).toEqual(full)
      const bare = policy({ projectId, id: full.id, enabled: false, updatedAt: 2 })
      expect(await other.policies.change(full, bare)).toEqual(bare)
      expect(await store.policies.find(projectId, full.id)).toEqual(bare)
      const first = policy({ projectId, id: 'a' })
      await store.policies.add(first)
      expect(await other.policies.list(projectId)).toEqual([first, bare])
    })

    test('are added only if their id is free, and changed only if they are as they were read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const before = policy({ projectId, enabled: false, mac: 'm' })
      await store.policies.add(before)
      const audit = {
        projectId,
        lines: ['{}'],
        at: 1,
        link: () => expect.fail('wrote audit entries'),
      }
      expect(await other.policies.add(policy({ projectId, effect: 'allow' }), audit)).toBeUndefined()
      const changes = await Promise.all(
        [store, other].map((one, i) => one.policies.change(before, { ...before, description: `${i}` })),
      )
      const [changed, ...more] = changes.filter((one) => one !== undefined)
      expect([await store.policies.find(projectId, before.id), more]).toEqual([changed, []])
      expect(await store.policies.change(before, { ...before, enabled: true }, audit)).toBeUndefined()
      expect(await store.policies.inForce(projectId)).toEqual({ version: 2, policies: [] })
      await other.policies.delete(projectId, before.id)
      expect(await store.policies.change(changed ?? before, before, audit)).toBeUndefined()
      expect(await store.policies.list(projectId)).toEqual([])
    })

    test('are given as those in force with a version, which each write raises', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId } = await inProject(store)
      const another = await inProject(store, 'another')
      const versionOf = async (one = store) => (await one.policies.inForce(projectId)).version
      expect(await store.policies.inForce(projectId)).toEqual({ version: 0, policies: [] })
      const one = policy({ projectId, id: 'one' })
      await store.policies.add(one)
      expect(await other.policies.inForce(projectId)).toEqual({ version: 1, policies: [one] })
      await other.policies.change(one, { ...one, enabled: false })
      expect(await store.policies.inForce(projectId)).toEqual({ version: 2, policies: [] })
      await other.policies.delete(projectId, 'none')
      await other.policies.add(policy({ projectId: another.projectId }))
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
      await store.policies.add(mine)
      await store.policies.add(theirs)
      expect(await store.policies.list(projectId)).toEqual([mine])
      expect(await store.policies.delete(another.projectId, theirs.id)).toBe(true)
      expect(await store.policies.delete(another.projectId, theirs.id)).toBe(false)
      expect(await store.policies.find(projectId, mine.id)).toEqual(mine)
      expect(await store.policies.find(another.projectId, theirs.id)).toBeUndefined()
    })
  })
}
