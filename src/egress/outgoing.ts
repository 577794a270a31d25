import { createHash } from 'node:crypto'
import type { LookupFunction } from 'node:net'
import { LRUCache } from 'lru-cache'
import { Chunks, joined } from './chunks.ts'
import { decodeBody } from './content-coding.ts'
import { Exchange, type Pool } from './exchange.ts'
import { GrowingBody } from './growing-body.ts'
import { createGuardedAgent, createResolver, type Resolve } from './guarded-agent.ts'
import { createHostLimiter } from './host-limiter.ts'
import { OutgoingError } from './outgoing-error.ts'
import type {
  ClientCertificate,
  OutgoingRequest,
  OutgoingResponse,
  OutgoingStreamRequest,
  OutgoingStreamResponse,
} from './outgoing-request.ts'
import { openStream } from './outgoing-stream.ts'
import {
  type AllowedHost,
  parseAllowedHost,
  type ReachRules,
  reachRules,
  withBareHost,
} from './public-address.ts'
import { type LookUpTxt, lookUpTxt } from './txt-records.ts'

// The guarded client: every request to a provider, a worker or a metadata document goes through `send` or `stream`.
// It decides which hosts may be reached (on the address that is dialled), bounds time and size, and owns the
// connection pools. It follows no redirect and retries nothing. Its callers interpret the responses.

export { OutgoingError, type OutgoingErrorKind } from './outgoing-error.ts'
export type * from './outgoing-request.ts'
export { parseAllowedHost } from './public-address.ts'

const DEADLINE_MS = 10_000
const MAX_BYTES = 256 * 1024
/** Bodies that may be larger are collected in one buffer. */
const LARGE_BYTES = 4 * 1024 * 1024
const CONNECTIONS_PER_HOST = 64
const STREAMS_PER_HOST = 256
const WAITING_PER_HOST = 1024
/** How many checked URLs are remembered. */
const KNOWN_TARGETS = 1_000
/** How many clients with a certificate keep their connections open. */
const KNOWN_CERTIFICATES = 100

/** The guarded client. */
export interface Outgoing {
  /** Resolves with the whole response, of any status except a redirect's. Rejects only with `OutgoingError`. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /** Whether a request to this scheme and host may be made, judged before the name is resolved: for registrations. */
  allows(url: URL): boolean
  /**
   * Like `send`, with the response's body as a stream, and a request's body of any length. Rejects with
   * `OutgoingError`, or with the error of the request's body; so does the response's body while it is read. The caller
   * reads the body to its end or cancels it: until then it keeps a connection.
   */
  stream(request: OutgoingStreamRequest): Promise<OutgoingStreamResponse>
  /** Looks up the TXT records of a name. */
  readonly lookUpTxt: LookUpTxt
  close(): Promise<void>
}

export interface OutgoingOptions {
  /** As in `GATEPASS_ALLOWED_HOSTS`. `createOutgoing` throws a `RangeError` that names a malformed entry. */
  readonly allowedHosts: readonly string[]
  /** Concurrent requests of one origin; streams are counted apart. Default: 64, and 256 streams. */
  readonly maxConnectionsPerHost?: number
  /** Requests of one origin that wait for a connection; further ones are refused as `busy`. Default: 1024. */
  readonly maxWaitingPerHost?: number
  /** Default: the system's resolver. */
  readonly lookup?: LookupFunction
  /** Default: asks the system's DNS servers. */
  readonly lookUpTxt?: LookUpTxt | undefined
}

export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = reachRules(options.allowedHosts.map(toAllowedHost))
  const dial = { rules, resolve: createResolver(options.lookup) }
  const whole = createPool(dial, CONNECTIONS_PER_HOST, options)
  // a pool of their own: open streams must not delay a refresh at the same host
  const streams = createPool(dial, STREAMS_PER_HOST, options)
  const named = new Map<string, Pool>()
  const certified = createCertifiedPools((certificate) =>
    createPool(dial, CONNECTIONS_PER_HOST, options, certificate),
  )
  const targetOf = createTargets(rules)

  /** The pool of requests to the target; connections with a certificate are used for no other client. */
  function poolFor(target: URL, certificate: ClientCertificate | undefined): Pool {
    if (certificate === undefined) return whole
    if (target.protocol === 'https:') return certified.of(certificate)
    throw new OutgoingError('host_not_allowed', target.host, { requestSent: false })
  }

  function poolNamed(name: string | undefined): Pool {
    if (name === undefined) return streams
    const pool = named.get(name) ?? createPool(dial, STREAMS_PER_HOST, options)
    named.set(name, pool)
    return pool
  }

  return {
    async send(request) {
      const { maxBytes = MAX_BYTES, clientCertificate } = request
      const target = targetOf(request.url)
      const response = await readWhole(poolFor(target, clientCertificate), target, { ...request, maxBytes })
      return decodeBody(response, { host: target.host, maxBytes })
    },
    async stream(request) {
      const headers = toRequestHeaders(request.headers, request.acceptEncoding)
      return openStream(poolNamed(request.pool), targetOf(request.url), { ...request, headers })
    },
    allows: rules.allowsUrl,
    lookUpTxt: options.lookUpTxt ?? lookUpTxt,
    async close() {
      const pools = [whole, streams, ...named.values()]
      await Promise.all([...pools.map(({ dispatcher }) => dispatcher.destroy()), certified.close()])
    },
  }
}

