import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { createTurns, type Turns } from './host-limiter.ts'
import { codeOf, OutgoingError } from './outgoing-error.ts'
import { createExchange } from './outgoing-exchange.ts'
import { openStream } from './outgoing-stream.ts'
import {
  type AllowedHost,
  bareHostname,
  parseAllowedHost,
  type ReachRules,
  reachRules,
  withBareHost,
} from './public-address.ts'

// The one way out: every request to a provider, a worker or a metadata document goes through `send` or
// `stream`. It owns
// who may be reached (checked on the address that is dialled), how long and how much, and the connection
// pools. It follows no redirect and repeats nothing. What an answer means is left to its readers.

export type { Dispatcher } from 'undici'
export { OutgoingError, type OutgoingErrorKind } from './outgoing-error.ts'
export { type AllowedHost, parseAllowedHost } from './public-address.ts'

const DEADLINE_MS = 10_000
const MAX_BYTES = 256 * 1024
const CONNECTIONS_PER_HOST = 64
const STREAMS_PER_HOST = 256
const WAITING_PER_HOST = 1024

/** What a request is made for; it is counted by that. */
export type OutgoingPurpose =
  | 'exchange'
  | 'refresh'
  | 'revocation'
  | 'resource'
  | 'discovery'
  | 'login'
  | 'worker'
  | 'policy'
  | 'proxy'
  | 'tool'

export interface OutgoingRequest {
  readonly url: string | URL
  readonly purpose?: OutgoingPurpose
  readonly method?: Dispatcher.HttpMethod
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** From the call to the last byte of the answer, waiting for a free connection included. */
  readonly deadlineMs?: number
  /** Of the answer's body, as received and as decompressed. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
  /**
   * Asked when the connection is open, right before the first byte is written; `false` sends nothing and ends the
   * request as `given_up`. Without a body to hold back it is asked before the connection is opened.
   */
  readonly isStillWanted?: () => Promise<boolean>
}

export interface OutgoingResponse {
  readonly status: number
  /** Names in lower case; repeated fields joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface OutgoingStreamRequest extends Omit<OutgoingRequest, 'body' | 'isStillWanted'> {
  /** Sent instead of the URL's path and query, byte for byte; begins with a slash. */
  readonly path?: string
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>
  /** To the answer's head, from the call or from when a piece of the request's body was last taken. */
  readonly deadlineMs?: number
  /** For which neither side moves the answer's body; `Infinity`: any time. A minute where nothing is said. */
  readonly idleMs?: number
  /** Of the answer's body as received; any number where nothing is said. */
  readonly maxBytes?: number
  /** Whether a redirect is an answer like another or an error. It is followed in neither case. */
  readonly redirects?: 'answer' | 'refuse'
  /** `identity` where nothing is said. The body is handed out as it came, with its `content-encoding`. */
  readonly acceptEncoding?: string
  /** Ends the request at any time, also while the body is read. */
  readonly signal?: AbortSignal
}

export interface OutgoingStreamResponse {
  readonly status: number
  /** As for `send`. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReadableStream<Uint8Array>
}

export interface Outgoing {
  /** Throws `OutgoingError` alone; an answer of any status but 3xx is returned. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /** Whether scheme and host may be asked for at all, before the name is looked up: for checks at registration. */
  allows(url: URL): boolean
  /**
   * The same with the answer's body as it comes, and a request's body that may be as long as it likes. Throws
   * `OutgoingError`, and what the request's body throws; so does the answer's body while it is read. Whoever does not
   * read the body to its end must cancel it.
   */
  stream(request: OutgoingStreamRequest): Promise<OutgoingStreamResponse>
  close(): Promise<void>
}

export interface OutgoingOptions {
  /** As in `GATEPASS_ALLOWED_HOSTS`; throws a `RangeError` that names a malformed one. */
  readonly allowedHosts: readonly string[]
  /** Of one origin, streams apart: this many requests at once, and so many behind them; one more is refused as `busy`. */
  readonly maxConnectionsPerHost?: number
  readonly maxWaitingPerHost?: number
  readonly lookup?: LookupFunction
}

export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = reachRules(options.allowedHosts.map(toAllowedHost))
  const connect = guardedConnector(rules, options.lookup ?? systemLookup)
  const pool = (most: number) => {
    const atOnce = options.maxConnectionsPerHost ?? most
    const turns = createTurns({ atOnce, waiting: options.maxWaitingPerHost ?? WAITING_PER_HOST })
    // deadlines of our own cover what these two would
    const timeouts = { headersTimeout: 0, bodyTimeout: 0 }
    return { turns, agent: new Agent({ connect, connections: atOnce, allowH2: false, ...timeouts }) }
  }
  const whole = pool(CONNECTIONS_PER_HOST)
  // their own: streams that stay open must not keep a refresh at the same host waiting
  const streams = pool(STREAMS_PER_HOST)

  return {
    async send(request) {
      const target = targetOf(request.url, rules)
      const response = await readWhole(whole.agent, whole.turns, target, request)
      return decompress(response, target.host, request.maxBytes ?? MAX_BYTES)
    },
    async stream(request) {
      const headers = toRequestHeaders(request.headers, request.acceptEncoding)
      const target = targetOf(request.url, rules)
      return openStream(streams.agent, streams.turns, target, { ...request, headers })
    },
    allows: rules.allowsUrl,
    async close() {
      await Promise.all([whole.agent.destroy(), streams.agent.destroy()])
    },
  }
}

