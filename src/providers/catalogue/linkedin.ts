import { define } from './define.ts'

/** https://learn.microsoft.com/en-us/linkedin/shared/authentication/authorization-code-flow */
export const linkedin = define({
  id: 'linkedin',
  displayName: 'LinkedIn',
  authorize: 'https://www.linkedin.com/oauth/v2/authorization',
  token: 'https://www.linkedin.com/oauth/v2/accessToken',
  pkce: 'none', // a code verifier makes it refuse
  defaultScopes: ['openid', 'profile', 'email'],
  userInfo: 'https://api.linkedin.com/v2/userinfo',
  accountId: ['$.sub'],
  accountName: ['$.email', '$.name'],
  api: 'https://api.linkedin.com',
})
