import { define } from './define.ts'

/** https://docs.slack.dev/authentication/installing-with-oauth (user tokens) */
export const slack = define({
  id: 'slack',
  displayName: 'Slack',
  authorize: 'https://slack.com/oauth/v2/authorize',
  token: 'https://slack.com/api/oauth.v2.access',
  pkce: 'none',
  scopeSeparator: ',',
  scopeParam: 'user_scope', // `scope` asks for a bot's
  responseMap: {
    access_token: '$.authed_user.access_token',
    refresh_token: '$.authed_user.refresh_token',
    expires_in: '$.authed_user.expires_in',
    scope: '$.authed_user.scope',
    token_type: '$.authed_user.token_type',
  },
  tokenTypes: ['user', 'bot'],
  userInfo: { endpoint: 'https://slack.com/api/auth.test', method: 'POST' }, // needs no scope
  accountId: ['$.user_id'],
  accountName: ['$.user'],
  revoke: { endpoint: 'https://slack.com/api/auth.revoke', authMethod: 'bearer_access_token' },
  api: 'https://slack.com/api',
  apiHosts: ['files.slack.com'],
})
