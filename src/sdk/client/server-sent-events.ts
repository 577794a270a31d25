/** One event of a stream, as the WHATWG HTML standard (section 9.2) dispatches it. */
export interface ServerSentEvent {
  /** `message` where the stream names none. */
  readonly event: string
  readonly data: string
}

/**
 * Reads server-sent events: chunks may end anywhere, lines end in LF, CRLF or CR, comments are skipped, several `data`
 * lines make one text. An event without its end is dropped. The body is cancelled when the caller leaves the loop.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder() // drops a byte order mark at the beginning
  let isFinished = false
  let cr = ''
  let rest = ''
  let event = ''
  let data: string[] = []
  try {
    while (!isFinished) {
      const { done, value } = await reader.read()
      isFinished = done
      const text = cr + decoder.decode(value, { stream: !done })
      cr = !isFinished && text.endsWith('\r') ? '\r' : '' // it may be the first half of a CRLF
      const [end = '', ...lines] = text.slice(0, text.length - cr.length).split(/\r\n|\n|\r/)
      // only what is new is searched, since a long line may arrive in many chunks
      lines.unshift(rest + end)
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line === '') {
          if (data.length > 0) yield { event: event || 'message', data: data.join('\n') }
          event = ''
          data = []
          continue
        }
        const [, name, text = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
        if (name === 'data') data.push(text)
        else if (name === 'event') event = text
      }
    }
  } finally {
    if (!isFinished) await reader.cancel().catch(() => {}) // the connection may have ended already
  }
}
