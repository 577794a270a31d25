import type { Broker } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import { newOwnedToken, ownedTokenHash } from '../domain/ids.ts'
import type { Grant } from '../providers/grant.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { HELD_SECONDS } from './attempt-secrets.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { notStartable } from './not-begun.ts'
import type { StartedAttempt } from './started-attempt.ts'
import { responseOf } from './typed-grant.ts'

/** Stores the connection of a grant without a code, unless the caller's page has to confirm the user first. */
export async function finishWithGrant(
  broker: Broker,
  authorization: Authorization,
  stateHash: string,
  grant: Grant,
): Promise<StartedAttempt> {
  const { store, now, settings, sealer } = broker
  const { verifier } = settings
  const { projectId, userId } = authorization
  const response = responseOf(grant)
  if (verifier.kind !== 'caller') {
    const completed = await completeAuthorization(broker, {
      from: 'pending',
      stateHash,
      response: () => response,
    })
    return completed === undefined
      ? notStartable(broker, authorization)
      : { outcome: 'finished', authorization: completed }
  }
  const flowId = `flow_${newOwnedToken(projectId, userId)}`
  const held = await store.authorizations.confirming(
    stateHash,
    {
      flowHash: ownedTokenHash(flowId),
      response: sealer.seal(response.toString(), sealingContext('authorizations', 'response', authorization)),
      deadline: Math.min(now() + HELD_SECONDS, authorization.expiresAt),
    },
    now(),
  )
  if (held === undefined) return notStartable(broker, authorization)
  const verifierUrl = new URL(verifier.url)
  verifierUrl.searchParams.set('flow_id', flowId)
  return { outcome: 'started', authorizationUrl: verifierUrl }
}
