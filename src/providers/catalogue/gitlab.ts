import { define } from './define.ts'

/** https://docs.gitlab.com/api/oauth2/ */
export const gitlab = define({
  id: 'gitlab',
  displayName: 'GitLab',
  authorize: 'https://gitlab.com/oauth/authorize',
  token: 'https://gitlab.com/oauth/token',
  pkce: 'S256',
  defaultScopes: ['read_user'],
  userInfo: 'https://gitlab.com/api/v4/user',
  accountId: ['$.id'],
  accountName: ['$.username'],
  revoke: 'https://gitlab.com/oauth/revoke',
  api: 'https://gitlab.com/api',
})
