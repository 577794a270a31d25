import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'
import type { WorkerNeeds } from './worker-needs.ts'

/**
 * What tools run on: an HTTP worker (Arcade's protocol), an OXP server, a remote MCP server, an HTTP API that an OpenAPI
 * document describes, or a module loaded into this process.
 */
export const WORKER_TYPES = ['http', 'oxp', 'mcp', 'openapi', 'module'] as const
export type WorkerType = (typeof WORKER_TYPES)[number]

/** A source of tools: where they are listed, and where they run. */
export interface Worker {
  readonly uid: string
  readonly projectId: string
  /** The name the operator gave it, unique in its project. */
  readonly id: string
  readonly type: WorkerType
  readonly enabled: boolean
  /** Its base URL; of a module, the `file:` URL it is loaded from. */
  readonly uri: string
  /** What opens it, by its type: a signing key, an API key, JSON of several. Of the empty string where it needs nothing. */
  readonly secret: Sealed
  /** What else its type needs to know; nothing secret. */
  readonly settings: Readonly<Record<string, unknown>>
  /** For one request in all, repeated attempts included. */
  readonly timeoutSeconds: number
  /** How often to try again when surely nothing was done. */
  readonly retry: number
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  /** When its catalogue was last read, and why it could not be. */
  readonly syncedAt?: EpochSeconds
  readonly syncError?: string
  /** Since when its catalogue cannot be read at all; absent while it can. */
  readonly unreachableSince?: EpochSeconds
  /** Of the members that give power (`signed-rows.ts`); the store writes it. */
  readonly mac?: string
  /** What its tools may ask for; absent: a worker of a release that knew of no acceptance, whose catalogue was not read since. */
  readonly accepted?: WorkerNeeds
  /** Of `accepted`; the store writes both together. */
  readonly acceptedMac?: string
}

export type WorkerStatus = 'active' | 'inactive' | 'unreachable'

/** How it stood when its catalogue was last read, which is done every half minute. */
export function workerStatus({ enabled, unreachableSince }: Worker): WorkerStatus {
  if (!enabled) return 'inactive'
  return unreachableSince === undefined ? 'active' : 'unreachable'
}
