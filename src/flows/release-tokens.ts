import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Release } from '../services/release.ts'
import { currentContext } from '../services/request-context.ts'
import { connectionToolKey } from '../store/connection-tools.ts'

/** How often tokens may change between look-up and release before the release fails. */
const TRIES = 5

/**
 * Looks tokens up and records their release before they are handed out: no token leaves without a durable record. The
 * rules at the time of the record apply: throws `denied_by_policy`, `policy_check_failed`. If the tokens or a
 * precondition of their release have changed in the meantime, the flow looks them up again.
 */
export async function releaseTokens<Found>(
  broker: Broker,
  lookUp: () => Found | Promise<Found>,
  tokensIn: (found: Found) => readonly Release[],
): Promise<Found> {
  const release = {}
  for (let tries = 0; tries < TRIES; tries++) {
    const lookedUp = lookUp()
    const found = lookedUp instanceof Promise ? await lookedUp : lookedUp
    const tokens = tokensIn(found)
    if (!isNonEmpty(tokens)) return found
    const checked = broker.gate.checkRelease(tokens, release)
    const rules = checked instanceof Promise ? await checked : checked
    if (!(await broker.audit.release(tokens, rules))) continue
    noteTool(broker, tokens)
    return found
  }
  throw new BrokerError('store_unavailable', 'The connection keeps changing. Try again shortly.', {
    retryAfter: 1,
  })
}

/** Notes which tool used which connections, for the user's own page. */
function noteTool({ uses, now }: Broker, tokens: readonly Release[]): void {
  const { tool } = currentContext()
  if (tool === undefined) return
  for (const { connection } of tokens)
    uses.used('connectionTools', connectionToolKey(connection.id, tool), now())
}

function isNonEmpty<T>(all: readonly T[]): all is readonly [T, ...T[]] {
  return all.length > 0
}
