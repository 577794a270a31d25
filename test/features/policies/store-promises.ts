import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { policyUid } from '../../../src/features/policies/domain.ts'
import { subjectsOfUser } from '../../../src/features/policies/domain-quota-subject.ts'
import { policyContext } from '../../../src/features/policies/store.ts'
import type { QuotaUse } from '../../../src/features/policies/store-quotas.ts'
import type { AuditLink } from '../../../src/store/audit-entries.ts'
import { type AuditedRelease, confirmed } from '../../../src/store/audit-trail.ts'
import type { StoreChange } from '../../../src/store/changes.ts'
import type { Store } from '../../../src/store/store.ts'
import { SEALED_COLUMNS } from '../../../src/store/store-parts.ts'
import { connected, defined, inProject, type OpenedStore, sealed } from '../../store/fixtures.ts'
import { policy } from './fixtures.ts'

const link: AuditLink = (block) => createHash('sha256').update(JSON.stringify(block)).digest('hex')

const appended = async ({ audit }: Store, releases: readonly AuditedRelease[], at: number) =>
  audit.release(await confirmed(audit, releases), at, link)

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

    test('are announced when they change, and not when nothing changed', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const changes: StoreChange[] = []
      store.onChange((change) => changes.push(change))
      await store.policies.delete(projectId, 'unknown')
      expect(changes).toEqual([])
      await store.policies.add(policy({ projectId }))
      expect(changes).toEqual([{ noun: 'policy' }])
    })

    test('are announced when the envelope of a hook’s secret is exchanged', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const [from, to] = ['aaaaaaaa', 'bbbbbbbb'].map((key) => sealed(`v1.${key}.nonce.1.tag`))
      const rule = policy({ projectId, hookSecret: defined(from) })
      await store.policies.add(rule)
      const uid = policyUid(rule.id, projectId)
      const { rowId } = policyContext('policies', 'hook_secret', { uid, projectId })
      const column = SEALED_COLUMNS.find((one) => one.table === 'policies' && one.column === 'hook_secret')
      const announced: string[] = []
      store.onChange(({ noun }) => announced.push(noun))
      await store.envelopes.exchange(defined(column), [{ rowId, from: defined(from), to: defined(to) }])
      expect(announced).toEqual(['policy'])
    })

    test('have audit entries for each write, and none for a write that changed nothing', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const record = (line: string) => ({ projectId, at: 5, lines: [line], link })
      await store.policies.add(policy({ projectId, id: 'p' }), record('policy'))
      await store.policies.delete(projectId, 'p', record('no policy'))
      await store.policies.delete(projectId, 'p', record('deleted again'))
      const blocks = await store.audit.blocks(projectId, { order: 'oldest first', limit: 100 })
      expect(blocks.map(({ text }) => text)).toEqual(['policy', 'no policy'])
    })

    test.each<[string, (writer: Store, projectId: string) => Promise<unknown>]>([
      ['added', (writer, projectId) => writer.policies.add(policy({ projectId }))],
      ['deleted', (writer, projectId) => writer.policies.delete(projectId, 'older')],
    ])(
      'refuse, and announce, a release that was judged before a policy was %s, here or in another process',
      async (_, change) => {
        for (const by of ['store', 'other'] as const) {
          await using opened = await open()
          const { store } = opened
          const { owner, projectId, entry } = await inProject(store)
          const held = await connected(store, owner)
          await store.policies.add(policy({ projectId, id: 'older' }))
          const rules = [await store.policies.inForce(projectId)]
          const release = { projectId, line: 'released', connection: held, entry, rules }
          expect(await appended(store, [release], 7)).toEqual([true])
          await change(opened[by], projectId)
          let announced = 0
          store.onChange(() => announced++)
          expect(await appended(store, [release], 8)).toEqual([false])
          expect(announced).toBeGreaterThan(0)
          expect(await store.audit.head(projectId)).toMatchObject({ lastSeq: 1 })
        }
      },
    )
  })
}

