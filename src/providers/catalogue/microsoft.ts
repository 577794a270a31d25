import { define } from './define.ts'

/** https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-auth-code-flow */
export const microsoft = define({
  id: 'microsoft',
  displayName: 'Microsoft',
  // no issuer: under `common` it is the user's tenant's
  authorize: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  token: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  pkce: 'S256',
  defaultScopes: ['User.Read'],
  userInfo: 'https://graph.microsoft.com/v1.0/me',
  accountId: ['$.id'],
  accountName: ['$.userPrincipalName', '$.mail', '$.displayName'],
  offlineAccess: { scopes: ['offline_access'] },
  api: 'https://graph.microsoft.com',
  otherEndpoints: {
    authorization: ['https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize'],
    token: ['https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token'],
  },
})
