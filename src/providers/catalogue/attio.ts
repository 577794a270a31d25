import { define } from './define.ts'

/** https://docs.attio.com/docs/oauth/authorize */
export const attio = define({
  id: 'attio',
  displayName: 'Attio',
  authorize: 'https://app.attio.com/authorize',
  token: 'https://app.attio.com/oauth/token',
  refresh: false, // its tokens do not expire
  pkce: 'S256',
  scopeParam: '', // the app's settings say which
  userInfo: 'https://api.attio.com/v2/self',
  accountId: ['$.authorized_by_workspace_member_id', '$.workspace_id'],
  accountName: ['$.workspace_name'],
  api: 'https://api.attio.com',
})
