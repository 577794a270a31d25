import { BrokerError, invalidMember } from '../domain/errors.ts'
import type { Outgoing } from './outgoing.ts'

/**
 * Checks a URL that an administrator registers for later requests (a worker, a policy's hook). Throws `invalid_request`
 * for `member` unless it is a plain URL, and `host_not_allowed` if its scheme or host may not be reached.
 */
export function checkReachable(outgoing: Pick<Outgoing, 'allows'>, member: string, text: string): void {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '' || /[?#\s\p{Cc}\\]/u.test(text))
    throw invalidUrl(member)
  if (!outgoing.allows(url))
    throw new BrokerError(
      'host_not_allowed',
      `${url.host} may not be reached from here. Allowed are https to public addresses and the hosts in GATEPASS_ALLOWED_HOSTS.`,
    )
}

/** The error for a member that must be a plain http or https URL and is not. */
export function invalidUrl(member: string): BrokerError {
  const message = `${member} must be an http or https URL without credentials, query, or fragment.`
  return invalidMember(member, 'invalid', message)
}
