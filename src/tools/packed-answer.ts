import { LARGE_BYTES, LargeJson } from './large-json.ts'
import { LargeMcpResult } from './mcp/large-mcp-result.ts'
import { isStructured, valueWithMedia, withMedia } from './mcp/media-content.ts'
import type { Artifact, ToolAnswer } from './tool-answer.ts'

/** The parts of an answer whose size has no limit. */
const PARTS = ['value', 'mcpResult', 'logs', 'extra', 'parameterErrors'] as const
type Part = (typeof PARTS)[number]

/** An answer whose large parts are bytes, so that a thread hands it over without the event loop copying it. */
export interface PackedAnswer {
  readonly answer: ToolAnswer
  readonly parts: Readonly<Partial<Record<Part, Uint8Array>>>
  /** Facts about a large `mcpResult`. */
  readonly mcp?: { readonly isStructured: boolean; readonly value: Uint8Array; readonly artifact?: Artifact }
}

/** Parts of at most this many characters of JSON stay in the answer. */
const SMALL = LARGE_BYTES / 4

/** Turns the large parts of an answer into bytes, whose buffers are added to `transfer`. */
export function packAnswer(answer: ToolAnswer, transfer: ArrayBuffer[] = []): PackedAnswer {
  const parts: Partial<Record<Part, Uint8Array>> = {}
  const toBytes = (text: string | undefined): Uint8Array<ArrayBuffer> => {
    const bytes = new TextEncoder().encode(text)
    transfer.push(bytes.buffer)
    return bytes
  }
  const isLarge = (text: string | undefined) => text !== undefined && text.length > SMALL
  const mcp = answer.outcome === 'value' && answer.mcpResult !== undefined ? answer : undefined
  const isMcpLarge =
    mcp !== undefined && (isLarge(JSON.stringify(mcp.mcpResult)) || isLarge(JSON.stringify(mcp.value)))
  const rest = mapParts(answer, (part, value) => {
    // The value of an MCP tool is packed if its MCP result is. `null` is not packed, because callers test for it.
    const isOfMcp = mcp !== undefined && (part === 'mcpResult' || (part === 'value' && value !== null))
    if (isOfMcp && !isMcpLarge) return value
    const text = JSON.stringify(value)
    if (!isOfMcp && !isLarge(text)) return value
    parts[part] = toBytes(text)
    return EMPTY[part]
  })
  if (mcp === undefined || !isMcpLarge) return { answer: rest, parts }
  const shown = withMedia(mcp)
  return {
    answer: rest,
    parts,
    mcp: {
      isStructured: mcp.mcpResult !== undefined && isStructured(mcp.mcpResult),
      value: toBytes(JSON.stringify(valueWithMedia(mcp))),
      ...('artifact' in shown && { artifact: shown.artifact }),
    },
  }
}

const EMPTY: Readonly<Record<Part, unknown>> = {
  value: null,
  mcpResult: {},
  logs: [],
  extra: {},
  parameterErrors: {},
}

/** Restores the answer. Its large parts stay JSON text (`LargeJson`). */
export function unpackAnswer({ answer, parts, mcp }: PackedAnswer): ToolAnswer {
  return mapParts(answer, (part, value) => {
    const bytes = parts[part]
    if (bytes === undefined) return value
    if (part !== 'mcpResult' || mcp === undefined) return new LargeJson(bytes)
    const { artifact, isStructured } = mcp
    return new LargeMcpResult(bytes, { isStructured, artifact, value: new LargeJson(mcp.value) })
  })
}

/** A copy of the answer in which the result of `change`, such as a `LargeJson`, replaces each of the `PARTS`. */
export function mapParts(answer: ToolAnswer, change: (part: Part, value: unknown) => unknown): ToolAnswer {
  const changed: Record<string, unknown> = { ...answer, logs: change('logs', answer.logs) }
  if (answer.outcome === 'value') changed.value = change('value', answer.value)
  if ('mcpResult' in answer && answer.mcpResult !== undefined)
    changed.mcpResult = change('mcpResult', answer.mcpResult)
  if (answer.outcome === 'error') {
    const { extra, parameterErrors } = answer.error
    changed.error = {
      ...answer.error,
      ...(extra !== undefined && { extra: change('extra', extra) }),
      ...(parameterErrors !== undefined && {
        parameterErrors: change('parameterErrors', parameterErrors),
      }),
    }
  }
  return changed as unknown as ToolAnswer // the same members
}
