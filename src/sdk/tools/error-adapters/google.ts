import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import { developerMessageOf, failureStatus, retryAfterOf, shapeOf, text } from './shape.ts'

/** How every version of gaxios since 6 marks its errors. */
const GAXIOS = Symbol.for('gaxios-gaxios-error')
const RATE_LIMIT_REASONS: readonly unknown[] = [
  'rateLimitExceeded',
  'userRateLimitExceeded',
  'quotaExceeded',
  'RATE_LIMIT_EXCEEDED',
]

/** Errors of Google's API clients (`googleapis`, `google-auth-library`), which come from gaxios. */
export class GoogleErrorAdapter implements ErrorAdapter {
  readonly slug = 'google'

  fromException(error: unknown): ToolError | null {
    const shape = shapeOf(error)
    const response = shapeOf(shape.response)
    const body = shapeOf(response.data).error // an object; a string such as 'invalid_grant' from the token endpoint
    const { code, errors, status, details } = shapeOf(body)
    const isGoogle =
      GAXIOS in shape || (typeof code === 'number' && (typeof status === 'string' || Array.isArray(errors)))
    const httpStatus = failureStatus(response.status, shape.status, code)
    if (!isGoogle || httpStatus === undefined) return null // the next adapter knows failures of the network
    const reasons = [errors, details]
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .map((detail) => shapeOf(detail).reason)
    const isRateLimit = httpStatus === 429 || reasons.some((reason) => RATE_LIMIT_REASONS.includes(reason))
    const isRevoked = body === 'invalid_grant'
    const statusCode = isRateLimit ? 429 : isRevoked ? 401 : httpStatus
    const reason = text(reasons[0]) ?? text(status) ?? text(body)
    const retryAfterMs = retryAfterOf(response.headers)
    return new UpstreamError(`Google answered ${httpStatus}${reason === undefined ? '' : ` (${reason})`}.`, {
      cause: error,
      statusCode,
      developerMessage: developerMessageOf(error),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
}
