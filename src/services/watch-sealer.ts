import { LRUCache } from 'lru-cache'
import type { Log } from '../domain/log.ts'
import {
  CARRIED_TABLE,
  type Sealer,
  type SealingContext,
  UnknownKeyError,
  UnsealError,
} from '../store/seal.ts'
import type { AuditLog } from './audit-log.ts'

/** How many envelopes are remembered as reported, so that each is reported once and not at every read. */
const MAX_REPORTED = 1_000

/**
 * Wraps the sealer, so that each envelope of the database that cannot be opened is logged and recorded in the audit trail.
 */
export function watchSealer(sealer: Sealer, { log, audit }: { log: Log; audit: AuditLog }): Sealer {
  const reported = new LRUCache<string, true>({ max: MAX_REPORTED })

  function report(
    { table, column, rowId, projectId, userId, providerUid }: SealingContext,
    reason: string,
  ): void {
    // anyone can send a cookie that does not open, so it is no sign of damage
    if (table === CARRIED_TABLE) return
    const where = `${table}.${column} ${rowId}`
    if (reported.has(where)) return
    reported.set(where, true)
    log.error({ table, column, row: rowId, provider: providerUid, reason }, 'an envelope does not open')
    if (projectId === '') return
    audit
      .record(projectId, {
        action: 'envelope.unreadable',
        subject: where,
        reason,
        userId,
        ...(table === 'connections' && { connectionId: rowId }),
        ...(table === 'authorizations' && { authorizationId: rowId }),
      })
      .catch(() => reported.delete(where)) // reported at the next read
  }

  return {
    ...sealer,
    open(sealed, context) {
      try {
        return sealer.open(sealed, context)
      } catch (error) {
        if (error instanceof UnsealError) report(context, 'altered')
        if (error instanceof UnknownKeyError) report(context, 'unknown_key')
        throw error
      }
    },
  }
}
