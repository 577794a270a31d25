import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Connection, isAlive, type RefreshTiming, refreshMargin } from '../../domain/connection.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { findProviderByUid, providerIdentity } from '../get-provider.ts'
import { refreshConnection } from './refresh-connection.ts'
import { LONGEST_USUAL_MARGIN_SECONDS, spreadOf } from './token-times.ts'

/** How often the background job searches for connections that are due. */
export const BACKGROUND_REFRESH_SECONDS = 10

/** Tokens with a shorter life are refreshed only on demand. */
const SHORTEST_LIFE_SECONDS = 300
/** How many margins before its expiry a token may be refreshed. In the last margin a caller has to wait for the refresh. */
const EARLIEST_MARGINS = 3
/** The timing with the longest usual margin. Only tokens with a `refreshAt` may be due earlier than by this timing. */
const EARLIEST: RefreshTiming = { refreshMarginSeconds: LONGEST_USUAL_MARGIN_SECONDS }
const MAX_CONCURRENT = 8
const MAX_DUE = 1_000
/** If a refresh at `refreshAt` brings no new tokens, the next attempt follows after this time. */
const TRY_AGAIN_SECONDS = 900

/**
 * Refreshes the tokens of connections that are in use, shortly before a caller would have to wait for the refresh. It uses
 * the same refresh as on demand, with its lease and its circuit breaker. A failure is logged and starts a cool-down, after
 * which the next caller tries again.
 */
export async function refreshDue(broker: Broker): Promise<void> {
  const { store, refreshes, now } = broker
  const before = now() + EARLIEST_MARGINS * LONGEST_USUAL_MARGIN_SECONDS
  const candidates = await store.connections.dueForRefresh(before, SHORTEST_LIFE_SECONDS, now(), MAX_DUE)
  const timed = await store.connections.dueByRefreshAt(now(), MAX_DUE)
  const due = [
    ...timed.map((connection) => () => refreshTimed(broker, connection)),
    ...candidates
      .filter(
        (candidate) => isDue(candidate, now(), EARLIEST) && refreshes.findCoolDown(candidate) === undefined,
      )
      .map((connection) => () => refreshInUse(broker, connection)),
  ]
  const next = due.values()
  await Promise.all(
    Array.from({ length: MAX_CONCURRENT }, async () => {
      for (const refresh of next) {
        if (refreshes.isStopped) return
        await refresh()
      }
    }),
  )
}

/**
 * A connection is due two to three margins before its expiry, at a moment derived from its id and generation: tokens
 * that were received together are not all refreshed together.
 */
export function isDue(connection: Connection, now: EpochSeconds, timing: RefreshTiming = {}): boolean {
  const { id, generation, expiresAt } = connection
  if (expiresAt === undefined || !isAlive(connection, now)) return false
  const spread = spreadOf(`${id} ${generation}`)
  return now >= expiresAt - (EARLIEST_MARGINS - spread) * refreshMargin(connection, timing)
}

/**
 * Refreshes a connection whose `refreshAt` has come. That time keeps a refresh token alive, renews an access token, or
 * follows from a long margin. In the last case only connections that are in use are refreshed.
 */
async function refreshTimed(broker: Broker, connection: Connection): Promise<void> {
  const { store, refreshes, now } = broker
  const { id, generation, lastUsedAt = 0, receivedAt, expiresAt } = connection
  const entry = await entryOf(broker, connection)
  const isForAll = entry?.provider.renewalRequest !== undefined || entry?.provider.keepAlive === true
  const isWanted = isForAll || lastUsedAt > receivedAt
  if (entry !== undefined && isWanted && refreshes.findCoolDown(connection) === undefined)
    await refreshOne(broker, entry, connection)
  // not used since its tokens were received, and the access token has expired: the next caller refreshes it
  const isOver = entry !== undefined && !isWanted && expiresAt !== undefined && expiresAt <= now()
  // the new time is only stored if the connection has no new tokens
  await store.connections.postponeRefresh(id, generation, isOver ? undefined : now() + TRY_AGAIN_SECONDS)
}

async function refreshInUse(broker: Broker, connection: Connection): Promise<void> {
  const entry = await entryOf(broker, connection)
  if (entry !== undefined && isDue(connection, broker.now(), entry.provider))
    await refreshOne(broker, entry, connection)
}

/** The connection's entry, if tokens may be sent to its provider. */
async function entryOf(broker: Broker, connection: Connection): Promise<ProviderEntry | undefined> {
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  if (entry === undefined || entry.status !== 'active') return undefined
  // tokens are sent only where the user approved; the next caller gets `authorization_required`
  return connection.providerIdentity === providerIdentity(broker, entry) ? entry : undefined
}

async function refreshOne(broker: Broker, entry: ProviderEntry, connection: Connection): Promise<void> {
  try {
    await refreshConnection(broker, entry, connection, { waits: false })
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
