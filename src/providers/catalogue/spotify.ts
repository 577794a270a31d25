import { define } from './define.ts'

/** https://developer.spotify.com/documentation/web-api/tutorials/code-flow */
export const spotify = define({
  id: 'spotify',
  displayName: 'Spotify',
  authorize: 'https://accounts.spotify.com/authorize', // refuses `localhost`: register 127.0.0.1
  token: 'https://accounts.spotify.com/api/token',
  pkce: 'S256',
  clientAuthentication: 'client_secret_basic',
  userInfo: 'https://api.spotify.com/v1/me',
  accountId: ['$.id'],
  accountName: ['$.email', '$.display_name'],
  api: 'https://api.spotify.com',
})
