import type { AppParts } from './app-parts.ts'
import type {
  CallToolResult,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitResult,
  Root,
  Tool,
} from './content.ts'
import type { AuthInfo, LogLevel } from './context.ts'
import type { Form } from './elicit.ts'
import type { ErrorKind, ToolError } from './errors.ts'
import type { AnyToolOptions } from './tool.ts'

// The interface between tools and the ways of running them: in Gatepass's process, as an HTTP worker, as an MCP server.
// Each way makes a `ToolRun` of a call; `build-context.ts` makes the handler's context of it.

/** A tool to run, and the app that it belongs to; a tool of `defineTool` belongs to none. */
export interface RunnableTool {
  readonly name: string
  readonly options: AnyToolOptions
  readonly app?: AppParts
  /** Absent: the tool's own limit. */
  readonly timeoutSeconds?: number
}

/** One call of a tool. A member is absent where the way of running does not offer it. */
export interface ToolRun {
  /** The way of running, for messages, such as `an HTTP worker`. */
  readonly way: string
  readonly userId: string | null
  readonly sessionId: string | null
  readonly requestId: string | null
  /** Absent where the call belongs to no trace. */
  readonly traceparent?: string | undefined
  /** The tokens by the names in `requiresAuth`. */
  readonly authorizations: Readonly<Record<string, AuthInfo>>
  /** The metadata of the call. The tool gets only the values that it declares. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** The value of a secret that the tool declares. */
  secret(key: string): string | undefined
  /** Aborted when the caller no longer wants the result. */
  readonly signal?: AbortSignal
  log?(level: LogLevel, message: string): void | Promise<void>
  progress?(progress: number, total?: number, message?: string): void | Promise<void>
  /** `data` is JSON. */
  chunk?(data: unknown): void | Promise<void>
  elicit?(form: Form): Promise<ElicitResult<unknown>>
  createMessage?(request: CreateMessageRequest): Promise<CreateMessageResult>
  listRoots?(): Promise<Root[]>
  /** Absent: `fn` is run. */
  step?<Value>(key: string, fn: () => Value | Promise<Value>): Promise<Value>
  callTool?(name: string, args: Readonly<Record<string, unknown>>, outer: OuterRun): Promise<InnerResult>
  listTools?(): Promise<Tool[]>
  listChanged?(list: ListKind): void | Promise<void>
}

/** The run of a tool that calls another tool. */
export interface OuterRun {
  /** Aborted when the run is over. */
  readonly signal: AbortSignal
  /** Stops the time limit while the client is asked. */
  whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer>
}

export type ListKind = 'tools' | 'resources' | 'prompts'

/** What has changed in an app: one of its lists, or the contents of the resource at a URI. */
export type AppChange = ListKind | { readonly updated: string }

/** A consent that is missing, with the link for the user. */
export interface RequiredAuthorization {
  readonly id: string
  readonly url: string
  readonly scopes: readonly string[]
  readonly status: string
}

export type ConsentMissing = {
  readonly outcome: 'authorization_required'
  readonly authorization: RequiredAuthorization
}

/** The result of a tool that another tool has called. */
export type InnerResult = { readonly outcome: 'result'; readonly result: CallToolResult } | ConsentMissing

export type ToolResult =
  /** The JSON text of what the handler returned. */
  | { readonly outcome: 'value'; readonly json: string }
  /** The handler returned a complete result, which may be a failure (`isError`). */
  | { readonly outcome: 'content'; readonly result: CallToolResult }
  | {
      readonly outcome: 'error'
      readonly error: ErrorDetails
      /** The time limit passed, or the caller cancelled, before the handler had ended. */
      readonly isCutOff?: true
    }
  /** A tool that this tool called lacks the user's consent. */
  | ConsentMissing

/** The members of an error that is sent to the caller. */
export interface ErrorDetails
  extends Pick<
    ToolError,
    'canRetry' | 'statusCode' | 'developerMessage' | 'retryAfterMs' | 'additionalPromptContent'
  > {
  readonly kind: ErrorKind
  readonly message: string
  /** For logs. */
  readonly stacktrace?: string
}
