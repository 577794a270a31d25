import { define, JSON_TYPE } from './define.ts'

/** https://developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps/ */
export const atlassian = define({
  id: 'atlassian',
  displayName: 'Atlassian',
  authorize: 'https://auth.atlassian.com/authorize',
  token: 'https://auth.atlassian.com/oauth/token', // refuses a spent refresh token with 403 invalid_grant
  pkce: 'S256',
  contentType: JSON_TYPE,
  authorizeParams: { audience: 'api.atlassian.com', prompt: 'consent' },
  userInfo: 'https://api.atlassian.com/me', // wants read:me
  accountId: ['$.account_id'],
  accountName: ['$.email', '$.name'],
  offlineAccess: { scopes: ['offline_access'] },
  api: 'https://api.atlassian.com',
})
