/** A group of pages. `OUTLINE` has what a newcomer does first, then tasks, then reference. */
export interface Section {
  readonly title: string
  /** `task`: a reader follows its pages step by step. `reference`: a reader looks things up there. */
  readonly kind: 'task' | 'reference'
  /** Markdown files by their path in the repository, with what a reader finds there. */
  readonly pages: Readonly<Record<string, string>>
}

export const OUTLINE: readonly Section[] = [
  {
    title: 'Begin',
    kind: 'task',
    pages: {
      'docs/start.md': 'From nothing to an agent that uses a tool with a user’s account.',
      'README.md': 'What Gatepass does, how it runs, and what it follows.',
    },
  },
  {
    title: 'Build applications',
    kind: 'task',
    pages: {
      'docs/sdk.md': 'The client for applications: users, consent, tools, requests to APIs.',
      'docs/agents.md': 'Tools for your model in the frameworks for agents, each with an example that runs.',
      'docs/proxy.md': 'Call a provider’s API; Gatepass adds the token, and you never hold it.',
      'docs/code.md': 'Let a model write code that calls tools, in a sandbox.',
      'docs/embedding.md': 'A Connect button in your own page, which learns the result.',
      'docs/branding.md': 'Your name, logo, colours and words on the pages that users see.',
      'docs/own-domain.md': 'A host name of your own for the pages that users see.',
      'docs/portal.md': 'Your users see, disconnect and reconnect their accounts at /me.',
      'docs/webhooks.md': 'Signed events about what has changed, sent to your application.',
      'docs/explain.md': 'Why a consent failed or a connection does not work, step by step.',
    },
  },
  {
    title: 'Bring tools',
    kind: 'task',
    pages: {
      'docs/writing-tools.md': 'Tools of your own: in Gatepass’s process, as a worker, or over MCP.',
      'docs/tool-metadata.md': 'Import tools by their metadata, with the providers that they need.',
      'docs/http-tools.md': 'Make tools of an OpenAPI document, or of single requests.',
      'docs/mcp-servers.md': 'Use the tools of remote MCP servers, also of those that want OAuth themselves.',
      'docs/oxp.md': 'Servers and clients of the Open eXecution Protocol.',
      'docs/tools-over-mcp.md': 'Serve tools of the SDK over MCP, with or without Gatepass.',
    },
  },
  {
    title: 'Serve MCP clients',
    kind: 'task',
    pages: {
      'docs/mcp.md': 'Give Claude, ChatGPT, Cursor and other clients the tools of a project.',
      'docs/mcp-login.md': 'How users of MCP clients log in, and which clients may ask.',
      'docs/toolsets.md': 'Select which tools a client gets.',
    },
  },
  {
    title: 'Connect providers',
    kind: 'task',
    pages: {
      'docs/providers.md': 'The catalogue, definitions of your own, and all of their members.',
      'docs/policies.md': 'Rules on who may use which users’ tokens for what.',
    },
  },
  {
    title: 'Operate',
    kind: 'task',
    pages: {
      'docs/deploy.md': 'Containers, Kubernetes or a Linux service, step by step.',
      'docs/operation.md': 'Run it, watch it, end it: health, logs, metrics, alerts.',
      'docs/console.md': 'The operator’s pages at /dashboard.',
      'docs/observability.md': 'Traces and metrics by OpenTelemetry.',
      'docs/backup.md': 'Back up beside a running server, restore after losing the machine, move.',
      'docs/keys.md': 'What the master key seals, and how to change it without a failed request.',
      'docs/audit.md': 'A record of every release of a token: read, export, verify, archive it.',
      'docs/upgrade.md': 'Move to a newer release, and back.',
      'docs/moving.md': 'Bring connections from another product or installation.',
    },
  },
  {
    title: 'Look up',
    kind: 'reference',
    pages: {
      'docs/wire.md': 'Every kind of request and answer, as examples.',
      'docs/settings.md': 'Every variable, the verifier, PostgreSQL, the commands.',
      'CHANGELOG.md': 'What changed, and what to do about it.',
    },
  },
  {
    title: 'Understand',
    kind: 'reference',
    pages: {
      'docs/security.md':
        'What is promised and what is not; every threat, and the test that shows how it is met.',
      'SECURITY.md': 'Report a vulnerability; supported versions; a hardening list.',
      'docs/reliability.md': 'How the tests try to make Gatepass lose data, and what it lost.',
      'docs/scaling.md': 'Many nodes, what grows, and which limits come first.',
      'docs/performance.md': 'Measured figures, and the command that made them.',
      'CONTRIBUTING.md': 'How the sources are laid out, and how a change is made.',
    },
  },
]

/** The files of the outline, in its order. */
export const LISTED: readonly string[] = OUTLINE.flatMap(({ pages }) => Object.keys(pages))
