import type { Broker } from '../broker.ts'
import {
  type AttemptSecrets,
  type Authorization,
  authorizationAt,
  currentStep,
  requestedAccount,
} from '../domain/authorization.ts'
import { chooseConnection } from '../domain/connection.ts'
import { newOwnedToken } from '../domain/ids.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import { type TrailDetails, type TrailEntry, trailLines } from '../domain/trail.ts'
import { askedValues, type ConnectionValues, givenFaults } from '../providers/connection-values.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { isDeviceGrant } from '../providers/provider-grant.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { ownScopes, scopesToAsk } from '../providers/provider-request.ts'
import { recordingRequests, type SentRequest } from '../providers/sent-requests.ts'
import { mayClick, type OpenerOf } from '../services/openers.ts'
import { failAsAnotherUser } from './another-user.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import { nameOnly, requestEntries } from './causes/request-entries.ts'
import { startDevice } from './device/start-device.ts'
import { findProviderByUid, providerIdentity, registeredClient } from './get-provider.ts'
import { revokeHeldGrant } from './held-grant.ts'
import { withCurrentMetadata } from './issuer-metadata.ts'
import { hasLoggedIn } from './login/login-proof.ts'
import { newAttempt } from './new-attempt.ts'
import { notBegun, notStartable } from './not-begun.ts'
import type { StartedAttempt } from './started-attempt.ts'
import { typeCredentials } from './type-credentials.ts'

/**
 * Starts an attempt at the user's click: with a fresh `state`, `nonce` and code verifier, bound to this browser (RFC
 * 9700 section 4.7, RFC 7636). It ends an earlier attempt of the same authorization. If the broker's own login verifies
 * users, no attempt starts without a login.
 */
export async function startAttempt(
  broker: Broker,
  authorization: Authorization,
  { browserId, loginProof, sessionUser, given: typed, shownIdentity, openerOf }: ClickingBrowser,
): Promise<StartedAttempt> {
  const { store, oauth, now, settings } = broker
  const { verifier } = settings
  if (!(await mayClick(broker, authorization, openerOf))) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  // the session of another user ends the authorization, as that user's login would: nothing is sent to the provider
  if (sessionUser !== undefined && sessionUser !== authorization.userId)
    return { outcome: 'not_startable', authorization: await failAsAnotherUser(broker, authorization) }
  const { id, projectId, userId, step } = authorization
  const account = requestedAccount(authorization)
  const { providerUid, scopes, given: byCaller = {} } = currentStep(authorization)
  const stored = await findProviderByUid(broker, projectId, providerUid)
  const given = stored === undefined ? {} : askedValues(stored.provider, { ...typed, ...byCaller })
  const faults = stored === undefined ? new Map() : givenFaults(stored.provider, given)
  // typed credentials come after the login, and never travel through it
  const isTyped = stored?.provider.credentials !== undefined
  if (faults.size > 0 && !isTyped) return { outcome: 'values_needed', faults, authorization }
  if (
    verifier.kind === 'oidc' &&
    sessionUser === undefined &&
    !hasLoggedIn(broker, verifier, authorization, browserId, loginProof)
  )
    return { outcome: 'login_required', verifier, authorization, ...(!isTyped && { given }) }
  const entry = stored && (await withCurrentMetadata(broker, stored))
  if (entry === undefined || entry.status === 'inactive') {
    const message = 'The provider was removed or switched off meanwhile. Ask for a new link.'
    const audit = failureAudit(broker, authorization, 'provider_changed')
    const failed = await store.authorizations.fail(id, 'provider_changed', message, now(), undefined, audit)
    if (failed !== undefined) await revokeHeldGrant(broker, authorization)
    return { outcome: 'not_startable', authorization: failed ?? authorizationAt(authorization, now()) }
  }
  const { credentials } = entry.provider
  if (credentials !== undefined)
    return typeCredentials(broker, authorization, entry, credentials, {
      typed,
      given,
      browserId,
      shownIdentity,
    })
  const registered = registeredClient(broker, entry, given)
  const state = newOwnedToken(projectId, userId)
  const identity = providerIdentity(broker, entry)
  const connections = await store.connections.ofOwner({ projectId, providerUid, userId })
  const known = account === 'new' ? undefined : chooseConnection(connections, account)
  // a grant that needs a new consent may be gone at the provider, so its scopes do not count as existing
  const isUsable = known?.status === 'active' && known.providerIdentity === identity
  const existingScopes = scopes.filter((scope) => isUsable && known.scopes.includes(scope))
  const { asked } = scopesToAsk(entry.provider, scopes, existingScopes)
  const login = verifier.kind === 'oidc' || sessionUser !== undefined ? [loggedIn(broker, step)] : []
  if (isDeviceGrant(entry.provider))
    return startDevice(broker, authorization, entry, { registered, asked, given, browserId, login })
  const sent: SentRequest[] = []
  const begun = await recordingRequests(sent, () =>
    oauth.begin(registered, { state, scopes, existingScopes }),
  ).catch((error: unknown) => {
    if (error instanceof ProviderRefusal) return error
    throw error
  })
  if (begun instanceof ProviderRefusal) return notBegun(broker, authorization, entry.provider, sent, begun)
  const authorizationUrl = begun.url
  const secrets: AttemptSecrets = {
    ...begun.secrets,
    providerIdentity: identity,
    redirectUri: registered.redirectUri,
    ...(Object.keys(given).length > 0 && { given }),
    ...(verifier.kind === 'oidc' && { loggedInAt: verifier.issuer }),
  }
  const attempt = newAttempt(broker, authorization, { state, browserId, secrets })
  const lines = trailLines(
    ...login,
    { at: now(), step: 'clicked', part: step },
    ...requestEntries(broker, entry.provider, sent, step),
    {
      at: now(),
      step: 'sent_to_provider',
      part: step,
      details: sentTo(authorizationUrl, registered, unionOfScopes(asked, ownScopes(entry.provider))),
    },
  )
  // read again: the grant of an earlier click may have come meanwhile
  const before = await store.authorizations.find(id)
  const started = await store.authorizations.attempt(id, step, attempt, now(), lines)
  if (started === undefined) return notStartable(broker, authorization)
  if (before !== undefined) await revokeHeldGrant(broker, before)
  const isInCookie = entry.provider.oauth1?.fixedCallback === true
  return { outcome: 'started', authorizationUrl, ...(isInCookie && { state }) }
}

function loggedIn({ settings, now }: Broker, part: number): TrailEntry {
  const { verifier } = settings
  const by = verifier.kind === 'oidc' ? new URL(verifier.issuer).host : undefined
  return { at: now(), step: 'logged_in', part, ...(by !== undefined && { details: { by } }) }
}

/** The authorization request for the trail, without values that are secret or used once. */
function sentTo(
  url: URL,
  { provider, redirectUri }: RegisteredClient,
  scopes: readonly string[],
): TrailDetails {
  return {
    endpoint: url.origin + url.pathname,
    parameters: [...new Set(url.searchParams.keys())].map(nameOnly),
    redirect_uri: redirectUri,
    scopes,
    code_challenge_method: provider.pkce,
  }
}

/** The cookies of a browser, and the form that it sent. */
export interface ClickingBrowser {
  readonly browserId: string
  readonly loginProof: string | undefined
  readonly openerOf: OpenerOf
  /** The user of this browser's session, who need not log in again. */
  readonly sessionUser?: string | undefined
  /** Values that the user typed for variables of the provider. */
  readonly given?: ConnectionValues | undefined
  /** The identity of the provider for which the page with the form was made. */
  readonly shownIdentity?: string | undefined
}