/** What is dialled; throws for what may not be. */
function targetOf(url: string | URL, rules: ReachRules): URL {
  if (typeof url === 'string' && !URL.canParse(url))
    throw new OutgoingError('host_not_allowed', 'A malformed URL', { requestSent: false })
  const target = withBareHost(new URL(url))
  if (rules.allowsUrl(target)) return target
  throw new OutgoingError('host_not_allowed', target.host, { requestSent: false })
}

function toAllowedHost(text: string): AllowedHost {
  const allowed = parseAllowedHost(text)
  if (!allowed) throw new RangeError(`${JSON.stringify(text)} is not a host, host:port or CIDR`)
  return allowed
}

/**
 * Opens sockets only to addresses that the rules allow. A name is looked up once per connection, every answer
 * is checked, and those very answers are dialled, so a name cannot change between check and use (DNS
 * rebinding). Node does not look up IP literals: they are checked as they are.
 */
function guardedConnector(rules: ReachRules, lookup: LookupFunction): buildConnector.connector {
  const connector = (lookup: LookupFunction) => buildConnector({ lookup, allowH2: false })
  const named = connector(lookup)
  const secure = connector(checkedLookup(lookup, (address) => rules.allowsAddress('https:', address)))
  const plain = connector(checkedLookup(lookup, (address) => rules.allowsAddress('http:', address)))
  return (endpoint, callback) => {
    const { protocol, hostname } = endpoint
    const literal = bareHostname(hostname)
    if (isIP(literal) && !rules.isNamed(endpoint) && !rules.allowsAddress(protocol, literal))
      return callback(new OutgoingError('host_not_allowed', literal, { requestSent: false }), null)
    const connect = rules.isNamed(endpoint) ? named : protocol === 'https:' ? secure : plain
    connect(endpoint, callback)
  }
}

function checkedLookup(lookup: LookupFunction, allows: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, answers) => {
      if (error) return callback(error, [])
      const [first, ...others] = typeof answers === 'string' ? [{ address: answers, family: 0 }] : answers
      if (!first || ![first, ...others].every(({ address }) => allows(address))) {
        return callback(new OutgoingError('host_not_allowed', hostname, { requestSent: false }), [])
      }
      if (options.all) callback(null, [first, ...others])
      else callback(null, first.address, first.family)
    })
  }
}

function readWhole(
  agent: Agent,
  turns: Turns,
  url: URL,
  request: OutgoingRequest,
): Promise<OutgoingResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingResponse>()
  const { maxBytes = MAX_BYTES, method } = request
  // after the sockets: an answer that came while the process stood still is read before the request is given up
  const timer = setTimeout(
    () => setImmediate(() => exchange.fail('timeout')),
    request.deadlineMs ?? DEADLINE_MS,
  )
  let status = 0
  let headers: Record<string, string> = {}
  let received = 0
  const chunks: Buffer[] = []

  const exchange = createExchange(
    agent,
    turns,
    url,
    { ...request, headers: toRequestHeaders(request.headers) },
    {
      head(statusCode, fields) {
        status = statusCode
        headers = fields
        // the answer to a conditional request leads nowhere (RFC 9110 section 15.4.5)
        if (status === 304 && isConditional(request)) return
        if (status < 400 && status >= 300) exchange.fail('redirected')
        else if (Number(headers['content-length']) > maxBytes && method !== 'HEAD') exchange.fail('too_large')
      },
      data(chunk) {
        received += chunk.length
        if (received > maxBytes) exchange.fail('too_large')
        else chunks.push(chunk)
      },
      end() {
        clearTimeout(timer)
        resolve({ status, headers, body: Buffer.concat(chunks) })
      },
      failed(error) {
        clearTimeout(timer)
        reject(error)
      },
    },
  )
  exchange.begin()
  return promise
}

/** GitHub and Reddit refuse requests without a User-Agent. */
function toRequestHeaders(
  given: Readonly<Record<string, string>> = {},
  acceptEncoding = 'identity',
): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'Gatepass' }
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value
  delete headers.host // it is the one that was checked
  return { ...headers, 'accept-encoding': acceptEncoding }
}

type Decoder = (body: Uint8Array, options: { maxOutputLength: number }) => Promise<Buffer>

/** RFC 8878 section 3.1.1.1.2 asks for 8 MiB; without a limit a frame of a few bytes may claim 128 MiB. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 }
const unzstd = promisify(zstdDecompress)

const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: (body, options) => unzstd(body, { ...options, params: ZSTD_PARAMS }),
}

/** For servers that compress although `identity` was asked for. What cannot be decompressed is left as it came. */
async function decompress(
  response: OutgoingResponse,
  host: string,
  maxBytes: number,
): Promise<OutgoingResponse> {
  const { 'content-encoding': encoding, 'content-length': _, ...headers } = response.headers
  const decode = encoding === undefined ? undefined : DECODERS[encoding.trim().toLowerCase()]
  if (!decode || response.body.length === 0) return response
  try {
    return { ...response, headers, body: await decode(response.body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') return response
    throw new OutgoingError('too_large', host, { requestSent: true })
  }
}

function isConditional({ headers = {} }: OutgoingRequest): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  return names.includes('if-none-match') || names.includes('if-modified-since')
}
