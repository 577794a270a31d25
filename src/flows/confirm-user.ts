import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt, currentStep, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { ownedTokenHash } from '../domain/ids.ts'
import { trailLines } from '../domain/trail.ts'
import { isApprovalId } from '../services/call-approvals.ts'
import { UnsealError } from '../store/seal.ts'
import { connectUrl } from './acquire-tokens.ts'
import { attemptRedirectUri, openAttemptSecrets } from './attempt-secrets.ts'
import { failureAudit } from './authorization-audit.ts'
import { revokeHeldGrant } from './held-grant.ts'
import { confirmSessionLogin } from './login/session-login.ts'
import { confirmTrial } from './verifier-trial.ts'

export interface ConfirmedUser {
  readonly authorizationId: string
  /** The address of Gatepass to which the caller's page sends the browser; it redeems the code. */
  readonly nextUri: string
}

/**
 * Records which of the caller's users came back with `flowId`. The code is not redeemed here, but when the caller's page
 * sends the browser on to `nextUri` and it is the browser that clicked (`finishConfirmed`). So a forwarded link, or a
 * forwarded visit of the caller's page, cannot make one user confirm another user's approval.
 * Idempotent for the same user. Throws `user_mismatch` (and ends the authorization), `not_found`,
 * `authorization_expired`, and `invalid_request` when users log in at an issuer.
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
  if (isApprovalId(flowId))
    throw new BrokerError(
      'invalid_request',
      'This is the id of an approval, which nobody confirms for a user: its user decides on its page, or a group of approvers does.',
    )
  const trial = confirmTrial(broker, { projectId, flowId, userId })
  if (trial !== undefined) return { authorizationId: trial.id, nextUri: trial.nextUri }
  const login = confirmSessionLogin(broker, { projectId, flowId, userId })
  if (login !== undefined) return { authorizationId: login.id, nextUri: login.nextUri }
  const flowHash = ownedTokenHash(flowId)
  const found = await store.authorizations.findByFlow(flowHash)
  if (found === undefined || found.projectId !== projectId)
    throw new BrokerError(
      'not_found',
      'There is no such flow. Use the flow_id that this visit of your page was given.',
    )
  const authorization = authorizationAt(found, now())
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
    // `undefined`: a concurrent request has confirmed it, or it has ended; the browser then sees the result
    const lines = trailLines({ at: now(), step: 'user_confirmed', part: authorization.step })
    await store.authorizations.confirm(flowHash, now(), entry, lines)
  }
  return { authorizationId: authorization.id, nextUri: finishUrl(broker, authorization, flowHash) }
}

/** Ends the authorization, since another user has the link or the provider's response. */
async function mismatch(broker: Broker, authorization: Authorization): Promise<BrokerError> {
  const message =
    'A different user came back from the one who was asked. Start again from your application, logged in as the right user.'
  if (!isSettled(authorization)) {
    const audit = failureAudit(broker, authorization, 'user_mismatch')
    const { authorizations } = broker.store
    const { id } = authorization
    const failed = await authorizations.fail(id, 'user_mismatch', message, broker.now(), undefined, audit)
    if (failed !== undefined) await revokeHeldGrant(broker, authorization)
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

/** The origin at which the user clicked: the browser's cookies are valid for that host only. */
function attemptOrigin(broker: Broker, authorization: Authorization): string {
  const isWaiting = authorization.status === 'confirming' || authorization.status === 'confirmed'
  if (!isWaiting) return connectUrl(broker, authorization)
  try {
    const secrets = openAttemptSecrets(broker, authorization, authorization.attempt)
    return attemptRedirectUri(broker, secrets, { uid: currentStep(authorization).providerUid })
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    return connectUrl(broker, authorization) // the secrets were altered, so redeeming the code will fail anyway
  }
}

function finishUrl(broker: Broker, authorization: Authorization, flowHash: string): string {
  const url = new URL(`/connect/${authorization.id}/finish`, attemptOrigin(broker, authorization))
  url.searchParams.set('confirmation', broker.confirmations.proofOf(flowHash))
  return url.href
}
