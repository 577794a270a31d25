import { BrokerError, invalidMember } from '../domain/errors.ts'
import type { Outgoing } from './outgoing.ts'

/**
 * Checks a URL that an administrator registers for later requests (a worker, a policy's hook). Throws `invalid_request`
 * for `member` unless it is a plain http or https URL, and `host_not_allowed` if its host may not be reached.
 */
export function checkReachable(outgoing: Pick<Outgoing, 'allows'>, member: string, text: string): void {
  const url = URL.parse(text)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username !== '' || url.password !== '' || /[?#\s\p{Cc}\\]/u.test(text))
    throw invalidMember(
      member,
      'invalid',
      `${member} must be an http or https URL without credentials, query or fragment.`,
    )
  if (!outgoing.allows(url))
    throw new BrokerError(
      'host_not_allowed',
      `${url.host} may not be reached from here. Allowed are https to public addresses and the hosts in GATEPASS_ALLOWED_HOSTS.`,
    )
}
