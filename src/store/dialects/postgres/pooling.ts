import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { BrokerError } from '../../../domain/errors.ts'

/** Several rounds, since a pooler may assign its idle connections in turn. */
const ROUNDS = 8
const SETTING = 'gatepass.session'

/**
 * Throws when the URL leads to a pooler in transaction or statement mode (`pool_mode` of pgbouncer). Gatepass cannot work
 * with it: a connection loses its timeouts, advisory locks pass to other clients, and a prepared statement may be missing
 * when it is executed.
 */
export async function refuseTransactionPooling(config: pg.ClientConfig): Promise<void> {
  const clients = [new pg.Client(config), new pg.Client(config)] as const
  for (const client of clients) client.on('error', () => {})
  try {
    for (const client of clients) await client.connect()
    if (!(await shareSessions(...clients))) return
  } catch {
    return // the server cannot be reached or has no such settings: opening the store will report the reason
  } finally {
    for (const client of clients) void client.end().catch(() => {})
  }
  throw new BrokerError(
    'store_unavailable',
    'GATEPASS_DATABASE_URL leads to a connection pooler in transaction mode (pgbouncer with pool_mode transaction or statement). Timeouts, advisory locks and prepared statements do not work through it. Use pool_mode session, or the address of PostgreSQL itself.',
  )
}

/** Whether a setting that is made on `one` for its session is visible on `other`, or missing on `one` later. */
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
    // read twice per round: if connections are assigned in turn, a single read would always get the same connection
    for (let round = 0; round < ROUNDS; round++)
      if ((await read(other)) === mark || (await read(one)) !== mark || (await read(one)) !== mark)
        return true
    return false
  } finally {
    await one.query(`select set_config('${SETTING}', '', false)`).catch(() => {})
  }
}
