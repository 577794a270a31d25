import {
  type GetPromptResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { AppChange, ToolRun } from '../tools/run.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { MAX_URI_LENGTH } from '../tools/uri-template.ts'
import { hidingFailures } from './author-failure.ts'
import { type CallOptions, callTool } from './call-tool.ts'
import { type Caller, userOf } from './caller.ts'
import { listedMcpTool } from './listed-tool.ts'
import type { StateCodec } from './request-state.ts'
import { inRound, type Round } from './rounds.ts'
import { mcpRun } from './tool-run.ts'

export interface ServerOptions {
  readonly app: ServedApp
  readonly caller: Caller
  /** Seals and opens `requestState`, which a client sends back with its next request. */
  readonly codec: StateCodec
  /** How long a request is held while its user approves. */
  readonly holdMs: number
  /** Whether the client speaks MCP 2026-07-28 or later. */
  readonly isModern: boolean
  /** Whether the client stays connected after its request: in a session, or over stdio. */
  readonly staysConnected: boolean
}

/**
 * Makes the MCP SDK's `Server` for an app and one caller. It serves one request, one session or one stdio connection.
 */
export function createServer(options: ServerOptions): Server {
  const { app } = options
  const { name, version = '0.0.0', title, instructions } = app
  const hasResources = app.resources.list().length + app.resources.listTemplates().length > 0
  const hasPrompts = app.prompts.list().length > 0
  const server = new Server(
    { name, version, ...(title !== undefined && { title }) },
    {
      capabilities: {
        tools: { listChanged: true },
        logging: {},
        ...(hasResources && { resources: { listChanged: true, subscribe: true } }),
        ...(hasPrompts && { prompts: { listChanged: true } }),
        ...((hasResources || hasPrompts) && { completions: {} }),
      },
      ...(instructions !== undefined && { instructions }),
      inputRequired: { legacyShim: false }, // rounds.ts asks clients of the 2025 revisions itself
    },
  )
  const optionsOf = (context: ServerContext): CallOptions => ({ ...options, server, context, appName: name })

  server.setRequestHandler('tools/list', () => ({ tools: app.tools.list().map(listedMcpTool) }))
  server.setRequestHandler('tools/call', ({ params }, context) => callTool(optionsOf(context), params))
  if (hasResources) serveResources(server, options, optionsOf)
  if (hasPrompts) servePrompts(server, options, optionsOf)
  if (hasResources || hasPrompts)
    server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }, { mcpReq }) => {
      const values = await hidingFailures('The completion', mcpReq.signal, () =>
        ref.type === 'ref/prompt'
          ? app.prompts.complete(ref.name, argument.name, argument.value)
          : app.resources.complete(ref.uri, argument.name, argument.value),
      )
      const shown = values.slice(0, MAX_COMPLETIONS)
      return { completion: { values: shown, total: values.length, hasMore: shown.length < values.length } }
    })
  return server
}

/** MCP's limit on the values in one answer to `completion/complete`. */
const MAX_COMPLETIONS = 100

/** The limit for one session or connection, which keeps its subscriptions until it ends. */
const MAX_SUBSCRIPTIONS = 100

type OptionsOf = (context: ServerContext) => CallOptions

function serveResources(
  server: Server,
  { app, caller, isModern }: ServerOptions,
  optionsOf: OptionsOf,
): void {
  server.setRequestHandler('resources/list', () => ({ resources: app.resources.list() }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: app.resources.listTemplates(),
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    inRound<ReadResourceResult | InputRequiredResult>(
      optionsOf(context),
      { method: 'resources/read', name: uri, input: {} },
      async (round) => {
        const contents = await hidingFailures(`The resource ${JSON.stringify(uri)}`, round.signal, () =>
          app.resources.read(uri, runOf(app, caller, context, round)),
        )
        if (contents === undefined) throw new ResourceNotFoundError(uri)
        return { contents: contents as ReadResourceResult['contents'] } // each has a text or a blob
      },
    ),
  )
  if (isModern) return
  const subscribed = new Set<string>()
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    if (uri.length > MAX_URI_LENGTH || (subscribed.size >= MAX_SUBSCRIPTIONS && !subscribed.has(uri)))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `A client may subscribe to ${MAX_SUBSCRIPTIONS} resources, whose URIs have at most ${MAX_URI_LENGTH} characters.`,
      )
    subscribed.add(uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscribed.delete(uri)
    return {}
  })
  SUBSCRIBED.set(server, subscribed)
}

function servePrompts(server: Server, { app, caller }: ServerOptions, optionsOf: OptionsOf): void {
  server.setRequestHandler('prompts/list', () => ({ prompts: app.prompts.list() }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => {
    return inRound<GetPromptResult | InputRequiredResult>(
      optionsOf(context),
      { method: 'prompts/get', name, input: args },
      async (round) => {
        const prompt = await hidingFailures(`The prompt "${name}"`, round.signal, () =>
          app.prompts.get(name, args, runOf(app, caller, context, round)),
        )
        if (prompt !== undefined) return prompt as GetPromptResult // the SDK's type has further members
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`)
      },
    )
  })
}

/** The run of a resource or a prompt, which needs neither tokens nor secrets. */
function runOf(app: ServedApp, caller: Caller, context: ServerContext, round: Round): ToolRun {
  const given = { userId: userOf(caller), authorizations: {}, secrets: {}, metadata: {} }
  return mcpRun(app, context, round, given).run
}

/** The URIs to which a client of a 2025 revision has subscribed. The SDK keeps the subscriptions of newer clients. */
const SUBSCRIBED = new WeakMap<Server, ReadonlySet<string>>()

/** Sends the client of a session or a connection a notification about a change. */
export async function announce(server: Server, change: AppChange): Promise<void> {
  const { resources, prompts } = server.getCapabilities()
  if (typeof change === 'object') {
    const subscribed = SUBSCRIBED.get(server)
    const { updated: uri } = change
    if (resources && (subscribed === undefined || subscribed.has(uri)))
      await server.sendResourceUpdated({ uri })
    return
  }
  if (change === 'tools') await server.sendToolListChanged()
  if (change === 'resources' && resources) await server.sendResourceListChanged()
  if (change === 'prompts' && prompts) await server.sendPromptListChanged()
}
