import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { REMEMBER } from '../../domain/approval.ts'
import { defineOperation } from '../../operations/operation.ts'
import {
  cursorPageSchema,
  cursorQuery,
  requestedPage,
  toCursorPage,
} from '../../operations/schemas/cursor-page.ts'
import { idText, plainText, userIdText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { decideApproval as decide, removeStanding } from './decide-approval.ts'
import { APPROVAL_STATUSES, type Approval, approvalAt, concerns } from './domain.ts'
import { getApproval as get, noApproval } from './get-approval.ts'
import { pageOfGroups } from './inbox.ts'
import { isStillSame } from './tool-still-same.ts'
import { approvalSchema, approvalToWire, standingApprovalSchema, standingToWire } from './wire.ts'

const idParams = z.object({ id: idText })
const tag = 'Approvals'

/** The approval, if it asks a group for which the key decides. Throws `not_found`. */
async function asked(broker: Broker, { projectId, groups }: ApiKey, id: string): Promise<Approval> {
  const approval = await get(broker, projectId, id)
  if (concerns(approval, groups)) return approval
  throw noApproval(id)
}

export const listApprovals = defineOperation({
  id: 'listApprovals',
  sdk: 'admin.approvals.list()',
  method: 'get',
  path: '/v1/approvals',
  role: 'approver',
  tag,
  summary: 'Calls that wait or waited for an approval, newest first, without their arguments',
  query: z.object({
    status: z.enum(APPROVAL_STATUSES).optional(),
    user_id: userIdText.optional(),
    ...cursorQuery,
  }),
  answer: 'A page',
  output: cursorPageSchema(approvalSchema),
  async run(broker, { query, caller: { projectId, groups } }) {
    const { status, user_id: userId } = query
    const list = ['approvals', projectId, status, userId, ...(groups ?? [])] as const
    const requested = requestedPage(query, list)
    const page =
      groups === undefined
        ? await broker.store.approvals.page(projectId, { status, userId }, requested)
        : await pageOfGroups(broker, { projectId, groups, status, userId }, requested)
    const now = broker.now()
    const items = page.items.map((one) => approvalToWire(broker, approvalAt(one, now), { withCall: false }))
    return toCursorPage(items, page, requested, list)
  },
})

export const getApproval = defineOperation({
  id: 'getApproval',
  sdk: 'admin.approvals.get(id)',
  method: 'get',
  path: '/v1/approvals/{id}',
  role: 'approver',
  tag,
  summary: 'One approval, with the arguments of its call',
  params: idParams,
  answer: 'The approval',
  output: approvalSchema,
  run: async (broker, { params: { id }, caller }) => approvalToWire(broker, await asked(broker, caller, id)),
})

export const decideApproval = defineOperation({
  id: 'decideApproval',
  sdk: 'admin.approvals.decide(id, body)',
  method: 'post',
  path: '/v1/approvals/{id}/decision',
  role: 'approver',
  tag,
  summary: 'Decide about a call',
  description:
    'The holder of the key vouches that the person `approver` has seen the call and decided. `approver` counts as the user where it is the user of the call, else as a member of any group. Repeating a decision answers it.',
  params: idParams,
  body: z.strictObject({
    decision: z.enum(['approve', 'deny']),
    digest: plainText(100).meta({ description: 'The digest of the approval that was shown' }),
    approver: userIdText,
    remember: z.enum(REMEMBER).default('once'),
    fixed: z.array(plainText(200)).max(50).default([]).meta({
      description:
        'Names of arguments that stay the same while the approval is remembered. No argument is added or left out.',
    }),
    reason: plainText(200).optional().meta({ description: 'A sentence for the model, of a denial' }),
  }),
  answer: 'The approval after the decision',
  output: approvalSchema,
  async run(broker, { params: { id }, body, caller }) {
    const { approver, ...given } = body
    const { projectId, groups } = caller
    const approval = await asked(broker, caller, id)
    // a key of some groups vouches for their members alone
    const isUser = groups === undefined && approver === approval.userId
    const decided = await decide(
      broker,
      { projectId, id },
      { id: approver, proof: 'api_key', groups, ...(isUser && { userId: approver }) },
      given,
      (one) => isStillSame(broker, one),
    )
    return approvalToWire(broker, decided)
  },
})

export const listStandingApprovals = defineOperation({
  id: 'listStandingApprovals',
  sdk: 'admin.approvals.listStanding()',
  method: 'get',
  path: '/v1/admin/standing_approvals',
  role: 'readonly',
  tag,
  summary: 'Approvals that cover further calls, and blocked agents',
  query: z.object({ user_id: userIdText.optional(), ...pageQuery }),
  answer: 'A page',
  output: pageSchema(standingApprovalSchema),
  async run(broker, { query, caller: { projectId } }) {
    const { standingApprovals } = broker.store
    const all = await standingApprovals.list(projectId, query.user_id, broker.now())
    return slicePage(all.map(standingToWire), query)
  },
})

export const deleteStandingApproval = defineOperation({
  id: 'deleteStandingApproval',
  sdk: 'admin.approvals.removeStanding(id)',
  method: 'delete',
  path: '/v1/admin/standing_approvals/{id}',
  role: 'admin',
  tag,
  summary: 'Take back a remembered approval or a block',
  params: idParams,
  answer: 'It is gone',
  async run(broker, { params: { id }, caller: { projectId } }) {
    await removeStanding(broker, { projectId, id })
  },
})
