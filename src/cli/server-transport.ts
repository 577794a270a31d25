import { createOutgoing, OutgoingError, type OutgoingRequest } from '../egress/outgoing.ts'
import { CommandFailure, EXIT } from './failure.ts'
import type { Transport } from './transport.ts'

/** The signal of a request ends it earlier. */
const LONGEST_MS = 60 * 60_000
const MAX_BYTES = 64 * 1024 * 1024

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
      'The API key has characters that no key has. Was it copied completely?',
      EXIT.usage,
    )

  /** Yields the body. Throws `CommandFailure` if the response breaks off. */
  async function* readBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    try {
      yield* body
    } catch (error) {
      if (!(error instanceof OutgoingError)) throw error
      throw new CommandFailure(
        `The answer of ${server.origin} broke off, so the output is not complete: ${error.message}`,
        EXIT.unreachable,
      )
    }
  }

  async function reach<Answer>(response: Promise<Answer>): Promise<Answer> {
    return response.catch((error: unknown) => {
      if (!(error instanceof OutgoingError)) throw error
      if (error.kind === 'redirected')
        throw new CommandFailure(`${server.origin} redirects: name the address it redirects to.`, EXIT.usage)
      throw new CommandFailure(
        `No Gatepass answers at ${server.origin}: ${error.message} Check that it runs, and check --url.`,
        EXIT.unreachable,
      )
    })
  }

  try {
    await run({
      place: server.origin,
      baseUrl: server.origin,
      key,
      async fetch(method, target, body, signal) {
        const request: OutgoingRequest = {
          url: new URL(target, server),
          method,
          deadlineMs: LONGEST_MS,
          ...(signal && { signal }),
          maxBytes: MAX_BYTES,
          headers: { authorization, ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body }),
        }
        const answer = await reach(outgoing.send(request))
        return { status: answer.status, text: Buffer.from(answer.body).toString('utf8') }
      },
      async stream(target) {
        const { status, body } = await reach(
          outgoing.stream({ url: new URL(target, server), headers: { authorization } }),
        )
        return { status, body: readBody(body) }
      },
    })
  } finally {
    await outgoing.close()
  }
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
