import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

// Each member of the tool author's types: which test shows it, by which ways of running. P: in Gatepass's process, W: as
// an HTTP worker, M: as an MCP server, T: a type, checked by `npm run types`.

type Way = 'P' | 'W' | 'M' | 'T'

const WAYS = 'test/sdk/tools/ways.test.ts'
const TYPES = 'test/sdk/tools/types.test-d.ts'
const CLIENTS = 'test/sdk/mcp/clients.test.ts'
const CALLERS = 'test/sdk/mcp/callers.test.ts'
const CORE = 'test/sdk/tools/run-tool.test.ts'
const ADAPTERS = 'test/sdk/tools/error-adapters.test.ts'
const PROVIDERS = 'test/sdk/tools/providers-file/providers-file.test.ts'
const FORMS = 'answers forms; a step is done once, and what has been reported arrives'

type Shown = readonly [ways: string, file: string, title: string]

const given: Shown = ['PW', WAYS, 'is given input, secrets, metadata and who calls']
const mcpGiven: Shown = ['M', CALLERS, 'Gatepass names the user and the secrets, by its signature']
const library: Shown = ['PW', WAYS, 'reads the resources and prompts of its app']
const token: Shown = ['PW', WAYS, 'is given the token of its provider']
const talk: Shown = ['PW', WAYS, 'logs, reports progress and does steps']
const calls: Shown = ['PW', WAYS, 'calls other tools']
const announces: Shown = ['PW', WAYS, 'adds and removes tools while it is served']
const changes: Shown = ['M', CLIENTS, 'lists, answers forms, gets log lines and changes']
const forms: Shown = ['M', CLIENTS, FORMS]
const cannot: Shown = ['PW', WAYS, 'has no MCP client for a %s, and is told so']
const shapes: Shown = ['T', TYPES, 'the shapes of MCP']
const byParameters: Shown = ['T', TYPES, 'ToolOptions and ToolContext by their parameters']
const adapted: Shown = ['T', ADAPTERS, 'an error of a library']
const errors: Shown = ['PW', WAYS, 'fails: %s']

