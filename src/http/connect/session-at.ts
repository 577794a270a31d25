import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { type FoundSession, findConnectSession } from '../../flows/connect-session.ts'
import type { Charge, CountGuess } from '../endpoint/rate-limit.ts'
import { siteOf } from './site.ts'

/** The most requests of one session per second. */
export const SESSION_RATE = 10

export interface SessionLimits {
  readonly charge: Charge
  readonly countGuess: CountGuess
}

/** Finds the session of a token. At the domain of another project the session is unknown. */
export async function connectSessionAt(c: Context, broker: Broker, token: string): Promise<FoundSession> {
  const found = await findConnectSession(broker, token)
  const { projectId } = siteOf(c, broker)
  const isForeign =
    found.outcome !== 'unknown' && (projectId ?? found.session.projectId) !== found.session.projectId
  return isForeign ? { outcome: 'unknown' } : found
}
