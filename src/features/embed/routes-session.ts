import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { siteOf } from '../../http/connect/site.ts'
import { type FoundSession, findConnectSession } from './connect-session.ts'

/** The most requests of one session per second. */
export const SESSION_RATE = 10

/** The path of the operations with a session's token. */
export const CURRENT_PATH = '/v1/connect_sessions/current'

/** Finds the session of a token. At the domain of another project the session is unknown. */
export async function connectSessionAt(c: Context, broker: Broker, token: string): Promise<FoundSession> {
  const found = await findConnectSession(broker, token)
  const { projectId } = siteOf(c, broker)
  const isForeign =
    found.outcome !== 'unknown' && (projectId ?? found.session.projectId) !== found.session.projectId
  return isForeign ? { outcome: 'unknown' } : found
}
