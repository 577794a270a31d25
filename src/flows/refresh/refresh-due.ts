import { createHash } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Connection, isAlive, refreshMargin } from '../../domain/connection.ts'
import { findProviderByUid, providerIdentity } from '../find-provider.ts'
import { withCurrentMetadata } from '../issuer-metadata.ts'
import { refreshConnection } from './refresh-connection.ts'

/** How often connections that are due are looked for. */
export const BACKGROUND_REFRESH_SECONDS = 10

/** Tokens with a shorter life are refreshed only on demand. */
const SHORTEST_LIFE_SECONDS = 300
/** How many margins before its expiry a token may be refreshed. In the last margin a caller has to wait for the refresh. */
const EARLIEST_MARGINS = 3
const LONGEST_MARGIN_SECONDS = 60
const MAX_CONCURRENT = 8
const MAX_DUE = 1_000

/**
 * Refreshes the tokens of connections that are in use, shortly before a caller would have to wait for the refresh. It
 * is the same refresh as on demand: one at a time between all processes, and held back by the circuit breaker. A
 * failure is logged and starts a cool-down, after which the next caller's refresh tries again.
 */
export async function refreshDue(broker: Broker): Promise<void> {
  const { store, refreshes, now } = broker
  const before = now() + EARLIEST_MARGINS * LONGEST_MARGIN_SECONDS
  const candidates = await store.connections.dueForRefresh(before, SHORTEST_LIFE_SECONDS, now(), MAX_DUE)
  const due = candidates.filter((one) => isDue(one, now()) && refreshes.findCoolDown(one) === undefined)
  const next = due.values()
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (const connection of next) {
        if (refreshes.isStopped) return
        await refreshOne(broker, connection)
      }
    }),
  )
}

/**
 * A connection is due two to three margins before its expiry, at a moment derived from its id and generation: tokens
 * that were received together are not all refreshed together.
 */
export function isDue(connection: Connection, now: EpochSeconds): boolean {
  const { id, generation, expiresAt } = connection
  if (expiresAt === undefined || !isAlive(connection, now)) return false
  const spread = createHash('sha256').update(`${id} ${generation}`).digest().readUInt32BE() / 2 ** 32
  return now >= expiresAt - (EARLIEST_MARGINS - spread) * refreshMargin(connection)
}

async function refreshOne(broker: Broker, connection: Connection): Promise<void> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  if (entry === undefined || entry.status !== 'active') return
  // tokens are sent only where the user approved; the next caller gets `authorization_required`
  if (connection.providerIdentity !== providerIdentity(broker, entry)) return
  try {
    const current = await withCurrentMetadata(broker, entry)
    await refreshConnection(broker, current, connection, { waits: false })
  } catch (error) {
    broker.log.warn(
      {
        connection: connection.id,
        provider: entry.id,
        error: error instanceof Error ? error.name : 'unknown',
      },
      'a refresh in the background failed',
    )
  }
}
