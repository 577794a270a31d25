import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { newId } from '../../../src/domain/ids.ts'
import type { Approval, StandingApproval } from '../../../src/features/approvals/domain.ts'
import type { AuditEntries } from '../../../src/store/audit-entries.ts'
import { inProject, type OpenedStore } from '../../store/fixtures.ts'

/** On SQLite the node's clock is the machine's; PostgreSQL has one of its own. */
const NOW = Math.floor(Date.now() / 1000)
/** A day later, so that nothing expires during the tests, which take long on a busy machine. */
const LATER = NOW + 86_400
const LIMITS = {
  pending: 5,
  pendingOfUser: 10,
  deniedAfter: 0,
  denials: 3,
  pendingOfGroup: 50,
  denialsOfGroup: 30,
  denialsOfUser: 6,
  deniedOftenAfter: 0,
}
const RULES = [{ version: 0 }]

function question(projectId: string, more: Partial<Approval> = {}): Approval {
  const id = newId('appr')
  return {
    id,
    projectId,
    userId: 'ada',
    agent: 'key_1',
    use: 'tool',
    subject: 'Mail:Send',
    digest: `digest of ${id}`,
    status: 'pending',
    rules: [],
    decisions: [],
    expiresAt: LATER,
    createdAt: NOW,
    mac: `mac of ${id}`,
    ...more,
  }
}

function remembered(projectId: string, more: Partial<StandingApproval> = {}): StandingApproval {
  const id = newId('stap')
  return {
    id,
    projectId,
    userId: 'ada',
    agent: 'key_1',
    kind: 'approval',
    subject: 'Mail:Send',
    digest: 'digest',
    fixed: ['to'],
    createdAt: NOW,
    expiresAt: LATER,
    mac: `mac of ${id}`,
    ...more,
  }
}

const decision = {
  decision: 'approve',
  approver: 'ada',
  proof: 'login',
  rules: [],
  remember: 'once',
  fixed: [],
  at: NOW,
} as const
const approved = (from: Approval, more: Partial<Approval> = {}): Approval => ({
  ...from,
  status: 'approved',
  decisions: [decision],
  useUntil: LATER,
  mac: `approved ${from.id}`,
  ...more,
})
const used = (from: Approval, more: Partial<Approval> = {}): Approval => ({
  ...from,
  status: 'used',
  executionId: 'exec_1',
  endedAt: NOW,
  mac: `used ${from.id}`,
  ...more,
})

