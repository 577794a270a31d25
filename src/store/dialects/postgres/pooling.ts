import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'

/** Several, since a pooler may lend its idle connections in turn. */
const ROUNDS = 8
const SETTING = 'gatepass.session'

/**
 * Throws when the URL leads to a pooler that lends its connections by transaction or statement (pgbouncer in transaction
 * mode). Gatepass cannot work with that: the timeouts of a connection are lost, advisory locks pass to other clients, and a
 * prepared statement is missing when it is executed.
 */
export async function refuseTransactionPooling(config: pg.ClientConfig): Promise<void> {
  const clients = [new pg.Client(config), new pg.Client(config)] as const
  for (const one of clients) one.on('error', () => {})
  try {
    for (const one of clients) await one.connect()
    if (!(await shareSessions(...clients))) return
  } catch {
    return // a server that cannot be reached, or has no such settings: opening the store reports the reason
  } finally {
    for (const one of clients) void one.end().catch(() => {})
  }
  throw new BrokerError(
    'store_unavailable',
    'GATEPASS_DATABASE_URL leads to a pooler that lends its connections by transaction (pgbouncer with pool_mode transaction or statement). Timeouts, advisory locks and prepared statements do not survive that. Use pool_mode session, or the address of PostgreSQL itself.',
  )
}

/** Whether a session setting of one connection reaches the other, or is lost in its own connection. */
async function shareSessions(one: pg.Client, other: pg.Client): Promise<boolean> {
  const mark = randomUUID()
  const read = async (client: pg.Client) => {
    const { rows } = await client.query<{ mark: string | null }>(
      `select current_setting('${SETTING}', true) as mark`,
    )
    return rows[0]?.mark
  }
  await one.query(`select set_config('${SETTING}', '${mark}', false)`)
  try {
    // twice each time, or connections that are lent in turn would come back to whom they were lent before
    for (let round = 0; round < ROUNDS; round++)
      if ((await read(other)) === mark || (await read(one)) !== mark || (await read(one)) !== mark)
        return true
    return false
  } finally {
    await one.query(`select set_config('${SETTING}', '', false)`).catch(() => {})
  }
}
