import { define } from './define.ts'

/** https://learn.microsoft.com/en-us/rest/api/power-bi/ */
export const microsoftPowerbi = define({
  id: 'microsoft-powerbi',
  displayName: 'Microsoft Power BI',
  authorize: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
  token: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
  pkce: 'S256',
  // a token serves one resource, so Microsoft Graph cannot be asked who this is
  accountId: ["jwt_decode('$.id_token', '$.oid')"],
  accountName: ["jwt_decode('$.id_token', '$.preferred_username')"],
  offlineAccess: { scopes: ['offline_access'] },
  api: 'https://api.powerbi.com',
  otherEndpoints: {
    authorization: ['https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize'],
    token: ['https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token'],
  },
})
