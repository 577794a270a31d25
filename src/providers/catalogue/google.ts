import { define } from './define.ts'

/** https://developers.google.com/identity/protocols/oauth2/web-server */
export const google = define({
  id: 'google',
  displayName: 'Google',
  issuer: 'https://accounts.google.com',
  authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
  pkce: 'S256',
  publicClients: false,
  scopeAliases: {
    email: 'https://www.googleapis.com/auth/userinfo.email',
    profile: 'https://www.googleapis.com/auth/userinfo.profile',
  },
  defaultScopes: ['openid', 'email', 'profile'],
  userInfo: 'https://openidconnect.googleapis.com/v1/userinfo',
  accountId: ['$.sub'],
  accountName: ['$.email', '$.name'],
  revoke: { endpoint: 'https://oauth2.googleapis.com/revoke', authMethod: 'none' },
  // without the prompt a refresh token comes at the first consent only
  offlineAccess: { params: { access_type: 'offline', prompt: 'consent' } },
  otherEndpoints: {
    authorization: ['https://accounts.google.com/o/oauth2/auth'],
    token: [
      'https://www.googleapis.com/oauth2/v4/token',
      'https://www.googleapis.com/oauth2/v3/token',
      'https://accounts.google.com/o/oauth2/token',
    ],
    user_info: [
      'https://www.googleapis.com/oauth2/v3/userinfo',
      'https://www.googleapis.com/oauth2/v2/userinfo',
    ],
    revocation: ['https://accounts.google.com/o/oauth2/revoke'],
  },
  api: 'https://www.googleapis.com',
  apiHosts: ['*.googleapis.com'],
})
