// The steps that add this server to each MCP client. They were read on the client's `source` page in November 2026; the
// commands of Claude Code 2.1.197, OpenCode 1.18.33, Codex 0.169.0 and MCP Inspector 2.12.0 were run.

/** The address that a client is given, and the name of the server there. */
export interface McpTarget {
  readonly url: string
  /** At most 9 characters: clients write `mcp__<name>__<tool>`, a tool's name has up to 48, and model APIs take 64. */
  readonly name: string
}

export interface McpClient {
  readonly id: string
  readonly name: string
  /** The page of the client's maker that describes these steps. */
  readonly source: string
  /** The steps for a user who signs in in the browser. */
  readonly signIn: (target: McpTarget) => readonly SetupStep[]
  /** The steps for an API key of one user. Absent: the client takes no key. */
  readonly apiKey?: (target: McpTarget) => readonly SetupStep[]
}

/** One step: a sentence, with a text to paste or a link to open. */
export interface SetupStep {
  readonly text: string
  readonly paste?: string
  /** Opens the client with the server filled in. */
  readonly link?: { readonly label: string; readonly href: string }
}

/** The environment variable with the API key. */
export const KEY_VARIABLE = 'GATEPASS_API_KEY'

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    id: 'claude',
    name: 'Claude',
    source:
      'https://support.claude.com/en/articles/11175166-get-started-with-custom-connectors-using-remote-mcp',
    signIn: ({ url }) => [
      {
        text: 'Open the connectors, press +, choose “Add custom connector” and paste the address. For a team, an owner adds it in the organization settings first.',
        paste: url,
        link: { label: 'Open the connectors of Claude', href: 'https://claude.ai/customize/connectors' },
      },
      {
        text: 'Press “Connect” and sign in. Claude reaches the address from the internet, so it must be public.',
      },
    ],
  },
  {
    id: 'claude-code',
    name: 'Claude Code',
    source: 'https://code.claude.com/docs/en/mcp',
    signIn: ({ url, name }) => [
      { text: 'Run:', paste: `claude mcp add --transport http ${name} ${url}` },
      { text: `In Claude Code, type /mcp, choose ${name} and sign in.` },
    ],
    apiKey: ({ url, name }) => [
      {
        text: 'Put this into .mcp.json in the project, and approve the server when Claude Code asks:',
        paste: json({
          mcpServers: {
            [name]: { type: 'http', url, headers: { Authorization: `Bearer \${${KEY_VARIABLE}}` } },
          },
        }),
      },
    ],
  },
  {
    id: 'chatgpt',
    name: 'ChatGPT',
    source: 'https://developers.openai.com/apps-sdk/deploy/connect-chatgpt',
    signIn: ({ url }) => [
      { text: 'In the settings, open “Apps”, then “Advanced settings”, and switch the developer mode on.' },
      { text: 'Press “Create app”, paste the address as MCP server URL, and choose OAuth.', paste: url },
      { text: 'Create it and sign in. ChatGPT reaches the address from the internet, so it must be public.' },
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    source: 'https://cursor.com/docs/mcp',
    signIn: ({ url, name }) => [
      {
        text: 'Open the link, or put this into ~/.cursor/mcp.json:',
        paste: json({ mcpServers: { [name]: { url } } }),
        link: {
          label: 'Add to Cursor',
          href: `cursor://anysphere.cursor-deeplink/mcp/install?name=${name}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`,
        },
      },
      { text: 'In the MCP settings of Cursor, press “Connect” and sign in.' },
    ],
    apiKey: ({ url, name }) => [
      {
        text: 'Put this into ~/.cursor/mcp.json:',
        paste: json({
          mcpServers: { [name]: { url, headers: { Authorization: `Bearer \${env:${KEY_VARIABLE}}` } } },
        }),
      },
    ],
  },
  {
    id: 'vscode',
    name: 'VS Code',
    source: 'https://code.visualstudio.com/docs/copilot/reference/mcp-configuration',
    signIn: ({ url, name }) => [
      {
        text: 'Open the link, or run:',
        paste: `code --add-mcp '${JSON.stringify({ name, type: 'http', url })}'`,
        link: {
          label: 'Add to VS Code',
          href: `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name, type: 'http', url }))}`,
        },
      },
      { text: 'Start the server in VS Code and sign in.' },
    ],
    apiKey: ({ url, name }) => [
      {
        text: 'Put this into .vscode/mcp.json. VS Code asks for the key and keeps it:',
        paste: json({
          servers: {
            [name]: { type: 'http', url, headers: { Authorization: `Bearer \${input:${name}-key}` } },
          },
          inputs: [
            { type: 'promptString', id: `${name}-key`, description: 'API key of Gatepass', password: true },
          ],
        }),
      },
    ],
  },
  {
    id: 'opencode',
    name: 'OpenCode',
    source: 'https://opencode.ai/v2/docs/mcp-servers',
    signIn: ({ url, name }) => [
      {
        text: 'Run, and sign in in the browser:',
        paste: `opencode mcp add ${name} --url ${url}\nopencode mcp auth ${name}`,
      },
    ],
    apiKey: ({ url, name }) => [
      {
        text: 'Run. OpenCode reads the key from the variable when it starts:',
        paste: `opencode mcp add ${name} --url ${url} --header 'Authorization=Bearer {env:${KEY_VARIABLE}}'`,
      },
    ],
  },
  {
    id: 'codex',
    name: 'Codex',
    source: 'https://developers.openai.com/codex/mcp',
    signIn: ({ url, name }) => [
      { text: 'Run, and sign in in the browser:', paste: `codex mcp add ${name} --url ${url}` },
      { text: 'If Codex opened no browser, run:', paste: `codex mcp login ${name}` },
    ],
    apiKey: ({ url, name }) => [
      {
        text: 'Run. Codex reads the key from the variable when it starts:',
        paste: `codex mcp add ${name} --url ${url} --bearer-token-env-var ${KEY_VARIABLE}`,
      },
    ],
  },
  {
    id: 'goose',
    name: 'Goose',
    source: 'https://goose-docs.ai/docs/guides/config-files',
    signIn: (target) => [
      { text: 'Put this into ~/.config/goose/config.yaml:', paste: gooseExtension(target, []) },
      { text: 'Goose opens the browser to sign in when it starts the extension.' },
    ],
    apiKey: (target) => [
      {
        text: 'Put this into ~/.config/goose/config.yaml. The key may be in the environment or in the keyring of Goose:',
        paste: gooseExtension(target, [KEY_VARIABLE]),
      },
    ],
  },
  {
    id: 'inspector',
    name: 'MCP Inspector',
    source: 'https://github.com/modelcontextprotocol/inspector/blob/main/docs/mcp-server-configuration.md',
    signIn: ({ url }) => [
      {
        text: 'Run, open the link that it prints, and connect:',
        paste: `npx @modelcontextprotocol/inspector --transport http --server-url ${url}`,
      },
    ],
    apiKey: ({ url }) => [
      {
        text: 'Run:',
        paste: `npx @modelcontextprotocol/inspector --transport http --server-url ${url} --header "Authorization: Bearer $${KEY_VARIABLE}"`,
      },
    ],
  },
]

const MAX_NAME = 9

/** The address of the project's tools, or of one toolset. */
export function mcpTarget(publicUrl: URL | string, toolsetId?: string): McpTarget {
  const path = toolsetId === undefined ? '/mcp' : `/mcp/${toolsetId}`
  const name = toolsetId?.slice(0, MAX_NAME).replace(/^-+|-+$/g, '')
  return { url: new URL(path, publicUrl).href, name: name || 'gatepass' }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function gooseExtension({ url, name }: McpTarget, keys: readonly string[]): string {
  const headers = keys.map((key) => `\n      Authorization: Bearer \${${key}}`).join('')
  return `extensions:
  ${name}:
    type: streamable_http
    name: ${name}
    enabled: true
    uri: ${url}
    headers:${headers || ' {}'}
    env_keys: [${keys.join(', ')}]
    envs: {}
    timeout: 300`
}
