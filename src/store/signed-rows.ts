import type { OfProject } from './statement.ts'

/** A MAC over those members of a row that grant rights. */
export interface SignedMembers<Row> {
  /** The name of the table, or of one of several MACs of its rows. It is part of the MAC and never changes. */
  readonly kind: string
  /** `Row` has only what is read here, so that a part of a row can be signed too. */
  readonly members: (row: Row) => readonly unknown[]
  /** The row's name for operators. Default: its `id`. */
  readonly nameOf?: (row: Row) => string
}

/** The MACs of the rows of a table, by the member that has the MAC. */
export type SignedTable = Readonly<Record<string, SignedMembers<never>>>

/** Signs and checks rows of one kind. */
export interface SignedRows<Row> {
  readonly macOf: (row: Row) => string
  /** The row with its MAC. */
  readonly sign: <Whole extends Row>(row: Whole) => Whole
  readonly isGenuine: (row: Row) => boolean
  /** The row if it is genuine. An altered one is reported, and counts as absent. */
  readonly check: <Whole extends Row & OfProject>(row: Whole | undefined) => Whole | undefined
  readonly checkAll: <Whole extends Row & OfProject>(rows: readonly Whole[]) => Whole[]
}

/** Computes MACs with the installation's key. */
export type Signing = <Table extends SignedTable>(
  table: Table,
) => { readonly [Column in keyof Table]: SignedRows<Parameters<Table[Column]['members']>[0]> }
