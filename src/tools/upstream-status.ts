import type { ErrorKind } from './tool-error.ts'

/** The kind of a tool's error when an API that it calls answers with this HTTP status. */
export function upstreamKind(status: number): ErrorKind {
  switch (status) {
    case 401:
    case 403:
      return 'UPSTREAM_RUNTIME_AUTH_ERROR'
    case 404:
    case 410:
      return 'UPSTREAM_RUNTIME_NOT_FOUND'
    case 422:
      return 'UPSTREAM_RUNTIME_VALIDATION_ERROR'
    case 429:
      return 'UPSTREAM_RUNTIME_RATE_LIMIT'
    default:
      if (status >= 500 && status <= 599) return 'UPSTREAM_RUNTIME_SERVER_ERROR'
      return status >= 400 && status <= 499 ? 'UPSTREAM_RUNTIME_BAD_REQUEST' : 'UPSTREAM_RUNTIME_UNMAPPED'
  }
}
