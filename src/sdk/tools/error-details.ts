import { withoutUndefined } from '../without-undefined.ts'
import { HTTPErrorAdapter } from './error-adapters/http.ts'
import { isToolError, type ToolError } from './errors.ts'
import type { ErrorDetails } from './run.ts'
import type { ErrorAdapter } from './tool.ts'

const LAST: ErrorAdapter = new HTTPErrorAdapter()

/**
 * Converts what a handler threw. The message of an error that no adapter knows may contain anything, so only the
 * operator sees it.
 */
export function errorDetails(error: unknown, adapters: readonly ErrorAdapter[] = []): ErrorDetails {
  const known = isToolError(error) ? error : translated(error, [...adapters, LAST])
  const stack = error instanceof Error && error.stack !== undefined ? { stacktrace: error.stack } : {}
  if (known !== undefined) return { ...detailsOf(known), ...stack }
  return {
    kind: 'TOOL_RUNTIME_FATAL',
    message: 'The tool has failed.',
    canRetry: false,
    developerMessage:
      error instanceof Error
        ? `${error.name}: ${error.message}`
        : `The handler threw a value that is no Error, of the type ${typeof error}.`,
    ...stack,
  }
}

function translated(error: unknown, adapters: readonly ErrorAdapter[]): ToolError | undefined {
  for (const adapter of adapters) {
    try {
      const found = adapter.fromException(error)
      if (found !== null) return found
    } catch {
      // an adapter that fails does not know the error
    }
  }
  return undefined
}

function detailsOf(error: ToolError): ErrorDetails {
  const { kind, message, canRetry, statusCode, developerMessage, retryAfterMs, additionalPromptContent } =
    error
  return withoutUndefined({
    kind,
    message,
    canRetry,
    statusCode,
    developerMessage,
    retryAfterMs,
    additionalPromptContent,
  })
}
