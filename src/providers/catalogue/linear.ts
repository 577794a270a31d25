import { define, JSON_TYPE } from './define.ts'

/** https://linear.app/developers/oauth-2-0-authentication */
export const linear = define({
  id: 'linear',
  displayName: 'Linear',
  authorize: 'https://linear.app/oauth/authorize',
  token: 'https://api.linear.app/oauth/token',
  pkce: 'S256',
  scopeSeparator: ',',
  defaultScopes: ['read'],
  userInfo: {
    endpoint: 'https://api.linear.app/graphql',
    method: 'POST',
    requestContentType: JSON_TYPE,
    params: { query: 'query { viewer { id email name } }' },
  },
  accountId: ['$.data.viewer.id'],
  accountName: ['$.data.viewer.email', '$.data.viewer.name'],
  revoke: { endpoint: 'https://api.linear.app/oauth/revoke', authMethod: 'bearer_access_token' },
  api: 'https://api.linear.app',
})
