/** The groups of operations, in the order of the API reference: their names are the tags of the OpenAPI document. */
export const GROUPS = [
  {
    name: 'Authorization',
    description:
      'A user approves once at a provider. Begin an authorization, show its link to the user, and wait until it has completed or failed.',
  },
  {
    name: 'Connect sessions',
    description:
      'The page of an application lets its user connect: your server creates a session, whose token opens the connect page and reads the result.',
  },
  {
    name: 'Connections',
    description: 'What users have connected: their accounts at providers, and a valid access token of each.',
  },
  {
    name: 'Tools',
    description: 'The known tools, their requirements, and whether these are met for a user.',
  },
  {
    name: 'Toolsets',
    description: 'Named selections of tools, which MCP clients reach at `/mcp/{toolset}`.',
  },
  {
    name: 'Tool packs',
    description:
      'Ready-made tools of services, with the scopes that they need and which of them people should approve.',
  },
  {
    name: 'Running tools',
    description:
      'Run a tool with the token of its user put in. `execute` answers in the form of Arcade, `run` in a plain form, `run_stream` with events, and `run_chain` runs several tools. Code in a sandbox can call tools too.',
  },
  { name: 'Executions', description: 'The history of runs, and scheduled runs.' },
  { name: 'Proxy', description: "Requests to a provider's own API, with the token of a user put in." },
  { name: 'Workers', description: 'The servers that list tools and run them.' },
  { name: 'Providers', description: 'The authorization servers at which users approve.' },
  {
    name: 'Connections of the project',
    description:
      'Connections that an administrator makes and shares with users, agents and tools: of services that a client uses by itself.',
  },
  {
    name: 'Secrets',
    description: 'Values that tools need beside tokens. Tools get them; no answer of the API has them.',
  },
  {
    name: 'Approvals',
    description: 'Calls that wait until a person has approved them, and what people decided.',
  },
  { name: 'Policies', description: 'Rules on which tools and callers may use which tokens.' },
  {
    name: 'Webhooks',
    description:
      'Receivers of events. Events are signed, and sent again for up to three days until the receiver confirms them.',
  },
  { name: 'API keys', description: 'The keys of callers, and the projects that they belong to.' },
  { name: 'Audit', description: 'Who did what, in a trail that shows whether it was altered.' },
  { name: 'OXP', description: 'The tools over the Open eXecution Protocol 1.0.' },
  { name: 'Operation', description: 'Whether the server is alive, ready and well.' },
]
