import type { Broker } from '../broker.ts'
import {
  type Attempt,
  type AttemptSecrets,
  type Authorization,
  at,
  currentStep,
} from '../domain/authorization.ts'
import { chooseConnection } from '../domain/connection.ts'
import { randomToken, sha256 } from '../domain/ids.ts'
import type { SealedPlace } from '../store/seal.ts'
import { findProviderByUid, providerIdentity, registeredClient } from './find-provider.ts'

export type StartedAttempt =
  /** The browser goes to the provider. */
  | { readonly outcome: 'started'; readonly authorizationUrl: URL }
  /** Nothing to start: it has ended, or the code of another attempt is being redeemed right now. */
  | { readonly outcome: 'not_startable'; readonly authorization: Authorization }

/**
 * The user's click: a fresh `state`, `nonce` and code verifier, bound to this browser (RFC 9700 section 4.7, RFC
 * 7636). An earlier attempt of the same authorization ends with it.
 *
 * @param browserId the value of the browser's cookie.
 */
export async function startAttempt(
  broker: Broker,
  authorization: Authorization,
  browserId: string,
): Promise<StartedAttempt> {
  const { store, oauth, now } = broker
  const { id, projectId, userId, step, account } = authorization
  const { providerUid, scopes } = currentStep(authorization)
  const entry = await findProviderByUid(broker, projectId, providerUid)
  if (entry === undefined || entry.status === 'inactive') {
    const message = 'The provider was removed or switched off meanwhile. Ask for a new link.'
    const failed = await store.authorizations.fail(id, 'provider_changed', message, now())
    return { outcome: 'not_startable', authorization: failed ?? at(authorization, now()) }
  }
  const registered = registeredClient(broker, entry)
  const state = randomToken()
  const secrets: AttemptSecrets = {
    ...oauth.secretsFor(registered, scopes),
    providerIdentity: providerIdentity(broker, entry),
  }
  const attempt: Attempt = {
    stateHash: sha256(state),
    browserHash: sha256(browserId),
    secrets: broker.sealer.seal(JSON.stringify(secrets), attemptPlace(authorization, 'secrets')),
    startedAt: now(),
  }
  const started = await store.authorizations.attempt(id, step, attempt, now())
  if (started === undefined) {
    const current = (await store.authorizations.find(id)) ?? authorization
    return { outcome: 'not_startable', authorization: at(current, now()) }
  }
  const connections = await store.connections.ofOwner({ projectId, providerUid, userId })
  const known = account === 'new' ? undefined : chooseConnection(connections, account)
  const existingScopes = scopes.filter((scope) => known?.scopes.includes(scope))
  const authorizationUrl = await oauth.authorizationUrl(registered, {
    state,
    secrets,
    scopes,
    existingScopes,
  })
  return { outcome: 'started', authorizationUrl }
}

/** Where an attempt's envelopes belong: to this step of this authorization. */
export function attemptPlace(
  authorization: Pick<Authorization, 'id' | 'projectId' | 'userId' | 'steps' | 'step'>,
  column: 'secrets' | 'response',
): SealedPlace {
  const { id, projectId, userId, steps, step } = authorization
  const providerUid = steps[step]?.providerUid ?? ''
  return { table: 'authorizations', column, rowId: id, projectId, userId, providerUid }
}
