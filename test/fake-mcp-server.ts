import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import {
  type CallToolResult,
  createMcpHandler,
  Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { digest } from './digest.ts'
import type { FakeAuthorizationServer } from './fake-authorization-server.ts'
import { answerJson, bearerOf, listen, type RecordedRequest, record } from './loopback.ts'

/** The context of a call of a tool. */
export interface McpToolContext {
  /** `_meta` of the call. */
  readonly meta: Readonly<Record<string, unknown>>
  /** The token of the `Authorization` header. */
  readonly token: string | undefined
  /** Aborted when the call is cancelled. */
  readonly signal: AbortSignal
  progress(progress: number, total?: number, message?: string): Promise<void>
  readonly sdk: ServerContext
}

export interface FakeMcpTool extends Omit<Tool, 'inputSchema'> {
  readonly inputSchema?: Tool['inputSchema']
  run(args: Readonly<Record<string, unknown>>, context: McpToolContext): Promise<unknown>
}

export interface FakeMcpServerOptions {
  /** `2025`: with sessions; `stateless`: of that protocol without; `2026`: of 2026-07-28 alone. */
  readonly protocol?: '2025' | 'stateless' | '2026'
  readonly name?: string
  readonly version?: string
  readonly tools?: readonly FakeMcpTool[]
  readonly pageSize?: number
  /** The authorization server whose tokens it requires, and which its metadata names (RFC 9728); absent: it is open. */
  readonly as?: FakeAuthorizationServer
  /** The scopes that every token needs; a refusal names them. */
  readonly scopes?: readonly string[]
  /** Further scopes that a tool needs, by its name: 403 `insufficient_scope` without. */
  readonly toolScopes?: Readonly<Record<string, readonly string[]>>
}

export interface McpCallSeen {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly meta: Readonly<Record<string, unknown>>
  readonly token: string | undefined
}

export type FakeMcpServer = Awaited<ReturnType<typeof startFakeMcpServer>>

/** An MCP server of the official SDK on real HTTP, at `/mcp`. `behaviour` and `tools` may be changed at any time. */
export async function startFakeMcpServer(options: FakeMcpServerOptions = {}) {
  const { protocol = '2025', name = 'demo-mcp-server', version = '1.2.3', pageSize = 100 } = options
  const behaviour = {
    as: options.as,
    scopes: options.scopes ?? [],
    toolScopes: options.toolScopes ?? {},
    /** Merged over the protected resource metadata. */
    resourceMetadata: {} as Record<string, unknown>,
    /** In place of the `WWW-Authenticate` of its 401; empty: none. */
    challenge: undefined as string | undefined,
    /** Called before the SDK; when it returns true, it has answered the request itself. */
    intercept: undefined as
      | ((request: RecordedRequest, res: ServerResponse) => boolean | Promise<boolean>)
      | undefined,
  }
  const state = {
    tools: [...(options.tools ?? demoMcpTools())],
    requests: [] as RecordedRequest[],
    calls: [] as McpCallSeen[],
    /** Names of tools whose calls were cancelled. */
    cancelled: [] as string[],
    sessions: 0,
  }

  function createServer(): Server {
    const server = new Server(
      { name, version },
      { capabilities: { tools: { listChanged: true }, logging: {} }, instructions: 'Tools for tests.' },
    )
    server.setRequestHandler('tools/list', ({ params }) => {
      const from = Number(params?.cursor ?? 0)
      const tools = state.tools
        .slice(from, from + pageSize)
        .map(({ run: _, ...tool }) => ({ inputSchema: { type: 'object' as const }, ...tool }))
      const isLast = from + pageSize >= state.tools.length
      return { tools, ...(!isLast && { nextCursor: String(from + pageSize) }) }
    })
    server.setRequestHandler('tools/call', async ({ params }, sdk) => {
      const args = params.arguments ?? {}
      const { progressToken, ...meta } = sdk.mcpReq._meta ?? {}
      const token = /^Bearer (.+)$/.exec(sdk.http?.req?.headers.get('authorization') ?? '')?.[1]
      state.calls.push({ tool: params.name, args, meta, token })
      const tool = state.tools.find((one) => one.name === params.name)
      if (tool === undefined) return { isError: true, content: [{ type: 'text', text: 'Unknown tool' }] }
      sdk.mcpReq.signal.addEventListener('abort', () => state.cancelled.push(tool.name), { once: true })
      const value = await tool.run(args, {
        meta,
        token,
        signal: sdk.mcpReq.signal,
        sdk,
        async progress(progress, total, message) {
          if (progressToken === undefined) return
          const params = {
            progressToken,
            progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          }
          await sdk.mcpReq.notify({ method: 'notifications/progress', params })
        },
      })
      return isResult(value) ? value : { content: [{ type: 'text', text: JSON.stringify(value) }] }
    })
    return server
  }

  const transports = new Map<string, NodeStreamableHTTPServerTransport>()
  const modern = toNodeHandler(createMcpHandler(() => createServer(), { legacy: 'reject', keepAliveMs: 0 }))

  const loopback = await listen(async (req, res) => {
    const request = await record(req)
    state.requests.push(request)
    if (await behaviour.intercept?.(request, res)) return
    if (request.path.startsWith('/.well-known/oauth-protected-resource')) return metadata(res)
    if (request.path !== '/mcp') return answerJson(res, 404, { error: 'not_found' })
    if (isRefused(request, res)) return
    if (protocol === '2026') return modern(req as Parameters<typeof modern>[0], res, request.json) // the SDK's type takes no `undefined`
    const id = req.headers['mcp-session-id']
    const known = typeof id === 'string' ? transports.get(id) : undefined
    if (known !== undefined) return known.handleRequest(req, res, request.json)
    if (typeof id === 'string')
      return answerJson(res, 404, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_001, message: 'Session not found' },
      })
    const transport = new NodeStreamableHTTPServerTransport(
      protocol === 'stateless'
        ? {}
        : {
            sessionIdGenerator: () => randomUUID(),
            onsessioninitialized: (session) => {
              state.sessions++
              transports.set(session, transport)
            },
            onsessionclosed: (session) => void transports.delete(session),
          },
    )
    await createServer().connect(transport)
    return transport.handleRequest(req, res, request.json)
  })
  const url = `${loopback.url}/mcp`

  function metadata(res: ServerResponse) {
    if (behaviour.as === undefined) return answerJson(res, 404, { error: 'not_found' })
    return answerJson(res, 200, {
      resource: url,
      authorization_servers: [behaviour.as.url],
      ...behaviour.resourceMetadata,
    })
  }

  /** Whether the request was refused: its token is missing, not for this server, or lacks a scope. */
  function isRefused({ headers, json }: RecordedRequest, res: ServerResponse): boolean {
    const { as, scopes, toolScopes } = behaviour
    if (as === undefined) return false
    const token = bearerOf(headers) ?? ''
    const grant = as.isLive(token) ? as.grantOf(token) : undefined
    const where = `resource_metadata="${loopback.url}/.well-known/oauth-protected-resource/mcp"`
    const isOwn = grant?.resource === (behaviour.resourceMetadata.resource ?? url)
    if (grant === undefined || !isOwn || scopes.some((one) => !grant.scopes.includes(one))) {
      const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : ''
      const challenge = behaviour.challenge ?? `Bearer ${where}${scope}`
      answerJson(
        res,
        401,
        { error: 'invalid_token' },
        challenge === '' ? {} : { 'www-authenticate': challenge },
      )
      return true
    }
    const { method, params } = (json ?? {}) as { method?: string; params?: { name?: string } } // a JSON-RPC request
    const needed = (method === 'tools/call' && toolScopes[params?.name ?? '']) || []
    if (needed.every((one) => grant.scopes.includes(one))) return false
    const challenge = `Bearer error="insufficient_scope", scope="${[...scopes, ...needed].join(' ')}", ${where}`
    answerJson(res, 403, { error: 'insufficient_scope' }, { 'www-authenticate': challenge })
    return true
  }

  return Object.assign(state, {
    ...loopback,
    url,
    origin: loopback.url,
    behaviour,
    liveSessions: () => transports.size,
    /** JSON-RPC methods of the requests, in order. */
    methods: () =>
      state.requests.flatMap(({ json }) => {
        const { method } = (json ?? {}) as { method?: string } // as above
        return method === undefined ? [] : [method]
      }),
  })
}

