import type { Broker } from '../broker.ts'
import { type Authorization, currentStep, type FailureReason } from '../domain/authorization.ts'
import type { AuditEntries } from '../store/audit-entries.ts'
import { findProviderByUid } from './find-provider.ts'

/** What an authorization that fails leaves in the audit trail. */
export function failureAudit(
  broker: Broker,
  { id, projectId, userId }: Pick<Authorization, 'id' | 'projectId' | 'userId'>,
  reason: FailureReason,
  words?: string,
): AuditEntries {
  return broker.audit.of(projectId, {
    action: 'authorization.failed',
    userId,
    authorizationId: id,
    reason,
    ...(words !== undefined && { detail: words }),
  })
}

/** Why something was refused of which the authorization itself knows nothing. */
export type Refusal =
  | 'wrong_browser'
  | 'wrong_provider'
  | 'login_missing'
  | 'login_cancelled'
  | 'login_failed'
  | 'login_unavailable'

/** So many are remembered: whoever repeats a refused request fills no trail with it. */
const MAX_TOLD = 10_000
const told = new WeakMap<Broker, Set<string>>()

/** Records that something was refused which changed nothing: each authorization's refusals of one kind once. */
export async function recordRefusal(
  broker: Broker,
  authorization: Authorization,
  reason: Refusal,
  words?: string,
): Promise<void> {
  const { id, projectId, userId, step } = authorization
  const known = told.get(broker) ?? new Set()
  told.set(broker, known)
  const key = `${id} ${step} ${reason}`
  if (known.has(key)) return
  if (known.size >= MAX_TOLD) known.clear()
  known.add(key)
  const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
  await broker.audit.record(projectId, {
    action: 'authorization.refused',
    userId,
    authorizationId: id,
    ...(entry && { providerId: entry.id }),
    reason,
    ...(words !== undefined && { detail: words }),
  })
}
