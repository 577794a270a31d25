import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Release } from '../services/release.ts'

/** How often tokens may be found changed by somebody else while they are handed out. */
const TRIES = 5

/**
 * Looks tokens up and has them recorded before they are handed out (promise P7: no release without a durable record).
 * The project's policies have the last word, as they are when the release is recorded: throws `denied_by_policy`,
 * `policy_check_failed`.
 * What the look-up rests on may have been changed by another process since it was read: then it is looked up again.
 */
export async function releaseTokens<Found>(
  broker: Broker,
  lookUp: () => Promise<Found>,
  tokensIn: (found: Found) => readonly Release[],
): Promise<Found> {
  const release = {}
  for (let tries = 0; tries < TRIES; tries++) {
    const found = await lookUp()
    const [first, ...others] = tokensIn(found)
    if (first === undefined) return found
    const tokens = [first, ...others] as const
    const checked = broker.policies.checkRelease(tokens, release)
    const policies = checked instanceof Promise ? await checked : checked
    if (await broker.audit.release(tokens, policies)) return found
  }
  throw new BrokerError('store_unavailable', 'The connection changes all the time. Try again shortly.', {
    retryAfter: 1,
  })
}