function isResult(value: unknown): value is CallToolResult {
  return typeof value === 'object' && value !== null && ('content' in value || 'resultType' in value)
}

const object = { type: 'object' } as const

/** Tools whose answers show what reached them: tokens as their SHA-256. */
export function demoMcpTools(): FakeMcpTool[] {
  return [
    {
      name: 'who_am_i',
      description: 'Says which tokens it sees.',
      async run(_, { meta, token }) {
        const context = meta.arcade_context as
          | { authorization?: { token?: string }; user_id?: string }
          | undefined // Arcade's
        const given = context?.authorization?.token
        return {
          header: token === undefined ? null : digest(token),
          meta: given === undefined ? null : digest(given),
          user_id: context?.user_id ?? null,
        }
      },
    },
    {
      name: 'add',
      title: 'Add two numbers',
      description: 'Adds.',
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'number' }, b: { type: 'number' } },
        required: ['a', 'b'],
      },
      outputSchema: { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] },
      annotations: { readOnlyHint: true, openWorldHint: false },
      async run({ a, b }) {
        const sum = { sum: Number(a) + Number(b) }
        return { content: [{ type: 'text', text: JSON.stringify(sum) }], structuredContent: sum }
      },
    },
    {
      name: 'echo',
      description: 'Gives back its arguments.',
      inputSchema: object,
      run: async (args) => args,
    },
    {
      name: 'count',
      description: 'Counts to three and says so on the way.',
      async run(_, { progress }) {
        for (const at of [1, 2, 3]) await progress(at, 3, `at ${at}`)
        return { counted: 3 }
      },
    },
    {
      name: 'wait',
      description: 'Waits until it is cancelled.',
      run: (_, { signal }) =>
        new Promise((_, reject) => {
          if (signal.aborted) reject(new Error('cancelled'))
          signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true })
        }),
    },
    {
      name: 'fail',
      description: 'Fails.',
      run: async () => ({ isError: true, content: [{ type: 'text', text: 'It went wrong.' }] }),
    },
  ]
}
