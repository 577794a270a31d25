import type { Broker, OidcVerifier } from '../broker.ts'
import {
  type Attempt,
  type AttemptSecrets,
  type Authorization,
  authorizationAt,
  type Confirmed,
  type Confirming,
  currentStep,
  type Pending,
  requestedAccount,
} from '../domain/authorization.ts'
import { chooseConnection } from '../domain/connection.ts'
import { newOwnedToken, ownedTokenHash, sha256 } from '../domain/ids.ts'
import { unionOfScopes } from '../domain/scopes.ts'
import { type TrailDetails, type TrailEntry, trailLines } from '../domain/trail.ts'
import { askedValues, type ConnectionValues, givenFaults } from '../providers/connection-values.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider-entry.ts'
import { ownScopes, scopesToAsk } from '../providers/provider-request.ts'
import { mayClick, type OpenerOf } from '../services/openers.ts'
import { callbackPath } from '../services/users-origin.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { failAsAnotherUser } from './another-user.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import { nameOnly } from './causes/request-entries.ts'
import { findProviderByUid, providerIdentity, registeredClient } from './get-provider.ts'
import { withCurrentMetadata } from './issuer-metadata.ts'
import { hasLoggedIn } from './login/login-proof.ts'

export type StartedAttempt =
  /** The browser is redirected to the provider. */
  | { readonly outcome: 'started'; readonly authorizationUrl: URL }
  /** The user must log in first, in this browser. */
  | {
      readonly outcome: 'login_required'
      readonly verifier: OidcVerifier
      readonly authorization: Authorization
      /** Values that the user gave, for the attempt after the login. */
      readonly given: ConnectionValues
    }
  /** The user has to give values, such as a subdomain. `faults`: sentences by the variable's name. */
  | {
      readonly outcome: 'values_needed'
      readonly faults: ReadonlyMap<string, string>
      readonly authorization: Authorization
    }
  /** The link of a connect session, in another browser than the one that opened the session. Nothing was changed. */
  | { readonly outcome: 'wrong_browser' }
  /** The authorization has ended, or the code of another attempt is being redeemed. */
  | { readonly outcome: 'not_startable'; readonly authorization: Authorization }

/**
 * Starts an attempt at the user's click: with a fresh `state`, `nonce` and code verifier, bound to this browser (RFC
 * 9700 section 4.7, RFC 7636). It ends an earlier attempt of the same authorization. If the broker's own login verifies
 * users, no attempt starts without a login.
 */
export async function startAttempt(
  broker: Broker,
  authorization: Authorization,
  { browserId, loginProof, sessionUser, given: typed = {}, openerOf }: ClickingBrowser,
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
  if (faults.size > 0) return { outcome: 'values_needed', faults, authorization }
  if (
    verifier.kind === 'oidc' &&
    sessionUser === undefined &&
    !hasLoggedIn(broker, verifier, authorization, browserId, loginProof)
  )
    return { outcome: 'login_required', verifier, authorization, given }
  const entry = stored && (await withCurrentMetadata(broker, stored))
  if (entry === undefined || entry.status === 'inactive') {
    const message = 'The provider was removed or switched off meanwhile. Ask for a new link.'
    const audit = failureAudit(broker, authorization, 'provider_changed')
    const failed = await store.authorizations.fail(id, 'provider_changed', message, now(), undefined, audit)
    return { outcome: 'not_startable', authorization: failed ?? authorizationAt(authorization, now()) }
  }
  const registered = registeredClient(broker, entry, given)
  const state = newOwnedToken(projectId, userId)
  const secrets: AttemptSecrets = {
    ...oauth.secretsFor(registered, scopes),
    providerIdentity: providerIdentity(broker, entry),
    redirectUri: registered.redirectUri,
    ...(Object.keys(given).length > 0 && { given }),
    ...(verifier.kind === 'oidc' && { loggedInAt: verifier.issuer }),
  }
  const attempt: Attempt = {
    stateHash: ownedTokenHash(state),
    browserHash: sha256(browserId),
    secrets: broker.sealer.seal(
      JSON.stringify(secrets),
      sealingContext('authorizations', 'secrets', authorization),
    ),
    startedAt: now(),
  }
  const connections = await store.connections.ofOwner({ projectId, providerUid, userId })
  const known = account === 'new' ? undefined : chooseConnection(connections, account)
  // a grant that needs a new consent may be gone at the provider, so its scopes do not count as existing
  const isUsable = known?.status === 'active' && known.providerIdentity === secrets.providerIdentity
  const existingScopes = scopes.filter((scope) => isUsable && known.scopes.includes(scope))
  const authorizationUrl = await oauth.authorizationUrl(registered, {
    state,
    secrets,
    scopes,
    existingScopes,
  })
  const { asked } = scopesToAsk(entry.provider, scopes, existingScopes)
  const lines = trailLines(
    ...(verifier.kind === 'oidc' || sessionUser !== undefined ? [loggedIn(broker, step)] : []),
    { at: now(), step: 'clicked', part: step },
    {
      at: now(),
      step: 'sent_to_provider',
      part: step,
      details: sentTo(authorizationUrl, registered, unionOfScopes(asked, ownScopes(entry.provider))),
    },
  )
  const started = await store.authorizations.attempt(id, step, attempt, now(), lines)
  if (started === undefined) {
    const current = (await store.authorizations.find(id)) ?? authorization
    return { outcome: 'not_startable', authorization: authorizationAt(current, now()) }
  }
  return { outcome: 'started', authorizationUrl }
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
}

/** The secrets that the current attempt keeps for its token request. */
export function openAttemptSecrets(
  broker: Broker,
  authorization: Pending | Confirming | Confirmed,
  { secrets }: Attempt,
): AttemptSecrets {
  // only startAttempt seals this column, in this shape
  return JSON.parse(
    broker.sealer.open(secrets, sealingContext('authorizations', 'secrets', authorization)),
  ) as AttemptSecrets
}

/** The redirect URI of the attempt's authorization request. Releases that stored none used that of the public URL. */
export function attemptRedirectUri(
  { settings }: Pick<Broker, 'settings'>,
  { redirectUri }: AttemptSecrets,
  { uid }: Pick<ProviderEntry, 'uid'>,
): string {
  return redirectUri ?? new URL(callbackPath(uid), settings.publicUrl).href
}
