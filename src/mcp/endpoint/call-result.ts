import type { CallToolResult } from '@modelcontextprotocol/server'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { withoutOptionalNulls } from '../../tools/arcade/optional-nulls.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { jsonText, LargeJson, parsedValue } from '../../tools/large-json.ts'
import { LargeMcpResult } from '../../tools/mcp/large-mcp-result.ts'
import type { Execution } from '../../tools/run/execution.ts'
import { type Artifact, artifactToJson, type ToolResult } from '../../tools/tool-answer.ts'
import type { ToolError } from '../../tools/tool-error.ts'
import type { Era } from './exchange.ts'
import { needsWrap, passedMeta, publishedOutput } from './listed-tool.ts'

// Converts the result of a run to a CallToolResult (MCP 2026-07-28, Tools, Tool Result). Tokens and secrets have
// already been removed.

type Content = CallToolResult['content']

/** The result of a run that has ended with a value, an artifact or an error. */
export function toCallResult(
  { outcome, worker }: Execution & { readonly outcome: ToolResult },
  { tool }: Pick<ShownTool, 'tool'>,
  era: Era,
): CallToolResult {
  switch (outcome.outcome) {
    case 'error':
      return errorResult(outcome.error, outcome.mcpResult)
    case 'artifact': {
      const artifact = artifactToJson(outcome.artifact)
      return { content: [textBlock(JSON.stringify(artifact)), linkTo(outcome.artifact)] }
    }
    case 'value': {
      const output = publishedOutput(tool)
      if (output === undefined && isHuge(outcome.mcpResult ?? outcome.value))
        return { content: [textBlock(hugeText(outcome))] }
      const value = parsedValue(outcome.value)
      const upstream = outcome.mcpResult && parsedValue(outcome.mcpResult)
      const given = isRecord(upstream) ? upstream : undefined
      // an Arcade worker may answer `null` for an absent optional member, which a client's check of the schema refuses
      const shown =
        output !== undefined && worker?.type === 'http' ? withoutOptionalNulls(output, value) : value
      const structured = output === undefined ? given?.structuredContent : shown
      const meta = passedMeta(given?._meta)
      return {
        content: [...contentOf(given, shown), ...(outcome.files ?? []).map(linkTo)],
        ...(structured !== undefined && {
          structuredContent: structuredFor(structured, era, output !== undefined && needsWrap(output)),
        }),
        ...(meta && { _meta: meta }),
      }
    }
  }
}

function linkTo({ url: uri, contentType: mimeType, size, description, name }: Artifact) {
  return { type: 'resource_link', uri, name: name ?? (description || uri), mimeType, size } as const
}

/** `upstream`: the failed result of an MCP server, whose content may hold more than the message. */
export function errorResult(error: ToolError, upstream?: JsonRecord): CallToolResult {
  const { kind, message, canRetry, retryAfterMs, additionalPromptContent } = error
  const blocks = blocksOf(parsedValue(upstream))
  return {
    content: [
      ...(blocks.some(({ type }) => type === 'text') ? blocks : [textBlock(message), ...blocks]),
      ...(additionalPromptContent === undefined ? [] : [textBlock(additionalPromptContent)]),
    ],
    isError: true,
    _meta: {
      'gatepass/error': {
        kind,
        can_retry: canRetry,
        retry_after_ms: retryAfterMs,
      },
    },
  }
}

/**
 * The content of the upstream result. If it has no text, the value is added as text, because clients show models either
 * the content or the structured content.
 */
function contentOf(upstream: JsonRecord | undefined, value: unknown): Content {
  const blocks = blocksOf(upstream)
  const hasText = blocks.some(({ type }) => type === 'text')
  if (upstream !== undefined && (hasText || (value ?? null) === null)) return blocks
  return [textBlock(typeof value === 'string' ? value : JSON.stringify(value ?? null)), ...blocks]
}

/** Keeps content blocks that MCP defines. Others become text, so that no content is lost and no client refuses it. */
function blocksOf(upstream: unknown): Content {
  if (!isRecord(upstream) || !Array.isArray(upstream.content)) return []
  return upstream.content.map((block) => {
    const isKnown = isRecord(block) && isContent(block)
    if (!isKnown) return textBlock(JSON.stringify(block))
    const { resource } = block
    const passed = {
      ...withPassedMeta(block),
      ...(isRecord(resource) && { resource: withPassedMeta(resource) }),
    }
    return passed as unknown as Content[number] // `isContent` has checked it
  })
}

function withPassedMeta({ _meta: meta, ...rest }: JsonRecord): JsonRecord {
  const passed = passedMeta(meta)
  return { ...rest, ...(passed && { _meta: passed }) }
}

function isContent({ type, text, data, mimeType, uri, name, resource }: JsonRecord): boolean {
  switch (type) {
    case 'text':
      return typeof text === 'string'
    case 'image':
    case 'audio':
      return typeof data === 'string' && typeof mimeType === 'string'
    case 'resource_link':
      return typeof uri === 'string' && typeof name === 'string'
    case 'resource':
      return (
        isRecord(resource) &&
        typeof resource.uri === 'string' &&
        (typeof resource.text === 'string' || typeof resource.blob === 'string')
      )
    default:
      return false
  }
}

/** Clients of 2025 accept only objects as structured content, so other values become the member `result`. */
function structuredFor(value: unknown, era: Era, isWrapped: boolean): JsonRecord {
  if (era === 'legacy' && (isWrapped || !isRecord(value))) return { result: value }
  return value as JsonRecord // newer clients accept any JSON value
}

function textBlock(text: string) {
  return { type: 'text', text } as const
}

/** Whether parsing the JSON would delay other requests. Without an output schema such a value is sent as text only. */
function isHuge(value: unknown): boolean {
  return value instanceof LargeJson && !isJsonString(value) && !value.isQuickToParse()
}

function isJsonString({ bytes }: LargeJson): boolean {
  return bytes[0] === 0x22 // the quotation mark
}

/** The JSON of the value. That of an upstream result includes its images and other media. */
function hugeText({ value, mcpResult }: Extract<ToolResult, { readonly outcome: 'value' }>): string {
  return jsonText(mcpResult instanceof LargeMcpResult ? mcpResult.value : (mcpResult ?? value))
}
