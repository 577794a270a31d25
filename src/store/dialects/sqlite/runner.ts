import type Database from 'better-sqlite3'
import type { AuditEntries } from '../../audit-entries.ts'
import type { StoreChange } from '../../changes.ts'
import type { BoundStatement } from '../../statement.ts'

/** Runs a statement and gives its rows. Each text is prepared once. */
export type Runner = <Row>(
  statement: Pick<BoundStatement<Row>, 'text' | 'values' | 'toRow'>,
) => readonly Row[]

/** `Database.write` for a body that is synchronous. Writes that come together share a commit. */
export type Transact = <T>(
  audit: AuditEntries | undefined,
  body: (announce: (change: StoreChange) => void) => T,
) => Promise<T>

/**
 * A write is refused outside of a transaction: there better-sqlite3 says nothing of a commit that fails, such as on a
 * full disk, when rows are read from the statement (13.2.0).
 */
export function createRunner(client: Database.Database): Runner {
  const prepared = new Map<string, Database.Statement<unknown[], unknown[]>>()
  return <Row>({ text, values, toRow }: Pick<BoundStatement<Row>, 'text' | 'values' | 'toRow'>) => {
    let statement = prepared.get(text)
    if (statement === undefined) {
      statement = client.prepare<unknown[], unknown[]>(text).raw()
      prepared.set(text, statement)
    }
    if (!statement.readonly && !client.inTransaction) throw new Error(`outside of a transaction: ${text}`)
    return statement.all(values).map(toRow) as Row[] // of this statement
  }
}
