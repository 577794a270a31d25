import type { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { ServedApp } from '../tools/served-app.ts'
import type { Caller } from './caller.ts'
import { HOLD_MS } from './mcp-handler.ts'
import { announce, createServer } from './mcp-server.ts'
import { createStateCodec } from './request-state.ts'

/** Serves an app on standard input and output, for the one user whose client started this process. */
export function serveOnStdio(app: ServedApp, user: string | undefined): { close(): Promise<void> } {
  const caller: Caller =
    user === undefined ? { kind: 'anonymous' } : { kind: 'user', userId: user, claims: {} }
  const codec = createStateCodec(undefined)
  const connected = new Set<Server>()
  const unsubscribe = app.onChange((change) => {
    for (const server of connected) void announce(server, change).catch(() => undefined)
  })
  const connection = serveStdio(({ era }) => {
    const server = createServer({
      app,
      caller,
      codec,
      holdMs: HOLD_MS,
      isModern: era === 'modern',
      staysConnected: true,
    })
    connected.add(server)
    server.onclose = () => connected.delete(server)
    return server
  })
  return {
    async close() {
      unsubscribe()
      await connection.close()
    },
  }
}
