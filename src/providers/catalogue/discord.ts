import { define } from './define.ts'

/** https://discord.com/developers/docs/topics/oauth2 */
export const discord = define({
  id: 'discord',
  displayName: 'Discord',
  authorize: 'https://discord.com/oauth2/authorize',
  token: 'https://discord.com/api/oauth2/token',
  pkce: 'S256',
  defaultScopes: ['identify'],
  userInfo: 'https://discord.com/api/users/@me',
  accountId: ['$.id'],
  accountName: ['$.username'],
  revoke: 'https://discord.com/api/oauth2/token/revoke',
  api: 'https://discord.com/api',
  otherEndpoints: { authorization: ['https://discord.com/api/oauth2/authorize'] },
})
