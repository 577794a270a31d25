/**
 * The endpoints of the authorization server. Clients that read no metadata guess `/authorize`, `/token` and `/register`
 * at the root.
 */
export const PATHS = {
  metadata: '/.well-known/oauth-authorization-server',
  openidConfiguration: '/.well-known/openid-configuration',
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  jwks: '/jwks',
} as const

/** The page on which a user approves a client. */
export const CONSENT_PATH = '/consent'
/** The page on which users see and disconnect their clients. */
export const CLIENTS_PATH = '/me/clients'
