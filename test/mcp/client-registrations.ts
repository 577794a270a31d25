/** How an MCP client registers at an authorization server, and the metadata that it publishes or sends. */
export interface ClientRegistration {
  readonly client: string
  /** A client ID metadata document, or dynamic registration (RFC 7591). */
  readonly by: 'document' | 'registration'
  readonly metadata: Readonly<Record<string, unknown>>
  /** The redirect URI of its authorization requests. */
  readonly redirectUri: string
  /** The origin of the page that runs it, for a client in a browser. */
  readonly origin?: string
  readonly signsAssertions?: boolean
}

const CODE = { response_types: ['code'] }
const REFRESHED = { ...CODE, grant_types: ['authorization_code', 'refresh_token'] }
const PUBLIC = { token_endpoint_auth_method: 'none' }

const CLAUDE_URIS = ['https://claude.ai/api/mcp/auth_callback', 'https://claude.com/api/mcp/auth_callback']
const CLAUDE_CODE = {
  client_name: 'Claude Code',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  ...REFRESHED,
  ...PUBLIC,
}
const VS_CODE = {
  client_name: 'Visual Studio Code',
  client_uri: 'https://code.visualstudio.com',
  redirect_uris: [
    'https://insiders.vscode.dev/redirect',
    'https://vscode.dev/redirect',
    'http://127.0.0.1/',
    'http://127.0.0.1:33418/',
  ],
  ...CODE,
  grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  ...PUBLIC,
}

/** Registrations of real clients, observed in 2026. */
export const REGISTRATIONS: readonly ClientRegistration[] = [
  {
    client: 'Claude',
    by: 'document',
    metadata: { client_name: 'Claude', redirect_uris: CLAUDE_URIS, ...REFRESHED, ...PUBLIC },
    redirectUri: 'https://claude.com/api/mcp/auth_callback',
  },
  {
    client: 'Claude',
    by: 'registration',
    metadata: {
      client_name: 'Claude',
      redirect_uris: CLAUDE_URIS.slice(0, 1),
      ...REFRESHED,
      ...PUBLIC,
      scope: 'claudeai',
    },
    redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  },
  {
    client: 'Claude Code',
    by: 'document',
    metadata: CLAUDE_CODE,
    redirectUri: 'http://localhost:54212/callback',
  },
  {
    client: 'Claude Code',
    by: 'registration',
    metadata: { ...CLAUDE_CODE, redirect_uris: ['http://localhost:54213/callback'] },
    redirectUri: 'http://localhost:54213/callback',
  },
  {
    client: 'ChatGPT',
    by: 'document',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/aB3dE5fG7'],
      ...REFRESHED,
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'RS256',
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/aB3dE5fG7',
    signsAssertions: true,
  },
  {
    client: 'ChatGPT',
    by: 'registration',
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/hI9jK1lM3'],
      ...REFRESHED,
      token_endpoint_auth_method: 'client_secret_post',
    },
    redirectUri: 'https://chatgpt.com/connector/oauth/hI9jK1lM3',
  },
  {
    client: 'Cursor',
    by: 'registration',
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      ...REFRESHED,
      ...PUBLIC,
    },
    redirectUri: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  { client: 'VS Code', by: 'document', metadata: VS_CODE, redirectUri: 'http://127.0.0.1:49152/' },
  {
    client: 'VS Code',
    by: 'registration',
    metadata: { ...VS_CODE, application_type: 'native', scope: 'mcp' },
    redirectUri: 'https://vscode.dev/redirect',
  },
  {
    client: 'OpenCode',
    by: 'registration',
    metadata: {
      client_name: 'OpenCode',
      client_uri: 'https://opencode.ai',
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      ...REFRESHED,
      ...PUBLIC,
    },
    redirectUri: 'http://127.0.0.1:19876/mcp/oauth/callback',
  },
  {
    client: 'Goose',
    by: 'registration',
    metadata: {
      client_name: 'goose',
      redirect_uris: ['http://localhost:53682/oauth_callback'],
      ...REFRESHED,
      ...PUBLIC,
    },
    redirectUri: 'http://localhost:53682/oauth_callback',
  },
  {
    client: 'Inspector',
    by: 'registration',
    metadata: {
      client_name: 'MCP Inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      ...REFRESHED,
      ...PUBLIC,
      scope: 'mcp',
    },
    redirectUri: 'http://localhost:6274/oauth/callback',
    origin: 'http://localhost:6274',
  },
]
