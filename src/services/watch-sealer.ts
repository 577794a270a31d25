import type { Log } from '../domain/log.ts'
import { type SealedPlace, type Sealer, UnknownKeyError, UnsealError } from '../store/seal.ts'

import type { AuditLog } from './audit-log.ts'

/** So many places are remembered: what is used all the time is told once, not each time. */
const MAX_TOLD = 1_000

/** The sealer, with a line in the log and in the audit trail for each envelope that does not open. */
export function watchSealer(sealer: Sealer, { log, audit }: { log: Log; audit: AuditLog }): Sealer {
  const told = new Set<string>()

  function tell({ table, column, rowId, projectId, userId, providerUid }: SealedPlace, reason: string): void {
    const where = `${table}.${column} ${rowId}`
    if (told.has(where)) return
    if (told.size >= MAX_TOLD) told.clear()
    told.add(where)
    log.error({ table, column, row: rowId, provider: providerUid, reason }, 'an envelope does not open')
    if (projectId === '') return
    audit
      .record(projectId, {
        action: 'envelope.unreadable',
        subject: where,
        reason,
        ...(userId !== undefined && { userId }),
        ...(table === 'connections' && { connectionId: rowId }),
        ...(table === 'authorizations' && { authorizationId: rowId }),
      })
      .catch(() => told.delete(where)) // told again at the next use
  }

  return {
    ...sealer,
    open(sealed, place) {
      try {
        return sealer.open(sealed, place)
      } catch (error) {
        if (error instanceof UnsealError) tell(place, 'altered')
        if (error instanceof UnknownKeyError) tell(place, 'unknown_key')
        throw error
      }
    },
  }
}
