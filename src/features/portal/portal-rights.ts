import type { Broker } from '../../broker.ts'
import { BY_TICKET, isRecentLogin, type OpenedPageSession } from '../../flows/page-session.ts'
import { verifierName } from '../../flows/user-session.ts'
import { PORTAL_RIGHTS, type PortalRight } from './domain.ts'

/** Whether the session may use a right. `log in`: a new login would give it. */
export type Permission = 'given' | 'missing' | 'log in'

/** Rights that a session by login has only while the login is recent. */
const NEED_RECENT_LOGIN: ReadonlySet<PortalRight> = new Set(['export', 'erase'])

/** Whether a session of `/me` has the right. A ticket names its rights; a login at the issuer gives all, some only while it is recent. */
export function permissionFor(broker: Broker, session: OpenedPageSession, right: PortalRight): Permission {
  if (!session.may.includes(right)) return 'missing'
  // a caller makes tickets, and does not decide for users who log in elsewhere, nor unblock itself
  if (right === 'approve' && session.authority === BY_TICKET && broker.settings.verifier.kind === 'oidc')
    return 'missing'
  if (session.authority === BY_TICKET || !NEED_RECENT_LOGIN.has(right)) return 'given'
  return isRecentLogin(broker, session) ? 'given' : 'log in'
}

/** Whether the session is still valid: a session by login ends when the settings name another verifier. */
export function isStillValid({ settings }: Broker, { authority }: OpenedPageSession): boolean {
  return authority === BY_TICKET || authority === verifierName(settings.verifier)
}

/** The rights of a user who has logged in at the issuer. */
export const RIGHTS_OF_LOGIN: readonly PortalRight[] = PORTAL_RIGHTS
