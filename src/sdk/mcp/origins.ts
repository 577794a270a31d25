import { rpcError } from './rpc-error.ts'

// Decides which web pages may send requests. A page in the user's browser can reach servers that are not reachable from
// the Internet, and the page's owner may point a host name of their own at this server (DNS rebinding).

export interface OriginOptions {
  /** Origins of web pages that may call this server, such as `https://inspector.example.com`. */
  readonly allowedOrigins?: readonly string[] | undefined
  /**
   * Host names under which this server answers. Default: loopback names if it is served on a loopback address or if no
   * option identifies callers, else any.
   */
  readonly allowedHosts?: readonly string[] | undefined
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.includes(hostname) || hostname === '::1'
}

export const LOOPBACK_HOSTS: readonly string[] = LOOPBACK

/** Returns the refusal of a request whose host name or origin is not allowed; `undefined` for other requests. */
export function refuseOrigin(request: Request, options: OriginOptions): Response | undefined {
  const host = hostOf(request)
  const { allowedHosts } = options
  if (allowedHosts !== undefined && !allowedHosts.includes(host.hostname))
    return rpcError(
      403,
      -32_000,
      `This server does not answer under the name ${host.hostname}: its option allowedHosts does not list it.`,
    )
  const origin = request.headers.get('origin')
  return origin === null || isAllowed(origin, host, options)
    ? undefined
    : rpcError(403, -32_000, `Pages of ${origin} may not call this server.`)
}

/** Headers of the answers that a page may read (Fetch standard, CORS protocol). */
export const EXPOSED_HEADERS = 'WWW-Authenticate, Mcp-Session-Id'

/**
 * Answers a preflight request, but for the origin. Credentials are sent by the page itself in `Authorization`, never by
 * the browser, so any header may be sent.
 */
export function preflight(request: Request): Response {
  const headers = new Headers({
    'access-control-allow-methods': 'GET, POST, DELETE',
    'access-control-max-age': '7200',
    vary: 'Origin, Access-Control-Request-Headers',
  })
  const wanted = request.headers.get('access-control-request-headers')
  if (wanted !== null) headers.set('access-control-allow-headers', wanted)
  return new Response(null, { status: 204, headers })
}

/** Adds the CORS headers that let the page of an allowed origin read the response. */
export function withCors(request: Request, response: Response): Response {
  const origin = request.headers.get('origin')
  if (origin === null) return response
  const headers = new Headers(response.headers)
  headers.set('access-control-allow-origin', origin)
  headers.append('vary', 'Origin')
  headers.set('access-control-expose-headers', EXPOSED_HEADERS)
  return new Response(response.body, { status: response.status, headers })
}

function isAllowed(origin: string, host: URL, { allowedOrigins = [] }: OriginOptions): boolean {
  if (allowedOrigins.includes(origin)) return true
  if (!URL.canParse(origin)) return false
  const { hostname, host: hostAndPort } = new URL(origin)
  return hostAndPort === host.host || (isLoopback(hostname) && isLoopback(host.hostname))
}

function hostOf(request: Request): URL {
  const { protocol, host } = new URL(request.url)
  const origin = `${protocol}//${request.headers.get('host') ?? host}`
  return new URL(URL.canParse(origin) ? origin : request.url)
}
