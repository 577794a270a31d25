import { define, JSON_TYPE } from './define.ts'

/** https://developers.notion.com/docs/authorization */
export const notion = define({
  id: 'notion',
  displayName: 'Notion',
  authorize: 'https://api.notion.com/v1/oauth/authorize',
  token: 'https://api.notion.com/v1/oauth/token',
  pkce: 'none',
  clientAuthentication: 'client_secret_basic',
  contentType: JSON_TYPE,
  scopeParam: '', // the integration's settings say which
  authorizeParams: { owner: 'user' },
  accountId: ['$.owner.user.id', '$.bot_id'], // in the token answer; its API wants a version header
  accountName: ['$.owner.user.person.email', '$.owner.user.name', '$.workspace_name'],
  revoke: 'https://api.notion.com/v1/oauth/revoke',
  api: 'https://api.notion.com',
})
