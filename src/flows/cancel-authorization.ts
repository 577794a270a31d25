import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt, isSettled } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'
import { trailLines } from '../domain/trail.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import { revokeHeldGrant } from './held-grant.ts'

export type CancelledAuthorization =
  /** The authorization has failed as `access_denied` now, or had ended before. */
  | { readonly outcome: 'ended'; readonly authorization: Authorization }
  /** Another browser has clicked, so this one may not cancel. Nothing was changed. */
  | { readonly outcome: 'held_elsewhere' }
  /** The code is being redeemed: the user has approved already. */
  | { readonly outcome: 'working'; readonly authorization: Authorization }

const MESSAGE = 'The user canceled on the connect page.'

/**
 * Ends the authorization as `access_denied` after the user's click on "Cancel". Changes nothing while another browser holds
 * the attempt: the receiver of a forwarded link must not end the attempt of the user who forwarded it. The browser that
 * cancels is then sent on to the caller's `next_uri`.
 */
export async function cancelAuthorization(
  broker: Broker,
  authorization: Authorization,
  browserId: string,
): Promise<CancelledAuthorization> {
  const { store, now } = broker
  const { id, step } = authorization
  if (isSettled(authorization)) return { outcome: 'ended', authorization }
  if (authorization.status === 'exchanging') return { outcome: 'working', authorization }
  const audit = failureAudit(broker, authorization, 'access_denied', 'canceled on the connect page')
  const lines = trailLines({ at: now(), step: 'refused', part: step, details: { reason: 'cancelled' } })
  const browserHash = sha256(browserId)
  const failed = await store.authorizations.cancel(id, browserHash, MESSAGE, now(), audit, lines)
  if (failed !== undefined) {
    await revokeHeldGrant(broker, authorization)
    return { outcome: 'ended', authorization: failed }
  }
  const current = authorizationAt((await store.authorizations.find(id)) ?? authorization, now())
  if (isSettled(current)) return { outcome: 'ended', authorization: current }
  if (current.status === 'exchanging') return { outcome: 'working', authorization: current }
  await recordRefusal(broker, current, 'wrong_browser')
  return { outcome: 'held_elsewhere' }
}
