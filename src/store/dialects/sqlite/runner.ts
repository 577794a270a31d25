import type Database from 'better-sqlite3'
import type { AuditEntries } from '../../audit-entries.ts'
import type { Announce } from '../../changes.ts'
import type { BoundStatement } from '../../statement.ts'

/** Runs a statement and returns its rows. Each text is prepared once. */
export type Runner = <Row>(
  statement: Pick<BoundStatement<Row>, 'text' | 'values' | 'toRow'>,
) => readonly Row[]

/** `Database.write` with a synchronous body. Simultaneous writes share a commit. */
export type Transact = <T>(audit: AuditEntries | undefined, body: (announce: Announce) => T) => Promise<T>

/**
 * Makes the runner. It refuses a write outside of a transaction: there better-sqlite3 (13.2.0) does not report a commit
 * that fails, such as on a full disk, when rows are read from the statement.
 */
export function createRunner(client: Database.Database): Runner {
  const prepared = new Map<string, Database.Statement<unknown[], unknown[]>>()
  return <Row>({ text, values, toRow }: Pick<BoundStatement<Row>, 'text' | 'values' | 'toRow'>) => {
    let statement = prepared.get(text)
    if (statement === undefined) {
      statement = client.prepare<unknown[], unknown[]>(text)
      if (statement.reader) statement.raw()
      prepared.set(text, statement)
    }
    if (!statement.readonly && !client.inTransaction)
      throw new Error(`a write outside of a transaction: ${text}`)
    if (statement.reader) return statement.all(values).map(toRow) as Row[] // of this statement
    statement.run(values)
    return []
  }
}
