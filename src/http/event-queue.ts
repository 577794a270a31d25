import { jsonText } from '../tools/large-json.ts'
import type { StreamEvent } from '../tools/run/run-tool.ts'

/** Of one stream, while its reader is slow: past either progress is left out, and a tool that goes on is stopped. */
const MAX_WAITING_EVENTS = 1_000
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024
/**
 * Of all streams together: past it progress is left out everywhere, and where a tool goes on with chunks, the stream with
 * the most is stopped and what waits in it is dropped.
 */
const MAX_WAITING_OF_ALL = 64 * 1024 * 1024

/** What waits in all streams for their readers. */
export interface Backlogs {
  characters: number
  readonly of: Set<Backlog>
}

interface Backlog {
  readonly characters: number
  /** Ends the run without what waits. */
  cut(): void
}

/** Between a tool that speaks when it likes and a response that is written one event after the other. */
export function eventQueue(all: Backlogs, stop: () => void) {
  let events: SSEMessage[] = []
  let characters = 0
  let wake = () => {}
  let isClosed = false
  let isCut = false

  function count(more: number): void {
    characters += more
    all.characters += more
  }

  function forget(): void {
    count(-characters)
    events = []
  }

  const backlog: Backlog = {
    get characters() {
      return characters
    },
    cut() {
      const end = events.find(isEnd)
      forget()
      isCut = true
      if (end === undefined) return stop()
      events.push({ ...end, event: 'error', data: JSON.stringify({ ...DROPPED, toolId: end.toolId }) })
      count(events[0]?.data.length ?? 0)
    },
  }
  all.of.add(backlog)

  return {
    put({ kind, toolId, data }: StreamEvent) {
      const isFull = events.length >= MAX_WAITING_EVENTS || characters >= MAX_WAITING_CHARACTERS
      if (kind === 'progress' && (isFull || isCut || all.characters > MAX_WAITING_OF_ALL)) return
      if (kind === 'chunk' && (isFull || isCut)) return stop()
      const event = { event: kind, toolId, data: jsonText({ kind, toolId, data }) }
      count(event.data.length)
      events.push(event)
      if (kind !== 'progress' && all.characters > MAX_WAITING_OF_ALL) largest(all)?.cut()
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
    /** Nobody reads any more. */
    drop() {
      forget()
      all.of.delete(backlog)
    },
  }
}

function largest({ of }: Backlogs): Backlog | undefined {
  let most: Backlog | undefined
  for (const one of of) if (most === undefined || one.characters > most.characters) most = one
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
      'More waited for the readers of streams than there is room for, so what waited here was dropped.',
  },
} as const

interface SSEMessage {
  readonly event: string
  readonly toolId: string
  readonly data: string
}
