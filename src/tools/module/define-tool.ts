import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'

// The library for authors of in-process tools (`gatepass/tools`). It imports types only, so a module of tools loads
// no more than this file.

/** The same symbol in every copy of this package, so a module may bring its own copy. */
export const TOOL_MARK = Symbol.for('gatepass.tool')

/** A schema of Zod 4, or of another library that implements Standard Schema (standardschema.dev). */
export interface TypedSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
  }
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type ToolSchema = TypedSchema | JsonSchema

/** The type a schema produces. For JSON Schema, TypeScript knows only that it is an object. */
export type ValueOf<Schema> =
  Schema extends TypedSchema<infer Output> ? Output : Readonly<Record<string, unknown>>

/** A provider, by the id of its entry or by its kind (`github`), and the scopes the tool needs there. */
export type ToolAuth =
  | { readonly id: string; readonly scopes?: readonly string[] }
  | { readonly provider: string; readonly scopes?: readonly string[] }

/** The user's token at one provider. The tool uses it and must never return, log or throw it. */
export interface ToolAuthorization {
  readonly token: string
  readonly tokenType: string
  /** Absent if the provider did not say. */
  readonly expiresAt?: Date
  /** The granted scopes. */
  readonly scopes: readonly string[]
  readonly userInfo: Readonly<Record<string, unknown>>
  /** Other members of the token response, such as `instance_url`. */
  readonly extra: Readonly<Record<string, unknown>>
}

export interface ToolContext<Input = unknown, Secret extends string = string, Auth = undefined> {
  /** The input as parsed by the tool's schema. */
  readonly input: Input
  /** The token for the first provider in `requiresAuth`. */
  readonly authorization: Auth extends undefined ? undefined : ToolAuthorization
  /** The tokens for all providers, by the names used in `requiresAuth`. */
  readonly authorizations: Readonly<Record<string, ToolAuthorization>>
  /** Returns a secret's value. Throws for a key that is not in `requiresSecrets`. */
  getSecret(key: Secret): string
  /** The values named in `requiresMetadata`. */
  readonly metadata: Readonly<Record<string, string>>
  readonly userId: string | null
  /** The id of this run (`execution_id`). */
  readonly requestId: string
  /** Aborted when the result is no longer needed: the time limit has passed, or the caller has disconnected. */
  readonly signal: AbortSignal
  /** Log lines, sent to the caller with the result. */
  readonly log: Readonly<Record<'debug' | 'info' | 'warning' | 'error', (message: string) => void>>
  /** Sent to callers that stream the run. */
  readonly progress: { report(progress: number, total?: number, message?: string): void }
  /** Sends a part of the result early, to callers that stream the run. */
  chunk(data: unknown): void
}

export interface ToolOptions<
  Input extends ToolSchema = ToolSchema,
  Secret extends string = string,
  Auth extends ToolAuth | readonly ToolAuth[] | undefined = ToolAuth | readonly ToolAuth[] | undefined,
> {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  /** Default: the name of the module's file. */
  readonly namespace?: string
  /** SemVer. */
  readonly version?: string
  readonly title?: string
  readonly description: string
  /** The schema of the input, an object: Zod 4, or JSON Schema 2020-12. */
  readonly input: Input
  /** The schema that the handler's result must match. */
  readonly output?: ToolSchema
  readonly requiresAuth?: Auth
  readonly requiresSecrets?: readonly Secret[]
  readonly requiresMetadata?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly tags?: readonly string[]
  /** Default: 30. */
  readonly timeoutSeconds?: number
  /** Returns any value that JSON can represent. */
  handler(context: ToolContext<ValueOf<Input>, Secret, Auth>): unknown
}

export interface DefinedTool {
  readonly [TOOL_MARK]: ToolOptions
}

/** Defines a tool for `GATEPASS_TOOLS`. */
export function defineTool<
  Input extends ToolSchema,
  Secret extends string = never,
  Auth extends ToolAuth | readonly ToolAuth[] | undefined = undefined,
>(options: ToolOptions<Input, Secret, Auth>): DefinedTool {
  // the handler is only called with a context built from these options
  return { [TOOL_MARK]: options as unknown as ToolOptions }
}

export function isTypedSchema(schema: ToolSchema): schema is TypedSchema {
  return '~standard' in schema
}

export interface ToolFailureOptions {
  readonly cause?: unknown
  /**
   * The HTTP status of the API. 401 means that the token was rejected: the tool is run again with a fresh token if
   * that is safe.
   */
  readonly statusCode?: number
  /** For the operator of the tool, not for the model or the user. */
  readonly developerMessage?: string
  readonly retryAfterMs?: number
  /** Advice to the model for its next attempt. */
  readonly additionalPromptContent?: string
}

/**
 * An intended failure of a tool. Its `message` may be shown to a model and a user; the messages of other errors are
 * not.
 */
export class ToolFailure extends Error {
  readonly kind: 'retry' | 'upstream' | 'fatal'
  readonly options: ToolFailureOptions

  constructor(kind: ToolFailure['kind'], message: string, options: ToolFailureOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'ToolFailure'
    this.kind = kind
    this.options = options
  }
}

/** The call may be repeated: nothing was done. */
export class RetryableToolError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('retry', message, options)
    this.name = 'RetryableToolError'
  }
}

/** An API used by the tool refused the request or failed. */
export class UpstreamError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('upstream', message, options)
    this.name = 'UpstreamError'
  }
}

/** Repeating the call would fail again. */
export class FatalToolError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('fatal', message, options)
    this.name = 'FatalToolError'
  }
}
