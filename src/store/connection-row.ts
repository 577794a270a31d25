import { and, eq, getTableColumns, type SQL } from 'drizzle-orm'
import type { ConnectionOwner, StoreChange } from './changes.ts'
import { withoutOwnerBits } from './partitions.ts'
import { isOfUser } from './row-conditions.ts'
import type { Tables } from './schema.ts'
import type { ById } from './statement.ts'

/** The columns of a `Connection`: all but those of the lease, the trail and the count of events. */
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

/** The connections of one user at one provider. */
export function ownedBy(connections: Tables['connections'], owner: ConnectionOwner): SQL | undefined {
  return and(isOfUser(connections, owner), eq(connections.providerUid, owner.providerUid))
}

/** Accounts of rows that `isScopeSet`. */
export const SCOPE_SETS = `of_conn_${'_'.repeat(32)} ${'_'.repeat(43)}`
