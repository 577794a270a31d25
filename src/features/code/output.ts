import { MAX_OUTPUT_BYTES } from './limits.ts'

// Standard output and standard error are buffers that both threads share: nothing is lost when the sandbox is terminated,
// and many lines do not become many messages.

/** The size of the header: two 32-bit integers, the length of the output in bytes, and 1 if output was cut off. */
const HEAD_BYTES = 8

export function createOutput(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEAD_BYTES + MAX_OUTPUT_BYTES)
}

/** Whether output was cut off, so that no more is kept. */
export function isFull(output: SharedArrayBuffer): boolean {
  return Atomics.load(new Int32Array(output, 0, 2), 1) === 1
}

/** Appends the text, or the part of it for which there is room. */
export function writeOutput(output: SharedArrayBuffer, text: string): void {
  if (isFull(output)) return
  const head = new Int32Array(output, 0, 2)
  const used = Atomics.load(head, 0)
  const { read, written } = new TextEncoder().encodeInto(text, new Uint8Array(output, HEAD_BYTES + used))
  Atomics.store(head, 0, used + written)
  if (read < text.length) Atomics.store(head, 1, 1)
}

export function readOutput(output: SharedArrayBuffer): string {
  const head = new Int32Array(output, 0, 2)
  const bytes = new Uint8Array(output, HEAD_BYTES, Atomics.load(head, 0))
  const text = new TextDecoder().decode(bytes.slice())
  return isFull(output) ? `${text}\n[cut after ${MAX_OUTPUT_BYTES} bytes]\n` : text
}
