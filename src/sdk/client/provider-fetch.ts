import type { ProxyError } from '../generated/wire.ts'
import { isRecord } from '../is-record.ts'
import { authorize } from './access-token.ts'
import { toAuthorization, toRequired } from './authorizations.ts'
import { AuthorizationRequired, GatepassError, InvalidRequest } from './errors.ts'
import { refusalOf } from './refusal.ts'
import type { Repetition } from './retry.ts'
import { type Fetch, parseJson, type Transport, toHeader } from './transport.ts'

/** Which grant a request to a provider's API uses. */
export interface ProviderRequest {
  /** The scopes that the request needs. Without them any grant suffices. */
  readonly scopes?: readonly string[] | undefined
  /** Which of the user's accounts: a connection's id, or an account's id or name. The default account when absent. */
  readonly account?: string | undefined
}

/** The options of `fetch`, and which grant is used. */
export interface ProviderRequestInit extends RequestInit, ProviderRequest {}

/** Methods whose repetition has no further effect (RFC 9110 section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** As in the fetch standard. */
const MAX_REDIRECTS = 20

/** A request to send, from the two arguments of `fetch`. */
interface Parts {
  readonly method: string
  readonly headers: Headers
  readonly body: RequestInit['body']
  readonly redirect: RequestInit['redirect']
  readonly signal: AbortSignal | undefined
}

/**
 * Returns a `fetch` for the API of a provider, as a user: Gatepass adds the user's token to each request, so the token
 * never passes through this process. The function takes URLs of the provider's API, and paths below its base URL.
 */
export function createProviderFetch(
  transport: Transport,
  user: string,
  provider: string,
  { scopes, account }: ProviderRequest,
): Fetch {
  const proxy = `${transport.baseUrl}/proxy/${encodeURIComponent(provider)}`
  const grantHeaders = {
    'x-gatepass-user': toHeader(user),
    ...(account !== undefined && { 'x-gatepass-account': toHeader(account) }),
    ...(scopes !== undefined && { 'x-gatepass-scopes': scopes.join(' ') }),
  }

  /** Sends a request through the proxy. Repeats it after transient failures, and once if its token was replaced. */
  async function send(target: Target, parts: Parts): Promise<Response> {
    const { method, signal } = parts
    const headers = withoutGatepassHeaders(parts.headers)
    for (const [name, value] of Object.entries({ ...transport.headers(), ...grantHeaders }))
      headers.set(name, value)
    if (target.origin !== undefined) headers.set('x-gatepass-base-url', target.origin)
    const init: RequestInit & { duplex?: 'half' } = {
      method,
      headers,
      redirect: 'manual',
      ...(parts.body != null && { body: parts.body }),
      ...(isStream(parts.body) && { duplex: 'half' }),
    }
    const url = urlBelow(proxy, target.path)
    const repetition: Repetition = IDEMPOTENT.has(method) ? 'safe' : 'unsafe'
    const options = { signal, ...(isStream(parts.body) && { maxRetries: 0 }) }
    const once = async () => {
      const { response, refusal } = await transport.send(url, init, options, readRefusal)
      if (refusal !== undefined) throw await toRefusal(response, refusal, signal)
      return response
    }
    const request = { method, path: `/proxy/${provider}`, repetition, options }
    const response = await transport.repeated(once, request)
    if (response.headers.get('x-gatepass-token') !== 'replaced' || isStream(parts.body)) return response
    await response.body?.cancel()
    return transport.repeated(once, request)
  }

  /**
   * Returns the error for a refusal of Gatepass. If a consent is missing and the answer has no body (of a HEAD
   * request), requests the link.
   */
  async function toRefusal(
    response: Response,
    body: unknown,
    signal: AbortSignal | undefined,
  ): Promise<GatepassError> {
    const refusal = refusalOf(response, body)
    if (refusal.code !== 'authorization_required') return refusal
    const { status, requestId } = refusal
    const options = { scopes, account, signal, maxRetries: 0 } // `transport.repeated` retries `once` as a whole
    const required = requiredOf(body)
    const authorization =
      required === undefined
        ? toAuthorization(transport, await authorize(transport, user, provider, options))
        : toRequired(transport, required)
    return authorization.status === 'pending'
      ? new AuthorizationRequired(authorization, { status, requestId })
      : new GatepassError('unexpected_answer', 'The user has approved meanwhile: send the request again.')
  }

  return async (input, init) => {
    let target = targetOf(input)
    let parts = partsOf(input, init)
    for (let redirects = 0; ; redirects++) {
      const response = await send(target, parts)
      const location = response.headers.get('location')
      if (parts.redirect === 'manual' || location === null || !REDIRECTS.has(response.status)) return response
      if (parts.redirect === 'error' || redirects >= MAX_REDIRECTS)
        throw new TypeError(
          // path and query may contain a signature
          `The provider's API redirects to ${URL.parse(location)?.origin ?? 'no URL'}.`,
        )
      const next = afterRedirect(parts, response.status)
      if (isStream(next.body)) return response // a stream cannot be sent twice
      await response.body?.cancel()
      target = targetOf(location)
      parts = next
    }
  }
}

