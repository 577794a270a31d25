import type { Broker } from '../../broker.ts'
import type { Cause, CauseParameters } from '../../domain/causes.ts'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'
import type { TrailDetails, TrailEntry, TrailStep } from '../../domain/trail.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'

// The answer of `explain`: the steps in their order, with the requests and responses, and the likely cause. The CLI prints
// it, the dashboard draws it, and the pages and `doctor` show its cause.

export interface Explanation {
  readonly id: string
  readonly kind: 'authorization' | 'connection'
  readonly userId: string
  readonly status: 'pending' | 'completed' | 'failed' | 'active' | 'needs_authorization'
  readonly reason?: string | undefined
  readonly message?: string
  readonly requester?: string | undefined
  readonly createdAt: EpochSeconds
  readonly expiresAt?: EpochSeconds | undefined
  readonly endedAt?: EpochSeconds
  readonly providers: readonly ExplainedProvider[]
  readonly steps: readonly ExplainedStep[]
  /** Earlier steps were dropped, because there were too many. */
  readonly isCut: boolean
  /** Absent: nothing is wrong. */
  readonly cause?: Cause | undefined
}

export interface ExplainedProvider {
  readonly providerId: string
  readonly name: string
  readonly redirectUri?: string
  /** The requested scopes of an authorization, the granted ones of a connection. */
  readonly scopes: readonly string[]
  readonly missingScopes?: readonly string[]
  readonly connectionId?: string
}

export interface ExplainedStep {
  readonly at: EpochSeconds
  readonly step: TrailStep
  readonly providerId?: string | undefined
  /** The number of the click to which the step belongs, from 1. */
  readonly attempt?: number
  readonly details: TrailDetails
}

/** The facts for the sentences about a provider. A removed entry is named by its `uid`. */
export function factsAbout(
  broker: Pick<Broker, 'redirectUri' | 'now'>,
  entry: ProviderEntry | undefined,
  { providerUid, projectId }: { readonly providerUid: string; readonly projectId: string },
  more: Partial<CauseParameters> = {},
): CauseParameters {
  const { clientSecretExpiresAt = Number.POSITIVE_INFINITY } = entry?.provider ?? {}
  const isExpired = clientSecretExpiresAt <= broker.now()
  return {
    provider: entry?.provider.displayName ?? 'The removed provider',
    providerId: entry?.id ?? providerUid,
    redirectUri: broker.redirectUri({ uid: providerUid, projectId }),
    scopes: [],
    missingScopes: [],
    authentication: entry?.provider.tokenRequest?.authMethod ?? '',
    grant: entry?.provider.grant?.type,
    pkce: entry?.provider.pkce ?? '',
    ...(isExpired && { secretExpiredAt: toTimestamp(clientSecretExpiresAt) }),
    ...(entry?.source === 'server' && { isOfMcpServer: true }),
    ...more,
  }
}

/** The latest clock difference and refused claim among the entries. */
export function measuredIn(
  entries: readonly TrailEntry[],
): Pick<CauseParameters, 'clockDifference' | 'claim'> {
  const details = entries.map((entry) => entry.details ?? {})
  return {
    clockDifference: details.findLast((found) => found.clock_difference_seconds !== undefined)
      ?.clock_difference_seconds,
    claim: details.findLast((found) => found.claim !== undefined)?.claim,
  }
}
