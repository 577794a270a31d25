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
import type { BrokerContext } from './broker-context.ts'
import { type CallOptions, callTool } from './call-tool.ts'
import type { Caller } from './caller.ts'
import type { StateCodec } from './request-state.ts'
import { inRound } from './rounds.ts'
import type { AppChange, Content, ServedApp } from './served-app.ts'
import { wayOf } from './way.ts'

export interface ServerOptions {
  readonly app: ServedApp
  readonly caller: Caller
  readonly codec: StateCodec
  readonly holdMs: number
  readonly isModern: boolean
}

/** Makes the SDK's server of an app, for one caller: for one request, one session or one connection. */
export function createServer(options: ServerOptions): Server {
  const { app } = options
  const { name, version, title, instructions } = app
  const hasResources = app.resources().length + app.templates().length > 0
  const hasPrompts = app.prompts().length > 0
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
      inputRequired: { legacyShim: false }, // clients of 2025 answer while the handler waits
    },
  )
  const optionsOf = (context: ServerContext): CallOptions => ({ ...options, server, context, appName: name })

  server.setRequestHandler('tools/list', () => ({ tools: app.tools().map(({ definition }) => definition) }))
  server.setRequestHandler('tools/call', ({ params }, context) => callTool(optionsOf(context), params))
  if (hasResources) serveResources(server, options, optionsOf)
  if (hasPrompts) servePrompts(server, options, optionsOf)
  if (hasResources || hasPrompts)
    server.setRequestHandler('completion/complete', async ({ params: { ref, argument } }) => {
      const of = ref.type === 'ref/prompt' ? { prompt: ref.name } : { template: ref.uri }
      const values = await app.complete({ ...of, argument: argument.name }, argument.value)
      const shown = values.slice(0, MAX_COMPLETIONS)
      return { completion: { values: shown, total: values.length, hasMore: shown.length < values.length } }
    })
  return server
}

/** As many values as one answer may have. */
const MAX_COMPLETIONS = 100

type OptionsOf = (context: ServerContext) => CallOptions

function serveResources(
  server: Server,
  { app, caller, isModern }: ServerOptions,
  optionsOf: OptionsOf,
): void {
  server.setRequestHandler('resources/list', () => ({ resources: [...app.resources()] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [...app.templates()] }))
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    inRound<ReadResourceResult | InputRequiredResult>(
      optionsOf(context),
      { method: 'resources/read', name: uri, input: {} },
      async (round) => {
        const contents = await app.readResource(uri, wayOf(context, round, ofUser(caller)))
        if (contents === undefined) throw new ResourceNotFoundError(uri)
        return { contents: [...contents] as ReadResourceResult['contents'] } // the app wrote them as MCP has them
      },
    ),
  )
  if (isModern) return
  const subscribed = new Set<string>()
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
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
  server.setRequestHandler('prompts/list', () => ({ prompts: [...app.prompts()] }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) => {
    if (!app.prompts().some((one) => one.name === name))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name}`)
    return inRound<GetPromptResult | InputRequiredResult>(
      optionsOf(context),
      { method: 'prompts/get', name, input: args },
      async (round) => {
        const prompt: Content = await app.getPrompt(name, args, wayOf(context, round, ofUser(caller)))
        return prompt as GetPromptResult // the app wrote it as MCP has it
      },
    )
  })
}

function ofUser(caller: Caller): BrokerContext {
  const userId = caller.kind === 'user' ? caller.userId : null
  return { userId, authorizations: {}, secrets: {}, metadata: {} }
}

/** The URIs that a client of 2025 has subscribed to. For newer ones the SDK knows what they listen to. */
const SUBSCRIBED = new WeakMap<Server, ReadonlySet<string>>()

/** Tells the client of a session or a connection what has changed. */
export async function announce(server: Server, change: AppChange): Promise<void> {
  const { resources, prompts } = server.getCapabilities()
  if ('resource' in change) {
    const subscribed = SUBSCRIBED.get(server)
    if (subscribed === undefined || subscribed.has(change.resource))
      await server.sendResourceUpdated({ uri: change.resource })
    return
  }
  if (change.list === 'tools') await server.sendToolListChanged()
  if (change.list === 'resources' && resources) await server.sendResourceListChanged()
  if (change.list === 'prompts' && prompts) await server.sendPromptListChanged()
}
