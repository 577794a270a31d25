import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Outgoing } from '../../egress/outgoing.ts'
import { version } from '../../version.ts'
import { workerToken } from '../arcade/worker-protocol.ts'
import { exchange, exchangeFetch, reconnectLater } from './exchange.ts'
import type { RequestSigner } from './settings.ts'

/** A session with an MCP server, for one user or for none. */
export interface McpSession {
  readonly client: Client
  /** Ends the session. Does not wait for the server's answer. */
  close(): void
}

export interface McpAccess {
  readonly uri: string
  /** The worker's headers, with the token for the server. */
  readonly headers: Readonly<Record<string, string>>
  /** Signs each request: its `Authorization` replaces that of the headers. */
  readonly signer?: RequestSigner | undefined
  /** Time limit for connecting. */
  readonly timeoutMs: number
  /** Time limit for any single request of the session. */
  readonly longestMs: number
  /** The server is known to speak only protocol versions before 2026-07-28. */
  readonly isLegacy: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * How many requests a server may send its client during a session. Each is declined; further ones are not answered at
 * all.
 */
const MAX_QUESTIONS = 100
const GOODBYE_MS = 2_000

/** Connects and negotiates the protocol version. Throws `ExchangeFault`. */
export async function openSession(outgoing: Outgoing, access: McpAccess): Promise<McpSession> {
  const { uri, headers, signer, timeoutMs, longestMs, isLegacy, signal } = access
  const transport = new StreamableHTTPClientTransport(new URL(uri), {
    fetch: signed(exchangeFetch(outgoing, longestMs), signer),
    requestInit: { headers: { 'user-agent': 'gatepass', ...headers } },
    onInsufficientScope: 'throw',
    reconnectionScheduler: reconnectLater,
  })
  const client = new Client(
    { name: 'gatepass', version },
    {
      // no elicitation, no sampling, no roots: requests of the server are not passed to users or models
      capabilities: {},
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: 'auto' },
    },
  )
  client.onerror = () => {} // each request reports its own failure
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

/** A signature is short-lived, so each request of a session gets its own. */
function signed(fetch: FetchLike, signer: RequestSigner | undefined): FetchLike {
  if (signer === undefined) return fetch
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${await workerToken(signer)}`)
    return fetch(url, { ...init, headers })
  }
}
