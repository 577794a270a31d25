import type { Broker } from '../../../src/broker.ts'
import { policyUid } from '../../../src/features/policies/domain.ts'
import { policyContext } from '../../../src/features/policies/store.ts'
import { policy } from './fixtures.ts'

/** Adds a policy whose hook has a secret. */
export async function addPolicyWithSecret({ store, sealer }: Broker, projectId: string): Promise<void> {
  const place = policyContext('policies', 'hook_secret', { uid: policyUid('same', projectId), projectId })
  const hookSecret = sealer.seal('the hook’s', place)
  await store.policies.add(policy({ projectId, id: 'same', enabled: false, hookSecret }))
}
