import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  type ServerOptions as SdkOptions,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { toRefusal } from '../../http/endpoint/errors.ts'
import { elicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import { version } from '../../version.ts'
import { type Backlog, withBacklog } from './backlog.ts'
import { type CallParts, callTool } from './call-tool.ts'
import type { Era, Exchange } from './exchange.ts'
import { pageOf } from './list-page.ts'
import type { McpCall } from './mcp-call.ts'
import type { Placeholders } from './placeholders.ts'
import { readFile } from './read-file.ts'
import type { ToolList } from './tool-lists.ts'
import { LEGACY_VERSIONS } from './versions.ts'

/** How long a client may cache the list (MCP 2026-07-28, Caching). Each caller may see another list. */
const CACHE_HINT = { ttlMs: 60_000, cacheScope: 'private' } as const

/** What the handler of a call needs beside the SDK's context. */
export interface CallOptions extends CallParts {
  readonly exchange: Exchange
  /** The tools that the client sees. */
  readonly list: ToolList
  readonly era: Era
  readonly backlog: Backlog
  /** The client's id of the request, where the server knows it by another. */
  readonly requestId?: RequestId
}

export interface ServerOptions extends CallOptions {
  readonly instructions?: string | undefined
  readonly placeholders: Placeholders
}

/** The SDK's server without handlers. */
export function newServer(era: Era, options: Pick<SdkOptions, 'instructions' | 'supportedProtocolVersions'>) {
  return new Server(
    { name: 'gatepass', title: 'Gatepass', version },
    {
      // not for clients of 2025: they would set the log level for their session, and sessions store no state
      capabilities: { tools: { listChanged: true }, resources: {}, ...(era === 'modern' && { logging: {} }) },
      cacheHints: { 'tools/list': CACHE_HINT, 'server/discover': CACHE_HINT },
      inputRequired: { legacyShim: false },
      ...options,
    },
  )
}

/** Makes the SDK's server for one request. */
export function createServer(options: ServerOptions): Server {
  const { exchange, list, era, instructions, placeholders } = options
  const server = newServer(era, {
    ...(instructions !== undefined && { instructions }),
    ...(era === 'legacy' && { supportedProtocolVersions: [...LEGACY_VERSIONS] }),
  })
  const reporting = reportingTo(options)
  server.setRequestHandler('tools/list', ({ params }) =>
    reporting(() => pageOf(list, era, params?.cursor, placeholders)),
  )
  // only files that a tool has answered, which are known by its answer
  server.setRequestHandler('resources/list', () => ({ resources: [] }))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }))
  server.setRequestHandler('resources/read', ({ params }) =>
    reporting(() => readFile(options.broker, exchange.principal.projectId, params.uri)),
  )
  server.setRequestHandler('tools/call', ({ params }, context) =>
    answerCall(server, options, context, params),
  )
  return server
}

/** Answers `tools/call`, which the server got in this context. */
export function answerCall(
  server: Server,
  options: CallOptions,
  context: ServerContext,
  params: Parameters<typeof callTool>[2],
): ReturnType<typeof callTool> {
  const { exchange, list, era, backlog, requestId = context.mcpReq.id } = options
  return reportingTo(options)(() =>
    callTool(
      options,
      {
        exchange,
        list,
        era,
        requestId,
        context: withBacklog(context, backlog),
        elicitation: modesOf(exchange, context),
        toClient: toClientOf(server, context),
      },
      params,
    ),
  )
}

/**
 * Returns the function that sends messages on the stream of a call. The SDK does not wait for the reply to a request:
 * the reply arrives by a separate request and may reach another process.
 */
function toClientOf(server: Server, { mcpReq: { id } }: ServerContext): McpCall['toClient'] {
  return async (message) => {
    const rpc = { jsonrpc: '2.0', ...message } as JSONRPCMessage // a request or a notification
    await server.transport?.send(rpc, { relatedRequestId: id })
  }
}

function modesOf({ legacy }: Exchange, { mcpReq: { envelope } }: ServerContext) {
  if (envelope === undefined) return legacy.elicitation
  const members: Readonly<Record<string, unknown>> = envelope
  return elicitationModes(members[CLIENT_CAPABILITIES_META_KEY])
}

/** Returns the function that runs a handler. Details of an unexpected error are logged and not sent to the client. */
function reportingTo({ broker: { log }, exchange }: CallOptions) {
  return async <Result>(run: () => Promise<Result>): Promise<Result> => {
    try {
      return await run()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const { code, message } = toRefusal(error, '/mcp', log, exchange.requestId)
      throw new ProtocolError(ProtocolErrorCode.InternalError, message, { name: code })
    }
  }
}
