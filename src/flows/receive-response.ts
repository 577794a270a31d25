import type { Broker } from '../broker.ts'
import {
  type Authorization,
  at,
  currentStep,
  type FailureReason,
  isSettled,
} from '../domain/authorization.ts'
import { randomToken, sha256 } from '../domain/ids.ts'
import type { ProviderEntry } from '../providers/provider.ts'
import { completeAuthorization } from './complete-authorization.ts'
import { findProviderByUid } from './find-provider.ts'
import { attemptPlace } from './start-attempt.ts'

/** An authorization response as a browser brought it (RFC 6749 section 4.1.2). */
export interface ReceivedResponse {
  /** The entry whose redirect URI was called. */
  readonly providerUid: string
  readonly query: URLSearchParams
  /** The value of the browser's cookie, if it has one. */
  readonly browserId: string | undefined
}

export type ReceivedOutcome =
  /** No live attempt has this `state`: made up, or of an attempt that a later click ended. */
  | { readonly outcome: 'unknown_state' }
  /** The response came to another entry's redirect URI than it was asked for (mix-up, RFC 9700 section 4.4). */
  | { readonly outcome: 'wrong_provider' }
  /** Not the browser in which the user clicked. Nothing was changed or spent. */
  | { readonly outcome: 'wrong_browser' }
  /** The caller's own page says who the user is; the code waits for that. */
  | { readonly outcome: 'confirm'; readonly verifierUrl: URL }
  /** Where the authorization stands now, whether this response moved it or it was there before. */
  | { readonly outcome: 'stands'; readonly authorization: Authorization }

/**
 * What is checked, in this order, before anything is spent: the state, the entry, the browser, whether it is still
 * in time, the issuer (RFC 9207), the user. Only then is the code redeemed, once however often the browser comes back.
 */
export async function receiveResponse(broker: Broker, received: ReceivedResponse): Promise<ReceivedOutcome> {
  const { store, now } = broker
  const { query, providerUid, browserId } = received
  const state = only(query, 'state')
  if (state === undefined) return { outcome: 'unknown_state' }
  const found = await store.authorizations.findByState(sha256(state))
  if (found === undefined) return { outcome: 'unknown_state' }
  const attempt = 'attempt' in found ? found.attempt : undefined
  if (currentStep(found).providerUid !== providerUid) return { outcome: 'wrong_provider' }
  const authorization = at(found, now())
  if (isSettled(authorization) || authorization.status === 'exchanging' || attempt === undefined)
    return { outcome: 'stands', authorization }
  if (browserId === undefined || sha256(browserId) !== attempt.browserHash)
    return { outcome: 'wrong_browser' }

  const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
  const refused = refusalIn(query, entry)
  if (refused !== undefined) {
    const failed = await store.authorizations.fail(authorization.id, refused.reason, refused.message, now())
    return { outcome: 'stands', authorization: failed ?? (await reload(broker, authorization)) }
  }

  const { verifier } = broker.settings
  if (verifier.kind === 'caller') {
    const flowId = `flow_${randomToken()}`
    const response = broker.sealer.seal(query.toString(), attemptPlace(authorization, 'response'))
    const held = await store.authorizations.confirming(
      attempt.stateHash,
      { flowHash: sha256(flowId), response },
      now(),
    )
    if (held === undefined) return { outcome: 'stands', authorization: await reload(broker, authorization) }
    const verifierUrl = new URL(verifier.url)
    verifierUrl.searchParams.set('flow_id', flowId)
    return { outcome: 'confirm', verifierUrl }
  }
  const completed = await completeAuthorization(broker, attempt.stateHash, query)
  return { outcome: 'stands', authorization: completed ?? (await reload(broker, authorization)) }
}

async function reload(broker: Broker, authorization: Authorization): Promise<Authorization> {
  const current = (await broker.store.authorizations.find(authorization.id)) ?? authorization
  return at(current, broker.now())
}

/** The parameter, if it is there exactly once (RFC 6749 section 3.1). */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}

/** What makes the response a no: another issuer, an error (RFC 6749 section 4.1.2.1), or nothing usable. */
function refusalIn(
  query: URLSearchParams,
  entry: ProviderEntry | undefined,
): { reason: FailureReason; message: string } | undefined {
  if (entry === undefined)
    return { reason: 'provider_changed', message: 'The provider was removed meanwhile. Ask for a new link.' }
  const { displayName, issuer } = entry.provider
  if (issuer !== undefined && query.has('iss') && only(query, 'iss') !== issuer)
    return {
      reason: 'issuer_mismatch',
      message: `The answer did not come from ${displayName}, so it was not used. Start again from your application.`,
    }
  const error = query.get('error')
  if (error !== null) return { reason: reasonOf(error), message: messageOf(error, displayName) }
  if (only(query, 'code') === undefined)
    return {
      reason: 'provider_bad_response',
      message: `${displayName} sent you back without an answer that can be used. Start again from your application.`,
    }
  return undefined
}

function reasonOf(error: string): FailureReason {
  switch (error) {
    case 'access_denied':
    case 'user_denied':
    case 'consent_required':
      return 'access_denied'
    case 'invalid_scope':
      return 'invalid_scope'
    case 'unauthorized_client':
    case 'invalid_client':
      return 'invalid_client'
    case 'server_error':
    case 'temporarily_unavailable':
      return 'provider_unavailable'
    default:
      return 'provider_refused'
  }
}

function messageOf(error: string, provider: string): string {
  switch (reasonOf(error)) {
    case 'access_denied':
      return `Access was not approved at ${provider}. To approve it after all, start again from your application.`
    case 'invalid_scope':
      return `${provider} does not give the permissions that were asked for. Whoever runs this service can change them.`
    case 'invalid_client':
      return `${provider} does not accept this service's registration. Whoever runs it must check the client id of the provider entry.`
    case 'provider_unavailable':
      return `${provider} has a problem at the moment. Try again later from your application.`
    default: {
      const code = error.replace(/[^A-Za-z0-9_.-]/g, '').slice(0, 60)
      return `${provider} refused the request${code === '' ? '' : ` (${code})`}. Start again from your application; if it stays so, tell whoever runs this service.`
    }
  }
}
