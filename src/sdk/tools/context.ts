import type { NeededNames, PossibleNames } from './auth.ts'
import type {
  CallToolResult,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitResult,
  GetPromptResult,
  Prompt,
  Resource,
  ResourceContents,
  ResourceTemplate,
  Root,
  Tool,
} from './content.ts'
import type { ElicitOptions } from './elicit.ts'
import type { TypedSchema, ValueOf } from './schema.ts'

/** The user's token at one provider. The tool uses it and must never return, log or throw it. */
export interface AuthInfo {
  readonly token: string
  /** What the provider says of the user. Its members depend on the provider and the scopes. */
  readonly userInfo: Readonly<Record<string, unknown>>
  readonly tokenType: string
  /** Absent if the provider did not say. */
  readonly expiresAt?: Date
  /** The granted scopes. */
  readonly scopes: readonly string[]
  /** Other members of the token response, such as `instance_url`. */
  readonly extra: Readonly<Record<string, unknown>>
  /**
   * What the user typed besides secrets, such as a domain; only where the provider has no OAuth. `tokenType` is then
   * `api_key`, or `basic`: `token` is what follows `Basic`.
   */
  readonly fields?: Readonly<Record<string, string>>
}

/** The tokens of a tool by the names in its `requiresAuth`. */
export type Authorizations<Requires> = {
  readonly [Name in NeededNames<Requires>]: AuthInfo
} & { readonly [Name in PossibleNames<Requires>]?: AuthInfo }

export const LOG_LEVELS = ['debug', 'info', 'warning', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * What a handler is given. A member that the way of running cannot offer throws `ContextRequiredError` when it is
 * used.
 */
export interface ToolContext<
  TInput = unknown,
  TSecrets extends string = string,
  TAuth extends boolean = false,
  TAuthorizations = Readonly<Record<string, AuthInfo>>,
> {
  /** The input, parsed by the tool's schema. */
  readonly input: TInput
  /** The token for the first provider in `requiresAuth`; with `anyOf`, for the provider that the user has granted. */
  readonly authorization: TAuth extends true ? AuthInfo : AuthInfo | undefined
  /** The tokens for all providers, by the names used in `requiresAuth`. */
  readonly authorizations: TAuthorizations
  /** Returns a secret's value. Throws for a key that is not in `requiresSecrets`. */
  getSecret(key: TSecrets): string
  /** The values named in `requiresMetadata`. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly userId: string | null
  /** The session of an MCP client of 2025; otherwise null. */
  readonly sessionId: string | null
  /** The id of this run. */
  readonly requestId: string | null
  /**
   * The W3C `traceparent` of this run, for spans of the tool's own; null where the run belongs to no trace, and always
   * in an MCP server. Send it to services of yours, and not to a provider.
   */
  readonly traceparent: string | null
  /** Aborted when the result is no longer needed: the time limit has passed, or the caller has disconnected. */
  readonly signal: AbortSignal
  /** Sent to MCP clients while the tool runs, and to other callers with the result. */
  readonly log: Readonly<Record<LogLevel, (message: string) => Promise<void>>>
  /** Sent to callers that stream the run, and to MCP clients that ask for it. */
  readonly progress: { report(progress: number, total?: number, message?: string): Promise<void> }
  /** Sends a part of the result early, to callers that stream the run. Throws for what is not JSON. */
  chunk(data: unknown): Promise<void>
  /**
   * Runs `fn` and returns its value, which must be JSON. For work that must not be done twice: when the user's answer
   * makes the handler run again (`ui.elicit` with MCP clients of 2026-07-28), `fn` is not run again and its first value
   * is returned.
   */
  step<Value>(key: string, fn: () => Value | Promise<Value>): Promise<Value>
  /** The resources of the app, and the directories that the MCP client shares. */
  readonly resources: {
    read(uri: string): Promise<ResourceContents[]>
    /** The first of its contents. Throws where there are none. */
    get(uri: string): Promise<ResourceContents>
    list(): Promise<Resource[]>
    listTemplates(): Promise<ResourceTemplate[]>
    /** Empty where there is no MCP client, or it shares none. */
    listRoots(): Promise<Root[]>
  }
  /** The prompts of the app. */
  readonly prompts: {
    get(name: string, args?: Readonly<Record<string, string>>): Promise<GetPromptResult>
    list(): Promise<Prompt[]>
  }
  /** Other tools, for the same user. If one of them lacks the user's consent, this run ends with the link to it. */
  readonly tools: {
    /** A failure of the tool is a result with `isError`; so is an unknown tool, and a call that Gatepass refuses. */
    call(name: string, args?: Readonly<Record<string, unknown>>): Promise<CallToolResult>
    list(): Promise<Tool[]>
  }
  readonly sampling: {
    /** Asks the model of the MCP client. */
    createMessage(request: CreateMessageRequest): Promise<CreateMessageResult>
  }
  readonly ui: {
    /**
     * Shows the user a form. The schema is an object of strings, numbers, integers, booleans and choices; formats of
     * strings are `email`, `uri`, `date` and `date-time`.
     */
    elicit<Schema extends TypedSchema>(
      message: string,
      schema: Schema,
      options?: ElicitOptions,
    ): Promise<ElicitResult<ValueOf<Schema>>>
  }
  /**
   * Tells clients to read the list again. Gatepass reads the tools of its own process at once, otherwise every 30 s.
   */
  readonly notifications: Readonly<
    Record<'tools' | 'resources' | 'prompts', { listChanged(): Promise<void> }>
  >
}
