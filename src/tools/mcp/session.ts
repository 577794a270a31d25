import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Outgoing } from '../../egress/outgoing.ts'
import { version } from '../../version.ts'
import { exchange, exchangeFetch, reconnectLater } from './exchange.ts'

/** A connection to an MCP server, in one user's name or nobody's. */
export interface McpSession {
  readonly client: Client
  /** Tells the server, without waiting for it to agree. */
  close(): void
}

export interface McpAccess {
  readonly uri: string
  /** Those of the worker, with the token that opens the server. */
  readonly headers: Readonly<Record<string, string>>
  /** To connect. */
  readonly timeoutMs: number
  /** For any one request of the session. */
  readonly longestMs: number
  /** It is known to be of a protocol before 2026-07-28. */
  readonly isLegacy: boolean
  readonly signal?: AbortSignal | undefined
}

/** What a server may ask of its client while it is connected: each is declined, and more are not even answered. */
const MAX_QUESTIONS = 100
const GOODBYE_MS = 2_000

/** Connects and agrees on the protocol. Throws `ExchangeFault`. */
export async function openSession(outgoing: Outgoing, access: McpAccess): Promise<McpSession> {
  const { uri, headers, timeoutMs, longestMs, isLegacy, signal } = access
  const transport = new StreamableHTTPClientTransport(new URL(uri), {
    fetch: exchangeFetch(outgoing, longestMs),
    requestInit: { headers: { 'user-agent': 'gatepass', ...headers } },
    onInsufficientScope: 'throw',
    reconnectionScheduler: reconnectLater,
  })
  const client = new Client(
    { name: 'gatepass', version },
    {
      // no elicitation, no sampling, no roots: a link or a question of the server's reaches nobody
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: 'auto' },
    },
  )
  client.onerror = () => {} // each request fails by itself, with what was seen of it
  const end = () => void client.close().catch(() => undefined)
  const close = () => {
    const goodbye = setTimeout(end, GOODBYE_MS)
    goodbye.unref()
    transport
      .terminateSession()
      .catch(() => undefined)
      .finally(() => {
        clearTimeout(goodbye)
        end()
      })
  }
  try {
    await exchange({ timeoutMs, signal }, (signal) =>
      client.connect(transport, {
        timeout: timeoutMs,
        signal,
        ...(isLegacy && { prior: { kind: 'legacy' } as const }),
      }),
    )
  } catch (error) {
    close()
    throw error
  }
  const deliver = transport.onmessage
  let questions = 0
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message && ++questions > MAX_QUESTIONS) return
    deliver?.(message)
  }
  return { client, close }
}
