import { define } from './define.ts'

/** https://developer.pagerduty.com/docs/oauth-functionality */
export const pagerduty = define({
  id: 'pagerduty',
  displayName: 'PagerDuty',
  authorize: 'https://identity.pagerduty.com/oauth/authorize',
  token: 'https://identity.pagerduty.com/oauth/token',
  pkce: 'S256',
  userInfo: 'https://api.pagerduty.com/users/me',
  accountId: ['$.user.id'],
  accountName: ['$.user.email', '$.user.name'],
  otherEndpoints: {
    authorization: ['https://app.pagerduty.com/oauth/authorize'],
    token: ['https://app.pagerduty.com/oauth/token'],
  },
  api: 'https://api.pagerduty.com',
})
