import type { EpochSeconds } from './clock.ts'
import type { Pinning } from './pinned-tool.ts'
import type { Sealed } from './sealed.ts'
import type { WorkerNeeds } from './worker-needs.ts'

/**
 * The kinds of workers: an HTTP worker (Arcade's protocol), an OXP server, a remote MCP server, an HTTP API described
 * by an OpenAPI document, or a module loaded into this process. Stored workers have them, so they outlive their feature.
 */
export const WORKER_TYPES = ['http', 'oxp', 'mcp', 'openapi', 'module'] as const
export type WorkerType = (typeof WORKER_TYPES)[number]

/** A source of tools: it lists them and runs them. */
export interface Worker {
  readonly uid: string
  readonly projectId: string
  /** The operator's name for the worker, unique in its project. */
  readonly id: string
  readonly type: WorkerType
  readonly enabled: boolean
  /** The worker's base URL; for a module, the `file:` URL it is loaded from. */
  readonly uri: string
  /**
   * The worker's credential, by its type: a signing key, an API key, or several as JSON. Seals the empty string if it
   * needs none.
   */
  readonly secret: Sealed
  /** Further settings of its type; nothing secret. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The time limit of one request, retries included. */
  readonly timeoutSeconds: number
  /** How many retries are made when the request surely had no effect. */
  readonly retry: number
  /** What happens when the definition of one of its tools changes. Absent: as its type has it (`pinningOf`). */
  readonly pinning?: Pinning
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  /** When the catalogue was last read, and why the last reading failed. */
  readonly syncedAt?: EpochSeconds
  readonly syncError?: string
  /** When the catalogue first could not be read; absent while it can be read. */
  readonly unreachableSince?: EpochSeconds
  /** Keyed MAC over the members that grant rights (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  /**
   * What its tools may request. A worker that was added before there was acceptance has none until its catalogue is read
   * again.
   */
  readonly accepted?: NeedsOfTools
  /** Keyed MAC over `accepted`; the store writes both together. */
  readonly acceptedMac?: string
}

/**
 * With `isFirstUse`, the worker's catalogue was never read: the definitions that the first reading finds are accepted. It is
 * here because the MAC of `accepted` covers it.
 */
export interface NeedsOfTools extends WorkerNeeds {
  readonly isFirstUse?: true
}

export const WORKER_STATUSES = ['active', 'inactive', 'unreachable'] as const
export type WorkerStatus = (typeof WORKER_STATUSES)[number]

/** The worker's status as of the last reading of its catalogue, which happens every 30 seconds. */
export function workerStatus({ enabled, unreachableSince }: Worker): WorkerStatus {
  if (!enabled) return 'inactive'
  return unreachableSince === undefined ? 'active' : 'unreachable'
}
