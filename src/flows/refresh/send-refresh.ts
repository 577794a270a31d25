import type { Broker } from '../../broker.ts'
import type { AccessSecrets, Connection } from '../../domain/connection.ts'
import { atTenant } from '../../providers/connection-values.ts'
import { fitsDpop } from '../../providers/dpop.ts'
import type { Grant } from '../../providers/grant.ts'
import { installationIn, keptValuesOf } from '../../providers/kept-values.ts'
import type { ProviderEntry, RegisteredClient } from '../../providers/provider-entry.ts'
import { asksForTokens, isInstalled, isUserless } from '../../providers/provider-grant.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { recordingRequests, type SentRequest } from '../../providers/sent-requests.ts'
import type { RequestGuard } from '../../providers/token-request.ts'
import { UnsealError } from '../../store/seal.ts'
import { registeredClient } from '../get-provider.ts'
import { openAccess, openRefreshToken } from '../seal-grant.ts'
import { countRefresh } from './count-refresh.ts'
import { type Decision, type Situation, type StepResult, wasRetry } from './decide.ts'
import { failureOf, loggedFailure, requestResultOf } from './failure.ts'
import { createRefreshLease, type RefreshLease } from './lease.ts'
import type { SubjectToken } from './subject-token.ts'

/**
 * Takes the lease on the connection and sends its refresh token. Taking the lease also records that the refresh token is
 * about to be used, so that the next refresh knows if the answer is lost. `subject`: the token that is exchanged.
 */
export async function sendRefresh(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  subject?: SubjectToken,
): Promise<StepResult> {
  const { breaker } = broker.refreshes
  const { id, generation } = connection
  const seconds = breaker.enter(entry, id)
  if (seconds > 0) return { connection, situation: { at: 'provider_paused', seconds } }
  const lease = createRefreshLease(broker)
  const claimed = await broker.store.connections
    .claimRefresh(id, generation, lease, broker.now())
    .catch((error: unknown) => {
      breaker.ended(entry, id, 'not_sent')
      throw error
    })
  if (claimed === undefined) {
    breaker.ended(entry, id, 'not_sent')
    return { connection, situation: { at: 'lease_held' } }
  }
  return { connection: claimed, situation: await sendUnderLease(broker, entry, claimed, lease, subject) }
}

async function sendUnderLease(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  lease: RefreshLease,
  subject: SubjectToken | undefined,
): Promise<Situation> {
  const { id, unansweredRefreshes } = connection
  if (unansweredRefreshes > 1)
    broker.log.info(
      { connection: id, provider: entry.id, unanswered: unansweredRefreshes - 1 },
      'a refresh whose outcome was lost is tried once more',
    )
  let registered: RegisteredClient
  let known: AccessSecrets
  let grant: Grant
  const sent: SentRequest[] = []
  try {
    known = openAccess(broker, connection)
    if (!asksForTokens(entry.provider) && !fitsDpop(entry.provider, known)) {
      broker.refreshes.breaker.ended(entry, id, 'not_sent')
      return { at: 'dpop_changed' }
    }
    const refreshToken = openRefreshToken(broker, connection)
    const kept = keptValuesOf(entry.provider, known.kept)
    registered = atTenant(registeredClient(broker, entry, kept), known.kept)
    const { accessToken, dpopKey } = known
    const tokens = { refreshToken, accessToken, kept, dpopKey }
    const client = registered
    const guard = lease.guard(connection)
    const installationId = installationIn(known.kept)
    grant = await recordingRequests(sent, () => {
      if (isInstalled(entry.provider)) {
        // never an id from elsewhere: only a consent tells whose installation it is
        if (installationId === undefined)
          throw new ProviderRefusal('invalid_grant', 'No consent has chosen an installation.')
        return broker.oauth.requestInstallationToken(client, { ...connection, installationId }, guard)
      }
      return isUserless(entry.provider)
        ? requestToken(broker, client, connection, subject, guard)
        : broker.oauth.refresh(client, tokens, guard)
    })
  } catch (error) {
    return notAnswered(broker, entry, connection, lease, { error, sent })
  } finally {
    lease.end()
  }
  broker.refreshes.breaker.ended(entry, id, 'refreshed')
  return { at: 'answered', answer: { entry, registered, connection, known, grant } }
}

