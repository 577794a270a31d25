import { define } from './define.ts'

/** https://github.com/reddit-archive/reddit/wiki/OAuth2 */
export const reddit = define({
  id: 'reddit',
  displayName: 'Reddit',
  authorize: 'https://www.reddit.com/api/v1/authorize',
  token: 'https://www.reddit.com/api/v1/access_token',
  pkce: 'none',
  clientAuthentication: 'client_secret_basic',
  defaultScopes: ['identity'],
  userInfo: 'https://oauth.reddit.com/api/v1/me',
  accountId: ['$.id'],
  accountName: ['$.name'],
  revoke: 'https://www.reddit.com/api/v1/revoke_token',
  offlineAccess: { params: { duration: 'permanent' } },
  api: 'https://oauth.reddit.com',
})
