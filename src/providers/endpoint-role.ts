/**
 * The requests that an entry may describe, by the role of their endpoint: the member of `Provider`, and the name on the
 * wire. Refresh tokens go to the token endpoint unless an entry names another one.
 */
export const REQUESTS_BY_ROLE = {
  authorization: { block: 'authorizationRequest', wire: 'authorize_request' },
  pushed_authorization: { block: 'pushedAuthorizationRequest', wire: 'pushed_authorization_request' },
  device_authorization: { block: 'deviceAuthorizationRequest', wire: 'device_authorization_request' },
  temporary: { block: 'temporaryRequest', wire: 'temporary_request' },
  token: { block: 'tokenRequest', wire: 'token_request' },
  refresh: { block: 'refreshRequest', wire: 'refresh_request' },
  exchange: { block: 'exchangeRequest', wire: 'exchange_request' },
  renewal: { block: 'renewalRequest', wire: 'renewal_request' },
  choices: { block: 'choicesRequest', wire: 'choices_request' },
  installations: { block: 'installationsRequest', wire: 'installations_request' },
  installation_token: { block: 'installationTokenRequest', wire: 'installation_token_request' },
  test: { block: 'testRequest', wire: 'test_request' },
  user_info: { block: 'userInfoRequest', wire: 'user_info_request' },
  introspection: { block: 'introspectionRequest', wire: 'token_introspection_request' },
  revocation: { block: 'revocationRequest', wire: 'revocation_request' },
} as const

/** What an endpoint is for. */
export type EndpointRole = keyof typeof REQUESTS_BY_ROLE
export const ENDPOINT_ROLES = Object.keys(REQUESTS_BY_ROLE) as readonly EndpointRole[]
