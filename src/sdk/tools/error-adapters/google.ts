import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import { developerMessageOf, failureStatus, retryAfterOf, shapeOf, text } from './shape.ts'

/** How every version of gaxios since 6 marks its errors. */
const GAXIOS = Symbol.for('gaxios-gaxios-error')
const RATE_REASONS: readonly unknown[] = [
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
    const body = shapeOf(response.data).error
    const { code, errors, status, details } = shapeOf(body)
    const isGoogle =
      GAXIOS in shape || (typeof code === 'number' && (typeof status === 'string' || Array.isArray(errors)))
    const answered = failureStatus(response.status, shape.status, code)
    if (!isGoogle || answered === undefined) return null // a failure of the network is for the next adapter
    const reasons = [errors, details]
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .map((one) => shapeOf(one).reason)
    const isRate = answered === 429 || reasons.some((reason) => RATE_REASONS.includes(reason))
    const isRevoked = body === 'invalid_grant'
    const statusCode = isRate ? 429 : isRevoked ? 401 : answered
    const reason = text(reasons[0]) ?? text(status) ?? text(body)
    const retryAfterMs = retryAfterOf(response.headers)
    return new UpstreamError(`Google answered ${answered}${reason === undefined ? '' : ` (${reason})`}.`, {
      cause: error,
      statusCode,
      developerMessage: developerMessageOf(error),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
}
