import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { RequestContext } from '../../services/request-context.ts'

/** The scopes of callers of `/mcp`: `mcp` permits to list and call tools, `mcp:read` only to list them. */
export const MCP_SCOPES = ['mcp', 'mcp:read'] as const
export type McpScope = (typeof MCP_SCOPES)[number]

/** The caller of `/mcp`, identified by the credential of the request. */
export interface Principal {
  readonly projectId: string
  /** Absent for an API key that names no user. Tools that need no user still run. */
  readonly userId?: string | undefined
  /** `mcp` includes `mcp:read`. */
  readonly scope: McpScope
  readonly by: Credential
  /**
   * The key by which open streams and running calls are limited: the id of the API key, or the user, because a user
   * could register any number of clients.
   */
  readonly owner: string
  /** Unique for each principal. A session, state or stream of another principal is refused. */
  readonly identity: string
}

/** The credential that was verified. */
export type Credential =
  | { readonly kind: 'api_key'; readonly key: ApiKey }
  /** A JWT of `GATEPASS_MCP_ISSUER`. */
  | {
      readonly kind: 'issuer'
      readonly issuer: string
      readonly subject: string
      readonly clientId?: string | undefined
    }
  /** An access token of Gatepass' own authorization server. */
  | { readonly kind: 'client'; readonly clientId: string }

/** The principal of an API key that acts for `userId`. */
export function keyPrincipal(key: ApiKey, userId: string | undefined): Principal {
  return {
    projectId: key.projectId,
    userId,
    scope: key.role === 'readonly' ? 'mcp:read' : 'mcp',
    by: { kind: 'api_key', key },
    owner: key.id,
    identity: JSON.stringify(['api_key', key.id, userId ?? null]),
  }
}

/** The principal of an access token. */
export function tokenPrincipal(
  by: Exclude<Credential, { kind: 'api_key' }>,
  of: { readonly projectId: string; readonly userId: string; readonly scope: McpScope },
): Principal {
  const issued = by.kind === 'issuer' ? [by.issuer, by.subject, by.clientId ?? null] : [by.clientId]
  const identity = JSON.stringify([by.kind, of.projectId, of.userId, ...issued])
  return { ...of, by, owner: JSON.stringify(['user', of.projectId, of.userId]), identity }
}

/** Throws `insufficient_scope`, or `insufficient_role` for an API key, where the principal may only list tools. */
export function requireCallScope({ scope, by }: Principal): void {
  if (scope === 'mcp') return
  if (by.kind === 'api_key')
    throw new BrokerError(
      'insufficient_role',
      'This key has the role readonly: it lists tools. To call them, make one with `gatepass keys create --role caller`.',
    )
  throw new BrokerError(
    'insufficient_scope',
    'This access token has the scope mcp:read: it lists tools. To call them, ask for the scope mcp.',
  )
}

/** The request context in which a request of the principal runs, for the audit trail and the log. */
export function contextOf(
  { by, userId }: Principal,
  { purpose, requestId }: { readonly purpose: string; readonly requestId?: string },
): RequestContext {
  const about = {
    purpose,
    ...(requestId !== undefined && { requestId }),
    ...(userId !== undefined && { onlyUser: userId }),
  }
  if (by.kind === 'api_key') return { actor: { kind: 'api_key', id: by.key.id }, apiKey: by.key, ...about }
  const { clientId } = by
  return {
    actor: { kind: 'user', id: userId, client: clientId },
    ...about,
  }
}
