import type { ApprovalTerms } from '../../domain/approval.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { Policy, PolicyHook, PolicyMatch } from './domain.ts'
import type { AccessRequest } from './domain-access-request.ts'

export function describePolicyTables(kit: SchemaKit, { projects }: Pick<CoreTables, 'projects'>) {
  const { table, text, whole, flag, json, uniqueIndex, index, primaryKey } = kit

  const sealed = (name: string) => text(name).$type<Sealed>()

  const policies = table(
    'policies',
    {
      /** Made of the project and the id (`policyUid`), since an envelope is bound to one column that identifies the row. */
      uid: text('uid').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      id: text('id').notNull(),
      description: text('description'),
      enabled: flag('enabled').notNull(),
      effect: text('effect').$type<Policy['effect']>().notNull(),
      match: json<PolicyMatch>('matches').notNull(),
      hook: json<PolicyHook>('hook'),
      approve: json<ApprovalTerms>('approve'),
      hookSecret: sealed('hook_secret'),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [uniqueIndex('policies_id').on(t.projectId, t.id)],
  )

  /** Runs by the windows of quotas. Rows are deleted a day after their window. */
  const quotaCounts = table(
    'quota_counts',
    {
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      /** `domain-quota-subject.ts`. */
      subject: text('subject').notNull(),
      /** The policy's id. */
      policy: text('policy').notNull(),
      windowStart: whole('window_start').notNull(),
      windowEnd: whole('window_end').notNull(),
      count: whole('count').notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.subject, t.policy, t.windowStart] }),
      index('quota_counts_end').on(t.windowEnd),
    ],
  )
  /** Access requests to decision points, of questions to people. Rows are deleted a day after their question. */
  const accessRequests = table(
    'access_requests',
    {
      /** Made of the approval's id and the policy's (`accessRequestUid`). */
      uid: text('uid').primaryKey(),
      projectId: text('project_id')
        .notNull()
        .references(() => projects.id),
      approvalId: text('approval_id').notNull(),
      policy: text('policy').notNull(),
      userId: text('user_id').notNull(),
      state: text('state').$type<AccessRequest['state']>().notNull(),
      task: sealed('sealed_task').notNull(),
      attempts: whole('attempts').notNull(),
      nextAt: whole('next_at'),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [
      index('access_requests_due').on(t.nextAt),
      index('access_requests_of_user').on(t.projectId, t.userId),
      index('access_requests_expiry').on(t.expiresAt),
    ],
  )
  return { policies, quotaCounts, accessRequests }
}
