import { FORM, INTROSPECTED, JSON_TYPE } from './catalogue/built-in-provider.ts'
import { findCatalogueMatch } from './catalogue/registry.ts'
import { canSignRequests } from './client-key.ts'
import { type ServerMetadata, secretAuthMethod } from './discovery.ts'
import type { IssuerDecides, Provider } from './provider.ts'
import { tokenRequestIn } from './provider-endpoints.ts'
import type { TokenRequestBlock } from './request-block.ts'

/**
 * What the issuer's metadata decides in an entry that was stored before `fromIssuer` existed: all that the entry could
 * not set itself. Nothing for an entry of the catalogue, which is complete.
 */
function decidedIn(provider: Provider): readonly IssuerDecides[] {
  if (provider.fromIssuer !== undefined) return provider.fromIssuer
  if (findCatalogueMatch(provider) !== undefined) return []
  return [
    ...(provider.announcesIss === undefined ? (['iss'] as const) : []),
    ...(provider.revocationRequest === undefined ? (['revocation'] as const) : []),
    'end_session',
  ]
}

/** Whether the entry uses its issuer's metadata. */
export function readsMetadata(provider: Provider): boolean {
  return provider.issuer !== undefined && decidedIn(provider).length > 0
}

/** Whether the entry cannot be used before its issuer's metadata has been read. */
export function needsMetadata({ fromIssuer = [] }: Provider): boolean {
  return (['authorization', 'token', 'device_authorization'] as const).some((role) =>
    fromIssuer.includes(role),
  )
}

/** The provider, with the settings that its issuer's checked metadata decides (RFC 8414 section 2). */
export function withMetadata(provider: Provider, metadata: ServerMetadata): Provider {
  const decided = new Set<IssuerDecides>(decidedIn(provider))
  // entries of earlier releases did not leave this to the issuer; without it such a server refuses each request
  if (decided.has('authorization') && metadata.require_pushed_authorization_requests === true)
    decided.add('pushed_authorization')
  const authMethod = decided.has('client_authentication')
    ? secretAuthMethod(metadata)
    : tokenRequestIn(provider).authMethod
  const block = (endpoint: string): TokenRequestBlock => ({
    endpoint,
    method: 'POST',
    authMethod,
    params: {},
    requestContentType: FORM,
    responseContentType: JSON_TYPE,
  })
  const { refreshRequest, ...others } = provider
  const { authorizationRequest } = provider
  const tokenRequest = tokenRequestIn(provider)
  const {
    pushedAuthorizationRequest,
    deviceAuthorizationRequest,
    userInfoRequest,
    introspectionRequest,
    revocationRequest,
    announcesIss,
    endSessionEndpoint,
    ...rest
  } = others
  const { pushed_authorization_request_endpoint, device_authorization_endpoint } = metadata
  const { userinfo_endpoint, introspection_endpoint, revocation_endpoint, end_session_endpoint } = metadata
  const own = {
    ...(pushedAuthorizationRequest && !decided.has('pushed_authorization') && { pushedAuthorizationRequest }),
    ...(deviceAuthorizationRequest && { deviceAuthorizationRequest }),
    ...(userInfoRequest && !decided.has('user_info') && { userInfoRequest }),
    ...(introspectionRequest && !decided.has('introspection') && { introspectionRequest }),
    ...(revocationRequest && !decided.has('revocation') && { revocationRequest }),
    ...(announcesIss !== undefined && { announcesIss }),
    ...(endSessionEndpoint !== undefined && !decided.has('end_session') && { endSessionEndpoint }),
  }
  // entries of earlier releases have no `refresh_authentication`: there both requests authenticate in one way
  const isOfBefore = provider.metadataRead === true && refreshRequest?.authMethod === tokenRequest.authMethod
  const isLeft = decided.has('refresh_authentication') || isOfBefore
  const refreshAuth = refreshRequest === undefined || isLeft ? { authMethod } : {}
  const token = decided.has('token') ? metadata.token_endpoint : tokenRequest.endpoint
  return {
    ...rest,
    ...own,
    ...(metadata.require_signed_request_object === true &&
      provider.requestObject === undefined &&
      canSignRequests(provider) && { requestObject: {} }),
    pkce: decided.has('pkce') ? pkceOf(provider, metadata) : provider.pkce,
    ...(authorizationRequest && {
      authorizationRequest: {
        ...authorizationRequest,
        ...(decided.has('authorization') && { endpoint: metadata.authorization_endpoint }),
      },
    }),
    ...(decided.has('pushed_authorization') &&
      pushed_authorization_request_endpoint !== undefined && {
        pushedAuthorizationRequest: { endpoint: pushed_authorization_request_endpoint },
      }),
    ...(decided.has('device_authorization') &&
      device_authorization_endpoint !== undefined && {
        deviceAuthorizationRequest: {
          ...(deviceAuthorizationRequest ?? block(device_authorization_endpoint)),
          endpoint: device_authorization_endpoint,
          ...(decided.has('client_authentication') && { authMethod }),
        },
      }),
    tokenRequest: { ...tokenRequest, endpoint: token, authMethod },
    ...(decided.has('refresh')
      ? { refreshRequest: { ...(refreshRequest ?? block(token)), endpoint: token, ...refreshAuth } }
      : refreshRequest && { refreshRequest }),
    ...(decided.has('user_info') &&
      userinfo_endpoint !== undefined && {
        userInfoRequest: {
          ...block(userinfo_endpoint),
          method: 'GET' as const,
          authMethod: 'bearer_access_token' as const,
          triggers: { onTokenGrant: true, onTokenRefresh: false },
        },
      }),
    ...(decided.has('introspection') &&
      introspection_endpoint !== undefined && {
        introspectionRequest: {
          ...block(introspection_endpoint),
          params: { token: '{{access_token}}' },
          ...INTROSPECTED,
          triggers: { onTokenGrant: true, onTokenRefresh: true },
        },
      }),
    ...(decided.has('revocation') &&
      revocation_endpoint !== undefined && { revocationRequest: block(revocation_endpoint) }),
    ...(decided.has('iss') && {
      announcesIss: metadata.authorization_response_iss_parameter_supported === true,
    }),
    ...(decided.has('end_session') &&
      end_session_endpoint !== undefined && { endSessionEndpoint: end_session_endpoint }),
    ...(decided.has('client_authentication') &&
      metadata.token_endpoint_auth_methods_supported?.includes('none') && { publicClients: true }),
    fromIssuer: [...decided],
    metadataRead: true,
  }
}

/** `plain` only if the server announces nothing better, and never after S256 was used. */
function pkceOf(
  provider: Provider,
  { code_challenge_methods_supported: methods }: ServerMetadata,
): Provider['pkce'] {
  const isKnown = provider.metadataRead === true
  if ((isKnown && provider.pkce === 'S256') || methods === undefined || methods.includes('S256'))
    return 'S256'
  return methods.includes('plain') ? 'plain' : 'S256'
}
