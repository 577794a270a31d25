import type { Broker } from '../../broker.ts'
import type { AttemptSecrets, Authorization, Pending } from '../../domain/authorization.ts'
import { currentStep } from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { Grant } from '../../providers/grant.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { UnsealError } from '../../store/seal.ts'
import { openAttemptSecrets } from '../attempt-secrets.ts'
import { findProviderByUid, registeredClient } from '../get-provider.ts'
import { revokeUnlessConnected } from '../revoke-grant.ts'

// The grant of a device code while the user has not confirmed the account: sealed in the row of the authorization.

interface Held {
  readonly grant: Grant
  readonly receivedAt: EpochSeconds
}

export function sealHeldGrant(
  { sealer, now }: Pick<Broker, 'sealer' | 'now'>,
  authorization: Authorization,
  grant: Grant,
): Sealed {
  const held: Held = { grant, receivedAt: now() }
  return sealer.seal(JSON.stringify(held), sealingContext('authorizations', 'response', authorization))
}

/** The grant, with the lifetimes that are left of its tokens now. */
export function openHeldGrant(
  { sealer, now }: Pick<Broker, 'sealer' | 'now'>,
  authorization: Pending,
  granted: Sealed,
): Grant {
  const text = sealer.open(granted, sealingContext('authorizations', 'response', authorization))
  const { grant, receivedAt } = JSON.parse(text) as Held // `sealHeldGrant` made it
  const age = now() - receivedAt
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(seconds - age, 0)
  return { ...grant, expiresIn: left(grant.expiresIn), refreshExpiresIn: left(grant.refreshExpiresIn) }
}

/**
 * Revokes a grant that is not stored, as far as the provider can, unless it may be that of a connection of the user. A
 * failure changes nothing: the grant is forgotten here in any case.
 */
export async function revokeHeldGrant(broker: Broker, authorization: Pending): Promise<void> {
  const { granted, attempt } = authorization
  if (granted === undefined || attempt === undefined) return
  try {
    const { given = {} }: AttemptSecrets = openAttemptSecrets(broker, authorization, attempt)
    const { projectId } = authorization
    const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
    if (entry === undefined) return
    const registered = registeredClient(broker, entry, given)
    await revokeUnlessConnected(
      broker,
      authorization,
      registered,
      openHeldGrant(broker, authorization, granted),
    )
  } catch (error) {
    if (!(error instanceof BrokerError || error instanceof UnsealError)) throw error
    broker.log.warn({ authorizationId: authorization.id, error: error.name }, 'a grant was not revoked')
  }
}
