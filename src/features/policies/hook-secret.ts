import type { Sealer } from '../../store/seal.ts'
import { type Policy, policyUid } from './domain.ts'
import { policyContext } from './store.ts'

/** The secret that a policy's hook is sent. Throws `UnsealError` for one that was altered. */
export function hookSecretOf(
  sealer: Sealer,
  { id, projectId, hookSecret }: Pick<Policy, 'id' | 'projectId' | 'hookSecret'>,
): string | undefined {
  return (
    hookSecret &&
    sealer.open(
      hookSecret,
      policyContext('policies', 'hook_secret', { uid: policyUid(id, projectId), projectId }),
    )
  )
}
