import { decodedBody } from './decoded-body.ts'
import { type Outgoing, OutgoingError, type OutgoingPurpose } from './outgoing.ts'

const WITHOUT_BODY = new Set([204, 205, 304])

/** What libraries take for their `fetch`. */
export type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * `fetch` for a library that asks for one, with every request through the guard. What it throws for the network's
 * sake is an `OutgoingError`; for its caller's, the reason of the aborted signal. A redirect is an error, or with
 * `redirect: 'manual'` an answer. Requests are read into memory, answers come as they are read.
 */
export function toFetch(
  outgoing: Pick<Outgoing, 'stream' | 'allows'>,
  options: {
    readonly purpose: OutgoingPurpose
    /** Of an answer's body, as received and as decompressed. */
    readonly maxBytes: number
    /** To an answer's head. */
    readonly deadlineMs: number
    readonly idleMs?: number
  },
): FetchLike {
  return async (input, init) => {
    const { host } = checked(outgoing, typeof input === 'object' && 'url' in input ? input.url : input)
    const request = new Request(input, init)
    const { url, method, signal } = request
    signal.throwIfAborted()
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    try {
      const answer = decodedBody(
        await outgoing.stream({
          ...options,
          url,
          method,
          signal,
          headers: Object.fromEntries(request.headers),
          redirects: request.redirect === 'manual' ? 'answer' : 'refuse',
          ...(body && { body }),
        }),
      )
      return toResponse(answer, host, options.maxBytes)
    } catch (error) {
      signal.throwIfAborted()
      throw error
    }
  }
}

/** Before anything else reads it: a library's error would quote what stands before its host. */
function checked(outgoing: Pick<Outgoing, 'allows'>, input: string | URL): URL {
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
  body.cancel().catch(() => undefined) // nobody is there to whom its end matters
  if (fields === undefined || status >= 600)
    throw new OutgoingError('unreachable', host, { requestSent: true })
  return new Response(null, { status, headers: fields })
}

function toFields(headers: Readonly<Record<string, string>>): Headers | undefined {
  try {
    return new Headers(headers)
  } catch {
    return undefined // a byte that HTTP allows and that class does not
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
