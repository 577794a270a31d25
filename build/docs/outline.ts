/** What a page is for. The search ranks pages by it, in this order. */
export const KINDS = ['start', 'guide', 'operate', 'reference', 'evidence', 'project'] as const
export type Kind = (typeof KINDS)[number]

/** A group of pages, which a menu lists. `OUTLINE` has what a newcomer does first, then tasks, then reference. */
export interface Section {
  readonly title: string
  readonly kind: Kind
  /** Markdown files by their path in the repository. */
  readonly pages: Readonly<Record<string, PageEntry>>
}

export interface PageEntry {
  /** What a reader finds on the page. */
  readonly summary: string
  /** What readers type who do not know the words of the page. */
  readonly keywords?: string
}

export const OUTLINE: readonly Section[] = [
  {
    title: 'Start',
    kind: 'start',
    pages: {
      'docs/start/agent-builder.md': {
        summary: 'You build an agent: its model calls a tool with a user’s account.',
        keywords: 'quickstart getting started tutorial install begin first try llm model npm',
      },
      'docs/start/application-developer.md': {
        summary: 'You build an application: its users connect accounts, and you call their APIs.',
        keywords: 'quickstart web app backend oauth button',
      },
      'docs/start/tool-author.md': {
        summary: 'You write a tool: it is given the user’s token when it is called.',
        keywords: 'quickstart write own tool typescript scopes token test locally',
      },
      'docs/start/mcp-user.md': {
        summary: 'You use an MCP client: Claude, ChatGPT, Cursor or VS Code gets the tools.',
        keywords: 'quickstart mcp claude desktop chatgpt cursor vscode connect client url',
      },
      'docs/start/python.md': {
        summary: 'You write Python: run a tool for a user, and call a provider’s API.',
        keywords:
          'quickstart python pip arcadepy httpx requests urllib async asyncio fastapi django flask exception',
      },
      'docs/start/operator.md': {
        summary: 'You run it: production mode, a key for an application, a backup.',
        keywords: 'quickstart production self-host serve',
      },
      'docs/start/security-reviewer.md': {
        summary: 'You review its security: promises, four things to try, and the evidence.',
        keywords: 'quickstart audit review assessment pentest threat model',
      },
      'docs/start/coming-from.md': {
        summary: 'You come from Arcade, Nango, Shinkai or OXP: what is the same, and how you move.',
        keywords: 'arcade nango shinkai oxp migrate switch replace alternative compare composio',
      },
      'README.md': { summary: 'What Gatepass does, and which page to read.' },
    },
  },
  {
    title: 'Build applications',
    kind: 'guide',
    pages: {
      'docs/guides/agents.md': {
        summary: 'Tools for your model in the frameworks for agents, each with an example that runs.',
        keywords:
          'langchain langgraph vercel ai sdk openai anthropic framework function calling show consent link wait user approve',
      },
      'docs/guides/proxy.md': {
        summary: 'Call a provider’s API; Gatepass adds the token, and you never hold it.',
        keywords: 'call api without seeing the token request inject hide',
      },
      'docs/guides/code.md': {
        summary: 'Let a model write code that calls tools, in a sandbox.',
        keywords: 'code mode execute model written code sandbox',
      },
      'docs/guides/embedding.md': {
        summary: 'A Connect button in your own page, which learns the result.',
        keywords: 'connect button popup iframe react vue frontend element',
      },
      'docs/guides/branding.md': {
        summary: 'Your name, logo, colours and words on the pages that users see.',
        keywords: 'logo colours theme white label language translation customize',
      },
      'docs/guides/own-domain.md': {
        summary: 'A host name of your own for the pages that users see.',
        keywords: 'custom domain host name vanity dns certificate',
      },
      'docs/guides/portal.md': {
        summary: 'Your users see, disconnect and reconnect their accounts at /me.',
        keywords: 'disconnect account connected accounts sign out logout revoke delete my data gdpr',
      },
      'docs/guides/webhooks.md': {
        summary: 'Signed events about what has changed, sent to your application.',
        keywords:
          'webhook signature verify events notification standard webhooks retry notify when a user connects disconnects account',
      },
      'docs/guides/explain.md': {
        summary: 'Why a consent failed or a connection does not work, step by step.',
        keywords: 'troubleshoot debug error failed consent does not work why',
      },
    },
  },
  {
    title: 'Connect providers',
    kind: 'guide',
    pages: {
      'docs/guides/github.md': {
        summary: 'A real provider step by step: register a client, connect, use the token.',
        keywords: 'github oauth app client id secret register redirect uri first provider',
      },
      'docs/guides/providers.md': {
        summary: 'Take a provider of the catalogue, and give it your client.',
        keywords: 'add provider slack google catalogue integration client id',
      },
      'docs/guides/grants.md': {
        summary: 'Tokens without a user’s code: client credentials, and connections that a project shares.',
        keywords:
          'client credentials machine to machine service account m2m grant shared connection organisation owner project',
      },
      'docs/guides/credentials.md': {
        summary: 'Services without OAuth: users type a key or a password on our page.',
        keywords:
          'api key apikey basic password credentials form secret freshdesk header query login session token no oauth',
      },
      'docs/guides/approvals.md': {
        summary: 'A person sees what a tool would do, and approves it before it runs.',
        keywords: 'approve human in the loop confirmation dangerous destructive hold deny four eyes approver',
      },
      'docs/guides/policies.md': {
        summary: 'Rules on who may use which users’ tokens for what.',
        keywords: 'who may use permissions access rules allow deny rate limit authorization',
      },
    },
  },
  {
    title: 'Bring tools',
    kind: 'guide',
    pages: {
      'docs/guides/tools.md': {
        summary: 'Where tools come from, and the ways to run them.',
        keywords: 'execute run chain schedule later row kinds of workers catalogue',
      },
      'docs/guides/writing-tools.md': {
        summary: 'Tools of your own: in Gatepass’s process, as a worker, or over MCP.',
        keywords:
          'own tool handler secrets progress several providers input schema errors questions to the user scopes api key return image file test',
      },
      'docs/guides/tool-metadata.md': {
        summary: 'Import tools by their metadata, with the providers that they need.',
        keywords: 'import shinkai json oauth entries',
      },
      'docs/guides/http-tools.md': {
        summary: 'Make tools of an OpenAPI document, or of single requests.',
        keywords: 'openapi swagger spec rest api as tools',
      },
      'docs/guides/tool-packs.md': {
        summary: 'Ready-made tools of 36 services: Gmail, Slack, GitHub, and others.',
        keywords:
          'packs ready-made gmail calendar drive slack github jira notion stripe add tools of a service',
      },
      'docs/guides/mcp-servers.md': {
        summary: 'Use the tools of remote MCP servers, also of those that want OAuth themselves.',
        keywords: 'remote mcp server upstream add oauth',
      },
      'docs/guides/oxp.md': {
        summary: 'Servers and clients of the Open eXecution Protocol.',
        keywords: 'oxp server client open execution protocol',
      },
      'docs/guides/tools-over-mcp.md': {
        summary: 'Serve tools of the SDK over MCP, with or without Gatepass.',
        keywords: 'serve own tools as mcp server stdio',
      },
    },
  },
  {
    title: 'Serve MCP clients',
    kind: 'guide',
    pages: {
      'docs/guides/mcp.md': {
        summary: 'Give Claude, ChatGPT, Cursor and other clients the tools of a project.',
        keywords: 'claude chatgpt cursor vscode connector elicitation streamable http endpoint',
      },
      'docs/guides/mcp-login.md': {
        summary: 'How users of MCP clients log in, and which clients may ask.',
        keywords: 'mcp login sign in clients allowed dynamic registration authorization server',
      },
      'docs/guides/toolsets.md': {
        summary: 'Select which tools a client gets.',
        keywords: 'toolset select some tools subset filter client',
      },
    },
  },
  {
    title: 'Operate',
    kind: 'operate',
    pages: {
      'docs/operate/deploy.md': {
        summary: 'Run it in Docker, on Kubernetes or as a Linux service, step by step.',
        keywords: 'docker compose image kubernetes helm chart systemd install linux',
      },
      'docs/operate/operation.md': {
        summary: 'Run it, watch it, end it: health, logs, metrics, alerts.',
        keywords: 'prometheus metrics health readiness logs monitoring alerts shutdown processes',
      },
      'docs/operate/console.md': {
        summary: 'The operator’s pages at /dashboard.',
        keywords: 'dashboard admin ui operator login',
      },
      'docs/operate/observability.md': {
        summary: 'Traces and metrics by OpenTelemetry.',
        keywords: 'opentelemetry otel traces tracing spans collector',
      },
      'docs/operate/backup.md': {
        summary: 'Back up beside a running server, restore after losing the machine, move.',
        keywords: 'backup restore disaster recovery snapshot',
      },
      'docs/operate/keys.md': {
        summary: 'What the master key seals, and how to change it without a failed request.',
        keywords: 'rotate master key api key leaked encryption kms',
      },
      'docs/operate/audit.md': {
        summary: 'A record of every release of a token: read, export, verify, archive it.',
        keywords: 'audit log trail export verify siem archive retention',
      },
      'docs/operate/scaling.md': {
        summary: 'Many nodes, what grows, and which limits come first.',
        keywords: 'several nodes cluster high availability replicas postgresql failover partitions limits',
      },
      'docs/operate/upgrade.md': {
        summary: 'Move to a newer release, and back.',
        keywords: 'upgrade new version release downgrade',
      },
      'docs/operate/moving.md': {
        summary: 'Bring connections from another product or installation.',
        keywords: 'migrate nango import connections csv export another installation refresh tokens',
      },
    },
  },
  {
    title: 'Look up',
    kind: 'reference',
    pages: {
      'docs/reference/sdk.md': {
        summary: 'The client for applications: users, consent, tools, requests to APIs.',
        keywords: 'typescript javascript client library npm package node',
      },
      'docs/reference/wire.md': {
        summary: 'Every kind of request and answer, as examples.',
        keywords: 'rest http api curl endpoints requests answers json openapi.json errors',
      },
      'docs/reference/settings.md': {
        summary: 'Every variable, the verifier, PostgreSQL, the commands.',
        keywords:
          'environment variables configuration options verifier postgresql commands exit codes who is the user identity',
      },
      'docs/reference/tool-packs.md': {
        summary: 'Every member of a tool pack, and how you make and check one of your own.',
        keywords: 'own pack format json schema tool definition openapi google discovery init check author',
      },
      'docs/reference/provider-definitions.md': {
        summary: 'All members of a provider’s definition, and definitions in files.',
        keywords: 'define own provider custom oauth yaml json members import providers.yaml',
      },
      'docs/reference/security.md': {
        summary: 'What Gatepass promises, and what it does not.',
        keywords:
          'promises guarantees limits trust encryption at rest tokens stored encrypted stolen database leak attacks csrf',
      },
      'SECURITY.md': {
        summary: 'Report a vulnerability; supported versions; a hardening list.',
        keywords: 'report vulnerability disclosure hardening checklist supported versions',
      },
      'docs/reference/standards.md': {
        summary: 'Which RFCs and drafts Gatepass follows, and how far.',
        keywords: 'rfc pkce oauth openid connect oidc compliance specification',
      },
    },
  },
  {
    title: 'Evidence',
    kind: 'evidence',
    pages: {
      'docs/evidence/threats.md': {
        summary: 'Every promise, threat and failure, and the test that shows how it is met.',
        keywords: 'threat model attacks csrf mix-up ssrf tests',
      },
      'docs/evidence/reliability.md': {
        summary: 'How the tests try to make Gatepass lose data, and what it lost.',
        keywords: 'kill crash power cut data loss chaos soak',
      },
      'docs/evidence/oauth1.md': {
        summary: 'What the signatures of OAuth 1.0a were compared with.',
        keywords: 'rfc 5849 signature hmac',
      },
      'docs/evidence/grants.md': {
        summary: 'Which servers of others the grants were tried against.',
        keywords: 'rfc 7523 8628 authlib oidc-provider interoperability',
      },
      'docs/evidence/tool-packs.md': {
        summary: 'What the tools of packs were compared with, and which faults were found.',
        keywords: 'openapi discovery review sample vendor description checked',
      },
      'docs/evidence/performance.md': {
        summary: 'Measured figures, and the command that made them.',
        keywords: 'benchmark latency throughput speed memory',
      },
    },
  },
  {
    title: 'The project',
    kind: 'project',
    pages: {
      'CHANGELOG.md': { summary: 'What changed, and what to do about it.' },
      'CONTRIBUTING.md': { summary: 'How the sources are laid out, and how a change is made.' },
    },
  },
]

/** The files of the outline, in its order. */
export const LISTED: readonly string[] = OUTLINE.flatMap(({ pages }) => Object.keys(pages))

export function kindOf(path: string): Kind {
  if (path.startsWith('docs/packs/')) return 'evidence' // a page about a provider comes before its pack
  return OUTLINE.find(({ pages }) => pages[path] !== undefined)?.kind ?? 'project'
}
