import { type AuthorizationRow, toAuthorization } from './authorization-row.ts'
import type { Announce } from './changes.ts'
import type { Database } from './database.ts'
import { eventWrites } from './event-writes.ts'
import type { Steps } from './statement.ts'

/** Writes the only event of an authorization, in the transaction that settles it. */
export function authorizationEvents(database: Database) {
  const { findReceivers, add } = eventWrites(database)

  return {
    *settled(announce: Announce, row: AuthorizationRow): Steps<void> {
      const { id, projectId, userId, steps, ...end } = toAuthorization(row)
      if (end.status !== 'completed' && end.status !== 'failed') return
      const connectionIds = steps.flatMap(({ connectionId = [] }) => connectionId)
      const receivers = yield* findReceivers(projectId)
      if (receivers === undefined) return
      const data = { id, user_id: userId, status: end.status, connection_ids: connectionIds }
      const event = { projectId, key: id, sequence: 1 }
      if (end.status === 'completed')
        yield* add(announce, receivers, { ...event, type: 'authorization.completed', data })
      else
        yield* add(announce, receivers, {
          ...event,
          type: end.reason === 'expired' ? 'authorization.expired' : 'authorization.failed',
          data: { ...data, reason: end.reason },
        })
    },
  }
}
