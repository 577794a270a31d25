import { jsonBody } from '../../tools/large-json.ts'
import type { StreamEventWire } from '../dialects/runs.ts'

/**
 * Limits of one stream whose reader is slow. Beyond either of them progress events are dropped, and a tool that sends more
 * chunks is stopped. Lengths count the characters of texts and the bytes of large results.
 */
const MAX_WAITING_EVENTS = 1_000
const MAX_WAITING_LENGTH = 16 * 1024 * 1024
/**
 * The limit of all streams together. Beyond it progress events are dropped everywhere, and the next chunk stops the stream
 * with the longest backlog and drops that backlog.
 */
const MAX_WAITING_OF_ALL = 64 * 1024 * 1024

/** The waiting events of all streams, and their total length. */
export interface Backlogs {
  length: number
  readonly streams: Set<Backlog>
}

interface Backlog {
  readonly length: number
  /** Stops the run and drops its waiting events. */
  cut(): void
}

/** A queue between a tool, which sends events at any time, and a response, which is written one event at a time. */
export function eventQueue(all: Backlogs, stop: () => void) {
  let events: SSEMessage[] = []
  let length = 0
  let wake = () => {}
  let isClosed = false
  let isCut = false

  function count(more: number): void {
    length += more
    all.length += more
  }

  function dropWaiting(): void {
    count(-length)
    events = []
  }

  const backlog: Backlog = {
    get length() {
      return length
    },
    cut() {
      const end = events.find(isEnd)
      dropWaiting()
      isCut = true
      if (end === undefined) return stop()
      events.push({ ...end, event: 'error', data: JSON.stringify({ ...DROPPED, toolId: end.toolId }) })
      count(events[0]?.data.length ?? 0)
    },
  }
  all.streams.add(backlog)

  return {
    put({ kind, toolId, data }: StreamEventWire) {
      const isFull = events.length >= MAX_WAITING_EVENTS || length >= MAX_WAITING_LENGTH
      if (kind === 'progress' && (isFull || isCut || all.length > MAX_WAITING_OF_ALL)) return
      if (kind === 'chunk' && (isFull || isCut)) return stop()
      const event = { event: kind, toolId, data: jsonBody({ kind, toolId, data }) }
      count(event.data.length)
      events.push(event)
      if (kind !== 'progress' && all.length > MAX_WAITING_OF_ALL) largest(all)?.cut()
      wake()
    },
    close() {
      isClosed = true
      wake()
    },
    async next(): Promise<SSEMessage | undefined> {
      while (events.length === 0 && !isClosed) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
      const event = events.shift()
      count(-(event?.data.length ?? 0))
      return event
    },
    /** Drops the waiting events and removes the queue from the backlogs, when the response has ended. */
    drop() {
      dropWaiting()
      all.streams.delete(backlog)
    },
  }
}

function largest({ streams }: Backlogs): Backlog | undefined {
  let most: Backlog | undefined
  for (const stream of streams) if (most === undefined || stream.length > most.length) most = stream
  return most
}

function isEnd({ event }: SSEMessage): boolean {
  return event === 'done' || event === 'error'
}

const DROPPED = {
  kind: 'error',
  data: {
    name: 'rate_limited',
    message:
      'Too many events waited for the readers of all streams, so the waiting events of this stream were dropped.',
  },
} as const

interface SSEMessage {
  readonly event: string
  readonly toolId: string
  /** JSON of one line. */
  readonly data: string | Uint8Array
}

/** A server-sent event in its wire format. Large data is bytes already and is not converted to text and back. */
export function asSent({ event, data }: SSEMessage): string | Uint8Array {
  const head = `event: ${event}\ndata: `
  if (typeof data === 'string') return `${head}${data}\n\n`
  return Buffer.concat([Buffer.from(head), data, Buffer.from('\n\n')])
}
