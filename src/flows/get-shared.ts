import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'

/** Throws `not_found`. */
export async function getShared({ store }: Broker, projectId: string, id: string): Promise<SharedConnection> {
  const found = await store.sharedConnections.find(projectId, id)
  if (found === undefined) throw noShared(id)
  return found
}

export function noShared(id: string): BrokerError {
  return new BrokerError(
    'not_found',
    `There is no connection of the project with the id "${id}". GET /v1/admin/connections lists those there are.`,
  )
}
