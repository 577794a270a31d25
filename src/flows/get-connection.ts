import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { NO_USER } from '../domain/shared-connection.ts'
import { mayActFor } from '../services/request-context.ts'

/** Throws `not_found`, also for a connection of another project, or of a user for whom the request may not act. */
export async function getConnection(broker: Broker, projectId: string, id: string): Promise<Connection> {
  const connection = await broker.store.connections.find(id)
  // a token of a connection of the project is reached by no user
  if (
    connection === undefined ||
    connection.userId === NO_USER ||
    connection.projectId !== projectId ||
    !mayActFor(connection.userId)
  )
    throw new BrokerError('not_found', `There is no connection "${id.slice(0, 80)}" in this project.`)
  return connection
}

/** Makes the connection the account that its user acts with where a request names none. */
export async function makeDefault({ audit, store }: Broker, connection: Connection): Promise<void> {
  const { id, projectId, userId } = connection
  const entry = audit.of(projectId, { action: 'connection.made_default', userId, connectionId: id })
  await store.connections.makeDefault(id, entry)
}
