import { createCipheriv } from 'node:crypto'

export const SEED_BYTES = 16
const BLOCK = new Uint8Array(4096)
const NUMBER_BYTES = 8

/** `Math.random` of one run: the same numbers for the same seed, and unpredictable without it (AES-128 in counter mode). */
export function seededRandom(seed: Uint8Array): () => number {
  const cipher = createCipheriv('aes-128-ctr', seed, new Uint8Array(SEED_BYTES))
  let block = Buffer.alloc(0)
  let next = 0
  return () => {
    if (next === block.length) {
      block = cipher.update(BLOCK)
      next = 0
    }
    const bits = block.readBigUInt64BE(next)
    next += NUMBER_BYTES
    return Number(bits >> 11n) / 2 ** 53 // a double has 53 bits
  }
}
