import type { IssuerDecides, Provider } from '../provider.ts'
import { isWithout } from '../provider-grant.ts'
import { readGrant } from './grant-settings.ts'
import type { OAuth2Input } from './oauth2-settings.ts'
import { REQUESTS } from './requests.ts'

// `fromIssuer` of an entry: the settings that its issuer's metadata decides, because no administrator has given them.

/**
 * Requests that are sent after a grant. They are left to the issuer only if the authorization or token endpoint is: a
 * caller that names both has decided about these requests too.
 */
const IN_NO_METADATA: readonly IssuerDecides[] = [
  'exchange',
  'renewal',
  'choices',
  'installations',
  'installation_token',
]
const AFTER_A_GRANT: readonly IssuerDecides[] = ['user_info', 'introspection']

const requests = Object.entries(REQUESTS).map(
  ([name, { role, block }]) => ({ name: name as keyof typeof REQUESTS, role, block }), // `Object.entries` types keys as string
)

/**
 * The request with the issuer's URL as the endpoints that it leaves out, because a block needs one. The metadata replaces
 * them later: an entry whose metadata cannot be read is not stored.
 */
export function withIssuerAsEndpoint(sent: OAuth2Input): OAuth2Input {
  if (sent.issuer == null) return sent
  const endpoint = sent.issuer
  // beside a token endpoint of one's own, refresh tokens go there
  const refreshed = sent.token_request?.endpoint ?? endpoint
  const grant = readGrant(sent.grant, undefined)
  return {
    ...sent,
    ...(!isWithout({ grant }, 'authorization') && {
      authorize_request: { endpoint, ...sent.authorize_request },
    }),
    token_request: { endpoint, ...sent.token_request },
    ...(!isWithout({ grant }, 'device_authorization') && {
      device_authorization_request: { endpoint, ...sent.device_authorization_request },
    }),
    ...(sent.refresh_request && { refresh_request: { endpoint: refreshed, ...sent.refresh_request } }),
  }
}

/** Adds `fromIssuer` to a provider, if it has an issuer whose metadata decides at least one setting. */
export function leaveToIssuer(
  provider: Provider,
  sent: OAuth2Input,
  before: Provider | undefined,
  { isOfCatalogue }: { readonly isOfCatalogue: boolean },
): Provider {
  if (provider.issuer === undefined) return provider
  const isNewIssuer = sent.issuer != null && sent.issuer !== before?.issuer
  if (isOfCatalogue && !isNewIssuer && before?.fromIssuer === undefined) return provider
  const left = before === undefined ? leftOut(sent) : stillLeftOut(sent, before)
  const fromIssuer = left.filter((role) => !isWithout(provider, role))
  const isSameIssuer = before?.issuer === provider.issuer
  const told: Provider = {
    ...provider,
    fromIssuer,
    ...(isSameIssuer && before?.metadataRead && { metadataRead: true }),
  }
  return fromIssuer.length > 0 ? told : provider
}

/** The settings that a request which creates an entry leaves to the issuer. */
function leftOut(sent: OAuth2Input): IssuerDecides[] {
  const left: IssuerDecides[] = requests
    .filter(({ name }) => sent[name]?.endpoint === undefined)
    .map(({ role }) => role)
    .filter((role) => !IN_NO_METADATA.includes(role))
  const isTokenLeft = left.includes('token')
  const isServerLeft = isTokenLeft || left.includes('authorization')
  return [
    ...left
      .filter((role) => isServerLeft || !AFTER_A_GRANT.includes(role))
      .filter((role) => isTokenLeft || role !== 'refresh') // refresh tokens go to the token endpoint that was named
      .filter((role) => left.includes('authorization') || role !== 'pushed_authorization'),
    ...(isTokenLeft && sent.token_request?.auth_method == null ? (['client_authentication'] as const) : []),
    ...(isTokenLeft && sent.refresh_request?.auth_method == null
      ? (['refresh_authentication'] as const)
      : []),
    ...(sent.pkce == null ? (['pkce'] as const) : []),
    ...(sent.authorization_response_iss_parameter_supported == null ? (['iss'] as const) : []),
    ...(sent.end_session_endpoint == null ? (['end_session'] as const) : []),
  ]
}

/** The settings that are left to the issuer after a change: those left before, without those that the change sets. */
function stillLeftOut(sent: OAuth2Input, before: Provider): IssuerDecides[] {
  const left = new Set<IssuerDecides>(before.fromIssuer ?? leftOutBefore(before))
  for (const { name, role, block } of requests) {
    const given = sent[name]
    if (given === undefined) continue
    if (given === null || (given.endpoint !== undefined && given.endpoint !== before[block]?.endpoint))
      left.delete(role)
  }
  if (sent.token_request?.auth_method != null) left.delete('client_authentication')
  if (sent.refresh_request?.auth_method != null) left.delete('refresh_authentication')
  if (sent.pkce != null) left.delete('pkce')
  addOrDelete(left, 'iss', sent.authorization_response_iss_parameter_supported)
  addOrDelete(left, 'end_session', sent.end_session_endpoint)
  return [...left]
}

/**
 * The settings to leave to the issuer for an entry without `fromIssuer`: one of the catalogue, or stored by version
 * 0.1.0.
 */
function leftOutBefore(before: Provider): IssuerDecides[] {
  return [
    ...(before.revocationRequest === undefined ? (['revocation'] as const) : []),
    ...(before.announcesIss === undefined ? (['iss'] as const) : []),
    ...(before.endSessionEndpoint === undefined ? (['end_session'] as const) : []),
  ]
}

/** `null` leaves the setting to the issuer again; a value does not. */
function addOrDelete(left: Set<IssuerDecides>, setting: IssuerDecides, sent: unknown): void {
  if (sent === null) left.add(setting)
  else if (sent !== undefined) left.delete(setting)
}
