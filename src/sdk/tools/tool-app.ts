import type { ServeMcpOptions } from '../mcp/options.ts'
import { createWorker, type ToolWorker, type WorkerOptions } from '../worker/index.ts'
import { type AnyPromptOptions, appPrompts, type PromptOptions } from './app-prompts.ts'
import { appResources, type ResourceOptions } from './app-resources.ts'
import { type AppTools, appTools, isName } from './app-tools.ts'
import type { RequiresAuth } from './auth.ts'
import type { LogLevel } from './context.ts'
import type { GatepassClient } from './gatepass-client.ts'
import { announce, listen } from './listen.ts'
import type { AppChange } from './run.ts'
import { isMaterialized, type MaterializedTool, type ToolOptions, tool } from './tool.ts'

/** The same symbol in every copy of this package, so a module may bring its own copy. */
export const APP_MARK = Symbol.for('gatepass.tool-app')

export interface ToolAppOptions {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters: the namespace of the tools. Default: `tools`. */
  readonly name?: string
  /** SemVer; the version of tools that name none. */
  readonly version?: string
  readonly title?: string
  /** For models: what the tools are for, and how to use them. */
  readonly instructions?: string
  /** Log lines of tools below this level are dropped. Default: `debug`. */
  readonly logLevel?: LogLevel | Uppercase<LogLevel>
  /**
   * A client of Gatepass, for apps that are served outside of Gatepass: it gets the tokens of `requiresAuth` for MCP
   * callers, and runs tools that the app does not have (`tools.call`).
   */
  readonly gatepass?: GatepassClient
}

export type ServeOptions = ServeWorkerOptions | ({ readonly as: 'mcp' } & ServeMcpOptions)

export interface ServeWorkerOptions extends WorkerOptions {
  readonly as: 'worker'
  readonly transport?: 'http'
  /** Default: `127.0.0.1`. */
  readonly host?: string
  /** Default: 8500; 0 for any that is free. */
  readonly port?: number
}

export interface Serving {
  /** The URL of the worker, or of the MCP server; absent on stdio. */
  readonly url?: string
  /** Ends open requests. */
  close(): Promise<void>
}

/** A set of tools, with the resources and prompts that go with them. */
export class ToolApp {
  readonly [APP_MARK] = true
  readonly name: string
  readonly version: string | undefined
  readonly title: string | undefined
  readonly instructions: string | undefined
  readonly logLevel: LogLevel
  readonly gatepass: GatepassClient | undefined
  readonly tools: AppTools
  readonly resources: ReturnType<typeof appResources>
  readonly prompts: ReturnType<typeof appPrompts>
  readonly #listeners = new Set<(change: AppChange) => void | Promise<void>>()

  /** Throws `TypeError` for a name that is not allowed. */
  constructor({
    name = 'tools',
    version,
    title,
    instructions,
    logLevel = 'debug',
    gatepass,
  }: ToolAppOptions = {}) {
    if (!isName(name))
      throw new TypeError(
        `The app ${JSON.stringify(name)} needs a name of 1 to 128 characters of A-Z, a-z, 0-9 and _.-`,
      )
    this.name = name
    this.version = version
    this.title = title
    this.instructions = instructions
    this.logLevel = logLevel.toLowerCase() as LogLevel // the option's type permits each level in both cases
    this.gatepass = gatepass
    this.tools = appTools(() => this.changed('tools'))
    this.resources = appResources((change) => this.changed(change))
    this.prompts = appPrompts(() => this.changed('prompts'))
  }

  /**
   * Adds a tool, or replaces the tool of that name. Throws `TypeError` for a tool that cannot be published.
   */
  tool<
    TInput = Readonly<Record<string, unknown>>,
    const TSecrets extends string = never,
    const TAuth extends RequiresAuth | undefined = undefined,
  >(name: string, options: ToolOptions<TInput, TSecrets, TAuth> | MaterializedTool): void {
    const materialized = isMaterialized(options) ? options : tool(options)
    this.tools.add(name, materialized).catch(() => undefined) // the tool is added; only a listener can fail
  }

  /** Adds a resource. A URI with `{name}` is a template for many resources. */
  resource(uri: string, options: ResourceOptions): void {
    this.resources.add(uri, options).catch(() => undefined)
  }

  prompt<TInput = Readonly<Record<string, string>>>(name: string, options: PromptOptions<TInput>): void {
    // the handler is only called with arguments that its schema has parsed
    this.prompts.add(name, options as unknown as AnyPromptOptions).catch(() => undefined)
  }

  /** Calls the listener after each change. Returns the function that removes the listener. */
  onChange(listener: (change: AppChange) => void | Promise<void>): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Makes an HTTP worker (Arcade's protocol) of the app, to mount in a server: `app.worker({secret}).fetch`. Throws
   * `TypeError` without a secret.
   */
  worker(options: WorkerOptions): ToolWorker {
    return createWorker(this, options)
  }

  /** Serves the app until `close` is called. Rejects if the port is taken, or a secret or an option is missing. */
  async serve(served: ServeOptions): Promise<Serving> {
    if (served.as === 'mcp') {
      const { as: _, ...options } = served
      const { serveMcp } = await import('../mcp/mcp.ts')
      return serveMcp(this, options)
    }
    const { host = '127.0.0.1', port = 8500, ...options } = served
    const listening = await listen(this.worker(options).fetch, { host, port })
    announce(this.name, listening.url)
    return listening
  }

  /** Calls the listeners of `onChange`. */
  async changed(change: AppChange): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener(change)))
  }
}

/** Whether a value is a `ToolApp`, also one of another copy of this package. */
export function isToolApp(value: unknown): value is ToolApp {
  return typeof value === 'object' && value !== null && APP_MARK in value
}
