import type { Broker } from '../broker.ts'
import { type Authorization, at, isSettled } from '../domain/authorization.ts'
import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import { failureAudit } from './authorization-audit.ts'
import { connectUrl } from './begin-authorization.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { attemptPlace } from './start-attempt.ts'

export interface ConfirmedUser {
  readonly authorization: Authorization
  /** Where the caller's page sends the browser next: `next_uri`, the next provider, or a page that says how it ended. */
  readonly nextUri: string
}

const SETTLING_MS = 15_000

/**
 * The caller's own page says which of its users came back with `flowId`. The code is redeemed only when that is the
 * user who was meant. Idempotent for the same user. Throws `user_mismatch` (and ends the authorization), `not_found`,
 * `authorization_expired`, and `invalid_request` where users log in instead.
 */
export async function confirmUser(
  broker: Broker,
  {
    projectId,
    flowId,
    userId,
  }: { readonly projectId: string; readonly flowId: string; readonly userId: string },
): Promise<ConfirmedUser> {
  const { store, now, settings } = broker
  if (settings.verifier.kind === 'oidc')
    throw new BrokerError(
      'invalid_request',
      `Users are not confirmed by callers here: they log in at ${settings.verifier.issuer}, as GATEPASS_USER_VERIFIER says.`,
    )
  const found = await store.authorizations.findByFlow(sha256(flowId))
  if (found === undefined || found.projectId !== projectId)
    throw new BrokerError(
      'not_found',
      'There is no such flow. Use the flow_id that this visit of your page was given.',
    )
  const authorization = at(found, now())
  if (userId !== authorization.userId) {
    const message =
      'Another user came back than the one who was asked. Start again from your application, signed in as the right user.'
    if (!isSettled(authorization)) {
      const audit = failureAudit(broker, authorization, 'user_mismatch')
      await store.authorizations.fail(authorization.id, 'user_mismatch', message, now(), undefined, audit)
    }
    const rest =
      authorization.status === 'completed'
        ? 'It was completed before, for the right user, and stays so.'
        : 'It has ended; begin a new one for the right user.'
    throw new BrokerError(
      'user_mismatch',
      `The user who came back is not the user this authorization was begun for. ${rest}`,
    )
  }
  switch (authorization.status) {
    case 'confirming': {
      const response = broker.sealer.open(authorization.response, attemptPlace(authorization, 'response'))
      const { stateHash } = authorization.attempt
      const completed = await completeAuthorization(broker, stateHash, new URLSearchParams(response))
      return answer(broker, completed ?? (await settled(broker, authorization)))
    }
    case 'exchanging':
      return answer(broker, await settled(broker, authorization))
    case 'failed':
      if (authorization.reason === 'expired')
        throw new BrokerError('authorization_expired', `${authorization.message}`)
      if (authorization.reason === 'user_mismatch')
        throw new BrokerError(
          'user_mismatch',
          'This authorization has ended because another user came back. Begin a new one.',
        )
      return answer(broker, authorization)
    case 'completed':
    case 'pending':
      return answer(broker, authorization)
  }
}

/** The same confirmation is being carried out by another request: its result is this one's too. */
async function settled(broker: Broker, { id }: Authorization): Promise<Authorization> {
  const waited = await broker.waiters.wait(id, SETTLING_MS)
  const current = waited ?? (await broker.store.authorizations.find(id))
  if (current === undefined) throw new BrokerError('not_found', 'There is no such flow any more.')
  return at(current, broker.now())
}

function answer(broker: Broker, authorization: Authorization): ConfirmedUser {
  const done = authorization.status === 'completed' ? authorization.nextUri : undefined
  return { authorization, nextUri: done ?? connectUrl(broker, authorization) }
}
