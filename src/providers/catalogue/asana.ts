import { define } from './define.ts'

/** https://developers.asana.com/docs/oauth */
export const asana = define({
  id: 'asana',
  displayName: 'Asana',
  authorize: 'https://app.asana.com/-/oauth_authorize',
  token: 'https://app.asana.com/-/oauth_token',
  pkce: 'S256',
  defaultScopes: ['default'],
  userInfo: 'https://app.asana.com/api/1.0/users/me',
  accountId: ['$.data.gid'],
  accountName: ['$.data.email', '$.data.name'],
  revoke: 'https://app.asana.com/-/oauth_revoke',
  api: 'https://app.asana.com/api/1.0',
})
