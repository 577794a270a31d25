import type { Broker } from '../../../src/broker.ts'
import { newId } from '../../../src/domain/ids.ts'
import type { Approval, StandingApproval } from '../../../src/features/approvals/domain.ts'
import { type ShownCall, sealCall } from '../../../src/features/approvals/shown-call.ts'

const NEVER = 5_000_000_000
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

/** Adds a question about a call, and an approval that covers further calls. */
export async function addApprovals({ store, sealer, audit }: Broker, projectId: string): Promise<void> {
  const call: ShownCall = {
    title: 'Send',
    agentName: 'backend',
    hosts: ['mail.example'],
    hints: ['destructive'],
    input: { to: 'ada@example.test' },
    connections: [],
  }
  const whose = { projectId, userId: 'ada', agent: 'key_1', subject: 'Mail:Send', createdAt: 1 }
  const question = { id: newId('appr'), projectId }
  const approval: Approval = {
    ...whose,
    ...question,
    use: 'tool',
    digest: `digest of ${question.id}`,
    status: 'pending',
    rules: [],
    decisions: [],
    call: sealCall(sealer, 'approvals', question, call),
    expiresAt: NEVER,
  }
  await store.approvals.begin(
    approval,
    LIMITS,
    audit.of(projectId, { action: 'approval.requested', subject: approval.id }),
  )
  const covering = { id: newId('stap'), projectId }
  const standing: StandingApproval = {
    ...whose,
    ...covering,
    kind: 'approval',
    digest: 'digest',
    fixed: ['to'],
    call: sealCall(sealer, 'standingApprovals', covering, call),
    expiresAt: NEVER,
  }
  await store.standingApprovals.add(
    standing,
    audit.of(projectId, { action: 'standing_approval.added', subject: standing.id }),
  )
}
