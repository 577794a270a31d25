import type { Broker } from '../broker.ts'
import { type Authorization, at, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import { connectUrl } from './acquire-tokens.ts'
import { failureAudit } from './authorization-audit.ts'
import { confirmTrial } from './verifier-trial.ts'

export interface ConfirmedUser {
  readonly authorizationId: string
  /** Where the caller's page sends the browser next: an address of Gatepass, which redeems the code. */
  readonly nextUri: string
}

/**
 * The caller's own page says which of its users came back with `flowId`. That only vouches for the user: the code is
 * redeemed when the caller's page sends the browser on to `nextUri`, and it is the browser that clicked (see
 * `finishConfirmed`). So an address that was handed on, the link or the visit of the caller's page, makes nobody
 * confirm what somebody else has approved. Idempotent for the same user. Throws `user_mismatch` (and ends the
 * authorization), `not_found`, `authorization_expired`, and `invalid_request` where no caller's page is asked.
 */
export async function confirmUser(
  broker: Broker,
  {
    projectId,
    flowId,
    userId,
  }: { readonly projectId: string; readonly flowId: string; readonly userId: string },
): Promise<ConfirmedUser> {
  const { store, now, settings, audit } = broker
  if (settings.verifier.kind === 'oidc')
    throw new BrokerError(
      'invalid_request',
      `Users are not confirmed by callers here: they log in at ${settings.verifier.issuer}, as GATEPASS_USER_VERIFIER says.`,
    )
  const trial = confirmTrial(broker, { projectId, flowId, userId })
  if (trial !== undefined) return { authorizationId: trial.id, nextUri: trial.nextUri }
  const flowHash = sha256(flowId)
  const found = await store.authorizations.findByFlow(flowHash)
  if (found === undefined || found.projectId !== projectId)
    throw new BrokerError(
      'not_found',
      'There is no such flow. Use the flow_id that this visit of your page was given.',
    )
  const authorization = at(found, now())
  if (userId !== authorization.userId) throw await mismatch(broker, authorization)
  if (authorization.status === 'failed' && authorization.reason === 'expired')
    throw new BrokerError('authorization_expired', authorization.message)
  if (authorization.status === 'failed' && authorization.reason === 'user_mismatch')
    throw new BrokerError(
      'user_mismatch',
      'This authorization has ended because another user came back. Begin a new one.',
    )
  if (authorization.status === 'confirming') {
    const entry = audit.of(projectId, {
      action: 'authorization.confirmed',
      userId,
      authorizationId: authorization.id,
    })
    // `undefined`: another request has just confirmed the same, or it has ended; the browser is shown which
    await store.authorizations.confirm(flowHash, now(), entry)
  }
  return { authorizationId: authorization.id, nextUri: finishUrl(broker, authorization, flowHash) }
}

/** Ends the authorization: the link, or the way back from the provider, is in the wrong hands. */
async function mismatch(broker: Broker, authorization: Authorization): Promise<BrokerError> {
  const message =
    'Another user came back than the one who was asked. Start again from your application, signed in as the right user.'
  if (!isSettled(authorization)) {
    const audit = failureAudit(broker, authorization, 'user_mismatch')
    const { authorizations } = broker.store
    await authorizations.fail(authorization.id, 'user_mismatch', message, broker.now(), undefined, audit)
  }
  const rest =
    authorization.status === 'completed'
      ? 'It was completed before, for the right user, and stays so.'
      : 'It has ended; begin a new one for the right user.'
  return new BrokerError(
    'user_mismatch',
    `The user who came back is not the user this authorization was begun for. ${rest}`,
  )
}

function finishUrl(broker: Broker, authorization: Authorization, flowHash: string): string {
  const url = new URL(`${connectUrl(broker, authorization)}/finish`)
  url.searchParams.set('confirmation', broker.confirmations.proofOf(flowHash))
  return url.href
}
