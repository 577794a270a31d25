import type {
  CallToolResult,
  InputRequiredResult,
  RequestId,
  ServerContext,
} from '@modelcontextprotocol/server'
import type { ElicitationModes } from '../../sdk/mcp/elicitation-modes.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import type { Era, Exchange } from './exchange.ts'

/** One `tools/call` of a tool that the caller may call. */
export interface McpCall {
  readonly exchange: Exchange
  readonly era: Era
  readonly shown: ShownTool
  readonly input: Readonly<Record<string, unknown>>
  /** How the client can ask its user. */
  readonly elicitation: ElicitationModes
  /** The client's id of the request. */
  readonly requestId: RequestId
  /** The SDK's context: the request's `_meta`, `inputResponses` and `requestState`. */
  readonly context: ServerContext
  /** Sends a message of Gatepass on the stream of the call. */
  readonly toClient: (message: ToClient) => Promise<void>
  /** Aborts when the client has cancelled the call, or this process ends. */
  readonly signal: AbortSignal
}

/** A request, which has an id, or a notification. */
export interface ToClient {
  readonly id?: string
  readonly method: string
  readonly params: Record<string, unknown>
}

/** The answer to a call. Only newer clients know `input_required`. */
export type CallAnswer = CallToolResult | InputRequiredResult
