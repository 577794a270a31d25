import type { Broker } from '../../../src/broker.ts'
import { newId } from '../../../src/domain/ids.ts'
import { sealTask } from '../../../src/features/policies/access-task.ts'
import { policyUid } from '../../../src/features/policies/domain.ts'
import { accessRequestUid } from '../../../src/features/policies/domain-access-request.ts'
import { policyContext } from '../../../src/features/policies/store.ts'
import { policy } from './fixtures.ts'

const NEVER = 5_000_000_000

/** Adds a policy whose hook has a secret, and an access request. */
export async function addPolicyWithSecret({ store, sealer }: Broker, projectId: string): Promise<void> {
  const place = policyContext('policies', 'hook_secret', { uid: policyUid('same', projectId), projectId })
  const hookSecret = sealer.seal('the hook’s', place)
  await store.policies.add(policy({ projectId, id: 'same', enabled: false, hookSecret }))
  const approvalId = newId('appr')
  const row = { uid: accessRequestUid(approvalId, 'same'), projectId }
  const evaluation = {
    subject: { type: 'identity', id: 'ada' },
    action: { name: 'tools/call' },
    resource: { type: 'tool', id: 'Mail:Send:1.0.0' },
    context: {},
  } as const
  await store.accessRequests.add({
    ...row,
    approvalId,
    policy: 'same',
    userId: 'ada',
    state: 'pending',
    task: sealTask(sealer, row, { evaluation, denial: { binding_token: 'secret' } }),
    attempts: 1,
    nextAt: NEVER,
    expiresAt: NEVER,
  })
}
