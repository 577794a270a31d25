import { define } from './define.ts'

/** https://developers.hubspot.com/docs/api-reference/legacy/authentication/oauth-tokens/v1/migration-guide */
export const hubspot = define({
  id: 'hubspot',
  displayName: 'HubSpot',
  authorize: 'https://app.hubspot.com/oauth/authorize',
  token: 'https://api.hubapi.com/oauth/2026-03/token', // /oauth/v1/token ends on 2027-02-16
  pkce: 'S256',
  defaultScopes: ['oauth'],
  accountId: ['$.user_id', '$.hub_id'], // in the token answer
  accountName: ['$.user', '$.hub_domain'],
  otherEndpoints: {
    authorization: ['https://app-eu1.hubspot.com/oauth/authorize'],
    token: ['https://api.hubapi.com/oauth/v1/token'],
  },
  api: 'https://api.hubapi.com',
})
