import type { CallToolResult } from './content.ts'
import type { ConsentMissing, ErrorDetails, ToolResult } from './run.ts'

/** The result as MCP has it. An object is also `structuredContent`. */
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

/** What callers learn of an error, in the `_meta` that Arcade's servers write. */
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