/** Asks for a token. If the provider does not accept the token that is exchanged, a refreshed one is tried once. */
async function requestToken(
  { oauth }: Broker,
  client: RegisteredClient,
  need: Connection,
  subject: SubjectToken | undefined,
  guard: RequestGuard,
): Promise<Grant> {
  try {
    return await oauth.requestToken(client, { ...need, subjectToken: subject?.token }, guard)
  } catch (error) {
    if (subject === undefined || !(error instanceof ProviderRefusal) || error.reason !== 'invalid_grant')
      throw error
    const subjectToken = await subject.renew()
    if (subjectToken === undefined) throw error
    return oauth.requestToken(client, { ...need, subjectToken }, guard)
  }
}

function notAnswered(
  { refreshes, log }: Broker,
  entry: ProviderEntry,
  { id }: Connection,
  { owner: leaseOwner, heldBack }: RefreshLease,
  { error: thrown, sent }: { readonly error: unknown; readonly sent: readonly SentRequest[] },
): Situation {
  const { breaker } = refreshes
  const about = { connection: id, provider: entry.id }
  if (heldBack === 'lapsed') {
    log.warn(about, 'a refresh was begun too late to be sent under its lease')
    breaker.ended(entry, id, 'not_sent')
    return { at: 'lease_lapsed', leaseOwner }
  }
  const error = heldBack ?? (thrown instanceof Error ? thrown : new Error(String(thrown)))
  log.warn({ ...about, ...loggedFailure(error) }, 'a refresh failed')
  if (error instanceof UnsealError && error.context.table === 'connections') {
    breaker.ended(entry, id, 'not_sent')
    return { at: 'tokens_unreadable' }
  }
  const failure = failureOf(error, sent, refreshes.spread)
  // the breaker judges a refusal of the grant in `checkRefusal`
  if (failure.kind !== 'grant_refused') breaker.ended(entry, id, requestResultOf(failure))
  return { at: 'failed', failure, leaseOwner }
}

/**
 * Finds out whether the refusal concerns the tokens that are stored now, and whether the circuit breaker believes it. The
 * refusal of a retry is believed without asking the breaker: it says nothing about the provider's health, and sending a
 * token that was probably used once more would bring no other answer.
 * `undefined`: the refusal came after the lease had lapsed, so another process may be refreshing the same tokens, and its
 * answer counts.
 */
export async function checkRefusal(
  broker: Broker,
  entry: ProviderEntry,
  { connection, failure, leaseOwner }: Extract<Decision, { next: 'check_refusal' }>,
): Promise<StepResult | undefined> {
  const { store, refreshes, now } = broker
  const { breaker } = refreshes
  const { id, generation } = connection
  const current = await store.connections.find(id)
  if (current?.generation !== generation || current.status !== 'active') {
    breaker.ended(entry, id, 'answered')
    countRefresh(broker, entry, current === undefined ? 'revoked_meanwhile' : 'superseded')
    return { connection: current, situation: { at: 'refusal_superseded' } }
  }
  if ((await store.connections.leaseLeft(id, generation, leaseOwner, now())) === undefined) {
    breaker.ended(entry, id, 'answered')
    return undefined
  }
  const isRetry = wasRetry(connection, entry.provider)
  if (isRetry) breaker.ended(entry, id, 'refused_retry')
  const verdict = isRetry ? 'believed' : breaker.refused(entry, id)
  return { connection, situation: { at: 'refusal_checked', failure, leaseOwner, verdict } }
}
