import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { defineOperation } from '../../operations/operation.ts'
import { userIdText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { nameInSubject, quotaSubject, subjectsOfUser } from './domain-quota-subject.ts'

/** The most counts that are read. */
const MAX_COUNTS = 1_000

export const quotaSchema = z
  .object({
    policy_id: z.string(),
    per: z.enum(['user', 'tool', 'agent', 'project']),
    subject: z
      .string()
      .optional()
      .meta({ description: 'The user, the tool, or the API key or MCP client; absent: of the project' }),
    used: z.number().int().meta({
      description: 'Of a limit above 1,000 with what nodes have counted in advance, a hundredth at a time',
    }),
    limit: z.number().int(),
    window_start: z.string(),
    window_end: z.string(),
  })
  .openapi('Quota')

export type QuotaWire = z.infer<typeof quotaSchema>

export const listQuotas = defineOperation({
  id: 'listQuotas',
  sdk: 'admin.policies.quotas()',
  method: 'get',
  path: '/v1/admin/quotas',
  role: 'readonly',
  tag: 'Policies',
  summary: 'What quotas have counted in the current hour or day',
  query: z.object({ ...pageQuery, user_id: userIdText.optional() }),
  answer: `A page, by subject, of at most ${MAX_COUNTS} counts`,
  output: pageSchema(quotaSchema),
  run: async (broker, { query, caller }) =>
    slicePage(await quotasOf(broker, caller.projectId, query.user_id), query),
})

/** The counts of the policies that have the same quota still. */
export async function quotasOf(broker: Broker, projectId: string, userId?: string): Promise<QuotaWire[]> {
  const policies = new Map((await broker.store.policies.list(projectId)).map((policy) => [policy.id, policy]))
  const counts = await broker.store.quotaCounts.list(projectId, {
    now: broker.now(),
    ...(userId !== undefined && { subjects: subjectsOfUser(userId) }),
    limit: MAX_COUNTS,
  })
  return counts.flatMap(({ policy, subject, count, windowStart, windowEnd }): QuotaWire[] => {
    const quota = policies.get(policy)?.match.quota
    const name = nameInSubject(subject)
    if (quota === undefined || !subject.startsWith(quotaSubject(quota, {}, undefined))) return []
    return [
      {
        policy_id: policy,
        per: quota.per,
        ...(name !== '' && { subject: name }),
        used: count,
        limit: quota.limit,
        window_start: toTimestamp(windowStart),
        window_end: toTimestamp(windowEnd),
      },
    ]
  })
}
