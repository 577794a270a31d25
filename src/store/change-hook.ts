import type { ApprovalRule } from '../domain/approval.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection, ConnectionEnding, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { ExecutionRecord } from '../domain/execution.ts'
import type { UseKind } from '../domain/requested-use.ts'
import type { AuthorizationRow } from './authorization-row.ts'
import type { Announce, ConnectionOwner } from './changes.ts'
import type { ById, OfProject, Steps } from './statement.ts'

/**
 * Called in the transaction that has made a change, after its statements, so that a feature can write what follows from
 * the change. Returns the number that it has given to the change, where the type says that it is kept.
 */
export type ChangeHook = (announce: Announce, change: HookedChange) => Steps<number | undefined>

type Owned = ConnectionOwner & ById
type WithScopes = Owned & Pick<Connection, 'scopes'>

/** The requirements that the tools of a worker (`uid`, `id`) have newly, and those that they no longer have. */
export interface ChangedRequirements {
  readonly uid: string
  readonly id: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** A question about a call, without the call itself. */
export interface ChangedApproval extends ById, OfProject {
  readonly userId?: string | undefined
  readonly use: UseKind
  /** The tool's id, or the provider's. */
  readonly subject: string
  readonly status: string
  readonly rules: readonly ApprovalRule[]
  readonly expiresAt: EpochSeconds
}

/** How many definitions of the tools of a worker (`uid`, `id`) have changed, and whether they wait for acceptance. */
export interface ChangedDefinitions {
  readonly uid: string
  readonly id: string
  readonly changed: number
  readonly added: number
  readonly removed: number
  readonly isHeld: boolean
}

export type HookedChange =
  /** The authorization was completed or has failed. */
  | { readonly kind: 'authorization settled'; readonly row: AuthorizationRow }
  /** A consent or an import was stored. `scopesBefore`: of the connection that it renews. */
  | {
      readonly kind: 'connection stored'
      readonly connection: WithScopes
      readonly scopesBefore: readonly string[] | undefined
    }
  | {
      readonly kind: 'connection refreshed'
      readonly connection: WithScopes
      readonly scopesBefore: readonly string[]
    }
  /** The connection now needs a consent. */
  | {
      readonly kind: 'connection unusable'
      readonly connection: Owned
      readonly reason: NeedsAuthorizationReason
    }
  /** The connection is about to be deleted. The number is kept until the revocation. */
  | { readonly kind: 'connection deleted'; readonly connection: Owned; readonly ending: ConnectionEnding }
  /** The provider of a deleted connection was asked to revoke its grant. `number`: of the deletion. */
  | {
      readonly kind: 'connection revoked'
      readonly connection: Owned
      readonly number: number
      readonly by: ConnectionEnding['by']
      readonly revocation: string
    }
  /** These connections were deleted with the entry of their provider. */
  | {
      readonly kind: 'connections deleted'
      readonly connections: readonly (Owned & { readonly eventSeq?: number })[]
    }
  /** A person was asked about a call, or the question was answered or has ended. */
  | { readonly kind: 'approval changed'; readonly approval: ChangedApproval }
  | { readonly kind: 'runs ended'; readonly runs: readonly ExecutionRecord[] }
  /** The tools of a worker require something else than before. */
  | {
      readonly kind: 'requirements changed'
      readonly projectId: string
      readonly worker: ChangedRequirements
    }
  /** The definitions of tools of a worker have changed. */
  | {
      readonly kind: 'definitions changed'
      readonly projectId: string
      readonly worker: ChangedDefinitions
    }
