import type { EpochSeconds } from './clock.ts'

/**
 * What may be in the audit trail. Stable: operators search for them. `token.released` is there before the token is
 * anywhere else; every other one is written in the transaction that does what it says.
 */
export const AUDIT_ACTIONS = [
  'token.released',
  'authorization.confirmed',
  'authorization.completed',
  'authorization.failed',
  'authorization.refused',
  'connection.refreshed',
  'connection.needs_authorization',
  'connection.made_default',
  'connection.deleted',
  'provider.added',
  'provider.changed',
  'provider.connections_kept',
  'provider.environment_client_confirmed',
  'provider.deleted',
  'tool.imported',
  'tool.bound',
  'tool.deleted',
  'worker.added',
  'worker.changed',
  'worker.deleted',
  'worker.synced',
  'worker.waiting',
  'worker.accepted',
  'policy.set',
  'policy.deleted',
  'policy.refused',
  'tool.scheduled',
  'tool.cancelled',
  'secret.set',
  'secret.deleted',
  'project.created',
  'key.created',
  'key.rotated',
  'key.revoked',
  'access.refused',
  'envelope.unreadable',
  'master_key.rotated',
  'installation.backed_up',
  'installation.restored',
  'installation.moved',
  'installation.rows_signed',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/** Who did it. A `user` is whoever sat at the browser; `system` is Gatepass by itself. */
export interface AuditActor {
  readonly kind: 'api_key' | 'user' | 'cli' | 'system'
  /** The API key's id. */
  readonly id?: string
}

/** One thing that was done, and to what. Never a token, a code or a secret: at most its keyed fingerprint. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly userId?: string
  /** The provider entry's readable id. */
  readonly providerId?: string
  readonly connectionId?: string
  readonly authorizationId?: string
  /** What was acted on where it is none of the above: a tool's, worker's, secret's or key's id. */
  readonly subject?: string
  /** The tool that is given the token, where it is one. */
  readonly tool?: string
  readonly scopes?: readonly string[]
  /** Why it was refused or failed: a stable code. */
  readonly reason?: string
  /** What the provider said of it, as it may be shown. */
  readonly detail?: string
  /** Of the access token, keyed: the same token has the same one, and it tells nothing of it. */
  readonly fingerprint?: string
}

/**
 * Entries that were committed together. `text` is one JSON object a line, without `seq`; the first has `firstSeq`.
 * `hash` covers the block and the hash before it, keyed, so that nobody without the master key can make a chain
 * that verifies.
 */
export interface AuditBlock {
  readonly projectId: string
  readonly firstSeq: number
  readonly count: number
  readonly at: EpochSeconds
  readonly text: string
  readonly previous: string
  readonly hash: string
}

/** Where a project's chain ends. Kept elsewhere, it shows later that nothing was cut off. */
export type AuditHead = Pick<AuditBlock, 'hash'> & { readonly lastSeq: number }
