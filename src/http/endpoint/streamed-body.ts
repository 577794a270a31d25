/** Characters that are written at once: a write for each piece would take longer than making it. */
const WRITTEN_AT_ONCE = 16_384

/** A body that is made while it is read: the pieces wait for a slow reader, and end when the reader leaves. */
export function streamedBody(pieces: AsyncGenerator<string, undefined>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      let text = ''
      while (text.length < WRITTEN_AT_ONCE) {
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
