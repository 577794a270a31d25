import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Broker } from '../../broker.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'

/** One of Gatepass' own tools at `/mcp`. */
export interface GatewayTool {
  readonly name: string
  /** The members of MCP's Tool besides the name. */
  readonly definition: Readonly<Record<string, unknown>>
  call(broker: Broker, call: GatewayCall): Promise<CallToolResult>
}

export interface GatewayCall {
  readonly projectId: string
  /** Absent where the caller names no user. */
  readonly userId?: string | undefined
  /** The tools that the caller may use here, under the names that it knows. */
  readonly shown: readonly ShownTool[]
  /** Already validated by the tool's schema. */
  readonly input: Readonly<Record<string, unknown>>
}

/** The value as text and as structured content, because clients show models one or the other. */
export function answerJson(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } }
}

/** An error result with a text for the model. */
export function answerRefusal(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true }
}
