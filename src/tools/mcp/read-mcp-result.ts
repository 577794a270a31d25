import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { membersOf } from '../../providers/response-body.ts'
import { isDeeperThan } from '../read-json.ts'
import type { ToolOutcome } from '../tool-answer.ts'
import { badOutputError, readErrorKind, type ToolError, withoutStacks } from '../tool-error.ts'
import { mediaOf } from './media-content.ts'

const MAX_DEPTH = 100

/**
 * Reads a CallToolResult. Its value is `structuredContent`; else a single text, parsed if it is JSON; else the list
 * of texts; else null. `isError` is a failure. `mcpResult` keeps the whole result, for content that is not text.
 */
export function readMcpResult(result: JsonRecord): ToolOutcome {
  if (isDeeperThan(result, MAX_DEPTH))
    return {
      outcome: 'error',
      isOwn: true,
      error: badOutputError(`The result nests deeper than ${MAX_DEPTH} levels.`),
    }
  const texts = textsOf(result.content)
  if (result.isError === true)
    return { outcome: 'error', error: errorOf(result, texts), mcpResult: withoutTrace(result) }
  return { outcome: 'value', value: normalized(result, texts), mcpResult: result }
}

function normalized({ structuredContent }: JsonRecord, texts: readonly string[]): unknown {
  if (structuredContent !== undefined) return structuredContent
  const [first, ...others] = texts
  if (first === undefined) return null
  return others.length > 0 ? texts : jsonOr(first)
}

function jsonOr(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return isDeeperThan(value, MAX_DEPTH) ? text : value
  } catch {
    return text
  }
}

function textsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((item) =>
    isRecord(item) && item.type === 'text' && typeof item.text === 'string' ? [item.text] : [],
  )
}

/** The error from the tool's texts, with the details that arcade-mcp puts into `_meta`. */
function errorOf(result: JsonRecord, texts: readonly string[]): ToolError {
  const { _meta } = result
  const media = mediaOf(result)
  const details = membersOf(membersOf(_meta)?.arcade) ?? {}
  const either = (camel: string, snake: string) => details[camel] ?? details[snake]
  const kind = either('errorKind', 'error_kind') ?? details.kind
  const wait = either('retryAfterMs', 'retry_after_ms')
  const status = either('statusCode', 'status_code')
  const words = (camel: string, snake: string) => {
    const value = either(camel, snake)
    return typeof value === 'string' && value !== '' ? { [camel]: value } : {}
  }
  return {
    kind: kind === undefined ? 'TOOL_RUNTIME_FATAL' : readErrorKind(kind),
    message: texts.join('\n') || 'The tool failed without saying why.',
    canRetry: either('canRetry', 'can_retry') === true,
    ...words('developerMessage', 'developer_message'),
    ...words('additionalPromptContent', 'additional_prompt_content'),
    ...(typeof wait === 'number' && wait >= 0 && { retryAfterMs: Math.ceil(wait) }),
    ...(typeof status === 'number' && Number.isInteger(status) && { statusCode: status }),
    ...(media.length > 0 && { extra: { content: media } }),
    ...withStack(details),
  }
}

/** The stack trace of an Arcade server's error, kept apart from what callers see. */
function withStack(details: JsonRecord): Pick<ToolError, 'stacktrace'> {
  const { stacktrace } = withoutStacks(details)
  return stacktrace === undefined ? {} : { stacktrace }
}

function withoutTrace(result: JsonRecord): JsonRecord {
  const meta = membersOf(result._meta)
  const arcade = membersOf(meta?.arcade)
  if (meta === undefined || arcade === undefined) return result
  return { ...result, _meta: { ...meta, arcade: withoutStacks(arcade).extra } }
}
