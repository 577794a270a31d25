import type { Sealed } from '../domain/sealed.ts'
import type { StoreChange } from './changes.ts'
import type { Tables } from './schema.ts'
import { CARRIED_TABLE, type SealingContext } from './seal.ts'
import type { SignedTable } from './signed-rows.ts'

export type RowContext = Omit<SealingContext, 'table' | 'column'>

/** The columns that associated data is made of, by the names of the domain's members. */
interface Members {
  readonly id: string
  readonly uid: string
  readonly name: string
  readonly place: string
  readonly model: string
  readonly projectId: string
  readonly userId: string
  readonly providerUid: string
  /** JSON in a stored row. */
  readonly steps: string | readonly { readonly providerUid: string }[]
  readonly step: number
}

/** A row, as far as associated data are made of it. */
export type SealedRow<Name extends keyof Members> = Pick<Members, Name>

/**
 * What of the rows of a table is protected against a program that can write to the database: columns that hold
 * envelopes, each bound to its row, and members with a MAC.
 */
export interface ProtectedTable extends Partial<SealedTable> {
  readonly signed?: SignedTable
}

/** By their names in `Tables`. */
export type ProtectedTables = Readonly<Record<string, ProtectedTable>>

export interface SealedTable {
  /** The column that names the row. */
  readonly id: string
  /** The column that comes before `id` in the primary key, where the id alone is not unique. */
  readonly within?: string
  /** The columns that hold envelopes. */
  readonly sealed: readonly string[]
  /** The other columns that `context` reads. */
  readonly needs: readonly string[]
  /** The associated data of the envelopes of a row. */
  readonly context: (row: never) => RowContext
  /**
   * Announced when envelopes were sealed with another key: other processes cache the noun and may write it back as a
   * whole, so they must read it again. Absent for connections: no process writes their cached envelopes back, and a
   * cached envelope opens with either key.
   */
  readonly change?: StoreChange
}

export const IN_PROJECT = {
  id: 'id',
  needs: ['project_id'],
  context: ({ id, projectId }: SealedRow<'id' | 'projectId'>): RowContext => ({ rowId: id, projectId }),
} as const

/** The associated data of a row that is named by a `uid`. */
export function ofUid({ uid, projectId }: SealedRow<'uid' | 'projectId'>): RowContext {
  return { rowId: uid, projectId }
}

/** The names of the tables that have sealed columns. */
type Sealing<Of> = { [Table in keyof Of]: Of[Table] extends SealedTable ? Table : never }[keyof Of] & string

/** Returns the function that says what an envelope in a column of a row is bound to. */
export function sealingBy<Of extends ProtectedTables>(tables: Of) {
  return <Table extends Sealing<Of>>(
    table: Table,
    column: Of[Table] extends { readonly sealed: readonly (infer Column extends string)[] } ? Column : never,
    row: Of[Table] extends { readonly context: (row: infer Row) => RowContext } ? Row : never,
  ): SealingContext => {
    const { context } = tables[table] as unknown as SealedTable // `Table` is one of these
    return { table, column, ...context(row as never) } // `row` is of this table
  }
}

/** The associated data of an envelope that a browser carries; `what` tells the kinds of them apart. */
export function carriedContext(
  what: 'confirmed' | 'form_response' | 'installation' | 'kept' | 'mcp request' | 'proof',
  of: RowContext,
): SealingContext {
  return { table: CARRIED_TABLE, column: what, ...of }
}

/** A column that holds envelopes, for what reads all of them. */
export interface SealedColumn extends Omit<SealedTable, 'sealed'> {
  readonly table: keyof Tables
  readonly column: string
}

/** A stored envelope and its associated data. */
export interface StoredEnvelope {
  /** As `rowIdOf` makes it. */
  readonly rowId: string
  readonly context: SealingContext
  readonly sealed: Sealed
}

/** The SQL LIKE pattern of facts that hold an envelope. */
export const ENVELOPE_PATTERN = 'v_.________.%'

/** The envelope in a row that has the columns `id`, those of `needs`, and the envelope as `sealed`. */
export function storedEnvelope(
  sealedColumn: SealedColumn,
  row: Readonly<Record<string, unknown>>,
): StoredEnvelope {
  const { table, column, id, needs, context } = sealedColumn
  const members = [[id, row.id], ...needs.map((name) => [memberOf(name), row[name]])]
  const sealed = row.sealed as Sealed // a column of envelopes
  return {
    rowId: rowIdOf(sealedColumn, row),
    context: { table, column, ...context(Object.fromEntries(members) as never) },
    sealed,
  }
}

function memberOf(column: string): string {
  return column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The id of a row that has the columns `id` and that of `within`. It is unique in its table. */
export function rowIdOf({ within }: SealedColumn, row: Readonly<Record<string, unknown>>): string {
  return within === undefined ? String(row.id) : `${row[within]} ${row.id}`
}

/** The values of the primary key of a row with this id. Those of `within` contain no space. */
export function keyOf({ within }: SealedColumn, rowId: string): readonly string[] {
  if (within === undefined) return [rowId]
  const end = rowId.indexOf(' ')
  return [rowId.slice(0, end), rowId.slice(end + 1)]
}
