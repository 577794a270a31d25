import type { Broker } from '../broker.ts'
import {
  type Authorization,
  authorizationAt,
  currentStep,
  type FailureReason,
  isSettled,
} from '../domain/authorization.ts'
import { newOwnedToken, ownedTokenHash, sha256 } from '../domain/ids.ts'
import { trailLines } from '../domain/trail.ts'
import type { ConnectionValues } from '../providers/connection-values.ts'
import { hintsIn } from '../providers/installation.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { saying, wordsOf } from '../providers/provider-words.ts'
import { installationPath } from '../services/users-origin.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { UnsealError } from '../store/seal.ts'
import { HELD_SECONDS, openAttemptSecrets } from './attempt-secrets.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import {
  mayComeFrom,
  only,
  reasonOf,
  sanitized,
  standardResponse,
  withStandardState,
} from './authorization-response.ts'
import { nameOnly } from './causes/request-entries.ts'
import { offeredTo } from './choose-offered.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { carriedResponse } from './form-response.ts'
import { findProviderByUid } from './get-provider.ts'

/** An authorization response, received from a browser (RFC 6749 section 4.1.2). */
export interface ReceivedResponse {
  /** The entry whose redirect URI was called. */
  readonly providerUid: string
  readonly query: URLSearchParams
  /** The value of the browser's cookie, if it has one. */
  readonly browserId: string | undefined
  /** The state in the browser's cookie, for servers whose callback has none. */
  readonly keptState?: string | undefined
  /** The project at whose domain it arrived: another project's authorizations are unknown there. */
  readonly projectId?: string | undefined
}

export type ReceivedOutcome =
  /** No live attempt has this `state`: it is forged, or a later click has ended its attempt. */
  | { readonly outcome: 'unknown_state' }
  /** The browser comes from the provider's own page, without a `state`: the user begins at this path. */
  | { readonly outcome: 'begun_at_provider'; readonly path: string }
  /** The user has installed the client at the provider, and approves by a new attempt with these values. */
  | {
      readonly outcome: 'installed'
      readonly authorization: Authorization
      readonly given: ConnectionValues
    }
  /** The response arrived at another redirect URI than the one in the request (mix-up, RFC 9700 section 4.4). */
  | { readonly outcome: 'wrong_provider' }
  /** Another browser than the one in which the user clicked. Nothing was changed. */
  | { readonly outcome: 'wrong_browser' }
  /** The caller's page must confirm the user first; the code is kept until then. */
  | { readonly outcome: 'confirm'; readonly verifierUrl: URL }
  /** The authorization in its current status, whether or not this response changed it. */
  | { readonly outcome: 'current'; readonly authorization: Authorization }

/**
 * Handles an authorization response. It checks the state, the entry, the browser, the expiry, the issuer (RFC 9207) and
 * the user, in this order, and redeems the code only then; once, even if the browser repeats the response.
 */
export async function receiveResponse(
  broker: Broker,
  { providerUid, browserId, projectId, query: given, keptState }: ReceivedResponse,
): Promise<ReceivedOutcome> {
  const { store, now } = broker
  const received = await withStandardState(broker, { providerUid, keptState }, given)
  const state = only(received, 'state')
  if (state === undefined) return withoutState(broker, providerUid, received)
  const found = await store.authorizations.findByState(ownedTokenHash(state))
  if (found === undefined || (projectId ?? found.projectId) !== found.projectId)
    return { outcome: 'unknown_state' }
  const attempt = 'attempt' in found ? found.attempt : undefined
  if (currentStep(found).providerUid !== providerUid) {
    await recordRefusal(broker, found, 'wrong_provider')
    return { outcome: 'wrong_provider' }
  }
  const authorization = authorizationAt(found, now())
  if (isSettled(authorization) || authorization.status === 'exchanging' || attempt === undefined)
    return { outcome: 'current', authorization }
  if (browserId === undefined || sha256(browserId) !== attempt.browserHash) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  const { verifier } = broker.settings
  // the attempt began before logins were required: the next click requires a login
  if (
    verifier.kind === 'oidc' &&
    openAttemptSecrets(broker, authorization, attempt).loggedInAt !== verifier.issuer
  ) {
    await recordRefusal(broker, authorization, 'login_missing')
    return { outcome: 'current', authorization }
  }

  // a code of the page on which the client is installed is bound by no PKCE, so it is not redeemed
  const offered = offeredTo(broker, authorization, browserId)
  if (offered?.installState !== undefined && !received.has('error'))
    return { outcome: 'installed', authorization, given: offered.given ?? {} }

  const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
  const response = carriedResponse(broker, authorization, received)
  const query = standardResponse(response, entry?.provider)
  const refused = refusalIn(query, entry, () => entry && clientSecretOf(broker, entry))
  const lines = trailLines({
    at: now(),
    step: 'callback',
    part: authorization.step,
    details: { parameters: [...new Set(response.keys())].map(nameOnly), ...refused?.said },
  })
  if (refused !== undefined) {
    const { reason, message, said } = refused
    const words = said?.description
    broker.log.warn({ authorizationId: authorization.id, reason, why: message }, 'an authorization failed')
    const failed = await store.authorizations.fail(
      authorization.id,
      reason,
      message,
      now(),
      attempt.stateHash,
      failureAudit(broker, authorization, reason, words),
      lines,
    )
    return { outcome: 'current', authorization: failed ?? (await reload(broker, authorization)) }
  }
  if (entry?.provider.issuer === undefined && query.has('iss'))
    broker.log.info(
      { authorizationId: authorization.id, providerUid, iss: query.getAll('iss').map(sanitized).slice(0, 3) },
      'an answer names its issuer, and the provider entry has none to compare it with: set oauth2.issuer',
    )

  if (verifier.kind === 'caller') {
    const flowId = `flow_${newOwnedToken(authorization.projectId, authorization.userId)}`
    const response = broker.sealer.seal(
      query.toString(),
      sealingContext('authorizations', 'response', authorization),
    )
    const held = await store.authorizations.confirming(
      attempt.stateHash,
      {
        flowHash: ownedTokenHash(flowId),
        response,
        deadline: Math.min(now() + HELD_SECONDS, authorization.expiresAt),
      },
      now(),
      lines,
    )
    if (held === undefined) return { outcome: 'current', authorization: await reload(broker, authorization) }
    const verifierUrl = new URL(verifier.url)
    verifierUrl.searchParams.set('flow_id', flowId)
    return { outcome: 'confirm', verifierUrl }
  }
  const completed = await completeAuthorization(broker, {
    from: 'pending',
    stateHash: attempt.stateHash,
    response: () => query,
    lines,
    attempt,
  })
  return { outcome: 'current', authorization: completed ?? (await reload(broker, authorization)) }
}

