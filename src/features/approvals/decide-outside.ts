import type { Broker } from '../../broker.ts'
import type { OutsideDecision } from '../../services/call-approvals.ts'
import { auditOf } from './approval-audit.ts'
import { type Approval, approvalAt, type Decision, decided } from './domain.ts'

/**
 * Records what the decision point of a rule has decided outside of Gatepass. Nothing for a question that no longer waits,
 * or of which the rule is not one.
 */
export async function decideOutside(
  { store, audit, now }: Pick<Broker, 'store' | 'audit' | 'now'>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
  outside: OutsideDecision,
): Promise<void> {
  const at = await store.approvals.clock(projectId, now())
  const found = await store.approvals.find(projectId, id)
  const approval = found && approvalAt(found, at)
  const asks = approval?.rules.some((rule) => rule.id === outside.rule && rule.by === 'decision_point')
  const isAnswered = approval?.decisions.some(({ rules }) => rules.includes(outside.rule))
  if (approval?.status !== 'pending' || !asks || isAnswered) return
  const { to, action } = after(approval, outside, at)
  const proof = { approver: outside.rule, proof: 'decision_point' }
  const isDecision = to.decisions.length > approval.decisions.length
  const entry = audit.of(projectId, auditOf(action, approval, isDecision ? proof : {}))
  const changed = await store.approvals.change(approval, to, now(), entry)
  // a person has answered at the same moment
  if (changed === undefined) return decideOutside({ store, audit, now }, { projectId, id }, outside)
}

function after(
  approval: Approval,
  { rule, outcome, until }: OutsideDecision,
  at: number,
): {
  readonly to: Approval
  readonly action: `approval.${'approved' | 'denied' | 'expired' | 'superseded'}`
} {
  const decision = (answer: Decision['decision']): Decision => ({
    decision: answer,
    approver: rule,
    proof: 'decision_point',
    rules: [rule],
    remember: 'once',
    fixed: [],
    at,
    until,
  })
  switch (outcome) {
    case 'approved':
      return { to: decided(approval, decision('approve')), action: 'approval.approved' }
    case 'denied':
      return { to: decided(approval, decision('deny')), action: 'approval.denied' }
    case 'expired':
      return { to: { ...approval, status: 'expired', endedAt: at }, action: 'approval.expired' }
    case 'cancelled':
      return { to: { ...approval, status: 'cancelled', endedAt: at }, action: 'approval.superseded' }
  }
}
