import type { Sealed } from '../../domain/sealed.ts'
import type { Sealer } from '../../store/seal.ts'
import type { AccessRequest, AccessTask } from './domain-access-request.ts'
import { policyContext } from './store.ts'

type Row = Pick<AccessRequest, 'uid' | 'projectId'>

export function sealTask(sealer: Sealer, { uid, projectId }: Row, task: AccessTask): Sealed {
  return sealer.seal(JSON.stringify(task), policyContext('accessRequests', 'sealed_task', { uid, projectId }))
}

/** Throws `UnsealError`. */
export function openTask(
  sealer: Sealer,
  { uid, projectId, task }: Row & Pick<AccessRequest, 'task'>,
): AccessTask {
  const context = policyContext('accessRequests', 'sealed_task', { uid, projectId })
  return JSON.parse(sealer.open(task, context)) as AccessTask // `sealTask` wrote it
}
