import type { RequiresAuth } from './auth.ts'
import type { JsonSchema } from './content.ts'
import type { AuthInfo, Authorizations, ToolContext } from './context.ts'
import type { ToolError } from './errors.ts'
import type { ToolSchema, TypedSchema } from './schema.ts'

/** The same symbol in every copy of this package, so a module may bring its own copy. */
export const TOOL_MARK = Symbol.for('gatepass.tool')

/** The greatest `timeoutSeconds`. */
export const MAX_TIMEOUT_SECONDS = 3600

/** Converts errors that a library throws. */
export interface ErrorAdapter {
  /** The adapter's name. */
  readonly slug: string
  /** Returns `null` for an error that is not the library's. */
  fromException(error: unknown): ToolError | null
}

/** MCP's hints about what a tool does. They guarantee nothing. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

export interface ToolOptions<
  TInput = unknown,
  TSecrets extends string = string,
  TAuth extends RequiresAuth | undefined = undefined,
> {
  readonly title?: string
  readonly description?: string
  /** SemVer. Default: the version of the app. */
  readonly version?: string
  /** The schema of the input, an object: Zod 4, another Standard Schema, or JSON Schema 2020-12. */
  readonly input: TypedSchema<TInput> | JsonSchema
  /** The schema that the handler's result must match. */
  readonly output?: ToolSchema
  readonly requiresAuth?: TAuth
  readonly requiresSecrets?: readonly TSecrets[]
  readonly requiresMetadata?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly tags?: readonly string[]
  /** Default: 30, at most 3600. */
  readonly timeoutSeconds?: number
  /** Convert what the handler throws; the first adapter that returns an error wins. `HTTPErrorAdapter` comes last. */
  readonly adapters?: readonly ErrorAdapter[]
  /** Returns a text, a value that JSON can represent, or a `CallToolResult`. */
  handler(
    context: ToolContext<
      TInput,
      TSecrets,
      TAuth extends RequiresAuth ? true : false,
      TAuth extends RequiresAuth ? Authorizations<TAuth> : Readonly<Record<string, AuthInfo>>
    >,
  ): unknown
}

export interface NamedToolOptions<
  TInput = unknown,
  TSecrets extends string = string,
  TAuth extends RequiresAuth | undefined = undefined,
> extends ToolOptions<TInput, TSecrets, TAuth> {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  /** Default: the name of the module's file. */
  readonly namespace?: string
}

/** The options of any tool. */
export type AnyToolOptions = ToolOptions<never, string, RequiresAuth | undefined>

/** A tool without a name, made by `tool()`. */
export interface MaterializedTool {
  readonly [TOOL_MARK]: AnyToolOptions
}

/** A tool with its name, made by `defineTool()`. */
export interface DefinedTool extends MaterializedTool {
  readonly [TOOL_MARK]: AnyToolOptions & Pick<NamedToolOptions, 'name' | 'namespace'>
}

/** Makes a tool to add to an app: `app.tool(name, tool)` or `app.tools.add(name, tool)`. */
export function tool<
  TInput = Readonly<Record<string, unknown>>,
  const TSecrets extends string = never,
  const TAuth extends RequiresAuth | undefined = undefined,
>(options: ToolOptions<TInput, TSecrets, TAuth>): MaterializedTool {
  // the handler is only called with a context built from these options
  return { [TOOL_MARK]: options as unknown as AnyToolOptions }
}

/** Makes a tool that a module exports for `GATEPASS_TOOLS`. */
export function defineTool<
  TInput = Readonly<Record<string, unknown>>,
  const TSecrets extends string = never,
  const TAuth extends RequiresAuth | undefined = undefined,
>(options: NamedToolOptions<TInput, TSecrets, TAuth>): DefinedTool {
  // the handler is only called with a context built from these options
  return { [TOOL_MARK]: options as unknown as DefinedTool[typeof TOOL_MARK] }
}

export function isMaterialized(value: unknown): value is MaterializedTool {
  return typeof value === 'object' && value !== null && TOOL_MARK in value
}
