import type { PartChanges } from './part-types.ts'

/** The user of a project at a provider: the owner of one list of connections. */
export interface ConnectionOwner {
  readonly projectId: string
  readonly providerUid: string
  readonly userId: string
}

/** What a write has changed. The caches of every process receive it and drop what it makes stale. */
export type StoreChange =
  | { readonly noun: 'connection'; readonly id: string; readonly owner: ConnectionOwner }
  | { readonly noun: 'authorization' | 'suspended_call'; readonly id: string }
  /** Tokens of this grant may have become valid or invalid. */
  | { readonly noun: 'mcp_grant'; readonly id: string }
  | RowChange
  | { readonly noun: 'api_key' | 'worker' | 'secret' | 'policy' | 'shared_connection' }
  | PartChanges[keyof PartChanges]

/** Announces a change of the transaction that runs. */
export type Announce = (change: StoreChange) => void

/**
 * The transactions that were visible to a read: those with an id below `end`, except those that were still running
 * (`open`). A transaction gets its id at its first write, not at its commit. So the highest id that a reader has seen is
 * not enough: a transaction with a smaller id may commit later.
 */
export interface ChangePosition {
  /** All transactions with a smaller id had ended. */
  readonly horizon: number
  readonly end: number
  readonly open: readonly number[]
  /** When this server was started: another server, or the same one after a crash, may give the ids a second time. */
  readonly server: string
}

/** Changed rows of a list that processes keep in memory (`cached-rows.ts`), so that they read only these rows again. */
export interface RowChange {
  readonly noun: 'provider' | 'tool'
  /** Absent: rows of any project. */
  readonly projectId?: string
  /** At most `MAX_NAMED_ROWS`. Absent: any row of the project. */
  readonly uids?: readonly string[]
}

/** Keeps a change within the 8000 bytes that a notification of PostgreSQL may have. */
const MAX_NAMED_ROWS = 100

/** The announcement that these rows of a project were added, changed or deleted. */
export function rowChange(noun: RowChange['noun'], projectId: string, uids: readonly string[]): RowChange {
  return uids.length > MAX_NAMED_ROWS ? { noun, projectId } : { noun, projectId, uids }
}
