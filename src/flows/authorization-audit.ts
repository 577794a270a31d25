import { LRUCache } from 'lru-cache'
import type { Broker } from '../broker.ts'
import { type Authorization, currentStep, type FailureReason } from '../domain/authorization.ts'
import { type TrailEntry, trailLines } from '../domain/trail.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { maxEntries } from '../services/cache-size.ts'
import type { AuditEntries } from '../store/audit-entries.ts'
import { findProviderByUid } from './get-provider.ts'

/** The audit entry for an authorization that fails. `words`: what the provider or the broker says of it; no secrets. */
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
    detail: words,
  })
}

/** Why a request about an authorization was refused without changing it. */
export type Refusal =
  | 'wrong_browser'
  | 'wrong_provider'
  | 'login_missing'
  | 'login_cancelled'
  | 'login_failed'
  | 'login_unavailable'
  /** The provider entry lacks its client, so the browser was not sent to the provider. */
  | 'provider_incomplete'
  /** The provider did not take the pushed authorization request, so the browser was not sent there. */
  | 'provider_unavailable'
  /** The service refused what the user typed. */
  | 'credential_refused'
  /** Whether the service takes what the user typed could not be found out. */
  | 'credential_unchecked'

/** A refused request that is repeated is recorded only once, so that it cannot fill the audit trail. */
const MAX_RECORDED = 10_000
const recorded = new WeakMap<Broker, LRUCache<string, true>>()

/** Records a refusal that changed nothing, once for each authorization, step and reason. */
export async function recordRefusal(
  broker: Broker,
  authorization: Authorization,
  reason: Refusal,
  words?: string,
): Promise<void> {
  const { id, step } = authorization
  const known = recorded.get(broker) ?? new LRUCache(maxEntries(MAX_RECORDED))
  recorded.set(broker, known)
  const key = `${id} ${step} ${reason}`
  if (known.has(key)) return
  known.set(key, true) // before the write, so that simultaneous repetitions are not recorded
  try {
    await writeRefusal(broker, authorization, reason, words)
  } catch (error) {
    known.delete(key)
    throw error
  }
}

/** Records a check of typed credentials that did not succeed: each is recorded, since a link allows few. */
export async function recordTry(
  broker: Broker,
  { id, projectId, userId, step }: Authorization,
  entry: ProviderEntry,
  reason: 'credential_refused' | 'credential_unchecked',
  requests: readonly TrailEntry[],
): Promise<void> {
  const audit = broker.audit.of(projectId, {
    action: 'authorization.refused',
    userId,
    authorizationId: id,
    providerId: entry.id,
    reason,
  })
  const refused = { at: broker.now(), step: 'refused', part: step, details: { reason } } as const
  await broker.store.authorizations.note(id, trailLines(...requests, refused), audit)
}

async function writeRefusal(
  broker: Broker,
  authorization: Authorization,
  reason: Refusal,
  words: string | undefined,
): Promise<void> {
  const { id, projectId, userId, step } = authorization
  const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
  const audit = broker.audit.of(projectId, {
    action: 'authorization.refused',
    userId,
    authorizationId: id,
    ...(entry && { providerId: entry.id }),
    reason,
    detail: words,
  })
  const lines = trailLines({
    at: broker.now(),
    step: 'refused',
    part: step,
    details: { reason, ...(words !== undefined && { description: words }) },
  })
  await broker.store.authorizations.note(id, lines, audit)
}