function createPool(
  dial: { readonly rules: ReachRules; readonly resolve: Resolve },
  maxConnections: number,
  { maxConnectionsPerHost = maxConnections, maxWaitingPerHost = WAITING_PER_HOST }: OutgoingOptions,
  certificate?: ClientCertificate,
): Pool {
  const agent = createGuardedAgent({ ...dial, connections: maxConnectionsPerHost, certificate })
  return {
    dispatcher: agent,
    limiter: createHostLimiter({ concurrent: maxConnectionsPerHost, queued: maxWaitingPerHost }),
  }
}

/** The pools of connections that present a client's certificate, one for each. */
function createCertifiedPools(create: (certificate: ClientCertificate) => Pool) {
  const pools = new LRUCache<string, Pool>({
    max: KNOWN_CERTIFICATES,
    // requests that are under way are finished
    dispose: ({ dispatcher }) => void dispatcher.close().catch(() => undefined),
  })
  return {
    of(certificate: ClientCertificate): Pool {
      const digest = createHash('sha256').update(JSON.stringify(certificate)).digest('base64url')
      const pool = pools.get(digest) ?? create(certificate)
      pools.set(digest, pool)
      return pool
    },
    async close() {
      const open = [...pools.values()]
      await Promise.all(open.map(({ dispatcher }) => dispatcher.destroy()))
    },
  }
}

/**
 * Returns the URL that is dialled; callers do not change it. Throws `OutgoingError` `host_not_allowed`. The rules do not
 * change while the process runs, so a URL that was allowed is not parsed and checked again.
 */
function createTargets(rules: ReachRules): (url: string | URL) => URL {
  const allowed = new LRUCache<string, URL>({ max: KNOWN_TARGETS })
  return (url) => {
    const text = typeof url === 'string' ? url : url.href
    const known = allowed.get(text)
    if (known !== undefined) return known
    if (!URL.canParse(text))
      throw new OutgoingError('host_not_allowed', 'A malformed URL', { requestSent: false })
    const target = withBareHost(new URL(text))
    if (!rules.allowsUrl(target))
      throw new OutgoingError('host_not_allowed', target.host, { requestSent: false })
    // a query may hold a secret or token
    if (target.search === '') allowed.set(text, target)
    return target
  }
}

function toAllowedHost(text: string): AllowedHost {
  const allowed = parseAllowedHost(text)
  if (!allowed) throw new RangeError(`${JSON.stringify(text)} is not a host, host:port, or CIDR`)
  return allowed
}

function readWhole(
  pool: Pool,
  target: URL,
  request: OutgoingRequest & { readonly maxBytes: number },
): Promise<OutgoingResponse> {
  return new Promise((resolve, reject) => {
    const { method, body, signal, isStillWanted, maxBytes, redirects = 'refuse' } = request
    const received = maxBytes > LARGE_BYTES ? new GrowingBody(maxBytes) : new Chunks()
    let head: Pick<OutgoingResponse, 'status' | 'headers'> = { status: 0, headers: {} }
    const exchange = new Exchange(
      pool,
      target,
      {
        path: request.path,
        method,
        headers: toRequestHeaders(request.headers),
        body,
        signal,
        isStillWanted,
        maxBytes,
        redirects,
      },
      {
        onHead(status, headers) {
          head = { status, headers }
        },
        onData: (chunk) => void received.push(chunk),
        onEnd() {
          clearTimeout(timer)
          resolve({
            ...head,
            body: received instanceof GrowingBody ? received.take() : joined(received.take()),
          })
        },
        onError(error) {
          clearTimeout(timer)
          reject(error)
        },
      },
    )
    // by `setImmediate`, a response that arrived while the process was suspended is read before the deadline ends it
    const timer = setTimeout(() => setImmediate(exchange.giveUp), request.deadlineMs ?? DEADLINE_MS)
    exchange.begin()
  })
}

/** GitHub and Reddit refuse requests without a User-Agent. */
function toRequestHeaders(
  given: Readonly<Record<string, string>> = {},
  acceptEncoding = 'identity',
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'Gatepass' }
  for (const name of Object.keys(given)) {
    const lower = name.toLowerCase()
    // undici derives the host from the URL that was checked
    if (lower !== 'host') headers[lower] = given[name] ?? ''
  }
  headers['accept-encoding'] = acceptEncoding
  return headers
}
