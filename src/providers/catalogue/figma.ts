import { define } from './define.ts'

/** https://developers.figma.com/docs/rest-api/authentication/ */
export const figma = define({
  id: 'figma',
  displayName: 'Figma',
  authorize: 'https://www.figma.com/oauth',
  token: 'https://api.figma.com/v1/oauth/token', // its codes live 30 s
  refresh: 'https://api.figma.com/v1/oauth/refresh',
  pkce: 'none',
  clientAuthentication: 'client_secret_basic',
  scopeSeparator: ',',
  defaultScopes: ['current_user:read'],
  userInfo: 'https://api.figma.com/v1/me',
  accountId: ['$.id', '$.user_id_string'],
  accountName: ['$.email', '$.handle'],
  api: 'https://api.figma.com',
})
