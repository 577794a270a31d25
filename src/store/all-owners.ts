import type { SQL } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './database.ts'
import { inPartitions, ownerColumn, type SeveralOwners } from './partitions.ts'
import type { BoundStatement, Present, Query } from './statement.ts'

/** Runs a statement, as `Database.read` or one that writes. */
type Run<Row> = (statement: BoundStatement<Row>) => Promise<readonly Row[]>

/**
 * Declares a background statement about rows of all owners. While one of several servers does not answer, it runs for each
 * part of the rows, and leaves out those that cannot be reached: they are visited when their server answers again.
 * `part` is the condition that `build` adds to its own.
 */
export function overAllOwners<Values extends object, Row>(
  { statement, parts }: Pick<Database, 'statement' | 'parts'>,
  table: SQLiteTable,
  build: (values: Values, part: SQL | undefined) => Query<Row>,
): (values: Values, run: Run<Present<Row>>) => Promise<readonly Present<Row>[]> {
  const all = statement((p: Values) => build(p, undefined))
  if (parts === undefined || ownerColumn(table) === undefined) return (values, run) => run(all(values))
  const some = statement((p: Values & SeveralOwners) => build(p, inPartitions(table, p)))
  return async (values, run) => {
    try {
      return await run(all(values))
    } catch (error) {
      if (!parts.isUnavailable(error)) throw error
    }
    const found: Present<Row>[] = []
    for (const ownersBits of await parts.ownersOfEach()) {
      try {
        found.push(...(await run(some({ ...values, ownersBits }))))
      } catch (error) {
        if (!parts.isUnavailable(error)) throw error
      }
    }
    return found
  }
}
