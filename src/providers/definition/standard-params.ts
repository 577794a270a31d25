import { SCOPES_TEMPLATE } from '../catalogue/built-in-provider.ts'
import type { Provider } from '../provider.ts'
import type { TokenRequestBlock } from '../request-block.ts'
import { placesScopes } from '../template.ts'

/** Writes out the parameters that every request has, as the answers of the API show them. */
export function withStandardParams(provider: Provider): Provider {
  const { authorizationRequest, tokenRequest, refreshRequest } = provider
  if (authorizationRequest === undefined || tokenRequest === undefined) return provider
  const isPlaced = Object.values(authorizationRequest.params).some(placesScopes)
  const withParams = (block: TokenRequestBlock, params: Readonly<Record<string, string>>) => ({
    ...block,
    params: { ...params, ...block.params },
  })
  return {
    ...provider,
    authorizationRequest: {
      ...authorizationRequest,
      params: {
        response_type: 'code',
        client_id: '{{client_id}}',
        redirect_uri: '{{redirect_uri}}',
        ...(!isPlaced && { scope: SCOPES_TEMPLATE }),
        ...authorizationRequest.params,
      },
    },
    tokenRequest: withParams(tokenRequest, {
      grant_type: 'authorization_code',
      redirect_uri: '{{redirect_uri}}',
    }),
    ...(refreshRequest && {
      refreshRequest: withParams(refreshRequest, {
        grant_type: 'refresh_token',
        refresh_token: '{{refresh_token}}',
      }),
    }),
  }
}
