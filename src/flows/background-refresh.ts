import { createHash } from 'node:crypto'
import type { Broker } from '../broker.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { type Connection, isAlive, refreshMargin } from '../domain/connection.ts'
import { findProviderByUid, providerIdentity } from './find-provider.ts'
import { withCurrentMetadata } from './issuer-metadata.ts'
import { refreshConnection } from './refresh-connection.ts'

/** How often it is looked which are due. */
export const BACKGROUND_REFRESH_SECONDS = 10

/** Shorter lives are refreshed when somebody asks. */
const LEAST_LIFE_SECONDS = 300
/** As many margins before its end as a token may be refreshed: the last one is where whoever asks has to wait. */
const EARLIEST_MARGINS = 3
const LONGEST_MARGIN_SECONDS = 60
const MOST_AT_ONCE = 8
const MOST_DUE = 1_000

/**
 * Refreshes the tokens of connections that are used, shortly before whoever uses them would have to wait for it. It is
 * the same refresh as on demand: one at a time over all processes, and held back from providers in trouble. What fails
 * is logged there, and tried again when it is asked for.
 */
export async function refreshDue(broker: Broker): Promise<void> {
  const { store, refreshes, now } = broker
  const before = now() + EARLIEST_MARGINS * LONGEST_MARGIN_SECONDS
  const candidates = await store.connections.dueForRefresh(before, LEAST_LIFE_SECONDS, now(), MOST_DUE)
  const due = candidates.filter((one) => isDue(one, now()) && refreshes.coolingDown(one) === undefined)
  const next = due.values()
  await Promise.all(
    Array.from({ length: MOST_AT_ONCE }, async () => {
      for (const connection of next) {
        if (refreshes.stopped) return
        await refreshOne(broker, connection)
      }
    }),
  )
}

/**
 * From two margins to one before the token is no longer fresh, each at a moment of its own: those that were received
 * together are not all sent together.
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
  // tokens go nowhere else than where the user approved; that the user must be asked is said when somebody asks
  if (connection.providerIdentity !== providerIdentity(broker, entry)) return
  try {
    const current = await withCurrentMetadata(broker, entry)
    await refreshConnection(broker, current, connection, { patience: 'none' })
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