/**
 * A response without a `state`. At an entry whose users may begin at the provider it leads to the page where they begin. Its
 * code is not redeemed, and the provider's signature, which covered the code, is left behind: entries that need one send the
 * user back.
 */
async function withoutState(
  { store }: Broker,
  providerUid: string,
  query: URLSearchParams,
): Promise<ReceivedOutcome> {
  const { provider, uid } = (await store.providers.findByUid(providerUid)) ?? {}
  const { installation } = provider ?? {}
  if (
    uid === undefined ||
    installation === undefined ||
    installation.hmacParameter !== undefined ||
    query.has('state')
  )
    return { outcome: 'unknown_state' }
  const hints = new URLSearchParams(hintsIn(installation, query)).toString()
  return { outcome: 'begun_at_provider', path: installationPath(uid) + (hints && `?${hints}`) }
}

async function reload(broker: Broker, authorization: Authorization): Promise<Authorization> {
  const current = (await broker.store.authorizations.find(authorization.id)) ?? authorization
  return authorizationAt(current, broker.now())
}

/** The client secret, to be removed from the provider's words; `undefined` if it cannot be decrypted. */
export function clientSecretOf(broker: Broker, entry: ProviderEntry): string | undefined {
  try {
    return broker.clientFor(entry)?.clientSecret
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}

interface Refused {
  readonly reason: FailureReason
  readonly message: string
  /** The provider's error code and words, made safe to show. */
  readonly said?: { readonly error: string; readonly description?: string }
}

function codeOf(error: string): string {
  return error.replace(/[^A-Za-z0-9_.-]/g, '').slice(0, 60)
}

/** Why the response is a refusal: another issuer, an error (RFC 6749 section 4.1.2.1), or no usable code. */
function refusalIn(
  query: URLSearchParams,
  entry: ProviderEntry | undefined,
  clientSecret: () => string | undefined,
): Refused | undefined {
  if (entry === undefined)
    return { reason: 'provider_changed', message: 'The provider was removed meanwhile. Ask for a new link.' }
  const { displayName } = entry.provider
  if (!mayComeFrom(query, entry.provider))
    return {
      reason: 'issuer_mismatch',
      message: `The answer did not come from ${displayName}, so it was not used. Start again from your application.`,
    }
  const error = query.get('error')
  if (error !== null) {
    const secrets = [
      clientSecret(),
      ...query.getAll('state'),
      ...query.getAll('code'),
      ...query.getAll('oauth_token'),
    ]
    const words = wordsOf(query.get('error_description'), secrets)
    const message = `${messageOf(error, displayName)}${saying(displayName, words)}`
    const said = { error: codeOf(error), ...(words !== undefined && { description: words }) }
    return { reason: reasonOf(error), message, said }
  }
  if (only(query, 'code') === undefined)
    return {
      reason: 'provider_bad_response',
      message: `${displayName} sent you back without an answer that can be used. Start again from your application.`,
    }
  return undefined
}

function messageOf(error: string, provider: string): string {
  switch (reasonOf(error)) {
    case 'access_denied':
      return `Access was not approved at ${provider}. To approve it after all, start again from your application.`
    case 'invalid_scope':
      return `${provider} does not give the permissions that were asked for. The operator of this service can change them.`
    case 'invalid_client':
      return `${provider} does not accept this service's registration. The operator of this service must check the client id of the provider entry.`
    case 'provider_unavailable':
      return `${provider} has a problem at the moment. Try again later from your application.`
    default: {
      const code = codeOf(error)
      return `${provider} refused the request${code === '' ? '' : ` (${code})`}. Start again from your application. If it happens again, tell the operator of this service.`
    }
  }
}
