import { randomUUID } from 'node:crypto'
import { membersOf } from '../../providers/response-body.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { unpackAnswer } from '../packed-answer.ts'
import type { AnswerReading } from '../read-answer.ts'
import { BUDGET_MS, ownTurn } from '../slices.ts'
import { inThread, threadTask } from '../thread-pool.ts'
import type { ToolAnswer } from '../tool-answer.ts'
import { type LargeMessage, MARK, type ReadMessage } from './large-message-task.ts'

// The SDK parses and validates every message on the event loop. A large result is therefore taken out of the server's
// answer first and read in a thread; the SDK gets a small result in its place.

export interface LargeResults {
  /** The response with its large messages replaced. */
  replaced(response: Response): Response
  /** The large result that was replaced by this small one. */
  of(result: unknown): ToolAnswer | undefined
}

const task = threadTask<LargeMessage, ReadMessage>('./large-message-task', import.meta.url)

/** `shown`: secrets that the server was sent besides those of the call. */
export function largeResultReader(
  { secrets, tool, owner, signal }: AnswerReading,
  shown: readonly string[],
): LargeResults {
  const found = new Map<string, ToolAnswer>()

  async function replace(bytes: Uint8Array, form: LargeMessage['form']): Promise<Uint8Array> {
    const mark = randomUUID()
    const all = [...secrets, ...shown]
    const message = { bytes, form, mark, secrets: all, ...(tool && { tool }) }
    const read = await inThread(task, message, { owner, ...(signal && { signal }) })
    if (read.result !== undefined) found.set(mark, unpackAnswer(read.result))
    return read.bytes
  }

  return {
    replaced(response) {
      const { body, status, headers } = response
      if (body === null) return response
      const isEvents = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
      return new Response(isEvents ? eventsOf(body, replace) : messageOf(body, replace), { status, headers })
    },
    of(result) {
      const mark = membersOf(membersOf(result)?._meta)?.[MARK]
      return typeof mark === 'string' ? found.get(mark) : undefined
    },
  }
}

type Replace = (bytes: Uint8Array, form: LargeMessage['form']) => Promise<Uint8Array>

/** Passes on a body that is one message. */
function messageOf(body: ReadableStream<Uint8Array>, replace: Replace): ReadableStream<Uint8Array> {
  return streamOf(async function* () {
    const pieces: Uint8Array[] = []
    for await (const piece of body) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    yield bytes.length > LARGE_BYTES ? await replace(bytes, 'json') : bytes
  })
}

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

/** Passes on a body of server-sent events, each when it is complete. */
function eventsOf(body: ReadableStream<Uint8Array>, replace: Replace): ReadableStream<Uint8Array> {
  return streamOf(async function* () {
    let pieces: Uint8Array[] = []
    let size = 0
    let isLineEmpty = true
    let last = 0
    let begun = 0
    for await (const chunk of body) {
      await ownTurn()
      begun = performance.now()
      let from = 0
      for (let at = 0; at < chunk.length; at++) {
        const byte = chunk[at] as number
        const isSecondHalf = byte === LINE_FEED && last === CARRIAGE_RETURN
        last = byte
        if (isSecondHalf) continue
        if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
          isLineEmpty = false
          continue
        }
        if (isLineEmpty) {
          const event = Buffer.concat([...pieces, chunk.subarray(from, at + 1)])
          yield event.length > LARGE_BYTES ? await replace(event, 'event') : event
          pieces = []
          size = 0
          from = at + 1
          // many small events cost as much as a large one, because the SDK parses and checks each
          if (performance.now() - begun > BUDGET_MS) {
            await ownTurn()
            begun = performance.now()
          }
        }
        isLineEmpty = true
      }
      pieces.push(chunk.subarray(from))
      size += chunk.length - from
    }
    if (size <= LARGE_BYTES) yield Buffer.concat(pieces)
  })
}

function streamOf(pieces: () => AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  const source = pieces()
  return new ReadableStream(
    {
      async pull(controller) {
        for (;;) {
          const { value, done } = await source.next()
          if (done) return controller.close()
          if (value.length > 0) return controller.enqueue(value)
        }
      },
      async cancel() {
        await source.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}
