import type { Broker } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import { CONNECT_SESSION_SECONDS, type ConnectSession } from '../domain/connect-session.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId, randomToken, sha256 } from '../domain/ids.ts'
import { mayActFor } from '../services/request-context.ts'
import { acquireConnections, type ProviderNeed, type TokensNeed } from './acquire-tokens.ts'
import { sessionAudit } from './connect-session.ts'
import { findProviderByUid, requireActive } from './get-provider.ts'

export interface BegunSession {
  readonly session: ConnectSession
  /** 256 random bits. Only the hash is stored. */
  readonly token: string
  /** Absent: a connection covers the need already. */
  readonly authorization?: Authorization
}

/**
 * Begins an authorization that pages of one origin may open and follow. If connections cover the need, the session is
 * completed from the start. Throws what `acquireConnections` throws.
 */
export async function beginConnectSession(
  broker: Broker,
  need: Omit<TokensNeed, 'connectSessionId'>,
  origin: string,
): Promise<BegunSession> {
  const { store, now } = broker
  const id = newId('cs')
  const token = `gps_${randomToken()}`
  const acquired = await acquireConnections(broker, { ...need, connectSessionId: id })
  const ids =
    acquired.outcome === 'connected' ? acquired.connections.map((one) => one.id) : [acquired.authorization.id]
  if (ids.length === 0) throw new BrokerError('invalid_request', 'Nothing was asked for.')
  const session: ConnectSession = {
    id,
    projectId: need.projectId,
    userId: need.userId,
    tokenHash: sha256(token),
    authorizationId: ids.join(' '),
    origin,
    restarts: 0,
    createdAt: now(),
    expiresAt: now() + CONNECT_SESSION_SECONDS,
  }
  await store.connectSessions.add(session, sessionAudit(broker, session, 'created'))
  if (acquired.outcome === 'connected') return { session, token }
  return { session, token, authorization: acquired.authorization }
}

/** The need for a new consent to this connection of the user, with further scopes if any are named. Throws `not_found`. */
export async function needToReconnect(
  broker: Broker,
  { projectId, userId, connectionId }: { projectId: string; userId: string; connectionId: string },
  scopes: readonly string[],
): Promise<ProviderNeed> {
  const connection = await broker.store.connections.find(connectionId)
  const isOwn = connection?.projectId === projectId && connection.userId === userId && mayActFor(userId)
  const entry = isOwn ? await findProviderByUid(broker, projectId, connection.providerUid) : undefined
  if (connection === undefined || entry === undefined)
    throw new BrokerError(
      'not_found',
      `The user has no connection "${connectionId.slice(0, 80)}". GET /v1/connections?user_id=… lists those of a user.`,
    )
  return {
    entry: requireActive(entry),
    scopes: [...new Set([...connection.scopes, ...scopes])],
    account: connectionId,
    isAskedAnyway: true,
  }
}
