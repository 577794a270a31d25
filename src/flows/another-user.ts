import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt } from '../domain/authorization.ts'
import { failureAudit } from './authorization-audit.ts'
import { revokeHeldGrant } from './held-grant.ts'

const MESSAGE =
  'A different user logged in from the one who was asked. Ask for a new link, and open it as the right user.'

/**
 * Ends the authorization as `user_mismatch`, since another user has its link. Returns the authorization in its state
 * afterwards.
 */
export async function failAsAnotherUser(
  broker: Broker,
  authorization: Authorization,
): Promise<Authorization> {
  const { store, now } = broker
  const { id } = authorization
  const audit = failureAudit(broker, authorization, 'user_mismatch')
  const failed = await store.authorizations.fail(id, 'user_mismatch', MESSAGE, now(), undefined, audit)
  if (failed !== undefined) await revokeHeldGrant(broker, authorization)
  return authorizationAt(failed ?? (await store.authorizations.find(id)) ?? authorization, now())
}
