import { and, eq, getTableColumns, type SQL } from 'drizzle-orm'
import type { ConnectionOwner, StoreChange } from './changes.ts'
import { inPartition, withoutOwnerBits } from './partitions.ts'
import type { Tables } from './schema.ts'
import type { ById } from './statement.ts'

/** What a query of connections gives: all columns but those of the lease, the trail and the count of events. */
export function connectionColumns(connections: Tables['connections']) {
  const all = withoutOwnerBits(getTableColumns(connections))
  const {
    accountId,
    accountName,
    leaseOwner: _,
    leaseUntil: __,
    trail: ___,
    eventSeq: ____,
    ...columns
  } = all
  return { ...columns, account: { id: accountId, name: accountName } }
}

/** The announcement of a connection that was written. */
export function connectionChange(written: ConnectionOwner & ById): StoreChange {
  return { noun: 'connection', id: written.id, owner: ownerOf(written) }
}

export function ownerOf({ projectId, providerUid, userId }: ConnectionOwner): ConnectionOwner {
  return { projectId, providerUid, userId }
}

/** Whether it is the connection with this id. */
export function hasId(connections: Tables['connections'], values: ById): SQL | undefined {
  return and(eq(connections.id, values.id), inPartition(connections, values))
}

export function ownedBy(connections: Tables['connections'], owner: ConnectionOwner): SQL | undefined {
  return and(
    eq(connections.projectId, owner.projectId),
    eq(connections.providerUid, owner.providerUid),
    eq(connections.userId, owner.userId),
    inPartition(connections, owner),
  )
}
