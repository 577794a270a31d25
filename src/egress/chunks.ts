/** How many chunks are collected before small ones are joined. */
const MAX_SMALL = 256
/** Chunks count as small if their average length, in bytes, is below this. */
const SMALL_BYTES = 256

/**
 * The received chunks of a body. A server may send every byte as a chunk of its own, and each chunk costs a hundred bytes
 * of memory besides its content, so small ones are joined as they arrive.
 */
export class Chunks {
  #kept: Uint8Array[] | undefined
  #latest: Uint8Array[] = []
  #latestBytes = 0

  push(chunk: Uint8Array): void {
    this.#latest.push(chunk)
    this.#latestBytes += chunk.length
    if (this.#latest.length < MAX_SMALL) return
    this.#kept ??= []
    if (this.#latestBytes < MAX_SMALL * SMALL_BYTES) this.#kept.push(Buffer.concat(this.#latest))
    else this.#kept.push(...this.#latest)
    this.#latest = []
    this.#latestBytes = 0
  }

  /** Returns the chunks and forgets them. */
  take(): readonly Uint8Array[] {
    const taken = this.#kept === undefined ? this.#latest : [...this.#kept, ...this.#latest]
    this.#kept = undefined
    this.#latest = []
    this.#latestBytes = 0
    return taken
  }
}

/** The bytes of all chunks in one array. A single chunk is returned without a copy. */
export function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks)
}
