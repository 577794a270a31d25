import type { CallToolResult } from './content.ts'
import type { ConsentMissing, ErrorDetails, ToolResult } from './run.ts'

/** Converts a result to MCP's form. A value that is an object becomes `structuredContent` too. */
export function toCallToolResult(result: Exclude<ToolResult, ConsentMissing>): CallToolResult {
  switch (result.outcome) {
    case 'content':
      return result.result
    case 'error':
      return errorResult(result.error)
    case 'value': {
      const value: unknown = JSON.parse(result.json)
      const text = typeof value === 'string' ? value : result.json
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return {
        content: [{ type: 'text', text }],
        ...(isObject && { structuredContent: value as Record<string, unknown> }), // checked just above
      }
    }
  }
}

export function withoutDeveloperMessage<Result extends ToolResult>(result: Result): Result {
  if (result.outcome !== 'error') return result
  const { developerMessage: _, ...error } = result.error
  return { ...result, error }
}

/** Returns a failed result. Its `_meta` has the error's details in the form of Arcade's servers. */
export function errorResult({
  kind,
  message,
  stacktrace: _,
  ...details
}: Omit<ErrorDetails, 'kind'> & { readonly kind: string }): CallToolResult {
  return {
    content: [{ type: 'text', text: message }],
    isError: true,
    _meta: { arcade: { errorKind: kind, ...details } },
  }
}

/**
 * Converts a complete result to one value, for callers that take no content: `structuredContent`, else its only text
 * (parsed if it is JSON), else the list of its texts; the whole `content` when it has images or other content.
 */
export function plainValue(
  result: CallToolResult,
):
  | { readonly outcome: 'value'; readonly value: unknown }
  | { readonly outcome: 'error'; readonly error: ErrorDetails } {
  const { content, structuredContent, isError } = result
  const texts = content.flatMap((item) => (item.type === 'text' ? [item.text] : []))
  if (isError === true) {
    const message = texts.join('\n') || 'The tool failed without saying why.'
    return { outcome: 'error', error: { kind: 'TOOL_RUNTIME_FATAL', message, canRetry: false } }
  }
  if (structuredContent !== undefined) return { outcome: 'value', value: structuredContent }
  if (texts.length < content.length) return { outcome: 'value', value: { content } }
  const [first = null, ...others] = texts
  return { outcome: 'value', value: others.length > 0 ? texts : jsonOr(first) }
}

function jsonOr(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return text
  }
}
