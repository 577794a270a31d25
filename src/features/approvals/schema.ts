import type { ApprovalRule } from '../../domain/approval.ts'
import type { UseKind } from '../../domain/requested-use.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { ApprovalStatus, Decision, StandingApproval } from './domain.ts'

export function describeApprovalTables(kit: SchemaKit, { projects }: Pick<CoreTables, 'projects'>) {
  const { table, text, whole, json, index, uniqueIndex } = kit
  const ofProject = () =>
    text('project_id')
      .notNull()
      .references(() => projects.id)

  const approvals = table(
    'approvals',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id'),
      agent: text('agent').notNull(),
      use: text('used_as').$type<UseKind>().notNull(),
      subject: text('subject').notNull(),
      digest: text('digest').notNull(),
      /** The project and the digest while the approval is pending or approved, so that a call has one question. */
      openKey: text('open_key'),
      status: text('status').$type<ApprovalStatus>().notNull(),
      rules: json<readonly ApprovalRule[]>('rules').notNull(),
      decisions: json<readonly Decision[]>('decisions').notNull(),
      call: text('sealed_call').$type<Sealed>(),
      expiresAt: whole('expires_at').notNull(),
      useUntil: whole('use_until'),
      executionId: text('execution_id'),
      usedBy: text('used_by'),
      createdAt: whole('created_at').notNull(),
      endedAt: whole('ended_at'),
      mac: text('mac'),
    },
    (t) => [
      uniqueIndex('approvals_open').on(t.openKey),
      index('approvals_of_project').on(t.projectId, t.id),
      index('approvals_of_user').on(t.projectId, t.userId, t.id),
      index('approvals_of_call').on(t.projectId, t.digest),
      index('approvals_by_status').on(t.projectId, t.status, t.id),
      index('approvals_expiry').on(t.status, t.expiresAt),
      index('approvals_end').on(t.endedAt),
    ],
  )

  const standingApprovals = table(
    'standing_approvals',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id'),
      agent: text('agent').notNull(),
      kind: text('kind').$type<StandingApproval['kind']>().notNull(),
      subject: text('subject').notNull(),
      digest: text('digest').notNull(),
      fixed: json<readonly string[]>('fixed').notNull(),
      call: text('sealed_call').$type<Sealed>(),
      createdAt: whole('created_at').notNull(),
      expiresAt: whole('expires_at').notNull(),
      mac: text('mac'),
    },
    (t) => [
      index('standing_approvals_of_project').on(t.projectId, t.id),
      index('standing_approvals_of_user').on(t.projectId, t.userId, t.id),
      index('standing_approvals_expiry').on(t.expiresAt),
    ],
  )
  return { approvals, standingApprovals }
}
