/** The least size of a chunk, in characters. Small pieces are joined, because each write of a chunk is expensive. */
const CHUNK_CHARACTERS = 16_384

/**
 * A body whose pieces are generated while it is read. The generator waits for a slow client, and ends when the client
 * disconnects.
 */
export function streamedBody(pieces: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      let text = ''
      while (text.length < CHUNK_CHARACTERS) {
        const { value, done } = await pieces.next()
        if (!done) text += value
        else {
          if (text !== '') controller.enqueue(encoder.encode(text))
          controller.close()
          return
        }
      }
      controller.enqueue(encoder.encode(text))
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}
