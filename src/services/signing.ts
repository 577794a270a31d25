import { createHmac, hkdfSync } from 'node:crypto'
import { isSameSecret } from '../domain/ids.ts'
import type { SignedMembers, SignedRows, Signing } from '../store/signed-rows.ts'
import type { OfProject } from '../store/statement.ts'

/** A row whose MAC does not match its members: it was written without the installation's key. */
export interface AlteredRow {
  readonly table: string
  readonly id: string
  readonly projectId: string
}

/** A row, as far as its MACs are concerned. */
type Row = Readonly<Record<string, string | undefined>>

/**
 * Makes the function that signs and checks the rows of a table. `onAltered` is called for each altered row that is read.
 * @param installationKey the same under every master key, so that a rotation changes no MAC.
 */
export function createSigning(installationKey: Buffer, onAltered: (row: AlteredRow) => void): Signing {
  const secret = Buffer.from(hkdfSync('sha256', installationKey, '', 'gatepass/rows', 32))

  function macOf(signed: SignedMembers<Row>, row: Row): string | undefined {
    const covered = coveredBy(signed, row)
    return covered && macOver(covered, signed, row)
  }

  function macOver(covered: readonly unknown[], { texts }: SignedMembers<Row>, row: Row): string {
    const hmac = createHmac('sha256', secret).update(JSON.stringify(covered))
    for (const text of texts?.(row) ?? []) if (text !== undefined) hmac.update(text)
    return hmac.digest('base64url')
  }

  /** A release that did not have the last members signed a row without them: it is genuine as long as they are absent. */
  function isSigned(column: string, signed: SignedMembers<Row>, row: Row): boolean {
    const covered = coveredBy(signed, row)
    if (covered === undefined) return true
    do {
      if (isSameSecret(row[column] ?? '', macOver(covered, signed, row))) return true
    } while (covered.pop() === null)
    return false
  }

  function signedRows(table: Readonly<Record<string, SignedMembers<Row>>>): SignedRows<Row, typeof table> {
    const columns = Object.entries(table)
    const [, { kind = '', nameOf = idOf } = {}] = columns[0] ?? []
    const isGenuine = (row: Row) => columns.every(([column, signed]) => isSigned(column, signed, row))
    const check = <Whole extends Row & OfProject>(row: Whole | undefined): Whole | undefined => {
      if (row === undefined || isGenuine(row)) return row
      onAltered({ table: kind, id: nameOf(row), projectId: row.projectId })
      return undefined
    }
    return {
      macs: Object.fromEntries(
        columns.map(([column, signed]) => [column, (row: Row) => macOf(signed, row) ?? '']),
      ),
      sign(row) {
        const macs = columns.flatMap(([column, signed]) => {
          const mac = macOf(signed, row)
          return mac === undefined ? [] : [[column, mac] as const]
        })
        return { ...row, ...Object.fromEntries(macs) }
      },
      check,
      checkAll: (rows) => rows.filter((row) => check(row) !== undefined),
    }
  }

  return signedRows as unknown as Signing // the same columns, and the rows that their members are read of
}

function coveredBy({ kind, members }: SignedMembers<Row>, row: Row): unknown[] | undefined {
  const covered = members(row)
  return covered && [kind, ...covered.map((value) => sorted(value) ?? null)]
}

/** A row without an `id` has a `nameOf` of its own. */
function idOf({ id = '' }: Row): string {
  return id
}

/** Sorts the members, so that equal JSON gives equal text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]),
  )
}
