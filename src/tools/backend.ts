import type { Broker } from '../broker.ts'
import type {
  AuthorizationRequirement,
  JsonSchema,
  Tool,
  ToolAnnotations,
  ToolRequirements,
} from '../domain/tool.ts'
import type { Worker } from '../domain/worker.ts'
import type { Release } from '../services/release.ts'
import type { ListedFaults } from './catalogue/validate-tool.ts'
import type { AnswerReading } from './read-answer.ts'
import type { ToolAnswer } from './tool-answer.ts'

// What every kind of worker can do for the broker, whatever it speaks. One folder each implements it (arcade/, oxp/,
// mcp/, openapi/, module/); `backends.ts` chooses. Validation, consent, policies, secrets and scrubbing are done around
// it, once for all (`execute-tool.ts`).

export interface Backend {
  /** What the worker lists now. Throws `WorkerFault`. */
  catalogue(broker: Broker, worker: Worker): Promise<readonly CatalogueItem[]>
  /** Whether it is well. `message` says why not, for the operator. Throws nothing for what the worker does wrong. */
  health(broker: Broker, worker: Worker): Promise<{ readonly healthy: boolean; readonly message?: string }>
  /** Where a call of the tool takes what it is given, as `host` or `host:port`; absent: to the host of the worker's `uri`. */
  hosts?(tool: Tool): readonly string[]
  /**
   * Runs a tool. Whatever the worker does wrong is an answer of the outcome `error` with `isOwn`; nothing is thrown for
   * it. `broker.outgoing` is the one way out; `worker.timeoutSeconds` bounds the whole, `signal` ends it early.
   */
  call(broker: Broker, worker: Worker, call: BackendCall): Promise<ToolAnswer>
}

/** What a worker lists, and what there is to say of the list as a whole, for the operator. */
export type CatalogueItem = ListedTool | { readonly outcome: 'remark'; readonly message: string }

/** A tool as its worker describes it, or why it was left out. */
export type ListedTool =
  | {
      readonly outcome: 'read'
      readonly tool: CatalogueTool
      /** What was made of what could not be taken as it stands, for the operator: a sentence. */
      readonly remark?: string
      /** What was found by `listedFaults` already, elsewhere than on the event loop. */
      readonly faults?: ListedFaults
    }
  | { readonly outcome: 'refused'; readonly name: string; readonly reason: string }

export interface CatalogueTool {
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  readonly namespace: string
  readonly version?: string
  /** For people; absent: the name. */
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly tags?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly meta?: Readonly<Record<string, unknown>>
  readonly icons?: readonly Readonly<Record<string, unknown>>[]
  readonly requirements: ToolRequirements
  /** The description as it came, without anything secret: kept, and given back to `call` in `tool.source`. */
  readonly document: Readonly<Record<string, unknown>>
}

export interface BackendCall {
  readonly executionId: string
  /** The caller's own name of this call, where it gave one: the same call again must not be done twice. */
  readonly callId?: string
  /** RFC 3339. */
  readonly createdAt: string
  /** The worker's own tool, also where a metadata tool is bound to it. Its `source.document` is what `catalogue` gave. */
  readonly tool: Tool
  /** Valid by the tool's schema. */
  readonly input: Readonly<Record<string, unknown>>
  readonly userId?: string
  /** One for each provider the tool needs, in the order it declares them. */
  readonly authorizations: readonly GivenAuthorization[]
  readonly secrets: readonly { readonly key: string; readonly value: string }[]
  readonly metadata: readonly { readonly key: string; readonly value: string }[]
  readonly signal?: AbortSignal
  /** What its answer is read with (`readAnswer`). */
  readonly reading?: AnswerReading
  /** Told of what the tool says while it runs. */
  readonly onEvent?: (event: ToolEvent) => void
}

/** A token for the tool, and which of its requirements it is for (several where they name the same provider). */
export interface GivenAuthorization {
  readonly requirements: readonly AuthorizationRequirement[]
  readonly release: Release
}

/** What a tool says while it runs. */
export type ToolEvent =
  | {
      readonly kind: 'progress'
      readonly data: { readonly progress: number; readonly total?: number; readonly message?: string }
    }
  | { readonly kind: 'chunk'; readonly data: unknown }
