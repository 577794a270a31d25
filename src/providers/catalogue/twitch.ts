import { define } from './define.ts'

/** https://dev.twitch.tv/docs/authentication/getting-tokens-oauth/ */
export const twitch = define({
  id: 'twitch',
  displayName: 'Twitch',
  authorize: 'https://id.twitch.tv/oauth2/authorize',
  token: 'https://id.twitch.tv/oauth2/token',
  pkce: 'none',
  responseMap: { scope: "join('$.scope', ' ')" }, // an array
  refreshResponseMap: { scope: "join('$.scope', ' ')" },
  tokenTypes: [''],
  // its user API wants a Client-Id header; this tells who the token is for
  userInfo: {
    endpoint: 'https://id.twitch.tv/oauth2/validate',
    authHeaderValueFormat: 'OAuth {{access_token}}',
  },
  accountId: ['$.user_id'],
  accountName: ['$.login'],
  revoke: {
    endpoint: 'https://id.twitch.tv/oauth2/revoke',
    authMethod: 'none',
    params: { client_id: '{{client_id}}' },
  },
  api: 'https://api.twitch.tv',
})
