import { randomUUID } from 'node:crypto'
import { GrowingBody } from '../../egress/growing-body.ts'
import { membersOf } from '../../providers/response-body.ts'
import type { CheckedTool } from '../check-output.ts'
import { LARGE_BYTES } from '../large-json.ts'
import { type PackedAnswer, unpackAnswer } from '../packed-answer.ts'
import { type AnswerReading, unreadError } from '../read-answer.ts'
import { BUDGET_MS, waitForTurn } from '../slices.ts'
import { inThread, ThreadFault, threadTask } from '../thread-pool.ts'
import type { ToolAnswer } from '../tool-answer.ts'
import { WorkerFault } from '../worker-fault.ts'
import { MAX_ANSWER_BYTES } from '../worker-request.ts'
import { type LargeMessage, MARK, type ReplacedMessage } from './large-message-task.ts'

// The SDK parses and validates every message on the event loop. A large result is therefore taken out of the server's
// answer first and read in a thread; the SDK gets a small result in its place. A result that asks the user is passed on
// whole, up to a limit.

export interface LargeMessages {
  /** The response with its large messages replaced. Its body throws `WorkerFault` if a thread cannot read one of them. */
  replaced(response: Response): Response
}

export interface LargeResults extends LargeMessages {
  /** Returns the answer that was read from the large result, if `result` is a small one that replaces it. */
  of(result: unknown): ToolAnswer | undefined
}

const task = threadTask<LargeMessage & { readonly tool?: CheckedTool }, ReplacedMessage<PackedAnswer>>(
  './large-message-task',
  import.meta.url,
)

export function largeResultReader(
  { secrets, tool, owner, signal }: AnswerReading,
  workerSecrets: readonly string[],
): LargeResults {
  const found = new Map<string, ToolAnswer>()

  async function replace(bytes: Uint8Array, form: LargeMessage['form']): Promise<Uint8Array> {
    const mark = randomUUID()
    const all = [...secrets, ...workerSecrets]
    const message = { bytes, form, mark, secrets: all, ...(tool && { tool }) }
    const read = await inThread(task, message, { owner, signal }).catch((error: unknown) => {
      throw error instanceof ThreadFault ? new WorkerFault(unreadError(error)) : error
    })
    if (read.kept !== undefined) found.set(mark, unpackAnswer(read.kept))
    return read.bytes
  }

  return {
    replaced: (response) => withReplaced(response, { replace, maxBytes: MAX_ANSWER_BYTES }),
    of(result) {
      const mark = markOf(result)
      return mark === undefined ? undefined : found.get(mark)
    },
  }
}

/** The mark of a small result that replaces a large one. */
export function markOf(result: unknown): string | undefined {
  const mark = membersOf(membersOf(result)?._meta)?.[MARK]
  return typeof mark === 'string' ? mark : undefined
}

interface Replacing {
  /** Returns the small message that replaces a large one. No other array shares the buffer of `bytes`. */
  readonly replace: (bytes: Uint8Array<ArrayBuffer>, form: LargeMessage['form']) => Promise<Uint8Array>
  /** The size limit of the response. */
  readonly maxBytes: number
}

/** The response with its large messages replaced. */
export function withReplaced(response: Response, replacing: Replacing): Response {
  const { body, status, headers } = response
  if (body === null) return response
  const isEvents = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '')
  return new Response((isEvents ? eventsOf : messageOf)(body, replacing), { status, headers })
}

/** The pieces of one message. */
class Pieces {
  readonly #maxBytes: number
  #small: Uint8Array[] = []
  #large: GrowingBody | undefined
  size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  push(piece: Uint8Array): void {
    this.size += piece.length
    if (this.#large === undefined && this.size > LARGE_BYTES) {
      this.#large = new GrowingBody(this.#maxBytes)
      for (const chunk of this.#small) this.#large.push(chunk)
      this.#small = []
    }
    if (this.#large === undefined) this.#small.push(piece)
    else this.#large.push(piece)
  }

  /** Returns the message, or the replacement of a large message, and starts the next one. */
  async take(form: LargeMessage['form'], { replace }: Replacing): Promise<Uint8Array> {
    const [small, large] = [this.#small, this.#large]
    this.#small = []
    this.#large = undefined
    this.size = 0
    return large === undefined ? Buffer.concat(small) : replace(large.take(), form)
  }
}

/** A body that is one message, with a large message replaced. */
function messageOf(body: ReadableStream<Uint8Array>, replacing: Replacing): ReadableStream<Uint8Array> {
  return streamOf(async function* () {
    const pieces = new Pieces(replacing.maxBytes)
    for await (const piece of body) pieces.push(piece)
    yield await pieces.take('json', replacing)
  })
}

const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d]

/** A body of server-sent events, with large ones replaced. Each event is forwarded when it is complete. */
function eventsOf(body: ReadableStream<Uint8Array>, replacing: Replacing): ReadableStream<Uint8Array> {
  return streamOf(async function* () {
    const pieces = new Pieces(replacing.maxBytes)
    let isLineEmpty = true
    let last = 0
    let begun = 0
    for await (const chunk of body) {
      await waitForTurn()
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
          pieces.push(chunk.subarray(from, at + 1))
          yield await pieces.take('event', replacing)
          from = at + 1
          // many small events cost as much as a large one, because the SDK parses and checks each
          if (performance.now() - begun > BUDGET_MS) {
            await waitForTurn()
            begun = performance.now()
          }
        }
        isLineEmpty = true
      }
      pieces.push(chunk.subarray(from))
    }
    // the SDK drops an event that the end of the stream cuts off, so a large one is not read
    if (pieces.size <= LARGE_BYTES) yield await pieces.take('event', replacing)
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
