import type { CauseCode } from '../../domain/causes.ts'
import type { TrailDetails } from '../../domain/trail.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { isUserless } from '../../providers/provider-grant.ts'
import { refusedBecause } from '../../providers/refused-grant.ts'

/** The claims of an ID token that compare it with the time. */
const TIME_CLAIMS = new Set(['exp', 'iat', 'nbf', 'auth_time'])

/** The cause that the provider's own words name: they often say more than the error code of RFC 6749 beside them. */
function namedIn({ error = '', description = '' }: TrailDetails): CauseCode | undefined {
  const text = `${error} ${description}`
  if (/redirect[ _-]?ur[il]|callback ur[il]/i.test(text)) return 'redirect_uri_not_registered'
  if (/pkce|code[ _-]?(?:challenge|verifier)/i.test(text)) return 'pkce_refused'
  if (/client[ _-]?secret/i.test(text)) return 'wrong_client_secret'
  if (/\bscopes?\b/i.test(text)) return 'scope_refused'
  return undefined
}

/** Why a token request failed, derived from its entry in the trail. */
export function causeOfTokenRequest(
  details: TrailDetails,
  request: 'exchange' | 'refresh',
): CauseCode | undefined {
  const { reason, error, status, failure, claim, description } = details
  switch (reason) {
    case undefined:
    case 'refreshed_elsewhere':
      return undefined
    case 'invalid_client':
      return error === 'unauthorized_client' ? 'client_not_accepted' : 'wrong_client_secret'
    case 'invalid_scope':
      return 'scope_refused'
    case 'invalid_grant':
      return request === 'refresh'
        ? causeOfRefusedGrant(description)
        : (namedIn(details) ?? 'code_not_accepted')
    case 'provider_unavailable':
      return status === 429 ? 'provider_limits_requests' : 'provider_down'
    case 'provider_refused':
      if (error === 'access_denied') return 'access_denied'
      if (error === 'invalid_dpop_proof' || error === 'use_dpop_nonce') return 'dpop_proof_refused'
      return failure === 'host_not_allowed' ? 'host_not_allowed' : (namedIn(details) ?? 'request_refused')
    case 'provider_bad_response':
      if (claim === undefined) return 'unusable_answer'
      return TIME_CLAIMS.has(claim) ? 'clock_skew' : 'id_token_refused'
    case 'provider_incomplete':
      return 'client_missing'
    case 'provider_changed':
      return 'entry_changed'
    case 'account_mismatch':
      return 'wrong_account'
    case 'nothing_to_choose':
      return 'nothing_to_choose'
    case 'provider_paused':
      return 'provider_paused'
    default:
      return 'own_fault'
  }
}

/** Causes of users' grants; with a grant without a user, no user can remove them. */
const OF_USERS: readonly (CauseCode | undefined)[] = [
  'grant_refused',
  'consent_withdrawn',
  'refresh_token_expired',
  'refresh_token_used_twice',
]

/** The cause for the entry's grant: refusals without a user are the operator's to remove. */
export function causeForGrant(
  code: CauseCode | undefined,
  { provider }: Pick<ProviderEntry, 'provider'>,
  details: TrailDetails = {},
): CauseCode | undefined {
  if (!isUserless(provider)) return code
  const asksForConsent = code === 'request_refused' && details.error === 'consent_required'
  return OF_USERS.includes(code) || asksForConsent ? 'machine_grant_refused' : code
}

/** Why the provider refused a refresh token, derived from its words. */
export function causeOfRefusedGrant(words: string | undefined): CauseCode {
  switch (refusedBecause(words)) {
    case 'expired':
      return 'refresh_token_expired'
    case 'withdrawn':
      return 'consent_withdrawn'
    case 'used_twice':
      return 'refresh_token_used_twice'
    default:
      return 'grant_refused'
  }
}

/** Why the authorization request failed, by the error that the browser brought back. */
export function causeOfCallback(details: TrailDetails, reason: string): CauseCode {
  switch (reason) {
    case 'access_denied':
      return 'access_denied'
    case 'invalid_scope':
      return 'scope_refused'
    case 'invalid_client':
      return namedIn(details) ?? 'client_not_accepted'
    case 'provider_unavailable':
      return 'provider_down'
    case 'provider_bad_response':
      return 'unusable_answer'
    default:
      return namedIn(details) ?? 'request_refused'
  }
}