/** Reads the body of a refusal of Gatepass. The body of an answer of the API is left to the caller. */
async function readRefusal(
  response: Response,
): Promise<{ readonly response: Response; readonly refusal?: unknown }> {
  const name = response.headers.get('x-gatepass-error')
  if (name === null) return { response }
  const bodiless = { name, message: `Gatepass refused the request: ${name}.` }
  return { response, refusal: parseJson(await response.text()) ?? bodiless }
}

/** The target of a request: an origin of the provider's API (`undefined`: its base URL), and the path with its query. */
interface Target {
  readonly origin: string | undefined
  readonly path: string
}

function targetOf(input: string | URL | Request): Target {
  const text = typeof input === 'string' ? input : 'url' in input ? input.url : input.href
  if (text.startsWith('/') && !text.startsWith('//')) return { origin: undefined, path: text }
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new TypeError(`"${text}" is neither an http(s) URL nor a path that begins with "/".`)
  return { origin: url.origin, path: `${url.pathname}${url.search}` }
}

/**
 * Returns the URL of a path at the proxy. Refuses a path that leads out of the proxy: `fetch` resolves `..`, and would
 * send the request and the API key to another path of Gatepass.
 */
function urlBelow(proxy: string, path: string): string {
  const url = new URL(`${proxy}${path}`)
  if (url.pathname.startsWith(`${new URL(proxy).pathname}/`)) return url.href
  throw new InvalidRequest('invalid_request', 'The path leads out of the API by "..".', {})
}

function partsOf(input: string | URL | Request, init: RequestInit = {}): Parts {
  const request = typeof input === 'object' && 'headers' in input ? input : undefined
  const method = init.method ?? request?.method ?? 'GET'
  return {
    method: /^(get|head|options|put|delete|post)$/i.test(method) ? method.toUpperCase() : method,
    headers: new Headers(init.headers ?? request?.headers),
    body: init.body ?? request?.body ?? null,
    redirect: init.redirect ?? request?.redirect,
    signal: init.signal ?? request?.signal ?? undefined,
  }
}

/** The request that follows a redirect: POST becomes GET where browsers do so (fetch standard, HTTP-redirect fetch). */
function afterRedirect(parts: Parts, status: number): Parts {
  const { method } = parts
  const becomesGet =
    (status === 303 && method !== 'GET' && method !== 'HEAD') ||
    ((status === 301 || status === 302) && method === 'POST')
  if (!becomesGet) return parts
  const headers = new Headers(parts.headers)
  for (const name of ['content-type', 'content-length', 'content-encoding', 'content-language'])
    headers.delete(name)
  return { ...parts, method: 'GET', headers, body: null }
}

/** An application may forward headers of a request that it received: they must not choose the account or the host. */
function withoutGatepassHeaders(given: Headers): Headers {
  return new Headers([...given].filter(([name]) => !name.startsWith('x-gatepass-')))
}

function isStream(body: RequestInit['body']): boolean {
  if (typeof body !== 'object' || body === null) return false
  return body instanceof ReadableStream || Symbol.asyncIterator in body // the streams of Node too
}

function requiredOf(body: unknown): ProxyError['requires_authorization'] {
  // the type that openapi.json declares
  return isRecord(body) ? (body.requires_authorization as ProxyError['requires_authorization']) : undefined
}
