import type { Broker } from '../../broker.ts'
import { PORTAL_RIGHTS, type PortalRight } from '../../domain/portal-ticket.ts'
import { isRecentLogin, type OpenedPageSession } from '../page-session.ts'
import { verifierName } from '../user-session.ts'
import { BY_TICKET } from './portal-link.ts'

/** The right `log in` is missing where a login that is recent enough would give the right. */
export type Permission = 'given' | 'missing' | 'log in'

/** What a ticket does not have to allow and a session by login has only while the login is recent. */
const NEED_RECENT_LOGIN: ReadonlySet<PortalRight> = new Set(['export', 'erase'])

/** Whether a session of `/me` may do this. A ticket says what; a login at the issuer may all, some of it only when it is recent. */
export function permissionFor(broker: Broker, session: OpenedPageSession, right: PortalRight): Permission {
  if (!session.may.includes(right)) return 'missing'
  if (session.authority === BY_TICKET || !NEED_RECENT_LOGIN.has(right)) return 'given'
  return isRecentLogin(broker, session) ? 'given' : 'log in'
}

/** Whether what began the session still counts: a session by login ends when the settings name another issuer. */
export function isStillValid({ settings }: Broker, { authority }: OpenedPageSession): boolean {
  return authority === BY_TICKET || authority === verifierName(settings.verifier)
}

/** What a user may do who has logged in at the issuer. */
export const RIGHTS_OF_LOGIN: readonly PortalRight[] = PORTAL_RIGHTS
