import type { SettledLinks } from '../consent/settled-links.ts'
import type { Exchange } from './exchange.ts'
import type { ListChanges } from './list-changes.ts'
import type { StreamSlots } from './stream-slots.ts'

// The GET stream of clients of 2025 (MCP 2025-11-25, Transports, Listening for Messages from the Server).

/** A notification of the server. */
export interface StreamNotification {
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** Sends notifications to the client of an open stream. Returns the function that stops the notifications. */
export type NotificationSource = (
  exchange: Exchange,
  notify: (notification: StreamNotification) => void,
) => () => void

const KEEP_ALIVE_MS = 15_000
/** Events that wait for a slow reader. A stream with more is ended. */
const MAX_WAITING = 100

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no', // nginx would buffer events
}

/** Opens the stream. Throws `rate_limited`. */
export function openEventStream(
  exchange: Exchange,
  slots: StreamSlots,
  sources: readonly NotificationSource[],
): Response {
  const cleanUp: (() => void)[] = []
  let controller: ReadableStreamDefaultController<string> | undefined
  const end = () => {
    for (const clean of cleanUp.splice(0)) clean()
    try {
      controller?.close()
    } catch {} // its reader has closed it
  }
  const send = (text: string) => {
    if ((controller?.desiredSize ?? 0) > 0) controller?.enqueue(text)
    else end()
  }
  const notify = (notification: StreamNotification) =>
    send(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...notification })}\n\n`)

  const { principal, isAuthorized } = exchange
  cleanUp.push(slots.acquire({ owner: principal.owner, isAuthorized, end }))
  const body = new ReadableStream<string>(
    {
      start(opened) {
        controller = opened
      },
      cancel: end,
    },
    { highWaterMark: MAX_WAITING },
  )
  const keepAlive = setInterval(() => send(': keep-alive\n\n'), KEEP_ALIVE_MS).unref()
  cleanUp.push(() => clearInterval(keepAlive), ...sources.map((source) => source(exchange, notify)))
  send(': open\n\n') // a proxy forwards the headers with the first bytes
  return new Response(body.pipeThrough(new TextEncoderStream()), { headers: HEADERS })
}

/** Notifies the client of changes of its list of tools. */
export function listChangeSource(changes: ListChanges): NotificationSource {
  return (exchange, notify) =>
    changes.watch(exchange, () => notify({ method: 'notifications/tools/list_changed' }))
}

/** Notifies the client of every settled link of its user. A client ignores links that it does not know. */
export function settledLinkSource(settled: SettledLinks): NotificationSource {
  return ({ principal: { projectId, userId }, legacy }, notify) => {
    if (userId === undefined || !legacy.elicitation.url) return () => {}
    return settled.subscribe({ projectId, userId }, (elicitationId) =>
      notify({ method: 'notifications/elicitation/complete', params: { elicitationId } }),
    )
  }
}
