import type { AuditEntries } from './audit-entries.ts'
import type { StoreChange } from './changes.ts'
import type { Database } from './database.ts'
import type { Transaction } from './statement.ts'

/** Writes one row in a transaction, announces the change, and returns the row. `undefined`: no row was written. */
export function writeRow<Row>(
  write: Database['write'],
  audit: AuditEntries | undefined,
  change: StoreChange | ((row: Row) => StoreChange),
  body: () => Transaction<readonly Row[]>,
): Promise<Row | undefined> {
  return write(audit, function* (announce) {
    const [written] = yield* body()
    if (written !== undefined) announce(typeof change === 'function' ? change(written) : change)
    return written
  })
}
