/** The step in which the buffer grows, in bytes. */
const STEP = 1024 * 1024

/**
 * A large body in one buffer that grows as the body arrives: joining 64 MiB of chunks at the end would hold up other
 * requests for a tenth of a second. `maxBytes` of address space are reserved; memory is used only for bytes that arrive.
 */
export class GrowingBody {
  readonly #buffer: ArrayBuffer
  readonly #maxBytes: number
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#buffer = new ArrayBuffer(0, { maxByteLength: maxBytes })
  }

  /** The caller has checked that the body stays within `maxBytes`. */
  push(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#buffer.byteLength)
      this.#buffer.resize(Math.min(this.#maxBytes, Math.ceil(length / STEP) * STEP))
    new Uint8Array(this.#buffer, this.#length).set(chunk)
    this.#length = length
  }

  /** The bytes, without a copy. Their buffer is the body's alone, so it can be transferred to a thread. */
  take(): Uint8Array<ArrayBuffer> {
    this.#buffer.resize(this.#length)
    return new Uint8Array(this.#buffer, 0, this.#length)
  }
}
