import { AsyncLocalStorage } from 'node:async_hooks'
import type { FetchLike } from '@modelcontextprotocol/client'
import { type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import { toFetch } from '../../egress/outgoing-fetch.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { timeLimit } from '../../sdk/tools/time-limit.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { WorkerFault } from '../worker-fault.ts'
import { MAX_ANSWER_BYTES } from '../worker-request.ts'
import type { LargeMessages } from './large-messages.ts'
import { receiving, type ServerMessages } from './server-messages.ts'

// The HTTP side of the MCP SDK: every request goes through `Outgoing`, without redirects and without the SDK's own
// authorization. The SDK hides HTTP answers and waits for ever when a stream ends without a result; an exchange
// observes both.

/** The HTTP faults, refusals and cancellations during one request of the protocol. */
export interface HttpObservations {
  fault?: OutgoingError
  refused?: {
    readonly status: number
    /** The header `WWW-Authenticate`. */
    readonly challenge?: string | undefined
    readonly retryAfter?: string | undefined
    readonly hadSession: boolean
  }
  isTimeout?: boolean
  isCancelled?: boolean
}

interface Exchange {
  readonly seen: HttpObservations
  /** Aborted at the end of the exchange, to close its open requests. */
  readonly ended: AbortSignal
  /** Reports that the stream ended without an answer, or that its answer could not be read (`WorkerFault`). */
  broken(error: OutgoingError | WorkerFault): void
  /** The number of HTTP requests so far. A higher number than before means that the SDK has sent another request. */
  requests: number
  isReconnecting: boolean
  readonly large: LargeMessages | undefined
}

const exchanges = new AsyncLocalStorage<Exchange>()
/** Time for the SDK to read an answer that arrived with the end of its stream. */
const STREAM_END_GRACE_MS = 100
/** Lower bound on the reconnection delay, since a server may ask for reconnections without delay. */
const MIN_RECONNECT_DELAY_MS = 500

/** The failure of an exchange, with the HTTP answers that belong to it. */
export class ExchangeFault extends Error {
  readonly seen: HttpObservations

  constructor(cause: unknown, seen: HttpObservations) {
    super('An exchange with an MCP server failed.', { cause })
    this.name = 'ExchangeFault'
    this.seen = seen
  }
}

/** Whether the server answered 401, which starts OAuth. */
export function isUnauthorized(error: unknown): error is ExchangeFault {
  return error instanceof ExchangeFault && error.seen.refused?.status === 401
}

/**
 * Runs one request of the protocol until it ends, its time limit passes or the caller cancels. Throws only
 * `ExchangeFault`.
 */
export async function exchange<T>(
  {
    timeoutMs,
    signal,
    large,
    messages,
    active,
  }: {
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
    /** Takes large results out of the answers. */
    readonly large?: LargeMessages | undefined
    /** Takes what the server sends besides the result. */
    readonly messages?: ServerMessages | undefined
    /** The calls of the session that are under way. */
    readonly active?: Set<ServerMessages> | undefined
  },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const seen: HttpObservations = {}
  const stop = new AbortController()
  const ended = new AbortController()
  const limit = timeLimit(timeoutMs, () => {
    seen.isTimeout = true
    stop.abort(new Error('Out of time'))
  })
  const cancel = () => {
    seen.isCancelled = true
    stop.abort(new Error('Cancelled'))
  }
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted) cancel()
  let unread: WorkerFault | undefined
  const broken = (error: OutgoingError | WorkerFault) => {
    if (error instanceof WorkerFault) unread ??= error
    else seen.fault ??= error
    stop.abort(error)
  }
  // the time limit is paused while the user is asked
  const pausing = messages && {
    ...messages,
    elicit: (params: unknown, signal: AbortSignal) =>
      limit.pausedDuring(() => messages.elicit(params, AbortSignal.any([signal, stop.signal]))),
  }
  if (pausing !== undefined) active?.add(pausing)
  try {
    return await exchanges.run(
      { seen, ended: ended.signal, broken, requests: 0, isReconnecting: false, large },
      () => receiving(pausing, () => ask(stop.signal)),
    )
  } catch (error) {
    throw new ExchangeFault(unread ?? error, seen)
  } finally {
    limit.clear()
    if (pausing !== undefined) active?.delete(pausing)
    signal?.removeEventListener('abort', cancel)
    ended.abort()
  }
}

