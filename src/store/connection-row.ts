import { and, eq, type SQL } from 'drizzle-orm'
import type { Connection } from '../domain/connection.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ConnectionOwner } from './changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './schema.ts'
import type { Present, Transaction } from './statement.ts'

export type ConnectionRow = Present<Tables['connections']['$inferSelect']>

/** Writes one row, and announces it if there was one to write. */
export async function writeConnection(
  write: Database['write'],
  audit: AuditEntries | undefined,
  body: () => Transaction<readonly ConnectionRow[]>,
): Promise<Connection | undefined> {
  const row = await write(audit, function* (announce) {
    const [written] = yield* body()
    if (written !== undefined) announce({ noun: 'connection', id: written.id, owner: ownerOf(written) })
    return written
  })
  return row && toConnection(row)
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

export function toConnection({
  accountId,
  accountName,
  leaseOwner: _,
  leaseUntil: __,
  ...row
}: ConnectionRow): Connection {
  return { ...row, account: { id: accountId, name: accountName } }
}
