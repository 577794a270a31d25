import { Chunks, joined } from './chunks.ts'

/** Reading from the socket pauses while this many bytes wait for their reader. */
const BUFFER_BYTES = 64 * 1024

/** The exchange that receives the body. */
interface Source {
  /** Called for each read. */
  onRead(): void
  pause(): void
  resume(): void
  /** Called when the reader wants no more of the body. */
  cancel(): void
}

/** A response's body between socket and reader. The reader takes it piece by piece, or whole once all of it has arrived. */
export class ReceivedBody {
  readonly #source: Source
  readonly #chunks = new Chunks()
  #size = 0
  #isPaused = false
  #hasEnded = false
  #wasRead = false
  #error: Error | undefined
  #waiting: PromiseWithResolvers<Uint8Array | undefined> | undefined

  constructor(source: Source) {
    this.#source = source
  }

  /** The whole body if all of it has arrived and no part of it was read; else `undefined`. */
  takeWhole(): Uint8Array | undefined {
    if (!this.#hasEnded || this.#wasRead) return undefined
    this.#wasRead = true
    return this.#take()
  }

  /**
   * The next bytes; `undefined` at the end. All chunks that have arrived are joined, because a server may send every byte as
   * a chunk of its own. Rejects with the error that ended the body early. Only one read may be pending.
   */
  read(): Promise<Uint8Array | undefined> {
    this.#wasRead = true
    this.#source.onRead()
    if (this.#size > 0) return Promise.resolve(this.#take())
    if (this.#error !== undefined) return Promise.reject(this.#error)
    if (this.#hasEnded) return Promise.resolve(undefined)
    this.#waiting = Promise.withResolvers()
    return this.#waiting.promise
  }

  cancel(): void {
    if (this.#hasEnded || this.#error !== undefined) return
    this.#chunks.take()
    this.#size = 0
    this.end()
    this.#source.cancel()
  }

  toStream(): ReadableStream<Uint8Array> {
    return new ReadableStream(
      {
        pull: async (controller) => {
          const bytes = await this.read()
          if (bytes === undefined) controller.close()
          else controller.enqueue(bytes)
        },
        cancel: () => this.cancel(),
      },
      { highWaterMark: 0 },
    )
  }

  push(chunk: Uint8Array): void {
    if (this.#hasEnded || chunk.length === 0) return
    const waiting = this.#waiting
    if (waiting !== undefined) {
      this.#waiting = undefined
      waiting.resolve(chunk)
      return
    }
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < BUFFER_BYTES || this.#isPaused) return
    this.#isPaused = true
    this.#source.pause()
  }

  end(): void {
    this.#hasEnded = true
    this.#waiting?.resolve(undefined)
    this.#waiting = undefined
  }

  /** Ends the body early. The bytes that have arrived can still be read. */
  fail(error: Error): void {
    if (this.#hasEnded) return
    this.#error ??= error
    this.#waiting?.reject(error)
    this.#waiting = undefined
  }

  #take(): Uint8Array {
    const bytes = joined(this.#chunks.take())
    this.#size = 0
    if (this.#isPaused) {
      this.#isPaused = false
      this.#source.resume()
    }
    return bytes
  }
}
