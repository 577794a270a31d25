import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { BY_TICKET } from '../../flows/page-session.ts'
import { sessionOf } from '../../http/connect/session-login.ts'
import { pageSessions } from '../../http/page-session/page-session.ts'
import type { Approval, Proof } from './domain.ts'

/** The user of this browser, and how that is known. */
export interface DecidingUser {
  readonly userId: string
  readonly proof: Proof
}

/**
 * The user who has logged in, or, where users are not verified, the user of a session of `/me` whose link has the right
 * `approve`: the application vouches for that user.
 */
export async function decidingUser(
  c: Context,
  broker: Broker,
  { projectId, userId }: Approval,
): Promise<DecidingUser | undefined> {
  const { kind } = broker.settings.verifier
  const session = await sessionOf(c, broker, projectId)
  const loggedIn = session && {
    userId: session.userId,
    proof: kind === 'caller' ? ('application' as const) : ('login' as const),
  }
  if (kind !== 'open' || loggedIn?.userId === userId) return loggedIn
  const me = await pageSessions(broker, 'me').open(c)
  const vouches = me?.authority === BY_TICKET && me.projectId === projectId && me.may.includes('approve')
  return vouches ? { userId: me.subject, proof: 'ticket' } : loggedIn
}
