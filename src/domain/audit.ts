import type { EpochSeconds } from './clock.ts'

/**
 * Every action the audit trail records. The names are stable: operators search for them. `token.released` is
 * committed before the token is handed out. The entry of a single change is written in the transaction of the change; any
 * other entry, such as that of a refusal, an export or an erasure, has a transaction of its own.
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
  'connection.imported',
  'connections.exported',
  'shared_connection.added',
  'shared_connection.changed',
  'shared_connection.deleted',
  'provider.added',
  'provider.changed',
  'provider.connections_kept',
  'provider.environment_client_confirmed',
  'provider.deleted',
  'provider.tested',
  'tool.imported',
  'tool.bound',
  'tool.deleted',
  'tool.changed',
  'worker.added',
  'worker.changed',
  'worker.deleted',
  'worker.synced',
  'worker.waiting',
  'worker.accepted',
  'worker.named',
  'policy.set',
  'policy.deleted',
  'policy.refused',
  'toolset.set',
  'toolset.deleted',
  'tool.scheduled',
  'tool.cancelled',
  'tool.tried',
  'approval.requested',
  'approval.approved',
  'approval.denied',
  'approval.expired',
  'approval.used',
  'approval.superseded',
  'standing_approval.added',
  'standing_approval.removed',
  'secret.set',
  'secret.deleted',
  'project.created',
  'branding.set',
  'branding.domain_set',
  'branding.domain_proved',
  'branding.domain_removed',
  'key.created',
  'key.rotated',
  'key.revoked',
  'console.logged_in',
  'console.logged_out',
  'webhook.added',
  'webhook.changed',
  'webhook.secret_rotated',
  'webhook.replayed',
  'webhook.tested',
  'webhook.disabled',
  'webhook.deleted',
  'mcp_client.approved',
  'mcp_client.revoked',
  'connect_session.created',
  'connect_session.opened',
  'connect_session.restarted',
  'connect_session.cancelled',
  'portal.linked',
  'portal.entered',
  'user.exported',
  'user.erased',
  'audit.archived',
  'access.refused',
  'envelope.unreadable',
  'master_key.rotated',
  'installation.backed_up',
  'installation.restored',
  'installation.commits_lost',
  'installation.moved',
  'installation.rows_signed',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

/**
 * Who acted. A `user` is a person at a browser or an MCP client; an `operator` logged in to the console at its issuer;
 * `system` is Gatepass without a request.
 */
export interface AuditActor {
  readonly kind: 'api_key' | 'user' | 'operator' | 'cli' | 'system'
  /** The API key's id, the id of a user who called with an access token, or the operator's subject at the issuer. */
  readonly id?: string | undefined
  /** The client id of the MCP client with which a user called. */
  readonly client?: string | undefined
}

/** An approval in the trail. */
export interface AuditedApproval {
  readonly digest: string
  /** The ids of the rules. */
  readonly rules: readonly string[]
  readonly approver?: string | undefined
  readonly proof?: string | undefined
  readonly execution?: string | undefined
}

/** One action and its subject. Holds no token, code or secret, at most a keyed fingerprint of one. */
export interface AuditEvent {
  readonly action: AuditAction
  readonly userId?: string | undefined
  /** The provider entry's readable id. */
  readonly providerId?: string
  readonly connectionId?: string
  readonly authorizationId?: string
  /** The id of the tool, worker, secret or key that was acted on, where no other member names the subject. */
  readonly subject?: string
  /** The tool that receives the token, if a tool does. */
  readonly tool?: string
  readonly scopes?: readonly string[]
  /** Why the action was refused or failed: a stable code. */
  readonly reason?: string
  /** What the provider said, as far as it may be shown. */
  readonly detail?: string | undefined
  /** What was decided about a call: never its arguments. */
  readonly approval?: AuditedApproval | undefined
  /** Keyed hash of the access token: equal for equal tokens. Without the key, the hash reveals nothing about a token. */
  readonly fingerprint?: string
}

/**
 * Audit entries that were committed together. `text` holds one JSON object a line, without `seq`; the first entry has
 * number `firstSeq`. `hash` is keyed and covers the block and the previous hash, so a chain that verifies cannot be made
 * without the master key.
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

/** The end of a project's audit chain. A copy kept elsewhere shows later whether entries were cut off. */
export type AuditHead = Pick<AuditBlock, 'hash'> & { readonly lastSeq: number }

/**
 * States that the installation has archived a project's entries from `firstSeq` to `lastSeq`, so that their blocks may be
 * missing. `hash` is that of the last archived block: the chain goes on from it.
 */
export interface AuditAnchor {
  readonly projectId: string
  readonly firstSeq: number
  readonly lastSeq: number
  readonly hash: string
  readonly at: EpochSeconds
  /** Covers all other members, under a key that is sealed with the master key. */
  readonly mac: string
}
