import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import {
  type ForeignConnection,
  type ImportOptions,
  type ImportOutcome,
  importConnection,
  type RefusedRow,
} from './import-connection.ts'

export const MOST_ROWS = 500
/** Fewer rows, because each check is a request to the provider. */
export const MOST_CHECKED_ROWS = 50
/** How many users' rows are imported simultaneously. */
const AT_ONCE = 16

/**
 * Imports the rows that could be read, and returns the outcome of each. The rows of one user at one provider are imported
 * one after another, so that the first of several accounts becomes the default. Throws `invalid_request` for too many rows
 * to check.
 */
export async function importConnections(
  broker: Broker,
  projectId: string,
  rows: readonly (ForeignConnection | RefusedRow)[],
  options: ImportOptions,
): Promise<readonly ImportOutcome[]> {
  if (options.checks && rows.length > MOST_CHECKED_ROWS)
    throw new BrokerError(
      'invalid_request',
      `With check at most ${MOST_CHECKED_ROWS} rows are taken at once.`,
    )
  const outcomes = new Array<ImportOutcome>(rows.length)
  const read = [...rows.entries()].flatMap(([index, row]) => {
    if (!('result' in row)) return [{ index, row }]
    outcomes[index] = row
    return []
  })
  const ofUsers = Map.groupBy(read, ({ row: { providerId, userId } }) => `${providerId}\n${userId}`).values()
  const work = async () => {
    for (const ofUser of ofUsers)
      for (const { index, row } of ofUser)
        outcomes[index] = await importConnection(broker, projectId, row, options)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return outcomes
}
