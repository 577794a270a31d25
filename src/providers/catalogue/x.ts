import { define } from './define.ts'

/** https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code */
export const x = define({
  id: 'x',
  displayName: 'X',
  authorize: 'https://x.com/i/oauth2/authorize',
  token: 'https://api.x.com/2/oauth2/token',
  pkce: 'S256',
  clientAuthentication: 'client_secret_basic',
  defaultScopes: ['tweet.read', 'users.read'], // users/me wants both
  userInfo: 'https://api.x.com/2/users/me',
  accountId: ['$.data.id'],
  accountName: ['$.data.username'],
  revoke: 'https://api.x.com/2/oauth2/revoke',
  offlineAccess: { scopes: ['offline.access'] },
  publicClients: true, // "Native App" and "Single page App"
  otherEndpoints: {
    authorization: ['https://twitter.com/i/oauth2/authorize'],
    token: ['https://api.twitter.com/2/oauth2/token'],
    user_info: ['https://api.twitter.com/2/users/me'],
    revocation: ['https://api.twitter.com/2/oauth2/revoke'],
  },
  api: 'https://api.x.com',
  apiHosts: ['api.twitter.com'],
})
