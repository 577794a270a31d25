import { eq } from 'drizzle-orm'
import type { Database } from '../../store/database.ts'
import { IN_PROJECT, type ProtectedTables, sealingBy } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { Approval, StandingApproval } from './domain.ts'
import { describeApprovalTables } from './schema.ts'
import { createApprovals } from './store-approvals.ts'
import { createStandingApprovals } from './store-standing.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeApprovalTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
  interface PartChanges {
    readonly approval: { readonly noun: 'approval'; readonly id: string }
  }
}

const PROTECTED = {
  approvals: {
    ...IN_PROJECT,
    sealed: ['sealed_call'],
    signed: {
      mac: {
        kind: 'approvals',
        members: valuesOf<Approval>(
          'id',
          'projectId',
          'userId',
          'agent',
          'use',
          'subject',
          'digest',
          'status',
          'rules',
          'decisions',
          'expiresAt',
          'useUntil',
          'executionId',
          'usedBy',
        ),
      },
    },
  },
  standingApprovals: {
    ...IN_PROJECT,
    sealed: ['sealed_call'],
    signed: {
      mac: {
        kind: 'standing_approvals',
        members: valuesOf<StandingApproval>(
          'id',
          'projectId',
          'userId',
          'agent',
          'kind',
          'subject',
          'digest',
          'fixed',
          'expiresAt',
        ),
      },
    },
  },
} as const satisfies ProtectedTables

/** What the envelope of a call is bound to. */
export const approvalContext = sealingBy(PROTECTED)

export const approvalStore: StorePart = {
  tables: describeApprovalTables,
  nouns: createNouns,
  protects: PROTECTED,
  // a row that another program wrote approves nothing: it counts as absent
  signed({ approvals, standingApprovals }, signing) {
    const question = signing(PROTECTED.approvals.signed)
    const remembered = signing(PROTECTED.standingApprovals.signed)
    return {
      approvals: {
        ...approvals,
        begin: async (row, ...rest) => {
          const begun = await approvals.begin(question.sign(row), ...rest)
          return 'approval' in begun && question.check(begun.approval) === undefined
            ? { outcome: 'altered' }
            : begun
        },
        find: async (...args) => question.check(await approvals.find(...args)),
        findById: async (id) => question.check(await approvals.findById(id)),
        change: (from, to, now, audit, standing) =>
          approvals.change(from, question.sign(to), now, audit, standing && remembered.sign(standing)),
        spend: (from, to, ...rest) => approvals.spend(from, question.sign(to), ...rest),
        async page(...args) {
          const found = await approvals.page(...args)
          return { ...found, items: question.checkAll(found.items) }
        },
        async browse(...args) {
          const found = await approvals.browse(...args)
          return { ...found, rows: question.checkAll(found.rows) }
        },
        async overdue(...args) {
          const found = await approvals.overdue(...args)
          return { ...found, items: question.checkAll(found.items) }
        },
        ended: (from, to) => approvals.ended(from, question.sign(to)),
        interrupted: async (...args) => question.check(await approvals.interrupted(...args)),
      },
      standingApprovals: {
        ...standingApprovals,
        add: (row, ...rest) => standingApprovals.add(remembered.sign(row), ...rest),
        covering: async (...args) => remembered.checkAll(await standingApprovals.covering(...args)),
        blocks: async (...args) => remembered.checkAll(await standingApprovals.blocks(...args)),
        find: async (...args) => remembered.check(await standingApprovals.find(...args)),
        list: async (...args) => remembered.checkAll(await standingApprovals.list(...args)),
      },
    }
  },
  readSigned: async ({ standingApprovals, approvals }, projectId) => {
    await standingApprovals.list(projectId, undefined, 0)
    await approvals.page(projectId, {}, { offset: 0, limit: 1_000 })
  },
  async erase({ approvals, standingApprovals }, user) {
    await approvals.forgetUser(user)
    await standingApprovals.forgetUser(user)
  },
  // an approval that was used or taken back after the backup must not count again
  restore({ tables: { approvals, standingApprovals }, query, statement }) {
    const drop = statement((_: object) => query.delete(approvals).returning({ id: approvals.id }))
    const dropRemembered = statement((_: object) =>
      query
        .delete(standingApprovals)
        .where(eq(standingApprovals.kind, 'approval'))
        .returning({ id: standingApprovals.id }),
    )
    return function* () {
      yield* drop({})
      yield* dropRemembered({})
    }
  },
}

function createNouns(database: Database) {
  return { approvals: createApprovals(database), standingApprovals: createStandingApprovals(database) }
}
