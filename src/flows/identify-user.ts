import type { Broker, OidcVerifier } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { LoginRegistration, LoginSecrets } from '../providers/login-client.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { saying, wordsOf } from '../providers/provider-words.ts'
import type { Members } from '../providers/response-body.ts'
import { mayComeFrom, reasonOf, sanitized } from './authorization-response.ts'

/** Why a login did not identify the user. The user may try again. */
export const LOGIN_TROUBLES = ['cancelled', 'unavailable', 'failed'] as const
export type LoginTrouble = (typeof LOGIN_TROUBLES)[number]

export type IdentifiedUser =
  | {
      readonly userId: string
      readonly claims: Members
    }
  /** `why` is for the operator's log. */
  | { readonly trouble: LoginTrouble; readonly why: string }

/** Identifies the user who logged in: checks the issuer of the authentication response and redeems its code. */
export async function identifyUser(
  broker: Broker,
  verifier: OidcVerifier,
  received: AuthenticationResponse,
): Promise<IdentifiedUser> {
  const { claim } = verifier
  const needed = claim === 'email' ? ['email', 'email_verified'] : [claim]
  const { redirectUri } = received
  const how = { needed, ...(redirectUri !== undefined && { redirectUri }) }
  const identified = await identifyClaims(broker, verifier, received, how)
  if ('trouble' in identified) return identified
  const user = identified.claims[claim]
  if (typeof user !== 'string' || user === '')
    return failed(`there is no claim "${claim}" that is text: see GATEPASS_OIDC_SCOPES`)
  if (claim === 'email' && identified.claims.email_verified !== true)
    return failed('the issuer does not vouch for the email address (email_verified)')
  return { userId: user, claims: identified.claims }
}

/**
 * When the person logged in. Without `auth_time` that is now if the issuer had to ask for the credentials; otherwise it is
 * unknown, because the issuer may have had a session.
 */
export function authTimeOf(
  { auth_time: said }: Members,
  now: EpochSeconds,
  { wasAsked }: { readonly wasAsked: boolean },
): EpochSeconds | undefined {
  if (typeof said === 'number') return Math.min(Math.floor(said), now)
  return wasAsked ? now : undefined
}

/** An authentication response, and the secrets of its request. */
export interface AuthenticationResponse {
  readonly query: URLSearchParams
  readonly secrets: LoginSecrets
  /** The redirect URI of the request; absent: that of the public URL. */
  readonly redirectUri?: string | undefined
}

/** The claims of the person who logged in at the issuer. */
export async function identifyClaims(
  broker: Broker,
  { issuer, client }: Pick<OidcVerifier, 'issuer' | 'client'>,
  { query, secrets }: AuthenticationResponse,
  { needed, redirectUri }: { readonly needed: readonly string[]; readonly redirectUri?: string },
): Promise<{ readonly claims: Members } | Extract<IdentifiedUser, { readonly trouble: LoginTrouble }>> {
  try {
    const registration = await loginRegistration(broker, { issuer, client }, redirectUri)
    const announcesIss = registration.server.authorization_response_iss_parameter_supported
    if (!mayComeFrom(query, { issuer, announcesIss }))
      return failed('the answer does not come from the issuer')
    const error = query.get('error')
    if (error !== null) {
      const hidden = [client.clientSecret, secrets.codeVerifier, secrets.nonce, query.get('state')]
      const words = wordsOf(query.get('error_description'), hidden)
      const why = `${sanitized(error)}.${saying(issuer, words)}`
      return { trouble: TROUBLES[reasonOf(error)] ?? 'failed', why }
    }
    return { claims: await broker.login.identify(registration, query, secrets, needed) }
  } catch (error) {
    if (error instanceof ProviderRefusal)
      return { trouble: TROUBLES[error.reason] ?? 'failed', why: error.message }
    throw error
  }
}

function failed(why: string): Extract<IdentifiedUser, { readonly trouble: LoginTrouble }> {
  return { trouble: 'failed', why }
}

const TROUBLES: Readonly<Record<string, LoginTrouble>> = {
  access_denied: 'cancelled',
  provider_unavailable: 'unavailable',
}

/** The broker's registration at the issuer of logins. Throws `ProviderRefusal` when the issuer cannot be used. */
export async function loginRegistration(
  broker: Broker,
  { issuer, client }: Pick<OidcVerifier, 'issuer' | 'client'>,
  redirectUri = loginRedirectUri(broker.settings.publicUrl),
): Promise<LoginRegistration> {
  const server = await broker.discover(issuer)
  if (server.jwks_uri === undefined)
    throw new ProviderRefusal(
      'provider_bad_response',
      `${issuer} names no keys for its ID tokens (jwks_uri).`,
    )
  return { server, client, redirectUri }
}

/**
 * The redirect URI of logins on an origin: the public URL, or a project's domain. It differs from those of all providers,
 * so that a provider's response is never taken for a login (RFC 9700 section 4.4).
 */
export function loginRedirectUri(origin: URL): string {
  return new URL('/login/callback', origin).href
}
