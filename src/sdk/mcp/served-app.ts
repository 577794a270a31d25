import type { Tool } from '@modelcontextprotocol/server'
import type { Questions } from './questions.ts'

// What the MCP side needs of an app, so that it depends on nothing else of it.

export interface ServedApp {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly instructions?: string | undefined
  tools(): readonly ServedTool[]
  resources(): readonly ServedResource[]
  templates(): readonly ServedTemplate[]
  prompts(): readonly ServedPrompt[]
  /** Runs a tool. Its failures are values. */
  callTool(name: string, input: Readonly<Record<string, unknown>>, way: McpWay): Promise<CallOutcome>
  /** Returns `undefined` where no resource has the URI. */
  readResource(uri: string, way: McpWay): Promise<readonly Content[] | undefined>
  /** Returns the members of `prompts/get`. */
  getPrompt(name: string, args: Readonly<Record<string, string>>, way: McpWay): Promise<Content>
  /** The values that the author suggests for an argument of a prompt or a variable of a template. */
  complete(of: CompletionTarget, value: string): Promise<readonly string[]>
  /** Resolves what a user needs to hold for the tool, by Gatepass; `undefined` without a Gatepass. */
  readonly consents?: Consents | undefined
  /** Calls the listener at each change, and returns the function that ends that. */
  onChange(listener: (change: AppChange) => void): () => void
}

export type ListKind = 'tools' | 'resources' | 'prompts'
export type AppChange = { readonly list: ListKind } | { readonly resource: string }

export interface ServedTool {
  /** As `tools/list` answers it, `_meta.arcade.requirements` included. */
  readonly definition: Tool
  readonly providers: readonly NeededProvider[]
  readonly secrets: readonly string[]
}

/** A provider by the id of its entry in Gatepass, or by its kind. */
export interface NeededProvider {
  readonly id?: string
  readonly provider?: string
  readonly scopes: readonly string[]
}

/** Members as MCP has them on the wire. */
export type Content = Readonly<Record<string, unknown>>
export type ServedResource = Content & { readonly uri: string; readonly name: string }
export type ServedTemplate = Content & { readonly uriTemplate: string; readonly name: string }
export type ServedPrompt = Content & { readonly name: string }

export interface CompletionTarget {
  readonly prompt?: string
  readonly template?: string
  readonly argument: string
}

/** What a run is given by this way of running. */
export interface McpWay extends Questions {
  readonly userId: string | null
  readonly sessionId: string | null
  readonly requestId: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** By the names that the tool uses. */
  readonly authorizations: Readonly<Record<string, Authorization>>
  readonly signal: AbortSignal
  /** The value that the caller sent; the environment is the app's business. */
  secret(key: string): string | undefined
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): Promise<void>
  progress(progress: number, total?: number, message?: string): Promise<void>
  /** Whether the client declared that it can answer such questions. */
  can(capability: ClientCapability): boolean
}

export type ClientCapability = 'elicitation' | 'sampling' | 'roots'

export interface Authorization {
  readonly token: string
  readonly tokenType: string
  readonly expiresAt?: Date
  readonly scopes: readonly string[]
  readonly userInfo: Readonly<Record<string, unknown>>
  readonly extra: Readonly<Record<string, unknown>>
}

export type CallOutcome =
  | { readonly outcome: 'result'; readonly result: Content }
  /** A question was asked that the client cannot answer. */
  | { readonly outcome: 'incapable'; readonly capability: ClientCapability; readonly result: Content }
  | { readonly outcome: 'consent'; readonly consent: Consent }

/** A consent that is missing: the link, and how to learn that it was given. */
export interface Consent {
  readonly id: string
  readonly url: string
  readonly scopes: readonly string[]
}

export interface Consents {
  /** The authorization of a user at a provider, or the consent that is missing. */
  resolve(
    userId: string,
    need: NeededProvider,
    signal: AbortSignal,
  ): Promise<Authorization | { consent: Consent }>
  /** Waits until the user has answered, at most so long. Returns the reason of a failure. */
  wait(
    id: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<'completed' | 'pending' | { failed: string }>
}
