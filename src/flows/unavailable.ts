import { BrokerError } from '../domain/errors.ts'
import type { TokenOutcome } from './get-access-token.ts'

/** The refusal of a request that needs a token which cannot be refreshed right now. */
export function unavailable({
  message,
  retryAfter,
  cause,
}: Extract<TokenOutcome, { outcome: 'provider_unavailable' }>): BrokerError {
  return new BrokerError('provider_unavailable', message, { retryAfter, why: cause })
}
