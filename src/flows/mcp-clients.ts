import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import type { McpConsent } from '../domain/mcp-consent.ts'
import { verifierName } from './user-session.ts'

/** Whether an approval permits anything: the verifier of the settings has identified its user. */
export function isApprovalValid(
  { settings }: Pick<Broker, 'settings'>,
  consent: McpConsent | undefined,
): consent is McpConsent {
  return consent !== undefined && consent.verifier === verifierName(settings.verifier)
}

/** Whether the client acts for its user now: the approval is valid, and its grant has not ended. */
export function hasAccess(broker: Pick<Broker, 'settings'>, consent: McpConsent | undefined): boolean {
  return consent?.grantId !== undefined && isApprovalValid(broker, consent)
}

/** What the client may do for its user now. */
export type ClientRights = 'call' | 'see' | 'nothing'

export function clientRights(broker: Pick<Broker, 'settings'>, consent: McpConsent): ClientRights {
  if (!hasAccess(broker, consent)) return 'nothing'
  return consent.scopes.includes('mcp') ? 'call' : 'see'
}

/**
 * Ends a user's approval of an MCP client, with its grant: the client's access tokens are refused from then on. Returns the
 * approval, or `undefined` if the project has none with this id.
 */
export async function disconnectClient(
  { store, audit }: Pick<Broker, 'store' | 'audit'>,
  {
    projectId,
    id,
    by,
  }: { readonly projectId: string; readonly id: string; readonly by: 'user' | 'administrator' },
): Promise<McpConsent | undefined> {
  const consent = await store.mcpConsents.findById(projectId, id)
  if (consent === undefined) return undefined
  const { userId, clientId } = consent
  const entry = audit.of(projectId, { action: 'mcp_client.revoked', userId, subject: clientId, reason: by })
  return (await store.mcpConsents.delete(projectId, id, entry)) ? consent : undefined
}

/** Ends the client's access for an administrator. Throws `not_found`. */
export async function endClient(broker: Broker, projectId: string, id: string): Promise<void> {
  if ((await disconnectClient(broker, { projectId, id, by: 'administrator' })) === undefined)
    throw new BrokerError(
      'not_found',
      'No user has allowed such a client. GET /v1/admin/mcp_clients lists them.',
    )
}
