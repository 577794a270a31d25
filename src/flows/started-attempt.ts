import type { OidcVerifier } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import type { ConnectionValues } from '../providers/connection-values.ts'

/** What became of a click on the connect page. */
export type StartedAttempt =
  /** The browser is redirected to the provider. `state`: a cookie has to carry it, since the callback cannot. */
  | { readonly outcome: 'started'; readonly authorizationUrl: URL; readonly state?: string }
  /** The user must log in first, in this browser. */
  | {
      readonly outcome: 'login_required'
      readonly verifier: OidcVerifier
      readonly authorization: Authorization
      /** Values that the user gave, for the attempt after the login. */
      readonly given?: ConnectionValues
    }
  /** The user has to give values, such as a subdomain. `faults`: sentences by the variable's name. */
  | {
      readonly outcome: 'values_needed'
      readonly faults: ReadonlyMap<string, string>
      readonly authorization: Authorization
    }
  /** The user has to type credentials, maybe once more: `problem` says why what was typed was not stored. */
  | {
      readonly outcome: 'form_needed'
      readonly faults: ReadonlyMap<string, string>
      readonly problem?: 'credential_refused' | 'credential_unchecked'
      readonly authorization: Authorization
    }
  /** What the user typed was stored, or ended the authorization; or its page has a device code to show. */
  | { readonly outcome: 'finished'; readonly authorization: Authorization }
  /** The link of a connect session, in another browser than the one that opened the session. Nothing was changed. */
  | { readonly outcome: 'wrong_browser' }
  /** The provider did not take the pushed authorization request; another click tries again. */
  | { readonly outcome: 'provider_unavailable'; readonly authorization: Authorization }
  /** The authorization has ended, or the code of another attempt is being redeemed. */
  | { readonly outcome: 'not_startable'; readonly authorization: Authorization }
