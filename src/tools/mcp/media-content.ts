import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { Artifact, ToolOutcome } from '../tool-answer.ts'
import { LargeMcpResult } from './large-mcp-result.ts'

// Content of an MCP tool's result other than text: images, audio, resource links, embedded resources. `readMcpResult`
// makes a value of the texts; this module adds the rest for callers that do not get `mcpResult`.

type ValueOutcome = Extract<ToolOutcome, { readonly outcome: 'value' }>

/** The content items of a result that are not text, in MCP's form. */
export function mediaOf(result: JsonRecord | undefined): readonly JsonRecord[] {
  return itemsOf(result).filter(({ type }) => type !== 'text')
}

/**
 * The value together with the other content. Unstructured content becomes `{content: [...]}` in the tool's order;
 * a structured object keeps its members and gets `content` (`mcp_content` if it already has `content`); any other
 * structured value becomes `{structured, content}`.
 */
export function valueWithMedia({ value, mcpResult }: Omit<ValueOutcome, 'outcome'>): unknown {
  if (mcpResult instanceof LargeMcpResult) return mcpResult.value
  const media = mediaOf(mcpResult)
  if (media.length === 0) return value
  if (mcpResult?.structuredContent === undefined) return { content: itemsOf(mcpResult) }
  if (!isRecord(value)) return { structured: value, content: media }
  return { ...value, [Object.hasOwn(value, 'content') ? 'mcp_content' : 'content']: media }
}

export function isStructured(result: JsonRecord): boolean {
  return result instanceof LargeMcpResult ? result.isStructured : result.structuredContent !== undefined
}

/** The outcome for callers that get only a value or an artifact, not `mcpResult`. */
export function withMedia<T extends { readonly outcome: string }>(
  outcome: T | ValueOutcome,
): T | ValueOutcome | { readonly outcome: 'artifact'; readonly artifact: Artifact } {
  if (!isValue(outcome)) return outcome
  if (outcome.mcpResult instanceof LargeMcpResult) {
    const { artifact, value } = outcome.mcpResult
    return artifact === undefined ? { ...outcome, value } : { outcome: 'artifact', artifact }
  }
  const [link, ...others] = itemsOf(outcome.mcpResult)
  const isAlone = others.length === 0 && outcome.mcpResult?.structuredContent === undefined
  const artifact = isAlone && link !== undefined ? artifactOf(link) : undefined
  if (artifact !== undefined) return { outcome: 'artifact', artifact }
  return { ...outcome, value: valueWithMedia(outcome) }
}

function isValue(outcome: { readonly outcome: string }): outcome is ValueOutcome {
  return outcome.outcome === 'value'
}

function itemsOf(result: JsonRecord | undefined): readonly JsonRecord[] {
  return Array.isArray(result?.content) ? result.content.filter(isRecord) : []
}

/**
 * Converts a resource link that has all members of an artifact. Callers may show its URL as a link, so only http and
 * https are accepted.
 */
function artifactOf({
  type,
  uri,
  mimeType,
  size,
  description,
  title,
  name,
}: JsonRecord): Artifact | undefined {
  const about = [description, title, name].find((text) => typeof text === 'string' && text !== '')
  if (type !== 'resource_link' || typeof uri !== 'string' || typeof mimeType !== 'string') return undefined
  if (!['https:', 'http:'].includes(URL.parse(uri)?.protocol ?? '')) return undefined
  if (typeof size !== 'number' || !Number.isInteger(size) || typeof about !== 'string') return undefined
  return { url: uri, contentType: mimeType, size, description: about }
}
