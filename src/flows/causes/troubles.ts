import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep } from '../../domain/authorization.ts'
import type { Cause } from '../../domain/causes.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { derivedFrom } from '../../domain/derived-account.ts'
import { NO_USER } from '../../domain/shared-connection.ts'
import { readTrail } from '../../domain/trail.ts'
import { providersOf } from '../get-provider.ts'
import { causeOfAuthorization } from './explain-authorization.ts'
import { causeOfConnection } from './explain-connection.ts'

// What does not work in a project, for `gatepass doctor` and the console: broken connections, and consents that fail.

/** Connections at one provider that do not work for the same cause. */
export interface BrokenConnections {
  /** The id of the provider entry. */
  readonly provider: string
  readonly cause: Cause
  readonly ids: readonly string[]
  /** The connections of the project whose keys or tokens these are; empty: they are users'. */
  readonly sharedIds: readonly string[]
}

/** The project's broken connections, grouped by provider and cause. `isPartial`: there may be more than `most`. */
export async function brokenConnections(
  broker: Broker,
  projectId: string,
  most: number,
): Promise<{ readonly groups: readonly BrokenConnections[]; readonly isPartial: boolean }> {
  const troubled = await broker.store.connections.troubled(projectId, most)
  const book = await providersOf(broker, projectId)
  const groups = new Map<
    string,
    BrokenConnections & { readonly ids: string[]; readonly sharedIds: string[] }
  >()
  for (const connection of troubled) {
    const entry = book.byUid(connection.providerUid)
    const { entries } = readTrail(connection.trail ?? '')
    const cause = causeOfConnection(broker, connection, entry, entries)
    if (cause === undefined) continue
    const provider = entry?.id ?? REMOVED
    const isShared = connection.userId === NO_USER
    const key = `${provider} ${cause.code} ${isShared}`
    const group = groups.get(key) ?? { provider, cause, ids: [], sharedIds: [] }
    group.ids.push(connection.id)
    const sharedId = derivedFrom(connection.account.id)
    if (isShared && !group.sharedIds.includes(sharedId)) group.sharedIds.push(sharedId)
    groups.set(key, group)
  }
  return { groups: [...groups.values()], isPartial: troubled.length === most }
}

/** A failed consent, which was the latest one at its provider. */
export interface FailedConsent {
  /** The id of the provider entry. */
  readonly provider: string
  readonly cause: Cause
  readonly authorizationId: string
}

/**
 * Providers whose latest authorization failed for a cause that users cannot remove. An older failure says little once a
 * later consent was completed. `limits.ended`: the authorizations that are read; `limits.causes`: the latest failures
 * that are examined, which costs a query each.
 */
export async function failedConsents(
  broker: Broker,
  projectId: string,
  since: EpochSeconds,
  limits: { readonly ended: number; readonly causes: number },
): Promise<readonly FailedConsent[]> {
  const ended = await broker.store.authorizations.endedSince(projectId, since, limits.ended)
  const book = await providersOf(broker, projectId)
  const latest = new Map<string, Authorization>()
  for (const authorization of ended) {
    const { providerUid } = currentStep(authorization)
    if (!latest.has(providerUid)) latest.set(providerUid, authorization)
  }
  const failed: FailedConsent[] = []
  const latestFailures = [...latest].filter(([, { status }]) => status === 'failed')
  for (const [providerUid, authorization] of latestFailures.slice(0, limits.causes)) {
    const cause = await causeOfAuthorization(broker, authorization)
    if (cause === undefined || cause.who === 'user') continue
    failed.push({
      provider: book.byUid(providerUid)?.id ?? REMOVED,
      cause,
      authorizationId: authorization.id,
    })
  }
  return failed
}

const REMOVED = 'a removed provider'
