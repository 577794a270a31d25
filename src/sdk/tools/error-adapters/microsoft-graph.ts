import { type ToolError, UpstreamError } from '../errors.ts'
import type { ErrorAdapter } from '../tool.ts'
import { developerMessageOf, failureStatus, retryAfterOf, shapeOf, text } from './shape.ts'

/** Errors of `@microsoft/microsoft-graph-client` (`GraphError`) and of `@microsoft/msgraph-sdk` (`ODataError`). */
export class MicrosoftGraphErrorAdapter implements ErrorAdapter {
  readonly slug = 'microsoft-graph'

  fromException(error: unknown): ToolError | null {
    const shape = shapeOf(error)
    const isGraphError = typeof shape.statusCode === 'number' && 'requestId' in shape && 'body' in shape
    const isODataError = typeof shape.responseStatusCode === 'number'
    if (!isGraphError && !isODataError) return null
    const statusCode = failureStatus(shape.statusCode, shape.responseStatusCode)
    const code = text(shape.code) ?? text(shapeOf(shape.error).code)
    const details = { cause: error, developerMessage: developerMessageOf(error) }
    // the client writes -1 where there was no answer
    if (statusCode === undefined)
      return new UpstreamError('Microsoft Graph could not be reached.', {
        ...details,
        network: 'unreachable',
      })
    const retryAfterMs = retryAfterOf(shape.headers ?? shape.responseHeaders)
    return new UpstreamError(
      `Microsoft Graph answered ${statusCode}${code === undefined ? '' : ` (${code})`}.`,
      {
        ...details,
        statusCode,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      },
    )
  }
}
