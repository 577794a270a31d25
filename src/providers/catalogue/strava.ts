import { define } from './define.ts'

/** https://developers.strava.com/docs/authentication/ */
export const strava = define({
  id: 'strava',
  displayName: 'Strava',
  authorize: 'https://www.strava.com/oauth/authorize',
  token: 'https://www.strava.com/oauth/token',
  pkce: 'S256',
  publicClients: false,
  scopeSeparator: ',',
  callbackTellsScopes: true, // the athlete may untick some; the token answer does not say which
  defaultScopes: ['read'],
  userInfo: 'https://www.strava.com/api/v3/athlete',
  accountId: ['$.id', '$.athlete.id'],
  accountName: ['$.username', '$.firstname', '$.athlete.username'],
  revoke: { endpoint: 'https://www.strava.com/oauth/deauthorize', authMethod: 'bearer_access_token' },
  api: 'https://www.strava.com/api/v3',
  otherEndpoints: {
    authorization: ['https://www.strava.com/api/v3/oauth/authorize'],
    token: ['https://www.strava.com/api/v3/oauth/token'],
  },
})
