import type { OfProject } from './statement.ts'

/** A MAC over those members of a row that grant rights. */
export interface SignedMembers<Row> {
  /** The name of the table, or of a further MAC of its rows. It is part of the MAC and never changes. */
  readonly kind: string
  /**
   * `undefined`: the row has no such MAC, and needs none. A new member goes to the end: rows that were signed before it
   * stay genuine as long as they do not have it. `Row` has only what is read, so that parts can be signed.
   */
  readonly members: (row: Row) => readonly unknown[] | undefined
  /** Large texts that the MAC covers after the members, which have their lengths. */
  readonly texts?: (row: Row) => readonly (string | undefined)[]
  /** The row's name for operators. Default: its `id`. */
  readonly nameOf?: (row: Row) => string
}

/** The MACs of the rows of a table, each by the member that has it; the first names the table. */
export type SignedTable = Readonly<Record<string, SignedMembers<never>>>

/** Signs and checks the rows of one table. */
export interface SignedRows<Row, Table> {
  /** Computes single MACs. */
  readonly macs: { readonly [Column in keyof Table]: (row: RowOf<Table[Column]>) => string }
  /** The row with all its MACs. */
  readonly sign: <Whole extends Row>(row: Whole) => Whole
  /** The row if all its MACs are genuine. An altered one is reported, and counts as absent. */
  readonly check: <Whole extends Row & OfProject>(row: Whole | undefined) => Whole | undefined
  readonly checkAll: <Whole extends Row & OfProject>(rows: readonly Whole[]) => Whole[]
}

/** Computes MACs with the installation's key. */
export type Signing = <Table extends SignedTable>(
  table: Table,
) => SignedRows<RowOf<Table[keyof Table]>, Table>

/** A row that has what is read for all of these MACs. */
type RowOf<Signed> = Signed extends { readonly members: (row: infer Row) => unknown } ? Row : never

/** The function that gives the values of these members of a row. */
export function valuesOf<Row>(...names: readonly (keyof Row)[]): (row: Row) => readonly unknown[] {
  return (row) => names.map((name) => row[name])
}
