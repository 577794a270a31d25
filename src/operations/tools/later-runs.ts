import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { loadFeatures } from '../../features/load-features.ts'
import { isApprovalId } from '../../services/call-approvals.ts'
import type { ToolCall } from '../../tools/run/execution.ts'
import type { LaterRun, RunTime } from '../../tools/run/run-later.ts'
import type { AnswerHeaders } from '../answer.ts'

// Runs that begin later: at a time, or when people have approved them.

export const [runLater = refuseLater] = await loadFeatures('runLater')

async function refuseLater(_: Broker, __: ToolCall, when: RunTime): Promise<never> {
  const member = 'runAt' in when ? 'run_at' : 'when_approved'
  throw invalidMember(member, 'not_allowed', `This Gatepass runs tools at once: leave ${member} out.`)
}

export const whenApprovedSchema = z.enum(['run']).nullish().meta({
  description:
    'Where a policy wants a person to approve the call: `run` keeps it, and it runs once when it is approved. `requires_authorization` has the link, and GET /v1/executions/{id} the result',
})

/** Keeps a call about which people were asked, so that it runs when they have approved it. */
export async function runWhenApproved(broker: Broker, call: ToolCall, begun: LaterRun): Promise<LaterRun> {
  if (begun.outcome === 'scheduled') return begun
  const { outcome } = begun.execution
  if (outcome.outcome !== 'authorization_required' || !isApprovalId(outcome.authorization.id)) return begun
  return runLater(broker, call, { approval: outcome.authorization })
}

/** The schema of the answer of `execute` has no member for it. */
export function executionStatusHeader({
  record,
}: Extract<LaterRun, { outcome: 'scheduled' }>): AnswerHeaders {
  return record.approvalId === undefined ? {} : { 'x-gatepass-execution-status': record.status }
}
