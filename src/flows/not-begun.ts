import type { Broker } from '../broker.ts'
import { type Authorization, authorizationAt } from '../domain/authorization.ts'
import { trailLines } from '../domain/trail.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderRefusal } from '../providers/provider-refusal.ts'
import type { SentRequest } from '../providers/sent-requests.ts'
import { failureAudit, recordRefusal } from './authorization-audit.ts'
import { firstRequestOf, requestEntries } from './causes/request-entries.ts'
import type { StartedAttempt } from './started-attempt.ts'

/** A refusal of the request ends the authorization; an answer that says nothing about it lets the user try again. */
export async function notBegun(
  broker: Broker,
  authorization: Authorization,
  provider: Provider,
  sent: readonly SentRequest[],
  refusal: ProviderRefusal,
): Promise<StartedAttempt> {
  const { id, step } = authorization
  const { reason, message, words = message } = refusal
  broker.log.warn({ authorizationId: id, reason, why: message }, 'an authorization request was not prepared')
  if (reason === 'provider_unavailable') {
    await recordRefusal(broker, authorization, 'provider_unavailable', words)
    return { outcome: 'provider_unavailable', authorization }
  }
  const lines = trailLines(
    { at: broker.now(), step: 'clicked', part: step },
    ...requestEntries(broker, provider, sent, step, refusal, firstRequestOf(provider)),
  )
  const audit = failureAudit(broker, authorization, reason, words)
  const now = broker.now()
  const failed = await broker.store.authorizations.fail(id, reason, message, now, undefined, audit, lines)
  return notStartable(broker, authorization, failed)
}

/** The current authorization, for a click that starts nothing. */
export async function notStartable(
  broker: Broker,
  authorization: Authorization,
  ended?: Authorization,
): Promise<StartedAttempt> {
  const current = ended ?? (await broker.store.authorizations.find(authorization.id)) ?? authorization
  return { outcome: 'not_startable', authorization: authorizationAt(current, broker.now()) }
}
