import { Client, type FetchLike, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Outgoing } from '../../egress/outgoing.ts'
import { version } from '../../version.ts'
import { workerToken } from '../arcade/worker-protocol.ts'
import type { ElicitationMode } from '../dialog/dialog.ts'
import { exchange, exchangeFetch, reconnectLater } from './exchange.ts'
import { currentMessages, type ServerMessages } from './server-messages.ts'
import type { RequestSigner } from './settings.ts'

/** A session with an MCP server, for one user or for none. */
export interface McpSession {
  readonly client: Client
  /** The calls that are under way. */
  readonly active: Set<ServerMessages>
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
  /** The size limit of one answer. Default: 4 MiB. */
  readonly maxBytes?: number
  /** The server is known to speak only protocol versions before 2026-07-28. */
  readonly isLegacy: boolean
  /** How users can be asked; absent: not at all. */
  readonly modes?: readonly ElicitationMode[]
  readonly signal?: AbortSignal | undefined
}

/** How many requests a server may send during a session. Further requests are not answered. */
const MAX_QUESTIONS = 100
/** The same limit for a session in which users can be asked. The dialog limits the questions of each call. */
const MAX_ASKED = 1_000
/** How long closing a session waits for the server's answer. */
const CLOSING_MS = 2_000
/** How many sessions may keep a standalone GET stream open, because the open streams to a host are limited. */
const MAX_LISTENING = 64
let listening = 0

/** Connects and negotiates the protocol version. Throws `ExchangeFault`. */
export async function openSession(outgoing: Outgoing, access: McpAccess): Promise<McpSession> {
  const { uri, headers, signer, timeoutMs, longestMs, isLegacy, modes = [], signal, maxBytes } = access
  // servers of MCP 2025 often ask on the standalone GET stream
  const listens = modes.length > 0 && listening < MAX_LISTENING
  if (listens) listening++
  const active = new Set<ServerMessages>()
  /** The call to which a message belongs: the call on whose stream it arrived, or the only call of the session. */
  const messagesOf = () => currentMessages() ?? (active.size === 1 ? [...active][0] : undefined)
  const transport = new StreamableHTTPClientTransport(new URL(uri), {
    fetch: signed(exchangeFetch(outgoing, longestMs, { listens, maxBytes }), signer),
    requestInit: { headers: { 'user-agent': 'gatepass', ...headers } },
    onInsufficientScope: 'throw',
    reconnectionScheduler: reconnectLater,
  })
  const client = new Client(
    { name: 'gatepass', version },
    {
      // no sampling and no roots; elicitation only if the caller's client can show questions
      capabilities: modes.length === 0 ? {} : { elicitation: capabilityOf(modes) },
      inputRequired: { autoFulfill: false },
      versionNegotiation: { mode: 'auto' },
    },
  )
  client.onerror = () => {} // each request reports its own failure
  client.setNotificationHandler('notifications/message', ({ params }) => messagesOf()?.log(params))
  client.setNotificationHandler('notifications/tools/list_changed', () => messagesOf()?.listChanged())
  if (modes.length > 0)
    client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
      const messages = messagesOf()
      return messages === undefined ? { action: 'cancel' } : messages.elicit(params, mcpReq.signal)
    })
  const end = () => void client.close().catch(() => undefined)
  let isClosed = false
  const close = () => {
    if (listens && !isClosed) listening--
    isClosed = true
    const limit = setTimeout(end, CLOSING_MS)
    limit.unref()
    transport
      .terminateSession()
      .catch(() => undefined)
      .finally(() => {
        clearTimeout(limit)
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
  const most = modes.length > 0 ? MAX_ASKED : MAX_QUESTIONS
  let questions = 0
  transport.onmessage = (message) => {
    if ('method' in message && 'id' in message && ++questions > most) return
    deliver?.(message)
  }
  return { client, active, close }
}

function capabilityOf(modes: readonly ElicitationMode[]) {
  return { ...(modes.includes('form') && { form: {} }), ...(modes.includes('url') && { url: {} }) }
}

/** A signature is short-lived, so each request of a session gets its own. */
function signed(fetch: FetchLike, signer: RequestSigner | undefined): FetchLike {
  if (signer === undefined) return fetch
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${workerToken(signer)}`)
    return fetch(url, { ...init, headers })
  }
}