const NOON = Date.UTC(2026, 10, 18, 12) / 1000 // a Wednesday

/** Tests the promises of `QuotaCounts`. */
export function quotaPromises(open: () => Promise<OpenedStore>): void {
  const quotaUse = (projectId: string, limit: number, more: Partial<QuotaUse> = {}): QuotaUse => ({
    projectId,
    policy: 'p',
    quota: { limit, per: 'user', window: 'day' },
    subject: 'user/day:ada',
    ...more,
  })

  describe('quotas', () => {
    test('count up to their limit over processes whose clocks are five minutes apart, and never more', async () => {
      await using opened = await open()
      const { projectId } = await inProject(opened.store)
      const use = quotaUse(projectId, 20)
      const outcomes = await Promise.all(
        Array.from({ length: 60 }, (_, i) => {
          const store = i % 2 === 0 ? opened.store : opened.other
          return store.quotaCounts.take([use], NOON + ((i % 3) - 1) * 300)
        }),
      )
      expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toHaveLength(20)
      const [count] = await opened.other.quotaCounts.list(projectId, { now: NOON, limit: 10 })
      expect(count).toMatchObject({ subject: 'user/day:ada', policy: 'p', count: 20 })
      expect((count?.windowEnd ?? 0) - (count?.windowStart ?? 0)).toBe(86_400)
      expect((await opened.store.quotaCounts.findUsedUp([use], NOON)).outcome).toBe('used up')
    })

    test('are counted all or none', async () => {
      await using opened = await open()
      const { quotaCounts } = opened.store
      const { projectId } = await inProject(opened.store)
      const small = quotaUse(projectId, 1, { policy: 'small' })
      const wide = quotaUse(projectId, 100, { policy: 'a-wide' })
      expect((await quotaCounts.take([wide, small], NOON)).outcome).toBe('taken')
      expect(await quotaCounts.take([wide, small], NOON)).toMatchObject({ outcome: 'used up', by: small })
      const counts = await quotaCounts.list(projectId, { now: NOON, limit: 10 })
      expect(counts.map(({ policy, count }) => [policy, count])).toEqual([
        ['a-wide', 1],
        ['small', 1],
      ])
    })

    test('above 1,000 are counted by hundredths in advance, and never beyond the limit', async () => {
      await using opened = await open()
      const { quotaCounts } = opened.store
      const { projectId } = await inProject(opened.store)
      const use = quotaUse(projectId, 1_250)
      let taken = 0
      for (;;) {
        const outcome = await quotaCounts.take([use], NOON)
        if (outcome.outcome === 'used up') break
        taken += outcome.taken[0]?.count ?? Number.NaN
      }
      expect(taken).toBe(1_250)
    })

    test('are forgotten with their user, and deleted after their window', async () => {
      await using opened = await open()
      const { quotaCounts } = opened.store
      const { projectId } = await inProject(opened.store)
      const subjects = ['user/day:ada', 'user/hour:ada', 'user/day:bob', 'tool/day:ada']
      for (const subject of subjects) await quotaCounts.take([quotaUse(projectId, 9, { subject })], NOON)
      expect(await quotaCounts.forget(projectId, subjectsOfUser('ada'))).toBe(2)
      const left = await quotaCounts.list(projectId, { now: NOON, limit: 10 })
      expect(left.map(({ subject }) => subject).sort()).toEqual(['tool/day:ada', 'user/day:bob'])
      const subjectsOfBob = subjectsOfUser('bob')
      expect(
        await quotaCounts.list(projectId, { now: NOON, limit: 10, subjects: subjectsOfBob }),
      ).toHaveLength(1)
      expect([await quotaCounts.sweep(NOON, 0), await quotaCounts.sweep(NOON, -2 * 86_400)]).toEqual([0, 2])
    })
  })
}