interface ExchangeFetchOptions {
  /** Whether the session opens the standalone GET stream, on which servers of MCP 2025 send messages. */
  readonly listens?: boolean
  /** The size limit of one answer. */
  readonly maxBytes?: number | undefined
}

/** The `fetch` of the SDK. */
export function exchangeFetch(
  outgoing: Outgoing,
  timeoutMs: number,
  { listens = false, maxBytes = MAX_ANSWER_BYTES }: ExchangeFetchOptions = {},
): FetchLike {
  const ask = toFetch(outgoing, {
    purpose: 'worker',
    maxBytes,
    deadlineMs: timeoutMs,
    idleMs: timeoutMs,
  })
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    // the standalone GET stream belongs to no exchange; 405 tells the SDK that the server offers none
    if (init.method === 'GET' && !headers.has('last-event-id'))
      return listens ? ask(url, { ...init, redirect: 'error' }) : new Response(null, { status: 405 })
    // these belong to no exchange: a cancellation is sent after its exchange has ended, and a reply may answer a
    // question that arrived on the standalone GET stream
    const isOutside = isCancellation(init.body) || isReply(init.body) || init.method === 'DELETE'
    const current = isOutside ? undefined : exchanges.getStore()
    const signals = [init.signal, current?.ended].filter((signal) => signal != null)
    if (current !== undefined) {
      current.requests++
      delete current.seen.refused // the SDK has handled the previous answer
    }
    try {
      const response = await ask(url, { ...init, redirect: 'error', signal: AbortSignal.any(signals) })
      return current === undefined ? response : observed(response, current, headers, new URL(url).host)
    } catch (error) {
      if (error instanceof OutgoingError && current !== undefined) current.seen.fault ??= error
      throw error
    }
  }
}

/**
 * Schedules a reconnection after `delayMs`, but not sooner than the lower bound. Returns the function that cancels it.
 */
export function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  const current = exchanges.getStore()
  if (current !== undefined) current.isReconnecting = true
  const timer = setTimeout(
    () => {
      if (current !== undefined) current.isReconnecting = false
      reconnect()
    },
    Math.max(delayMs, MIN_RECONNECT_DELAY_MS),
  )
  return () => clearTimeout(timer)
}

function isCancellation(body: RequestInit['body']): boolean {
  return (
    typeof body === 'string' && body.includes('"method":"notifications/cancelled"') && !body.includes('"id":')
  )
}

function isReply(body: RequestInit['body']): boolean {
  if (typeof body !== 'string') return false
  if (!body.includes('"method":')) return true
  if (!body.includes('"result":')) return false
  const message: unknown = JSON.parse(body) // a user's answer may contain the text `"method":`
  return isRecord(message) && !('method' in message)
}

function observed(response: Response, current: Exchange, sent: Headers, host: string): Response {
  const { status, headers, body } = response
  if (!response.ok) {
    const challenge = headers.get('www-authenticate') ?? undefined
    const retryAfter = headers.get('retry-after') ?? undefined
    current.seen.refused = { status, challenge, retryAfter, hadSession: sent.has('mcp-session-id') }
    return body === null ? response : new Response(beginningOf(body), { status, headers })
  }
  if (body === null) return response
  if (current.large !== undefined) return observedEvents(current.large.replaced(response), current, host)
  return observedEvents(response, current, host)
}

/** Cuts an error body to the size that the SDK may parse on the event loop. */
function beginningOf(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let room = LARGE_BYTES
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) return controller.close()
      controller.enqueue(value.subarray(0, room))
      room -= value.length
      if (room > 0) return
      controller.close()
      await reader.cancel()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function observedEvents(response: Response, current: Exchange, host: string): Response {
  const { status, headers, body } = response
  if (body === null || !/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return response
  return new Response(reportingBreak(body, current, host), { status, headers })
}

/**
 * Forwards the stream. Reports its exchange as broken if the stream fails, or ends while the SDK waits for a result.
 */
function reportingBreak(
  body: ReadableStream<Uint8Array>,
  current: Exchange,
  host: string,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const { requests } = current
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
        setTimeout(() => {
          if (!current.isReconnecting && current.requests === requests)
            current.broken(new OutgoingError('unreachable', host, { requestSent: true }))
        }, STREAM_END_GRACE_MS)
      } catch (error) {
        controller.error(error)
        if (error instanceof OutgoingError || error instanceof WorkerFault) current.broken(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
