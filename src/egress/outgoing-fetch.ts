import { decodeStream } from './content-coding.ts'
import { type Outgoing, OutgoingError, type OutgoingPurpose } from './outgoing.ts'

const WITHOUT_BODY = new Set([204, 205, 304])

/** The type that libraries expect of a `fetch` they are given. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * A `fetch` for libraries that take one, which sends every request through the guarded client. It rejects with an
 * `OutgoingError`, or with the signal's reason when its caller aborted. A redirect is refused, unless the caller set
 * `redirect: 'manual'`. The request's body is read into memory first; the response's body is a stream.
 */
export function toFetch(
  outgoing: Pick<Outgoing, 'stream' | 'allows'>,
  options: {
    readonly purpose: OutgoingPurpose
    /** The limit for a response's body, both as received and as decoded. */
    readonly maxBytes: number
    /** The time limit for the response's head. */
    readonly deadlineMs: number
    readonly idleMs?: number
  },
): FetchLike {
  return async (input, init) => {
    const { host } = checkedUrl(outgoing, typeof input === 'object' && 'url' in input ? input.url : input)
    const request = new Request(input, init)
    const { url, method, signal } = request
    signal.throwIfAborted()
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    try {
      const answer = decodeStream(
        await outgoing.stream({
          ...options,
          url,
          method,
          signal,
          headers: Object.fromEntries(request.headers),
          redirects: request.redirect === 'manual' ? 'answer' : 'refuse',
          body,
        }),
      )
      return toResponse(answer, host, options.maxBytes)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
}

/** Called before `Request` parses the URL, since its error message would quote the URL's credentials. */
function checkedUrl(outgoing: Pick<Outgoing, 'allows'>, input: string | URL): URL {
  const url = URL.canParse(input) ? new URL(input) : undefined
  if (url !== undefined && outgoing.allows(url)) return url
  throw new OutgoingError('host_not_allowed', url?.host ?? 'A malformed URL', { requestSent: false })
}

function toResponse(
  { status, headers, body }: Awaited<ReturnType<Outgoing['stream']>>,
  host: string,
  maxBytes: number,
): Response {
  const fields = toFields(headers)
  if (fields !== undefined && status < 600 && !WITHOUT_BODY.has(status))
    return new Response(body.pipeThrough(atMost(maxBytes, host)), { status, headers: fields })
  body.cancel().catch(() => undefined) // the caller gets a response without a body, or an error
  if (fields === undefined || status >= 600)
    throw new OutgoingError('unreachable', host, { requestSent: true })
  return new Response(null, { status, headers: fields })
}

function toFields(headers: Readonly<Record<string, string>>): Headers | undefined {
  try {
    return new Headers(headers)
  } catch {
    return undefined // HTTP allows bytes that `Headers` refuses
  }
}

function atMost(maxBytes: number, host: string): TransformStream<Uint8Array, Uint8Array> {
  let passed = 0
  return new TransformStream({
    transform(chunk, controller) {
      passed += chunk.length
      if (passed > maxBytes) throw new OutgoingError('too_large', host, { requestSent: true })
      controller.enqueue(chunk)
    },
  })
}
