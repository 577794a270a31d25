import type { EpochSeconds } from '../../domain/clock.ts'
import {
  FORM,
  JSON_TYPE,
  SCOPES_TEMPLATE,
  USUAL_ACCOUNT,
} from '../../providers/catalogue/built-in-provider.ts'
import type { ClientRegistration } from '../../providers/client-registration.ts'
import type { ServerMetadata } from '../../providers/discovery.ts'
import { identityOf } from '../../providers/identity.ts'
import type { CodeProvider, Provider } from '../../providers/provider.ts'
import { authorizationRequestIn, tokenRequestIn } from '../../providers/provider-endpoints.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import type { TokenRequestBlock } from '../../providers/request-block.ts'

/**
 * Shorter lifetimes of a client secret are raised to this one, or a hostile server could make the broker register
 * constantly.
 */
const SHORTEST_SECRET_LIFE_SECONDS = 3600

/**
 * Describes an MCP server's authorization server as a provider whose tokens are valid only at the MCP server
 * (`resource`, RFC 8707). Throws `ProviderRefusal` if the authorization server does not announce PKCE with S256.
 */
export function serverProvider(options: {
  readonly displayName: string
  readonly metadata: ServerMetadata
  readonly resource: string
  readonly scopes: readonly string[]
  readonly authMethod: TokenRequestBlock['authMethod']
  /** No issuer is known; the endpoints are the default ones of MCP 2025-03-26. */
  readonly isGuessed: boolean
}): CodeProvider {
  const { displayName, metadata, resource, scopes, authMethod, isGuessed } = options
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw new ProviderRefusal(
      'provider_bad_response',
      `${metadata.issuer} does not announce PKCE with S256, which MCP requires.`,
    )
  const request = {
    method: 'POST',
    authMethod,
    requestContentType: FORM,
    responseContentType: JSON_TYPE,
  } as const
  const endpoint = metadata.token_endpoint
  const offline = metadata.scopes_supported?.includes('offline_access') ? ' offline_access' : ''
  return {
    displayName,
    ...(!isGuessed && { issuer: metadata.issuer }),
    ...(!scopes.includes('openid') && { ignoresIdToken: true }),
    ...(metadata.authorization_response_iss_parameter_supported === true && { announcesIss: true }),
    pkce: 'S256',
    scopeSeparator: ' ',
    defaultScopes: scopes,
    authorizationRequest: {
      endpoint: metadata.authorization_endpoint,
      params: {
        response_type: 'code',
        client_id: '{{client_id}}',
        redirect_uri: '{{redirect_uri}}',
        scope: `${SCOPES_TEMPLATE}${offline}`,
        resource,
      },
    },
    ...(metadata.pushed_authorization_request_endpoint !== undefined && {
      pushedAuthorizationRequest: { endpoint: metadata.pushed_authorization_request_endpoint },
    }),
    tokenRequest: {
      ...request,
      endpoint,
      params: { grant_type: 'authorization_code', redirect_uri: '{{redirect_uri}}', resource },
    },
    refreshRequest: {
      ...request,
      endpoint,
      params: { grant_type: 'refresh_token', refresh_token: '{{refresh_token}}', resource },
    },
    ...(metadata.revocation_endpoint !== undefined && {
      revocationRequest: { ...request, endpoint: metadata.revocation_endpoint, params: {} },
    }),
    tokenTypes: [],
    account: USUAL_ACCOUNT,
  }
}

/** Requests whose endpoints servers announce later, or no longer. */
const LATER = ['pushedAuthorizationRequest', 'revocationRequest'] as const

/**
 * Whether two providers issue interchangeable tokens: same issuer, same endpoints (without queries), same resource. An
 * endpoint of `LATER` that only one of them has makes no difference.
 */
export function isSameServer(one: Provider, other: Provider): boolean {
  const identity = (provider: Provider) => {
    const compared: Partial<Provider> = { ...provider }
    for (const name of LATER) if (one[name] === undefined || other[name] === undefined) delete compared[name]
    return identityOf(compared as Provider, undefined) // only optional requests are left out
  }
  return (
    one.issuer === other.issuer &&
    one.authorizationRequest?.params.resource === other.authorizationRequest?.params.resource &&
    identity(one) === identity(other)
  )
}

/**
 * Updates the endpoints to the server's current ones, and keeps an administrator's other changes. Adds those of `LATER`
 * that the server announced since, if they have the origin of the token endpoint: users agreed to send their tokens there.
 */
export function withEndpoints(provider: Provider, current: CodeProvider): Provider {
  const { refreshRequest } = provider
  const [authorizationRequest, tokenRequest] = [authorizationRequestIn(provider), tokenRequestIn(provider)]
  const { authMethod } = tokenRequest
  const { origin } = new URL(current.tokenRequest.endpoint)
  const isNew = (name: (typeof LATER)[number]) => {
    const announced = current[name]
    return provider[name] === undefined && announced && new URL(announced.endpoint).origin === origin
  }
  const { pushedAuthorizationRequest, revocationRequest } = current
  return {
    ...provider,
    authorizationRequest: { ...authorizationRequest, endpoint: current.authorizationRequest.endpoint },
    tokenRequest: { ...tokenRequest, endpoint: current.tokenRequest.endpoint },
    ...(refreshRequest && { refreshRequest: { ...refreshRequest, endpoint: current.tokenRequest.endpoint } }),
    ...(isNew('pushedAuthorizationRequest') && pushedAuthorizationRequest && { pushedAuthorizationRequest }),
    ...(isNew('revocationRequest') &&
      revocationRequest && { revocationRequest: { ...revocationRequest, authMethod } }),
  }
}

/** Adds scopes to those that users are asked for. */
export function withScopes(provider: Provider, scopes: readonly string[]): Provider {
  if (scopes.every((scope) => provider.defaultScopes.includes(scope))) return provider
  const { ignoresIdToken, ...rest } = provider
  return {
    ...rest,
    defaultScopes: [...new Set([...provider.defaultScopes, ...scopes])],
    ...(ignoresIdToken === true && !scopes.includes('openid') && { ignoresIdToken }),
  }
}

/** Sets how the client authenticates in every request, and when its secret expires. */
export function withClientAuth(
  { clientSecretExpiresAt: _, ...provider }: Provider,
  { authMethod, secretExpiresAt }: Pick<ClientRegistration, 'authMethod' | 'secretExpiresAt'>,
  now: EpochSeconds,
): Provider {
  const { refreshRequest, revocationRequest } = provider
  const earliest = now + SHORTEST_SECRET_LIFE_SECONDS
  return {
    ...provider,
    ...(secretExpiresAt !== undefined && { clientSecretExpiresAt: Math.max(secretExpiresAt, earliest) }),
    tokenRequest: { ...tokenRequestIn(provider), authMethod },
    ...(refreshRequest && { refreshRequest: { ...refreshRequest, authMethod } }),
    ...(revocationRequest && { revocationRequest: { ...revocationRequest, authMethod } }),
  }
}
