import { define } from './define.ts'

/** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
export const github = define({
  id: 'github',
  displayName: 'GitHub',
  issuer: 'https://github.com/login/oauth', // sent as `iss`; not the origin of the endpoints
  authorize: 'https://github.com/login/oauth/authorize',
  token: 'https://github.com/login/oauth/access_token', // refuses with 200 and an `error` member
  pkce: 'S256',
  userInfo: 'https://api.github.com/user',
  accountId: ['$.id'],
  accountName: ['$.login'],
  api: 'https://api.github.com',
  apiHosts: ['uploads.github.com'],
})
