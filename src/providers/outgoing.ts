import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { promisify } from 'node:util'
import { brotliDecompress, constants, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import {
  type AllowedHost,
  bareHostname,
  parseAllowedHost,
  type ReachRules,
  reachRules,
  withBareHost,
} from './public-address.ts'
import { createTurns, type Leave, type Turns } from './turns.ts'

// The one way out: every request to a provider, a worker or a metadata document goes through `send`. It owns
// who may be reached (checked on the address that is dialled), how long and how much, and the connection
// pools. It follows no redirect and repeats nothing. What an answer means is left to its readers.

export { type AllowedHost, parseAllowedHost } from './public-address.ts'

const DEADLINE_MS = 10_000
const MAX_BYTES = 256 * 1024
const CONNECTIONS_PER_HOST = 64
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
}

export interface OutgoingResponse {
  readonly status: number
  /** Names in lower case; repeated fields joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Outgoing {
  /** Throws `OutgoingError` alone; an answer of any status but 3xx is returned. */
  send(request: OutgoingRequest): Promise<OutgoingResponse>
  /** Whether scheme and host may be asked for at all, before the name is looked up: for checks at registration. */
  allows(url: URL): boolean
  close(): Promise<void>
}

export type OutgoingErrorKind =
  | 'host_not_allowed'
  | 'busy'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'redirected'

/** Holds the host and a system error code; never a path, a query, a header or a body. */
export class OutgoingError extends Error {
  readonly kind: OutgoingErrorKind
  /** `false` only when surely nothing was sent, so that a code or refresh token is still unused. */
  readonly requestSent: boolean

  constructor(kind: OutgoingErrorKind, host: string, options: { requestSent: boolean; code?: string }) {
    super(`${host} ${WHAT_HAPPENED[kind]}${options.code ? ` (${options.code})` : ''}.`)
    this.name = 'OutgoingError'
    this.kind = kind
    this.requestSent = options.requestSent
  }
}

const WHAT_HAPPENED = {
  host_not_allowed: 'may not be reached; an operator can allow it in GATEPASS_ALLOWED_HOSTS',
  busy: 'has too many requests waiting for it already',
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  too_large: 'answered with more than is read',
  redirected: 'answered with a redirect, which is not followed',
} as const satisfies Record<OutgoingErrorKind, string>

export interface OutgoingOptions {
  /** As in `GATEPASS_ALLOWED_HOSTS`; throws a `RangeError` that names a malformed one. */
  readonly allowedHosts: readonly string[]
  /** Of one origin: this many requests at once, and so many behind them; one more is refused as `busy`. */
  readonly maxConnectionsPerHost?: number
  readonly maxWaitingPerHost?: number
  readonly lookup?: LookupFunction
}

export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = reachRules(options.allowedHosts.map(toAllowedHost))
  const atOnce = options.maxConnectionsPerHost ?? CONNECTIONS_PER_HOST
  const turns = createTurns({ atOnce, waiting: options.maxWaitingPerHost ?? WAITING_PER_HOST })
  const agent = new Agent({
    connect: guardedConnector(rules, options.lookup ?? systemLookup),
    connections: atOnce,
    allowH2: false,
    headersTimeout: 0, // the deadline of `send` covers both
    bodyTimeout: 0,
  })

  return {
    async send(request) {
      const { url } = request
      if (typeof url === 'string' && !URL.canParse(url)) {
        throw new OutgoingError('host_not_allowed', 'A malformed URL', { requestSent: false })
      }
      const target = withBareHost(new URL(url))
      if (!rules.allowsUrl(target)) {
        throw new OutgoingError('host_not_allowed', target.host, { requestSent: false })
      }
      const response = await dispatch(agent, turns, target, request)
      return decompress(response, target.host, request.maxBytes ?? MAX_BYTES)
    },
    allows: rules.allowsUrl,
    close: () => agent.destroy(),
  }
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

function dispatch(agent: Agent, turns: Turns, url: URL, request: OutgoingRequest): Promise<OutgoingResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<OutgoingResponse>()
  const maxBytes = request.maxBytes ?? MAX_BYTES
  let requestSent = false
  let dispatched = false
  /** Ends its turn: while it waits at once, afterwards only when undici has let go of it. */
  let leave: Leave | undefined
  let failure: OutgoingError | undefined
  let controller: Dispatcher.DispatchController | undefined
  let status = 0
  let headers: Record<string, string> = {}
  let received = 0
  const chunks: Buffer[] = []

  const fail = (kind: OutgoingErrorKind, code?: string) => {
    if (failure) return
    failure = new OutgoingError(kind, url.host, { requestSent, ...(code ? { code } : {}) })
    settle()
    reject(failure)
    if (!dispatched) leave?.()
    controller?.abort(failure)
  }
  const giveUp = () => fail('timeout')
  const timer = setTimeout(giveUp, request.deadlineMs ?? DEADLINE_MS)
  const settle = () => {
    clearTimeout(timer)
    request.signal?.removeEventListener('abort', giveUp)
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started
      if (failure) return started.abort(failure) // given up while it waited for a connection
      requestSent = true
    },
    onResponseStart(_, statusCode, fields) {
      if (statusCode < 200) return
      status = statusCode
      headers = toHeaders(fields)
      if (status < 400 && status >= 300) fail('redirected')
      else if (Number(headers['content-length']) > maxBytes && request.method !== 'HEAD') fail('too_large')
    },
    onResponseData(_, chunk) {
      received += chunk.length
      if (received > maxBytes) fail('too_large')
      else chunks.push(chunk)
    },
    onResponseEnd() {
      settle()
      resolve({ status, headers, body: Buffer.concat(chunks) })
      leave?.()
    },
    onResponseError(_, error) {
      if (error instanceof OutgoingError) fail(error.kind)
      else fail(codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW' ? 'too_large' : 'unreachable', codeOf(error))
      leave?.()
    },
  }
  const begin = (ownLeave: Leave) => {
    dispatched = true
    leave = ownLeave
    try {
      agent.dispatch(
        {
          origin: url.origin,
          path: url.pathname + url.search,
          method: request.method ?? 'GET',
          headers: toRequestHeaders(request.headers),
          body: request.body ?? null,
        },
        handler,
      )
    } catch (error) {
      fail('unreachable', codeOf(error)) // undici refuses a header with control characters, a closed agent
      leave()
    }
  }

  request.signal?.addEventListener('abort', giveUp, { once: true })
  if (request.signal?.aborted) giveUp()
  else {
    leave = turns.take(url.origin, begin)
    if (leave === undefined) fail('busy')
  }
  return promise
}

/** GitHub and Reddit refuse requests without a User-Agent. */
function toRequestHeaders(given: Readonly<Record<string, string>> = {}): Record<string, string> {
  const headers: Record<string, string> = { 'user-agent': 'Gatepass' }
  for (const [name, value] of Object.entries(given)) headers[name.toLowerCase()] = value
  delete headers.host // it is the one that was checked
  return { ...headers, 'accept-encoding': 'identity' }
}

function toHeaders(fields: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined)
      headers[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ')
  }
  return headers
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : undefined
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
