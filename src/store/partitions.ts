import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { LRUCache } from 'lru-cache'
import { ownerBits, ownerBitsOf, ownerBitsOfHash } from '../domain/ids.ts'
import {
  type BoundStatement,
  compiled,
  type OfUser,
  placeholders,
  type StatementMaker,
  type ToText,
} from './statement.ts'

// The tables of connections and authorizations are partitioned by their owner, which is project and user, on a
// PostgreSQL database that was created with partitions. There they have a column `owner_bits` (`ownerBits` in
// domain/ids.ts). In all other databases they have no such column, and the functions below add no condition to any
// statement.

/** The name of the value that is bound to `owner_bits`. Nouns do not give the value: the statement maker adds it. */
const OWNER_BITS = 'ownerBits'

/**
 * The condition by which PostgreSQL reads one partition only. The values of the statement determine the owner: they have
 * project and user, or an id or hash with the owner's bits. `undefined` where the table has no partitions or the owner is
 * not known.
 */
export function inPartition(table: SQLiteTable, values: object): SQL | undefined {
  const column = ownerColumn(table)
  const bits = (values as Partial<Record<string, string>>)[OWNER_BITS]
  return column === undefined || bits === undefined ? undefined : eq(column, bits)
}

/** The condition by which PostgreSQL reads only the partitions of several owners. */
export function inPartitions(table: SQLiteTable, { ownersBits }: SeveralOwners): SQL | undefined {
  const column = ownerColumn(table)
  return column && sql`${column} = any(${ownersBits}::text[])`
}

export interface SeveralOwners {
  /** The bits of each owner, as the text of a PostgreSQL array. */
  readonly ownersBits: string
}

/** The bits of these owners, for `inPartitions`. */
export function bitsOfOwners(owners: readonly OfUser[]): SeveralOwners {
  return severalOwners(new Set(owners.map(({ projectId, userId }) => ownerBits(projectId, userId))))
}

export function severalOwners(bits: ReadonlySet<string>): SeveralOwners {
  return { ownersBits: `{${[...bits].join()}}` }
}

/** The columns of a unique index, for ON CONFLICT. Each unique index of a partitioned table has `owner_bits` too. */
export function conflictTarget(table: SQLiteTable, column: AnySQLiteColumn): AnySQLiteColumn[] {
  const owner = ownerColumn(table)
  return owner === undefined ? [column] : [column, owner]
}

/** The column by which the table is partitioned; `undefined`: it is not. */
export function ownerColumn(table: SQLiteTable): AnySQLiteColumn | undefined {
  return getTableColumns(table)[OWNER_BITS]
}

/** The columns without the one by which the table is partitioned. */
export function withoutOwnerBits<Columns extends object>(columns: Columns): Columns {
  const { [OWNER_BITS]: _, ...own } = columns as Columns & Record<typeof OWNER_BITS, unknown>
  return own as unknown as Columns // the column is not part of the types
}

/** Finds the owner to whom the values of a statement belong. */
export interface OwnerFinder {
  /** The owner's bits; `undefined`: the values do not determine the owner. */
  findBits(values: object): string | undefined
  /** Remembers the owner of a row that was read, if its id does not contain the owner's bits. */
  remember(row: unknown): void
}

/** How many ids of older releases are remembered with their owners, about 200 bytes each. */
const REMEMBERED = 20_000

/**
 * Ids of older releases do not contain the bits of their owner. The first read of such a row searches all partitions, and
 * its owner is remembered: the next statement about the row, such as a refresh, reads one partition.
 */
export function createOwnerFinder(): OwnerFinder {
  const known = new LRUCache<string, string>({ max: REMEMBERED })
  return {
    findBits(values) {
      const { projectId, userId, id, stateHash, flowHash } = values as Partial<Record<string, unknown>>
      if (isText(projectId) && isText(userId)) return ownerBits(projectId, userId)
      if (isText(id)) return ownerBitsOf(id) ?? known.get(id)
      if (isText(stateHash)) return ownerBitsOfHash(stateHash)
      return isText(flowHash) ? ownerBitsOfHash(flowHash) : undefined
    },
    remember(row) {
      const { id, projectId, userId } = row as Partial<Record<string, unknown>>
      if (isText(id) && isText(projectId) && isText(userId) && OF_AN_OWNER.test(id))
        if (ownerBitsOf(id) === undefined) known.set(id, ownerBits(projectId, userId))
    },
  }
}

const OF_AN_OWNER = /^(conn|auth)_/

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/**
 * The statement maker of a database with partitions. A statement with `inPartition` gets two texts: one for calls whose
 * values determine the owner, and one without the condition for all other calls.
 */
export function createPartitionedMaker(toText: ToText, owners: OwnerFinder): StatementMaker {
  return (build) => {
    const ofOwner = compiled(() => build(placeholders()), toText)
    const ofAll = compiled(() => build(placeholders([OWNER_BITS])), toText)
    return (values) => {
      const isOwned = ofOwner().names.includes(OWNER_BITS)
      const bits = isOwned ? owners.findBits(values) : undefined
      const { bind } = isOwned && bits === undefined ? ofAll() : ofOwner()
      const bound = bind({ ...values, [OWNER_BITS]: bits }) as BoundStatement<never> // rows of `build`'s query
      return bits === undefined ? bound : { ...bound, ownerBits: bits }
    }
  }
}
