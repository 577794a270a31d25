import type { Broker } from '../../broker.ts'
import { isConfidential } from '../../domain/confidential-url.ts'
import type { OutgoingResponse } from '../../egress/outgoing.ts'
import type { ToolError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { askWorker } from '../worker-request.ts'

/** RFC 9110 section 15.4. */
const REDIRECTS = [301, 302, 303, 307, 308]
const MAX_HOPS = 2

export interface RedirectOptions {
  /** For all hops together. */
  readonly timeoutSeconds: number
  readonly maxBytes?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Follows the redirects of a GET request, and returns the first response that is none. Its address holds a signature by which
 * anybody may read the file, so nothing of it is shown; no token, key or header of the request is sent there. Throws
 * `WorkerFault` for what is no success.
 */
export async function followRedirects(
  { outgoing }: Pick<Broker, 'outgoing'>,
  first: OutgoingResponse,
  from: URL,
  { timeoutSeconds, ...options }: RedirectOptions,
): Promise<OutgoingResponse> {
  const endsAt = performance.now() + timeoutSeconds * 1000
  let response = first
  let base = from
  for (let hops = 0; REDIRECTS.includes(response.status); hops++) {
    const target = URL.parse(response.headers.location ?? '', base)
    if (hops === MAX_HOPS || target === null || !isConfidential(target, false))
      throw new WorkerFault(NOT_FOLLOWED)
    base = target
    const { pathname, search, origin } = target
    response = await askWorker(outgoing, {
      url: origin, // errors and traces have the URL, but not the path
      path: pathname + search,
      method: 'GET',
      headers: { accept: '*/*' },
      timeoutSeconds: Math.max(0.001, (endsAt - performance.now()) / 1000),
      retry: 0,
      redirects: 'answer',
      ...options,
    }).catch((error: unknown) => {
      if (!(error instanceof WorkerFault)) throw error
      const { kind, canRetry } = error.error
      throw new WorkerFault({ kind, message: UNREAD, canRetry })
    })
  }
  const { status } = response
  if (base !== from && (status < 200 || status > 299)) throw new WorkerFault(refusedThere(status))
  return response
}

const UNREAD = 'The API sent the file to another address, from which it could not be read.'

const NOT_FOLLOWED: ToolError = {
  kind: 'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
  message: 'The API answered with a redirect that is not followed.',
  canRetry: false,
}

/** A refusal there says nothing about the token, which was not sent. */
function refusedThere(statusCode: number): ToolError {
  const isServer = statusCode >= 500
  return {
    kind: isServer
      ? 'UPSTREAM_RUNTIME_SERVER_ERROR'
      : statusCode === 404 || statusCode === 410
        ? 'UPSTREAM_RUNTIME_NOT_FOUND'
        : 'UPSTREAM_RUNTIME_BAD_REQUEST',
    message: `The API sent the file to another address, which answered ${statusCode}.`,
    canRetry: isServer,
  }
}
