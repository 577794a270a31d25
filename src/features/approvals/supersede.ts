import type { Broker } from '../../broker.ts'
import { auditOf } from './approval-audit.ts'
import { type Approval, isOpen } from './domain.ts'

/** Ends a question whose tool, rule or connection has changed, and returns it. */
export async function supersede(
  broker: Pick<Broker, 'store' | 'audit' | 'now'>,
  approval: Approval,
): Promise<Approval> {
  if (!isOpen(approval)) return approval
  const to: Approval = { ...approval, status: 'superseded', endedAt: broker.now() }
  const audit = broker.audit.of(approval.projectId, auditOf('approval.superseded', approval))
  return (await broker.store.approvals.change(approval, to, broker.now(), audit)) ?? to
}
