import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { REMEMBER } from '../../domain/approval.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { HINTS, USE_KINDS } from '../../domain/requested-use.ts'
import { jsonObject } from '../../operations/schemas/json-schemas.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { APPROVAL_STATUSES, type Approval, type StandingApproval } from './domain.ts'
import { openCall } from './shown-call.ts'

const decisionSchema = z.object({
  decision: z.enum(['approve', 'deny']),
  approver: z.string(),
  proof: z.enum(['login', 'application', 'ticket', 'console', 'api_key', 'client', 'decision_point']),
  remember: z.enum(REMEMBER),
  at: z.string(),
})

export const approvalSchema = z
  .object({
    id: z.string(),
    status: z.enum(APPROVAL_STATUSES),
    digest: z.string().meta({ description: 'Names exactly this call; a decision repeats it' }),
    user_id: z.string().optional(),
    use: z.enum(USE_KINDS),
    tool_id: z.string().optional(),
    provider_id: z.string().optional(),
    agent: z.string().meta({ description: 'The API key or the MCP client that makes the call' }),
    rules: z.array(z.string()).meta({ description: 'Ids of the policies that ask' }),
    group: z.string().optional().meta({ description: 'The group of approvers that must decide' }),
    remember: z.array(z.enum(REMEMBER)).meta({ description: 'What the approver may choose' }),
    decisions: z.array(decisionSchema),
    call: z
      .object({
        title: z.string(),
        agent_name: z.string().meta({ description: 'The name of the API key, or the MCP client' }),
        hosts: z.array(z.string()),
        hints: z.array(z.enum(HINTS)),
        arguments: jsonObject.meta({ description: 'Without those that the tool hides from people' }),
        hidden: z
          .array(z.string())
          .optional()
          .meta({ description: 'Names of arguments whose values the tool hides from people' }),
        metadata: z
          .record(z.string(), z.string())
          .optional()
          .meta({ description: 'Values beside the arguments that the tool gets' }),
        accounts: z.array(z.object({ connection_id: z.string(), provider: z.string(), account: z.string() })),
        run_at: z
          .string()
          .optional()
          .meta({ description: 'When a scheduled call runs; else once it is approved' }),
      })
      .optional()
      .meta({ description: 'Written by a program. Absent in lists, and a day after the end' }),
    execution_id: z.string().optional(),
    created_at: z.string(),
    expires_at: z.string(),
  })
  .openapi('Approval')

export function approvalToWire(
  { sealer }: Pick<Broker, 'sealer'>,
  approval: Approval,
  { withCall = true }: { readonly withCall?: boolean } = {},
): z.infer<typeof approvalSchema> {
  const { id, status, digest, userId, use, subject, agent, rules, decisions, executionId } = approval
  const call = withCall ? openCall(sealer, 'approvals', approval) : undefined
  const { input = {}, hidden = [] } = call ?? {}
  const isHidden = (name: string) => hidden.includes(name)
  const [group] = rules.flatMap(({ by }) => (typeof by === 'object' ? [by.group] : []))
  return {
    id,
    status,
    digest,
    use,
    agent,
    ...withoutUndefined({ user_id: userId, group, execution_id: executionId }),
    ...(use === 'tool' ? { tool_id: subject } : { provider_id: subject }),
    rules: rules.map((rule) => rule.id),
    remember: REMEMBER.filter((one) => rules.every((rule) => rule.remember.includes(one))),
    decisions: decisions.map(({ decision, approver, proof, remember, at }) => ({
      decision,
      approver,
      proof,
      remember,
      at: toTimestamp(at),
    })),
    ...(call && {
      call: {
        title: call.title,
        agent_name: call.agentName,
        hosts: [...call.hosts],
        hints: [...call.hints],
        arguments: Object.fromEntries(Object.entries(input).filter(([name]) => !isHidden(name))),
        ...(Object.keys(input).some(isHidden) && { hidden: Object.keys(input).filter(isHidden) }),
        ...withoutUndefined({ metadata: call.metadata }),
        accounts: call.connections.map((one) => ({
          connection_id: one.id,
          provider: one.provider,
          account: one.account,
        })),
        ...(call.runAt !== undefined && { run_at: toTimestamp(call.runAt) }),
      },
    }),
    created_at: toTimestamp(approval.createdAt),
    expires_at: toTimestamp(approval.expiresAt),
  }
}

export const standingApprovalSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['approval', 'block']),
    user_id: z.string().optional(),
    agent: z.string(),
    subject: z.string().meta({ description: 'The tool or provider; empty for a block' }),
    fixed: z
      .array(z.string())
      .meta({ description: 'Arguments that must be the same. No argument is added or left out.' }),
    created_at: z.string(),
    expires_at: z.string(),
  })
  .openapi('StandingApproval')

export function standingToWire(standing: StandingApproval): z.infer<typeof standingApprovalSchema> {
  const { id, kind, userId, agent, subject, fixed, createdAt, expiresAt } = standing
  return {
    id,
    kind,
    ...withoutUndefined({ user_id: userId }),
    agent,
    subject,
    fixed: [...fixed],
    created_at: toTimestamp(createdAt),
    expires_at: toTimestamp(expiresAt),
  }
}
