import type { Placeholders } from './placeholders.ts'

/** Options for forwarding a response of the SDK. */
export interface ForwardOptions {
  readonly placeholders: Placeholders
  /** Called when the reader has taken an event. */
  taken?(): void
  /** Called when the stream has ended, or its reader has closed it. */
  ended?(): void
}

/** Whether the response is a stream of server-sent events. */
export function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream\b/.test(headers.get('content-type') ?? '')
}

/** Returns the SDK's response with the placeholders replaced. A stream is forwarded at the pace of its reader. */
export async function forwardResponse(response: Response, options: ForwardOptions): Promise<Response> {
  const { status, headers } = response
  if (isEventStream(response) && response.body !== null)
    return new Response(eventsOf(response.body, options), { status, headers })
  options.ended?.()
  const { placeholders } = options
  // @hono/node-server writes a response faster if its body was not read here
  if (placeholders.isEmpty) return response
  const filled = placeholders.fill(Buffer.from(await response.text()))
  return new Response(filled as Uint8Array<ArrayBuffer>, { status, headers: JSON_HEADERS }) // not a SharedArrayBuffer
}

const JSON_HEADERS = { 'content-type': 'application/json' }

function eventsOf(
  body: ReadableStream<Uint8Array>,
  { placeholders, taken, ended }: ForwardOptions,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) {
            taken?.()
            // the SDK writes each event as one chunk
            return controller.enqueue(placeholders.isEmpty ? value : placeholders.fill(Buffer.from(value)))
          }
          ended?.()
          controller.close()
        } catch (error) {
          ended?.()
          controller.error(error)
        }
      },
      async cancel(reason) {
        ended?.()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
