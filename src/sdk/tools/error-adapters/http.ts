import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import {
  developerMessageOf,
  failureStatus,
  hostOf,
  retryAfterOf,
  type Shape,
  shapeOf,
  text,
} from './shape.ts'

/**
 * Errors of HTTP libraries: `fetch` of Node, Bun and Deno, undici, axios, got, ky, ofetch, node-fetch, superagent,
 * Octokit, and a `Response` that was thrown.
 */
export class HTTPErrorAdapter implements ErrorAdapter {
  readonly slug = 'http'

  fromException(error: unknown): ToolError | null {
    const shape = shapeOf(error)
    const response = isResponse(error) ? shape : shapeOf(shape.response)
    const api = apiOf(shape, response)
    const statusCode = failureStatus(response.status, response.statusCode, shape.status, shape.statusCode)
    if (statusCode !== undefined) {
      const retryAfterMs = retryAfterOf(response.headers ?? shape.headers ?? shape.responseHeaders)
      return new UpstreamError(`${api} answered ${statusCode}.`, {
        cause: error,
        statusCode,
        developerMessage: developerMessageOf(error),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      })
    }
    const network = networkFault(error)
    if (network === undefined) return null
    return new UpstreamError(
      network.fault === 'timeout' ? `${api} did not answer in time.` : `${api} could not be reached.`,
      {
        cause: error,
        network: network.fault,
        canRetry: network.isUnsent,
        developerMessage: developerMessageOf(error),
      },
    )
  }
}

function isResponse(value: unknown): boolean {
  const { ok, headers, status } = shapeOf(value)
  return (
    !(value instanceof Error) && ok === false && typeof status === 'number' && typeof headers === 'object'
  )
}

function apiOf(shape: Shape, response: Shape): string {
  const config = shapeOf(shape.config)
  const request = shapeOf(shape.request)
  const host = hostOf(
    response.url,
    response.requestUrl,
    request.url,
    request.href,
    shape.url,
    config.url,
    config.baseURL,
    shapeOf(shape.options).url,
    shape.request,
  )
  return host === undefined ? 'The API' : `The API at ${host}`
}

/** Codes of the system, of undici, axios, Bun, by what they mean. */
const UNSENT = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'ConnectionRefused',
  'FailedToOpenSocket',
]
const BROKEN = [
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'ERR_NETWORK',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ConnectionClosed',
]
const TIMEOUTS = [
  'ETIMEDOUT',
  'ECONNABORTED',
  'ESOCKETTIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]
const MAX_CAUSES = 5

interface NetworkFault {
  readonly fault: 'unreachable' | 'timeout'
  /** It is certain that the request did not reach the API. */
  readonly isUnsent: boolean
}

/** Looks through the causes, where `fetch` keeps the reason. */
function networkFault(error: unknown): NetworkFault | undefined {
  let [current, isFetch] = [error, false]
  for (let i = 0; i < MAX_CAUSES && current !== undefined; i++) {
    const { name, code, message, cause, errors } = shapeOf(current)
    const known = text(code)
    if (known !== undefined && UNSENT.includes(known)) return { fault: 'unreachable', isUnsent: true }
    if (known !== undefined && BROKEN.includes(known)) return { fault: 'unreachable', isUnsent: false }
    if (name === 'TimeoutError' || (known !== undefined && TIMEOUTS.includes(known)))
      return { fault: 'timeout', isUnsent: false }
    if (
      name === 'TypeError' &&
      (message === 'fetch failed' || text(message)?.startsWith('error sending request'))
    )
      isFetch = true
    // Node reports a failure at every address of a host as one error of several
    current = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return isFetch ? { fault: 'unreachable', isUnsent: false } : undefined
}
