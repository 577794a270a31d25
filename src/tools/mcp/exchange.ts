import { AsyncLocalStorage } from 'node:async_hooks'
import type { FetchLike } from '@modelcontextprotocol/client'
import { type Outgoing, OutgoingError } from '../../egress/outgoing.ts'
import { toFetch } from '../../egress/outgoing-fetch.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { MAX_ANSWER_BYTES } from '../worker-request.ts'
import type { LargeResults } from './large-messages.ts'

// What goes over the wire for the SDK: every request through `Outgoing`, none redirected, none authorized by the SDK.
// The SDK hides what HTTP answered, and waits for ever for a stream that ended without an answer; an exchange sees both.

/** What was seen underneath one request of the protocol. */
export interface Seen {
  fault?: OutgoingError
  refused?: {
    readonly status: number
    /** `WWW-Authenticate`. */
    readonly challenge?: string
    readonly retryAfter?: string
    readonly hadSession: boolean
  }
  isTimeout?: boolean
  isCancelled?: boolean
}

interface Exchange {
  readonly seen: Seen
  /** Aborted when it is over, so that nothing of it stays open. */
  readonly over: AbortSignal
  /** The stream came to an end without an answer. */
  broken(error: OutgoingError): void
  /** Counts the requests over HTTP: the next one goes out when the one before was answered. */
  requests: number
  isReconnecting: boolean
  readonly large: LargeResults | undefined
}

const exchanges = new AsyncLocalStorage<Exchange>()
/** For an answer that came with the end of its stream to be read. */
const LAST_WORDS_MS = 100
/** A server may ask to be asked again at once, and again. */
const LEAST_PAUSE_MS = 500

/** Wraps what went wrong with what was seen of it. */
export class ExchangeFault extends Error {
  readonly seen: Seen

  constructor(cause: unknown, seen: Seen) {
    super('An exchange with an MCP server failed.', { cause })
    this.name = 'ExchangeFault'
    this.seen = seen
  }
}

/** One request of the protocol, ended by the time or the caller. Throws `ExchangeFault` alone. */
export async function exchange<T>(
  {
    timeoutMs,
    signal,
    large,
  }: {
    readonly timeoutMs: number
    readonly signal?: AbortSignal | undefined
    /** Where the large results of a call are kept. */
    readonly large?: LargeResults | undefined
  },
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const seen: Seen = {}
  const stop = new AbortController()
  const over = new AbortController()
  const timer = setTimeout(() => {
    seen.isTimeout = true
    stop.abort(new Error('Out of time'))
  }, timeoutMs)
  const giveUp = () => {
    seen.isCancelled = true
    stop.abort(new Error('Cancelled'))
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  if (signal?.aborted) giveUp()
  const broken = (error: OutgoingError) => {
    seen.fault ??= error
    stop.abort(error)
  }
  try {
    return await exchanges.run(
      { seen, over: over.signal, broken, requests: 0, isReconnecting: false, large },
      () => ask(stop.signal),
    )
  } catch (error) {
    throw new ExchangeFault(error, seen)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    over.abort()
  }
}

/** The SDK's way out. */
export function exchangeFetch(outgoing: Outgoing, timeoutMs: number): FetchLike {
  const ask = toFetch(outgoing, {
    purpose: 'worker',
    maxBytes: MAX_ANSWER_BYTES,
    deadlineMs: timeoutMs,
    idleMs: timeoutMs,
  })
  return async (url, init = {}) => {
    const headers = new Headers(init.headers)
    // what a server tells of its own accord is not listened to; as one that offers no such stream
    if (init.method === 'GET' && !headers.has('last-event-id')) return new Response(null, { status: 405 })
    // a cancellation outlives what it cancels
    const current = isCancellation(init.body) || init.method === 'DELETE' ? undefined : exchanges.getStore()
    const signals = [init.signal, current?.over].filter((one) => one != null)
    if (current !== undefined) {
      current.requests++
      delete current.seen.refused // what the one before was answered was told to the SDK, which has gone on
    }
    try {
      const response = await ask(url, { ...init, redirect: 'error', signal: AbortSignal.any(signals) })
      return current === undefined ? response : watched(response, current, headers, new URL(url).host)
    } catch (error) {
      if (error instanceof OutgoingError && current !== undefined) current.seen.fault ??= error
      throw error
    }
  }
}

/** Paced, and counted as alive by the exchange it belongs to. */
export function reconnectLater(reconnect: () => void, delayMs: number): () => void {
  const current = exchanges.getStore()
  if (current !== undefined) current.isReconnecting = true
  const timer = setTimeout(
    () => {
      if (current !== undefined) current.isReconnecting = false
      reconnect()
    },
    Math.max(delayMs, LEAST_PAUSE_MS),
  )
  return () => clearTimeout(timer)
}

function isCancellation(body: RequestInit['body']): boolean {
  return (
    typeof body === 'string' && body.includes('"method":"notifications/cancelled"') && !body.includes('"id":')
  )
}

function watched(response: Response, current: Exchange, sent: Headers, host: string): Response {
  const { status, headers, body } = response
  if (!response.ok) {
    const challenge = headers.get('www-authenticate') ?? undefined
    const retryAfter = headers.get('retry-after') ?? undefined
    current.seen.refused = {
      status,
      ...(challenge !== undefined && { challenge }),
      ...(retryAfter !== undefined && { retryAfter }),
      hadSession: sent.has('mcp-session-id'),
    }
    return body === null ? response : new Response(beginningOf(body), { status, headers })
  }
  if (body === null) return response
  if (current.large !== undefined) return watchedEvents(current.large.replaced(response), current, host)
  return watchedEvents(response, current, host)
}

/** As much of the body of a refusal as the SDK may parse on the event loop. */
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

function watchedEvents(response: Response, current: Exchange, host: string): Response {
  const { status, headers, body } = response
  if (body === null || !/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')) return response
  return new Response(untilItBreaks(body, current, host), { status, headers })
}

function untilItBreaks(
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
        }, LAST_WORDS_MS)
      } catch (error) {
        controller.error(error)
        if (error instanceof OutgoingError) current.broken(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
