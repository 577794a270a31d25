import type { Placeholders } from './placeholders.ts'

/** What happens to a response of the SDK while it is passed on. */
export interface Passage {
  readonly placeholders: Placeholders
  /** The reader has taken an event. */
  taken?(): void
  /** The stream has ended, or its reader has closed it. */
  ended?(): void
}

/** Whether the response is a stream of server-sent events. */
export function isEventStream({ headers }: Response): boolean {
  return /^text\/event-stream\b/.test(headers.get('content-type') ?? '')
}

/** The SDK's response with the JSON of the placeholders in it. A stream is passed on as its reader takes it. */
export async function passedOn(response: Response, passage: Passage): Promise<Response> {
  const { status, headers } = response
  if (isEventStream(response) && response.body !== null)
    return new Response(eventsOf(response.body, passage), { status, headers })
  passage.ended?.()
  const { placeholders } = passage
  // a response whose body was not touched is written by node-server without a stream
  if (placeholders.isEmpty) return response
  return new Response(placeholders.fill(await response.text()), { status, headers: JSON_HEADERS })
}

const JSON_HEADERS = { 'content-type': 'application/json' }

function eventsOf(
  body: ReadableStream<Uint8Array>,
  { placeholders, taken, ended }: Passage,
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
            return controller.enqueue(
              placeholders.isEmpty ? value : Buffer.from(placeholders.fill(Buffer.from(value).toString())),
            )
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
