import { define } from './define.ts'

/** https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps */
export const github = define({
  id: 'github',
  displayName: 'GitHub',
  issuer: 'https://github.com/login/oauth', // sent as `iss`; not the origin of the endpoints
  authorize: 'https://github.com/login/oauth/authorize',
  token: 'https://github.com/login/oauth/access_token', // refuses with 200 and an `error` member
  pkce: 'S256',
  publicClients: false,
  // "normalized scopes": what another one includes is not listed
  scopeImplies: {
    repo: ['repo:status', 'repo_deployment', 'public_repo', 'repo:invite', 'security_events'],
    'admin:repo_hook': ['write:repo_hook', 'read:repo_hook'],
    'write:repo_hook': ['read:repo_hook'],
    'admin:org': ['write:org', 'read:org', 'manage_runners:org'],
    'write:org': ['read:org'],
    'admin:public_key': ['write:public_key', 'read:public_key'],
    'write:public_key': ['read:public_key'],
    'admin:gpg_key': ['write:gpg_key', 'read:gpg_key'],
    'write:gpg_key': ['read:gpg_key'],
    'admin:ssh_signing_key': ['write:ssh_signing_key', 'read:ssh_signing_key'],
    'write:ssh_signing_key': ['read:ssh_signing_key'],
    user: ['read:user', 'user:email', 'user:follow'],
    project: ['read:project'],
    'write:packages': ['read:packages'],
    'write:discussion': ['read:discussion'],
    'admin:enterprise': ['manage_runners:enterprise', 'manage_billing:enterprise', 'read:enterprise'],
    audit_log: ['read:audit_log'],
    codespace: ['codespace:secrets'],
    copilot: ['manage_billing:copilot'],
  },
  userInfo: 'https://api.github.com/user',
  accountId: ['$.id'],
  accountName: ['$.login'],
  api: 'https://api.github.com',
  apiHosts: ['uploads.github.com'],
})
