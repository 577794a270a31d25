import { readsMetadata } from '../providers/issuer-metadata.ts'
import type { IssuerDecides, Provider } from '../providers/provider.ts'
import type { BlockName } from './provider-blocks.ts'
import type { OAuth2Input } from './provider-schema.ts'

// What of an entry is left to its issuer's metadata, and what somebody has said.

const BLOCKS: readonly (readonly [BlockName, IssuerDecides, keyof Provider])[] = [
  ['authorize_request', 'authorization', 'authorizationRequest'],
  ['token_request', 'token', 'tokenRequest'],
  ['refresh_request', 'refresh', 'refreshRequest'],
  ['user_info_request', 'user_info', 'userInfoRequest'],
  ['token_introspection_request', 'introspection', 'introspectionRequest'],
  ['revocation_request', 'revocation', 'revocationRequest'],
]

/**
 * What was said, with the issuer itself in place of the endpoints that its metadata is to name. They are replaced when
 * the metadata is read, without which no such entry is stored.
 */
export function withIssuerAsEndpoint(said: OAuth2Input): OAuth2Input {
  if (said.issuer == null) return said
  const endpoint = said.issuer
  return {
    ...said,
    authorize_request: { endpoint, ...said.authorize_request },
    token_request: { endpoint, ...said.token_request },
  }
}

const AFTER_A_GRANT: readonly IssuerDecides[] = ['user_info', 'introspection']

/** Of a new entry that is based on none: all that is not said. */
export function leftToIssuer(said: OAuth2Input): IssuerDecides[] {
  const left = BLOCKS.filter(([name]) => said[name]?.endpoint === undefined).map(([, role]) => role)
  const token = left.includes('token')
  // whoever names the endpoints has said with them whether anything is asked after a grant, and where refresh tokens go
  const isAlone = token || left.includes('authorization')
  return [
    ...left
      .filter((role) => !AFTER_A_GRANT.includes(role) || isAlone)
      .filter((role) => role !== 'refresh' || token),
    ...(token && said.token_request?.auth_method == null ? (['client_authentication'] as const) : []),
    ...(said.pkce == null ? (['pkce'] as const) : []),
    ...(said.authorization_response_iss_parameter_supported == null ? (['iss'] as const) : []),
    ...(said.end_session_endpoint == null ? (['end_session'] as const) : []),
  ]
}

/** Of an entry that stood before: what was left to the issuer, without what is said now; `null` gives a setting back. */
export function stillLeftToIssuer(said: OAuth2Input, before: Provider): IssuerDecides[] {
  const open = before.fromIssuer ?? openIn(before)
  const left = new Set<IssuerDecides>(open)
  for (const [name, role, member] of BLOCKS) {
    const block = said[name]
    if (block === undefined) continue
    const old = before[member] as { readonly endpoint?: string } | undefined // the members of BLOCKS are blocks
    if (block === null || (block.endpoint !== undefined && block.endpoint !== old?.endpoint))
      left.delete(role)
  }
  if (said.token_request?.auth_method != null) left.delete('client_authentication')
  if (said.pkce != null) left.delete('pkce')
  giveOrTake(left, 'iss', said.authorization_response_iss_parameter_supported)
  giveOrTake(left, 'end_session', said.end_session_endpoint)
  return [...left]
}

/** What an entry that was stored or known without metadata does not say. */
function openIn(before: Provider): IssuerDecides[] {
  return [
    ...(before.revocationRequest === undefined ? (['revocation'] as const) : []),
    ...(before.announcesIss === undefined ? (['iss'] as const) : []),
    ...(before.endSessionEndpoint === undefined ? (['end_session'] as const) : []),
  ]
}

function giveOrTake(left: Set<IssuerDecides>, what: IssuerDecides, said: unknown): void {
  if (said === null) left.add(what)
  else if (said !== undefined) left.delete(what)
}

/** The provider with what is left to its issuer written down; without an issuer nothing is. */
export function leaveToIssuer(
  provider: Provider,
  said: OAuth2Input,
  before: Provider | undefined,
  isOfCatalogue: boolean,
): Provider {
  if (provider.issuer === undefined) return provider
  const isNew = said.issuer != null && said.issuer !== before?.issuer
  if (isOfCatalogue && !isNew && before?.fromIssuer === undefined) return provider
  const fromIssuer = before === undefined ? leftToIssuer(said) : stillLeftToIssuer(said, before)
  const isSame = before?.issuer === provider.issuer
  const left: Provider = {
    ...provider,
    fromIssuer,
    ...(isSame && before?.metadataRead && { metadataRead: true }),
  }
  return readsMetadata(left) ? left : provider
}
