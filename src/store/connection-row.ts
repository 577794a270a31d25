import { and, eq, getTableColumns, type SQL } from 'drizzle-orm'
import type { Connection } from '../domain/connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ConnectionOwner } from './changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './schema.ts'
import type { Transaction } from './statement.ts'

/** What a query of connections gives: all columns but those of the lease. */
export function connectionColumns(connections: Tables['connections']) {
  const { accountId, accountName, leaseOwner: _, leaseUntil: __, ...columns } = getTableColumns(connections)
  return { ...columns, account: { id: accountId, name: accountName } }
}

/** Writes one row, and announces it if there was one to write. */
export async function writeConnection(
  write: Database['write'],
  audit: AuditEntries | undefined,
  body: () => Transaction<readonly Connection[]>,
): Promise<Connection | undefined> {
  return write(audit, function* (announce) {
    const [written] = yield* body()
    if (written !== undefined) announce({ noun: 'connection', id: written.id, owner: ownerOf(written) })
    return written
  })
}

export function ownerOf({ projectId, providerUid, userId }: ConnectionOwner): ConnectionOwner {
  return { projectId, providerUid, userId }
}

export function ownedBy(connections: Tables['connections'], owner: ConnectionOwner): SQL | undefined {
  return and(
    eq(connections.projectId, owner.projectId),
    eq(connections.providerUid, owner.providerUid),
    eq(connections.userId, owner.userId),
  )
}
