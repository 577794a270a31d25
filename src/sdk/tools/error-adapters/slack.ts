import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import { HTTPErrorAdapter } from './http.ts'
import { developerMessageOf, failureStatus, retryAfterOf, shapeOf, text } from './shape.ts'

const http = new HTTPErrorAdapter()

/** Errors of `@slack/web-api`. */
export class SlackErrorAdapter implements ErrorAdapter {
  readonly slug = 'slack'

  fromException(error: unknown): ToolError | null {
    const { code, data, original, statusCode, headers, retryAfter } = shapeOf(error)
    const details = { cause: error, developerMessage: developerMessageOf(error) }
    switch (code) {
      case 'slack_webapi_platform_error': {
        const reason = text(shapeOf(data).error) ?? 'unknown_error'
        return new UpstreamError(`Slack refused the request: ${reason}.`, {
          ...details,
          statusCode: statusOf(reason),
        })
      }
      case 'slack_webapi_rate_limited_error': {
        const wait = typeof retryAfter === 'number' ? { retryAfterMs: retryAfter * 1000 } : {}
        return new UpstreamError('Slack limits the rate of requests.', {
          ...details,
          statusCode: 429,
          ...wait,
        })
      }
      case 'slack_webapi_http_error': {
        const status = failureStatus(statusCode)
        const retryAfterMs = retryAfterOf(headers)
        return new UpstreamError(`Slack answered ${status ?? 'without a status'}.`, {
          ...details,
          ...(status !== undefined && { statusCode: status }),
          ...(retryAfterMs !== undefined && { retryAfterMs }),
        })
      }
      case 'slack_webapi_request_error':
        return (
          http.fromException(original) ??
          new UpstreamError('Slack could not be reached.', { ...details, network: 'unreachable' })
        )
      default:
        return null
    }
  }
}

const UNAUTHENTICATED = ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired']
const FORBIDDEN = [
  'missing_scope',
  'no_permission',
  'not_allowed_token_type',
  'access_denied',
  'restricted_action',
  'team_access_not_granted',
]
const FAILED = ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout']

/** Returns the HTTP status for the reason of a refusal, because Slack answers 200. */
function statusOf(reason: string): number {
  if (UNAUTHENTICATED.includes(reason)) return 401
  if (FORBIDDEN.includes(reason)) return 403
  if (reason.endsWith('_not_found')) return 404
  if (reason === 'ratelimited' || reason === 'rate_limited') return 429
  return FAILED.includes(reason) ? 500 : 400
}
