import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'

// What the author of an in-process tool imports (`gatepass/tools`): nothing here is the broker's own, so that a module
// of tools pulls in no more than this file.

/** The same in every copy of this file, so that a module may bring its own. */
export const TOOL_MARK = Symbol.for('gatepass.tool')

/** A schema of Zod 4, or of whatever else says of itself what it accepts (standardschema.dev). */
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

/** What a schema gives once it has accepted a value. JSON Schema tells TypeScript nothing but that it is an object. */
export type ValueOf<Schema> =
  Schema extends TypedSchema<infer Output> ? Output : Readonly<Record<string, unknown>>

/** A provider by the id of its entry, or by what kind it is (`github`), and the scopes that are needed of it. */
export type ToolAuth =
  | { readonly id: string; readonly scopes?: readonly string[] }
  | { readonly provider: string; readonly scopes?: readonly string[] }

/** The user's token at one provider. It is the tool's to use, and never to be returned, logged or thrown. */
export interface ToolAuthorization {
  readonly token: string
  readonly tokenType: string
  /** Absent where the provider did not say. */
  readonly expiresAt?: Date
  /** What the user has granted. */
  readonly scopes: readonly string[]
  readonly userInfo: Readonly<Record<string, unknown>>
  /** What else the provider told when it gave the token, such as `instance_url`. */
  readonly extra: Readonly<Record<string, unknown>>
}

export interface ToolContext<Input = unknown, Secret extends string = string, Auth = undefined> {
  /** As the tool's schema has read it. */
  readonly input: Input
  /** Of the first provider in `requiresAuth`. */
  readonly authorization: Auth extends undefined ? undefined : ToolAuthorization
  /** Of all of them, by what `requiresAuth` calls them. */
  readonly authorizations: Readonly<Record<string, ToolAuthorization>>
  /** Throws for one that is not in `requiresSecrets`. */
  getSecret(key: Secret): string
  /** What is in `requiresMetadata`. */
  readonly metadata: Readonly<Record<string, string>>
  readonly userId: string | null
  /** The id of this run. */
  readonly requestId: string
  /** Aborted when nobody waits for the answer any more: the time is over, or the caller has gone. */
  readonly signal: AbortSignal
  /** Goes to the caller with the answer. */
  readonly log: Readonly<Record<'debug' | 'info' | 'warning' | 'error', (message: string) => void>>
  /** Goes to a caller that listens while the tool runs. */
  readonly progress: { report(progress: number, total?: number, message?: string): void }
  /** A piece of the answer before the answer, for a caller that listens. */
  chunk(data: unknown): void
}

export interface ToolOptions<
  Input extends ToolSchema = ToolSchema,
  Secret extends string = string,
  Auth extends ToolAuth | readonly ToolAuth[] | undefined = ToolAuth | readonly ToolAuth[] | undefined,
> {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  /** The name of the module's file unless said. */
  readonly namespace?: string
  /** SemVer. */
  readonly version?: string
  readonly title?: string
  readonly description: string
  /** An object, by Zod 4 or as JSON Schema 2020-12. */
  readonly input: Input
  /** What the handler's value is held to. */
  readonly output?: ToolSchema
  readonly requiresAuth?: Auth
  readonly requiresSecrets?: readonly Secret[]
  readonly requiresMetadata?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly tags?: readonly string[]
  /** 30 unless said. */
  readonly timeoutSeconds?: number
  /** Returns anything that JSON can hold. */
  handler(context: ToolContext<ValueOf<Input>, Secret, Auth>): unknown
}

export interface DefinedTool {
  readonly [TOOL_MARK]: ToolOptions
}

/** A tool for `GATEPASS_TOOLS`. */
export function defineTool<
  Input extends ToolSchema,
  Secret extends string = never,
  Auth extends ToolAuth | readonly ToolAuth[] | undefined = undefined,
>(options: ToolOptions<Input, Secret, Auth>): DefinedTool {
  // its handler is called with a context made by these very options
  return { [TOOL_MARK]: options as unknown as ToolOptions }
}

export function isTypedSchema(schema: ToolSchema): schema is TypedSchema {
  return '~standard' in schema
}

export interface ToolFailureOptions {
  readonly cause?: unknown
  /** The status that an API answered. 401: the token is not taken, so the tool is run again with a fresh one where that is safe. */
  readonly statusCode?: number
  /** For whoever runs the tool, not for the model or the user. */
  readonly developerMessage?: string
  readonly retryAfterMs?: number
  /** What a model should know before it tries again. */
  readonly additionalPromptContent?: string
}

/** How a tool fails on purpose. `message` may be shown to a model and a user; any other error's is not. */
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

/** The same call may be made again: nothing was done. */
export class RetryableToolError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('retry', message, options)
    this.name = 'RetryableToolError'
  }
}

/** An API that the tool uses has refused or failed. */
export class UpstreamError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('upstream', message, options)
    this.name = 'UpstreamError'
  }
}

/** The same call would fail again. */
export class FatalToolError extends ToolFailure {
  constructor(message: string, options: ToolFailureOptions = {}) {
    super('fatal', message, options)
    this.name = 'FatalToolError'
  }
}
