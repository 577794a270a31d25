import { define } from './define.ts'

/** https://developers.zoom.us/docs/integrations/oauth/ */
export const zoom = define({
  id: 'zoom',
  displayName: 'Zoom',
  authorize: 'https://zoom.us/oauth/authorize',
  token: 'https://zoom.us/oauth/token',
  pkce: 'S256',
  clientAuthentication: 'client_secret_basic',
  userInfo: 'https://api.zoom.us/v2/users/me',
  accountId: ['$.id'],
  accountName: ['$.email'],
  revoke: 'https://zoom.us/oauth/revoke',
  api: 'https://api.zoom.us',
})
