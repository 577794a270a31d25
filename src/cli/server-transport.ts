import { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { Dispatcher } from '../egress/guarded-agent.ts'
import { createOutgoing, OutgoingError } from '../egress/outgoing.ts'
import type { OutgoingStreamRequest } from '../egress/outgoing-request.ts'
import type { Fetch } from '../sdk/client/transport.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { Transport } from './transport.ts'

/** The signal of a request ends it earlier. */
const LONGEST_MS = 60 * 60_000
const MAX_BYTES = 64 * 1024 * 1024
/** A response with one of these has no body (RFC 9110 section 6.4.1). */
const EMPTY = new Set([204, 205, 304])

/** Runs `run` with the API of a server. Its host may be private, because the operator named the host. */
export async function withServerTransport(
  url: string,
  key: string,
  run: (transport: Transport) => Promise<void>,
): Promise<void> {
  const server = parseServerUrl(url)
  const outgoing = createOutgoing({ allowedHosts: [server.host] })
  const authorization = `Bearer ${key}`
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new CommandFailure(
      'The API key contains characters that no key has. Check that you copied all of it, and nothing else.',
      EXIT.usage,
    )

  /** Yields the body. Throws `CommandFailure` if the response breaks off. */
  async function* readBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      yield* body
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      throw new CommandFailure(
        `The response from ${server.origin} broke off, so the output is incomplete: ${error.message}`,
        EXIT.unreachable,
      )
    }
  }

  async function reach<Answer>(response: Promise<Answer>): Promise<Answer> {
    return response.catch((error: unknown) => {
      if (!(error instanceof OutgoingError)) throw error
      if (error.kind === 'redirected')
        throw new CommandFailure(
          `${server.origin} redirects to another address. Use that address instead.`,
          EXIT.usage,
        )
      throw new CommandFailure(
        `No Gatepass answers at ${server.origin}: ${error.message} Check that it is running, and check --url.`,
        EXIT.unreachable,
      )
    })
  }

  const fetchWith =
    (limits: Pick<OutgoingStreamRequest, 'maxBytes'>): Fetch =>
    async (url, { method = 'GET', body, signal } = {}) => {
      const hasBody = typeof body === 'string'
      const { status, body: received } = await reach(
        outgoing.stream({
          ...limits,
          url: new URL(String(url)),
          method: method as Dispatcher.HttpMethod, // of the operations
          headers: { authorization, ...(hasBody && { 'content-type': 'application/json' }) },
          ...(hasBody && { body }),
          ...(signal && { signal }),
          deadlineMs: LONGEST_MS,
        }),
      )
      return new Response(EMPTY.has(status) ? null : toStream(readBody(received)), { status })
    }

  try {
    await run({
      place: server.origin,
      baseUrl: server.origin,
      key,
      fetch: fetchWith({ maxBytes: MAX_BYTES }),
      stream: fetchWith({}),
    })
  } finally {
    await outgoing.close()
  }
}

/** Node and the DOM have different types for the same class. */
function toStream(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  return NodeReadableStream.from(body) as unknown as ReadableStream<Uint8Array>
}

function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url !== undefined &&
    ['http:', 'https:'].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '') &&
    url.pathname === '/'
  if (isPlain) return url
  throw new CommandFailure(
    '--url (or GATEPASS_URL) must be the origin of a server, such as https://gatepass.example.com.',
    EXIT.usage,
  )
}
