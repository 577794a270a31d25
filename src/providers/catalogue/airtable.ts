import { define } from './define.ts'

/** https://airtable.com/developers/web/api/oauth-reference */
export const airtable = define({
  id: 'airtable',
  displayName: 'Airtable',
  authorize: 'https://airtable.com/oauth2/v1/authorize',
  token: 'https://airtable.com/oauth2/v1/token',
  pkce: 'S256',
  clientAuthentication: 'client_secret_basic',
  userInfo: 'https://api.airtable.com/v0/meta/whoami',
  accountId: ['$.id'],
  accountName: ['$.email', '$.id'],
  api: 'https://api.airtable.com',
  otherEndpoints: {
    authorization: ['https://www.airtable.com/oauth2/v1/authorize'],
    token: ['https://www.airtable.com/oauth2/v1/token'],
  },
})
