import { define } from './define.ts'

/** https://developers.dropbox.com/oauth-guide */
export const dropbox = define({
  id: 'dropbox',
  displayName: 'Dropbox',
  authorize: 'https://www.dropbox.com/oauth2/authorize',
  token: 'https://api.dropboxapi.com/oauth2/token',
  pkce: 'S256',
  accountId: ['$.account_id'], // in the token answer; its user API takes no form body
  accountName: [],
  offlineAccess: { params: { token_access_type: 'offline' } },
  otherEndpoints: { token: ['https://api.dropbox.com/oauth2/token'] },
  api: 'https://api.dropboxapi.com',
  apiHosts: ['content.dropboxapi.com'],
})
