import { define } from './define.ts'

/** https://developer.clickup.com/docs/authentication */
export const clickup = define({
  id: 'clickup',
  displayName: 'ClickUp',
  authorize: 'https://app.clickup.com/api',
  token: 'https://api.clickup.com/api/v2/oauth/token',
  refresh: false, // its tokens do not expire
  pkce: 'none',
  scopeParam: '', // the user picks workspaces instead
  tokenTypes: [''],
  userInfo: 'https://api.clickup.com/api/v2/user',
  accountId: ['$.user.id'],
  accountName: ['$.user.email', '$.user.username'],
  api: 'https://api.clickup.com/api',
})
