import type { SignedMembers, SignedRows, Signing } from '../store/signed-rows.ts'
import type { OfProject } from '../store/statement.ts'
import { type AlteredRow, isSame } from './genuine-rows.ts'

/** Makes the function that signs and checks rows. `onAltered` is called for each altered row that is read. */
export function createSigning(
  mac: (kind: string, members: readonly unknown[]) => string,
  onAltered: (row: AlteredRow) => void,
): Signing {
  function signedRows(
    column: string,
    { kind, members, nameOf = idOf }: SignedMembers<SignedRow>,
  ): SignedRows<SignedRow> {
    const macOf = (row: SignedRow) => mac(kind, members(row))
    const isGenuine = (row: SignedRow) => isSame(row[column], macOf(row))
    const check = <Row extends SignedRow & OfProject>(row: Row | undefined): Row | undefined => {
      if (row === undefined || isGenuine(row)) return row
      onAltered({ table: kind, id: nameOf(row), projectId: row.projectId })
      return undefined
    }
    return {
      macOf,
      isGenuine,
      sign: (row) => ({ ...row, [column]: macOf(row) }),
      check,
      checkAll: (rows) => rows.filter((row) => check(row) !== undefined),
    }
  }
  return ((table: Readonly<Record<string, SignedMembers<SignedRow>>>) =>
    Object.fromEntries(
      Object.entries(table).map(([column, signed]) => [column, signedRows(column, signed)]),
    )) as unknown as Signing // the same columns, with the rows that their members are read of
}

/** A row, as far as its MAC is concerned. */
type SignedRow = Readonly<Record<string, string | undefined>>

/** A row without an `id` has a `nameOf` of its own. */
function idOf({ id = '' }: SignedRow): string {
  return id
}
