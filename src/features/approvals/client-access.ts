import type { Broker } from '../../broker.ts'
import type { Approval } from './domain.ts'

const CLIENT = 'client:'

/**
 * Whether the agent is an MCP client that the user has allowed at Gatepass' own authorization server, and that has not ended.
 * A client of another issuer never is: that issuer alone knows whether it has ended.
 */
export async function hasClientAccess(
  { store }: Pick<Broker, 'store'>,
  { projectId, userId, agent }: Pick<Approval, 'projectId' | 'userId' | 'agent'>,
): Promise<boolean> {
  if (userId === undefined || !agent.startsWith(CLIENT)) return false
  const clientId = agent.slice(CLIENT.length)
  const consents = await store.mcpConsents.ofUser(projectId, userId)
  return consents.some((one) => one.clientId === clientId && one.grantId !== undefined)
}
