import { isSameSecret } from '../domain/ids.ts'

/** A row whose MAC does not match its members: it was written without the installation's key. */
export interface AlteredRow {
  readonly table: string
  readonly id: string
  readonly projectId: string
}

/** Whether the row has this MAC. */
export function isSame(mac: string | undefined, expected: string): boolean {
  return mac !== undefined && isSameSecret(mac, expected)
}

/**
 * Returns a function that makes checks of rows: a row that is not genuine is reported and counts as absent. `idOf` is its
 * name for operators.
 */
export function genuineRows(onAltered: (row: AlteredRow) => void) {
  return <Row extends { readonly projectId: string }>(
    table: AlteredRow['table'],
    isGenuine: (row: Row) => boolean,
    idOf: (row: Row) => string,
  ) =>
    (row: Row | undefined): Row | undefined => {
      if (row === undefined || isGenuine(row)) return row
      onAltered({ table, id: idOf(row), projectId: row.projectId })
      return undefined
    }
}

/** The rows that the check leaves. */
export function all<Row>(rows: readonly Row[], check: (row: Row) => Row | undefined): Row[] {
  return rows.map(check).filter((row) => row !== undefined)
}