/** Member -> what shows it. */
const MEMBERS: Readonly<Record<string, readonly Shown[]>> = {
  ToolContext: [byParameters],
  'ToolContext.input': [given, ['T', TYPES, 'input: inferred from the schema'], forms],
  'ToolContext.authorization': [
    token,
    ['T', TYPES, 'authorization: optional without requiresAuth'],
    mcpGiven,
  ],
  'ToolContext.authorizations': [['PW', WAYS, 'is given the tokens of several providers by their names']],
  'ToolContext.getSecret': [given, mcpGiven, ['T', TYPES, 'getSecret: declared keys only']],
  'ToolContext.metadata': [given],
  'ToolContext.userId': [given, mcpGiven],
  'ToolContext.sessionId': [given],
  'ToolContext.requestId': [given],
  'ToolContext.traceparent': [
    [
      'PW',
      'test/features/telemetry/traces.test.ts',
      'the tool of each way is given the traceparent of its run',
    ],
  ],
  'ToolContext.signal': [
    ['PW', CORE, 'ends when its time is over, and drops what comes later'],
    ['M', CLIENTS, 'cancels a call'],
  ],
  'ToolContext.chunk': [talk],
  'ToolContext.step': [talk, forms],
  'log.debug': [talk],
  'log.info': [talk, changes],
  'log.warning': [talk],
  'log.error': [talk],
  'progress.report': [talk, forms],
  'resources.read': [library],
  'resources.get': [library],
  'resources.list': [library],
  'resources.listTemplates': [library],
  'resources.listRoots': [library, ['M', CLIENTS, 'gives its roots, and is nobody without a token']],
  'tools.call': [
    calls,
    ['P', WAYS, 'ends the outer call with its link, and the call runs after it'],
    ['P', WAYS, 'and a policy that forbids it, counts like that of any call'],
    ['PW', WAYS, 'calls tools that call tools, eight deep'],
  ],
  'tools.list': [calls],
  'prompts.get': [library],
  'prompts.list': [library],
  'sampling.createMessage': [cannot],
  'ui.elicit': [cannot, forms, ['PW', WAYS, 'may ask for no form that clients could not show']],
  'notifications.tools.listChanged': [announces, changes],
  'notifications.resources.listChanged': [announces],
  'notifications.prompts.listChanged': [announces],
  AuthInfo: [token],
  ResourceContents: [library],
  Resource: [library, shapes],
  ResourceTemplate: [library, shapes],
  Root: [['M', CLIENTS, 'gives its roots, and is nobody without a token'], shapes],
  Tool: [calls, shapes],
  Prompt: [library, shapes],
  PromptArgument: [library],
  PromptMessage: [library],
  GetPromptResult: [library, shapes],
  CreateMessageRequest: [shapes],
  CreateMessageResult: [['T', TYPES, 'CreateMessageResult>(true)']],
  SamplingMessage: [shapes],
  ContentItem: [['PW', WAYS, 'returns %s'], shapes],
  TextContent: [['PW', WAYS, 'returns %s']],
  ImageContent: [['PW', WAYS, 'returns %s']],
  AudioContent: [shapes],
  EmbeddedResource: [shapes],
  ResourceLink: [shapes],
  CallToolResult: [calls, ['PW', CORE, 'a complete result']],
  'CallToolResult.isError': [
    ['PW', WAYS, 'returns a failure'],
    ['PW', CORE, 'a failure'],
  ],
  ElicitResult: [forms, shapes],
  JsonSchema: [shapes],
  MCPMessage: [shapes],
  JSONRPCRequest: [shapes],
  JSONRPCResponse: [shapes],
  JSONRPCNotification: [shapes],
  ServerSession: [shapes],
  SessionMessage: [shapes],
  'returns: text, object': [
    ['PW', WAYS, 'returns %s'],
    ['PW', CORE, 'an object'],
  ],
  'schemas as JSON Schema': [['PW', WAYS, 'publishes the input side of its schema, dates as text']],
  AuthProvider: [byParameters],
  'GitHub, Google, Slack and all of the catalogue': [
    ['T', PROVIDERS, '%s has a function, which names it with the scopes'],
  ],
  'anyOf, OAuth2': [['PW', WAYS, 'with anyOf is given the token that the user has granted']],
  ErrorAdapter: [
    [
      'PW',
      ADAPTERS,
      'is translated by the first adapter that knows it, and an adapter that throws knows none',
    ],
  ],
  SlackErrorAdapter: [adapted],
  GoogleErrorAdapter: [adapted],
  MicrosoftGraphErrorAdapter: [adapted],
  HTTPErrorAdapter: [adapted, errors],
  GraphQLErrorAdapter: [adapted],
  ToolError: [errors],
  UpstreamError: [errors],
  FatalToolError: [['P', 'test/tools/module.test.ts', 'fail as they say: %j']],
  RetryableToolError: [['P', 'test/tools/module.test.ts', 'fail as they say: %j']],
  MaterializedTool: [
    ['T', TYPES, 'tool(), defineTool(), app.tool(name, it), app.tools.add(name, it)'],
    announces,
  ],
  ToolOptions: [byParameters],
  'ToolOptions.adapters': [errors],
  'ToolOptions.requiresMetadata': [given],
  'ToolOptions.requiresSecrets': [given],
  'ArcadeMCPOptions: name, version, title, instructions': [
    ['PW', WAYS, 'publishes the input side of its schema, dates as text'],
  ],
  'ArcadeMCPOptions: logLevel': [talk],
  'ArcadeMCPOptions: transport, host, port': [
    ['W', WAYS, "serve({ as: 'worker'"],
    ['M', CLIENTS, 'answers forms, for the configured user'],
  ],
}

const sources = new Map<string, string>()

function sourceOf(file: string): string {
  const source = sources.get(file) ?? (existsSync(file) ? readFileSync(file, 'utf8') : '')
  sources.set(file, source)
  return source
}

describe('the members of the tool author’s types', () => {
  test.each(Object.entries(MEMBERS))('%s is shown by tests that are there', (_, shown) => {
    expect(shown.length).toBeGreaterThan(0)
    for (const [ways, file, title] of shown) {
      expect([...ways].every((way) => (['P', 'W', 'M', 'T'] satisfies Way[]).includes(way as Way))).toBe(true)
      expect(sourceOf(file), file).toContain(title)
    }
  })

  test('include every member of ToolContext, and every shape of content.ts and protocol.ts', () => {
    const context = sourceOf('src/sdk/tools/context.ts')
    const body = context.slice(context.indexOf('export interface ToolContext<'))
    const members = [...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:<]/gm)].map(([, name]) => name ?? '')
    const groups = ['log', 'progress', 'resources', 'prompts', 'tools', 'sampling', 'ui', 'notifications']
    expect(members).toEqual(expect.arrayContaining(groups))
    const names = Object.keys(MEMBERS)
    for (const member of members)
      expect(
        names.some((name) => name === `ToolContext.${member}` || name.startsWith(`${member}.`)),
        member,
      ).toBe(true)
    for (const file of ['src/sdk/tools/content.ts', 'src/sdk/tools/protocol.ts'])
      for (const [, name = ''] of sourceOf(file).matchAll(/^export (?:interface|type) (\w+)/gm))
        expect(names, file).toContain(name)
  })
})
