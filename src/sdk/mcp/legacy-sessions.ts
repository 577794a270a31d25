import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { type Caller, callerKey } from './caller.ts'
import { announce, createServer, type ServerOptions } from './mcp-server.ts'
import { rpcError } from './rpc-error.ts'

// Sessions (Mcp-Session-Id) of clients that speak an MCP version of 2025. They are kept in this process, where a
// handler waits for the client's answer, which arrives in a separate request.

export interface LegacySessions {
  /**
   * Answers a request that belongs to a session or opens one. Returns `undefined` for any other request, which can be
   * answered without a session.
   */
  answer(request: Request, caller: Caller): Promise<Response | undefined>
  close(): Promise<void>
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport
  readonly owner: string
  usedAt: number
  close(): Promise<void>
}

export interface SessionLimits {
  readonly max: number
  /**
   * Keeps one user's sessions from displacing the sessions of others. Does not apply to Gatepass, which calls for many
   * users, or to anonymous callers.
   */
  readonly maxPerUser: number
  readonly idleMs: number
}

export const SESSION_LIMITS: SessionLimits = { max: 1000, maxPerUser: 100, idleMs: 3_600_000 }

export function legacySessions(
  options: Omit<ServerOptions, 'caller' | 'isModern' | 'staysConnected'>,
  { max, maxPerUser, idleMs }: SessionLimits,
  now: () => number,
): LegacySessions {
  /** The least recently used first. */
  const sessions = new Map<string, Session>()

  async function open(request: Request, caller: Caller): Promise<Response> {
    const server = createServer({ ...options, caller, isModern: false, staysConnected: true })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized(id) {
        sessions.set(id, { transport, owner: callerKey(caller), usedAt: now(), close })
        return closeSurplus(caller)
      },
    })
    const unsubscribe = options.app.onChange((change) => void announce(server, change).catch(() => undefined))
    const close = () => server.close()
    server.onclose = () => {
      unsubscribe()
      if (transport.sessionId !== undefined) sessions.delete(transport.sessionId)
    }
    await server.connect(transport)
    const response = await transport.handleRequest(request)
    if (transport.sessionId === undefined) await close() // the request was refused
    return response
  }

  /** Closes the sessions that are idle, and the least recently used ones above the limits. */
  async function closeSurplus(caller: Caller): Promise<void> {
    const open = [...sessions.values()]
    const own = caller.kind === 'user' ? open.filter(({ owner }) => owner === callerKey(caller)) : []
    const closed = new Set([
      ...open.filter(({ usedAt }) => now() - usedAt > idleMs),
      ...own.slice(0, -maxPerUser),
    ])
    const left = open.filter((session) => !closed.has(session))
    for (const session of left.slice(0, -max)) closed.add(session)
    await Promise.all([...closed].map((session) => session.close()))
  }

  return {
    async answer(request, caller) {
      const id = request.headers.get('mcp-session-id')
      if (id === null) return (await isOpening(request)) ? open(request, caller) : undefined
      const session = sessions.get(id)
      if (session === undefined || session.owner !== callerKey(caller))
        return rpcError(404, -32_001, 'Session not found')
      session.usedAt = now()
      sessions.delete(id)
      sessions.set(id, session)
      return session.transport.handleRequest(request)
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()))
    },
  }
}

async function isOpening(request: Request): Promise<boolean> {
  if (request.method !== 'POST') return false
  const body: unknown = await request
    .clone()
    .json()
    .catch(() => undefined) // the MCP SDK refuses a body that is not JSON
  return isInitializeRequest(body)
}
