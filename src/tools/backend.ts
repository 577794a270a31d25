import type { Broker } from '../broker.ts'
import type {
  AuthorizationRequirement,
  JsonSchema,
  Tool,
  ToolAnnotations,
  ToolRequirements,
} from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { CallToolResult, Tool as SdkTool } from '../sdk/tools/content.ts'
import type { OuterRun } from '../sdk/tools/run.ts'
import type { Release } from '../services/release.ts'
import type { ItemSummary } from './catalogue/validate-tool.ts'
import type { Progress } from './dialog/dialog.ts'
import type { ToolDialog } from './dialog/tool-dialog.ts'
import type { AnswerReading } from './read-answer.ts'
import type { AuthorizationRequired, ToolAnswer } from './tool-answer.ts'

// The interface to every kind of worker. Each protocol has a folder that implements it (arcade/, mcp/, openapi/,
// module/) or a feature (`Feature.workers`), and `backends.ts` chooses one. Validation, consent, the gate, secrets and
// scrubbing are the same for all and are done by `execute-tool.ts`.

export interface Backend {
  /**
   * The worker is the operator's own code, loaded into this process by the settings: it has no host, the API cannot change
   * it, its tools need no acceptance and may call others, and only the broker checks their input.
   */
  readonly isInProcess?: boolean
  /**
   * The broker itself sends the tokens to the provider's API, with a proof if they are bound to a key (RFC 9449). Absent:
   * the worker is given them.
   */
  readonly sendsTokensItself?: boolean
  /** Reads the worker's list of tools. Throws `WorkerFault`. */
  catalogue(broker: Broker, worker: Worker, bounds: CatalogueBounds): Promise<ListedCatalogue | 'unchanged'>
  /** Whether the worker is healthy; `message` tells the operator why not. Never throws for an error of the worker. */
  health(broker: Broker, worker: Worker): Promise<{ readonly healthy: boolean; readonly message?: string }>
  /** The arguments as they are used, with what is added to those of the caller. Absent: they are the caller's. */
  received?(tool: Tool, input: BackendCall['input']): BackendCall['input']
  /** The hosts that a call of the tool is sent to, as `host` or `host:port`. Absent: the host of the worker's `uri`. */
  hosts?(tool: Tool): readonly string[]
  /**
   * Runs a tool. An error of the worker is returned with the outcome `error` and `isOwn`, never thrown. All requests go
   * through `broker.outgoing`. `worker.timeoutSeconds` limits the whole call; `signal` cancels it.
   */
  call(broker: Broker, worker: Worker, call: BackendCall): Promise<ToolAnswer>
}

/** Limits for reading a worker's list of tools. */
export interface CatalogueBounds {
  /** For all answers together. A longer list throws a `WorkerFault` with `isTooLarge`. */
  readonly maxBytes: number
  readonly maxSeconds: number
  /** The digest of the previous list. The result is `unchanged` for a list with the same digest. */
  readonly before?: string
}

export interface ListedCatalogue {
  readonly items: readonly CatalogueItem[]
  /** The digest of the received bytes. With the same settings of the worker, equal digests mean equal items. */
  readonly digest?: string
}

/** A tool that a worker lists, or a remark for the operator about the list as a whole. */
export type CatalogueItem = ListedTool | { readonly outcome: 'remark'; readonly message: string }

/** A tool as its worker describes it, or the reason why the tool was left out. */
export type ListedTool =
  | {
      readonly outcome: 'read'
      readonly tool: CatalogueTool
      /** A sentence for the operator about a part of the description that had to be changed. */
      readonly remark?: string
      /** Set where a thread has computed it. `tool` is then parsed on each access. */
      readonly summary?: ItemSummary
    }
  | { readonly outcome: 'refused'; readonly name: string; readonly reason: string }

/** A tool as a backend reads it from the worker's list. */
export interface CatalogueTool {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  readonly namespace: string
  readonly version?: string | undefined
  /** The name for people. Default: `name`. */
  readonly title?: string | undefined
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  /** Absent, never `undefined`: the item's digest depends on the order of its members, and tags may be added last. */
  readonly tags?: readonly string[]
  readonly annotations?: ToolAnnotations | undefined
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly icons?: readonly Readonly<Record<string, unknown>>[] | undefined
  readonly requirements: ToolRequirements
  /** The worker's description without secrets. It is stored, and `call` finds it in `tool.source`. */
  readonly document: Readonly<Record<string, unknown>>
}

/** One call of a tool, as the backend receives it. */
export interface BackendCall {
  readonly executionId: string
  /** The caller's idempotency key for this call: a repeated call with the same key must not run twice. */
  readonly callId?: string | undefined
  /** RFC 3339. */
  readonly createdAt: string
  /** The worker's tool, also when a caller runs an imported tool that is bound to it. */
  readonly tool: Tool
  /** Already validated by the tool's schema. */
  readonly input: Readonly<Record<string, unknown>>
  readonly userId?: string | undefined
  /** One for each provider that the tool needs, in the order in which the tool declares them. */
  readonly authorizations: readonly GivenAuthorization[]
  readonly secrets: readonly { readonly key: string; readonly value: string }[]
  readonly metadata: readonly { readonly key: string; readonly value: string }[]
  readonly signal?: AbortSignal | undefined
  /** Options for `readAnswer`. */
  readonly reading?: AnswerReading
  /** The other tools, for a tool that runs in this process. */
  readonly inner?: InnerTools | undefined
  /** Receives the events of the tool while it runs. */
  readonly onEvent?: (event: ToolEvent) => void
  /** Reaches the user through the caller's client; absent where the caller has none. */
  readonly dialog?: ToolDialog | undefined
  /** Called when the worker says that its list of tools has changed; the list is then read again soon. */
  readonly onListChanged?: () => void
}

/** The other tools, as a tool of this process may use them. */
export interface InnerTools {
  /** Runs another tool for the same user, with the same checks. */
  call(name: string, args: Readonly<Record<string, unknown>>, outer: OuterRun): Promise<InnerCall>
  list(): Promise<SdkTool[]>
  /** Reads the list of the tool's own module again. */
  listChanged(): Promise<void>
}

export type InnerCall =
  | { readonly outcome: 'result'; readonly result: CallToolResult }
  | AuthorizationRequired

/** A token for the tool, and the requirements that it meets: several where they name the same provider. */
export interface GivenAuthorization {
  readonly requirements: readonly AuthorizationRequirement[]
  readonly release: Release
}

/** An event of a tool that is running. */
export type ToolEvent =
  | { readonly kind: 'progress'; readonly data: Progress }
  | { readonly kind: 'chunk'; readonly data: unknown }
