import type { AuthorizationRow } from './authorization-row.ts'
import { toAuthorization } from './authorization-row.ts'
import type { Database } from './database.ts'
import { type Announce, eventWrites } from './event-writes.ts'
import type { Steps } from './statement.ts'

/** The event of an authorization that has settled, a part of the transaction that settles it. It settles once. */
export function authorizationEvents(database: Database) {
  const { receivers, add } = eventWrites(database)

  return {
    *settled(announce: Announce, row: AuthorizationRow): Steps<void> {
      const { id, projectId, userId, steps, ...end } = toAuthorization(row)
      if (end.status !== 'completed' && end.status !== 'failed') return
      const connectionIds = steps.flatMap(({ connectionId = [] }) => connectionId)
      const found = yield* receivers(projectId)
      if (found === undefined) return
      const data = { id, user_id: userId, status: end.status, connection_ids: connectionIds }
      const event = { projectId, key: id, sequence: 1 }
      if (end.status === 'completed')
        yield* add(announce, found, { ...event, type: 'authorization.completed', data })
      else
        yield* add(announce, found, {
          ...event,
          type: end.reason === 'expired' ? 'authorization.expired' : 'authorization.failed',
          data: { ...data, reason: end.reason },
        })
    },
  }
}