/** Tests the promises of `Approvals` and `StandingApprovals`. */
export function approvalPromises(open: () => Promise<OpenedStore>): void {
  const link: AuditEntries['link'] = (block) =>
    createHash('sha256').update(JSON.stringify(block)).digest('hex')
  const entry = (projectId: string): AuditEntries => ({ projectId, lines: ['{}'], at: NOW, link })

  async function scene(opened: OpenedStore) {
    const { projectId } = await inProject(opened.store)
    const { approvals, standingApprovals } = opened.store
    const ask = async (more: Partial<Approval> = {}) =>
      approvals.begin(question(projectId, more), LIMITS, entry(projectId))
    const askedOf = async (more: Partial<Approval> = {}) => {
      const begun = await ask(more)
      if (begun.outcome !== 'open') throw new Error(begun.outcome)
      return begun.approval
    }
    const approve = async (more: Partial<Approval> = {}) => {
      const from = await askedOf()
      const to = await approvals.change(from, approved(from, more), NOW, entry(projectId))
      if (to === undefined) throw new Error('the question was not open')
      return to
    }
    interface Spending extends Partial<Approval> {
      readonly store?: OpenedStore['store']
      readonly versions?: typeof RULES
    }
    const spend = (from: Approval, { store = opened.store, versions = RULES, ...more }: Spending = {}) =>
      store.approvals.spend(from, used(from, more), versions, NOW, entry(projectId))
    return { ...opened, projectId, approvals, standingApprovals, ask, askedOf, approve, spend }
  }

  describe('approvals', () => {
    test('have one question for a call, over processes that ask at once', async () => {
      await using opened = await open()
      const { projectId, store, other } = await scene(opened)
      const begun = await Promise.all(
        Array.from({ length: 10 }, (_, i) =>
          [store, other][i % 2]?.approvals.begin(
            question(projectId, { digest: 'same' }),
            LIMITS,
            entry(projectId),
          ),
        ),
      )
      const ids = begun.map((one) => one?.outcome === 'open' && one.approval.id)
      expect([...new Set(ids)]).toEqual([expect.stringMatching(/^appr_/)])
    })

    test('are asked up to a limit of the agent, and up to one of its user', async () => {
      await using opened = await open()
      const { ask, projectId, store, other } = await scene(opened)
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          [store, other][i % 2]?.approvals.begin(question(projectId), LIMITS, entry(projectId)),
        ),
      )
      expect(await ask()).toEqual({ outcome: 'too many pending' })
      const outcomes = []
      for (let i = 0; i < 7; i++) outcomes.push((await ask({ agent: `key_${2 + (i % 3)}` })).outcome)
      expect(outcomes.filter((one) => one === 'open')).toHaveLength(5)
      expect(outcomes.at(-1)).toBe('too many pending')
      expect((await ask({ userId: 'bob' })).outcome).toBe('open')
    })

    test('are decided once, and not after their time by the clock that nodes share', async () => {
      await using opened = await open()
      const { approvals, askedOf, other, projectId } = await scene(opened)
      const from = await askedOf()
      const to = approved(from)
      const both = await Promise.all(
        [approvals, other.approvals].map((one) => one.change(from, to, NOW, entry(projectId))),
      )
      expect(both.filter((one) => one !== undefined)).toHaveLength(1)

      const late = await askedOf({ expiresAt: NOW - 1 })
      expect(await approvals.change(late, approved(late), NOW, entry(projectId))).toBeUndefined()
      expect(await approvals.find(projectId, late.id)).toMatchObject({ status: 'pending' })
      const ended = { ...late, status: 'expired', endedAt: NOW - 1, mac: 'ended' } as const
      expect(await approvals.change(late, ended, NOW, entry(projectId))).toMatchObject({ status: 'expired' })
    })

    test('are spent by one of many calls over processes', async () => {
      await using opened = await open()
      const { approve, spend, store, other } = await scene(opened)
      const from = await approve()
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, i) => spend(from, { store: i % 2 === 0 ? store : other })),
      )
      expect(all.filter(Boolean)).toHaveLength(1)
    })

    test('are not spent after their time, under other rules, or once the user has blocked the agent', async () => {
      await using opened = await open()
      const { approve, spend, projectId, standingApprovals } = await scene(opened)
      expect(await spend(await approve({ useUntil: NOW - 1 }))).toBe(false)
      const from = await approve()
      expect(await spend(from, { versions: [{ version: 7 }] })).toBe(false)
      const block = remembered(projectId, { kind: 'block', subject: '' })
      await standingApprovals.add(block, entry(projectId))
      expect(await spend(from)).toBe(false)
      await standingApprovals.remove(projectId, block.id, entry(projectId))
      const other = remembered(projectId, { kind: 'block', subject: '', agent: 'key_2' })
      await standingApprovals.add(other, entry(projectId))
      expect(await spend(from)).toBe(true)
    })

    test('that a process has used for a run that may be repeated are found until the run has ended', async () => {
      await using opened = await open()
      const { approvals, approve, spend, projectId } = await scene(opened)
      const from = await approve()
      expect(await approvals.interrupted(projectId, from.digest, NOW)).toBeUndefined()
      expect(await spend(from, { usedBy: 'process 1' })).toBe(true)
      const begun = await approvals.interrupted(projectId, from.digest, NOW)
      expect(begun).toMatchObject({ id: from.id, usedBy: 'process 1', executionId: 'exec_1' })
      if (begun === undefined) return
      const again = await Promise.all([1, 2].map((i) => spend(begun, { usedBy: `p${i}`, mac: `again ${i}` })))
      expect(again.filter(Boolean)).toHaveLength(1)
      const current = await approvals.find(projectId, from.id)
      if (current === undefined) throw new Error('it is gone')
      await approvals.ended(current, { ...current, usedBy: undefined, mac: 'ended' })
      expect(await approvals.interrupted(projectId, from.digest, NOW)).toBeUndefined()
    })

    test('whose time is over are found in an order, in parts', async () => {
      await using opened = await open()
      const { approvals, askedOf } = await scene(opened)
      const ids: string[] = []
      for (const ago of [30, 10, 20]) {
        const { id } = await askedOf({ agent: `key_${ago}`, expiresAt: NOW - ago })
        ids.push(id)
      }
      await askedOf({ agent: 'key_9' })
      const first = await approvals.overdue('pending', NOW, 0, 2)
      expect(first.items.map(({ id }) => id)).toEqual([ids[0], ids[2]])
      const rest = await approvals.overdue('pending', NOW, first.last ?? 0, 2)
      expect([rest.items.map(({ id }) => id), rest.last]).toEqual([[ids[1]], undefined])
    })
  })

  describe('remembered approvals', () => {
    test('are used while they are there, in their time, under the same rules, and without a block', async () => {
      await using opened = await open()
      const { projectId, standingApprovals } = await scene(opened)
      const add = async (more: Partial<StandingApproval> = {}) => {
        const row = remembered(projectId, more)
        await standingApprovals.add(row, entry(projectId))
        return row
      }
      const use = (row: StandingApproval, versions = RULES) =>
        standingApprovals.use(row, versions, NOW, entry(projectId))
      const row = await add()
      expect(await use(row)).toBe(true)
      expect(await use(row)).toBe(true)
      expect(await use(row, [{ version: 7 }])).toBe(false)
      expect(await use({ ...row, mac: 'another' })).toBe(false)
      expect(await use(await add({ expiresAt: NOW - 1 }))).toBe(false)
      const ofBob = await add({ userId: 'bob' })
      const block = await add({ kind: 'block', subject: '' })
      expect(await use(row)).toBe(false)
      expect(await use(ofBob)).toBe(true)
      const blocks = await standingApprovals.blocks({ projectId, userId: 'ada' }, NOW)
      expect(blocks.map(({ id }) => id)).toEqual([block.id])
      await standingApprovals.remove(projectId, block.id, entry(projectId))
      await standingApprovals.remove(projectId, row.id, entry(projectId))
      expect(await use(row)).toBe(false)
    })
  })
}
