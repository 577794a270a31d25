import type { Broker } from '../../broker.ts'
import type { AttemptSecrets, Authorization } from '../../domain/authorization.ts'
import { newOwnedToken } from '../../domain/ids.ts'
import { type TrailEntry, trailLines } from '../../domain/trail.ts'
import type { ConnectionValues } from '../../providers/connection-values.ts'
import type { ProviderEntry, RegisteredClient } from '../../providers/provider-entry.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { recordingRequests, type SentRequest } from '../../providers/sent-requests.ts'
import { requestEntries } from '../causes/request-entries.ts'
import { providerIdentity } from '../get-provider.ts'
import { revokeHeldGrant } from '../held-grant.ts'
import { newAttempt } from '../new-attempt.ts'
import { notBegun, notStartable } from '../not-begun.ts'
import type { StartedAttempt } from '../started-attempt.ts'

interface DeviceClick {
  readonly registered: RegisteredClient
  /** The scopes to request. */
  readonly asked: readonly string[]
  /** Values that the user gave for variables of the provider. */
  readonly given: ConnectionValues
  readonly browserId: string
  /** The trail's entries about the login before the click. */
  readonly login: readonly TrailEntry[]
}

/**
 * Asks the provider for a code (RFC 8628 section 3.1) at the user's click: codes live for minutes. The code is sealed, and
 * shown to the browser that clicked alone. It replaces the code of an earlier click.
 */
export async function startDevice(
  broker: Broker,
  authorization: Authorization,
  entry: ProviderEntry,
  { registered, asked, given, browserId, login }: DeviceClick,
): Promise<StartedAttempt> {
  const { store, oauth, now, settings } = broker
  const { verifier } = settings
  const { id, projectId, userId, step } = authorization
  const sent: SentRequest[] = []
  const begun = await recordingRequests(sent, () => oauth.authorizeDevice(registered, asked)).catch(
    (error: unknown) => {
      if (error instanceof ProviderRefusal) return error
      throw error
    },
  )
  if (begun instanceof ProviderRefusal) return notBegun(broker, authorization, entry.provider, sent, begun)
  const { expiresIn, interval, dpopKey, ...code } = begun
  const secrets: AttemptSecrets = {
    providerIdentity: providerIdentity(broker, entry),
    redirectUri: registered.redirectUri,
    device: { ...code, expiresAt: now() + expiresIn },
    ...(dpopKey && { dpopKey }),
    ...(Object.keys(given).length > 0 && { given }),
    ...(verifier.kind === 'oidc' && { loggedInAt: verifier.issuer }),
  }
  const state = newOwnedToken(projectId, userId)
  const attempt = {
    ...newAttempt(broker, authorization, { state, browserId, secrets }),
    pollAt: now() + interval,
    pollSeconds: interval,
  }
  const lines = trailLines(
    ...login,
    { at: now(), step: 'clicked', part: step },
    ...requestEntries(broker, entry.provider, sent, step),
  )
  // read again: the tokens of an earlier click may have come while the provider made the code
  const before = await store.authorizations.find(id)
  const started = await store.authorizations.attempt(id, step, attempt, now(), lines)
  if (started === undefined) return notStartable(broker, authorization)
  if (before !== undefined) await revokeHeldGrant(broker, before)
  return { outcome: 'finished', authorization: started }
}
