import { define } from './define.ts'

/** https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_oauth_web_server_flow.htm&type=5 */
export const salesforce = define({
  id: 'salesforce',
  displayName: 'Salesforce',
  authorize: 'https://login.salesforce.com/services/oauth2/authorize',
  token: 'https://login.salesforce.com/services/oauth2/token',
  pkce: 'S256',
  userInfo: 'https://login.salesforce.com/services/oauth2/userinfo',
  accountId: ['$.user_id', '$.sub'],
  accountName: ['$.preferred_username', '$.email'],
  introspect: 'https://login.salesforce.com/services/oauth2/introspect', // its answers say no expires_in
  revoke: 'https://login.salesforce.com/services/oauth2/revoke',
  offlineAccess: { scopes: ['refresh_token'] },
  apiHosts: ['*.my.salesforce.com'], // each org has its own below it: `instance_url` of the token answer
})
