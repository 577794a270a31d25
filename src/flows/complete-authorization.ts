import type { Broker } from '../broker.ts'
import {
  type Attempt,
  type Authorization,
  currentStep,
  type Exchanging,
  type FailureReason,
  requestedAccount,
} from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { type TrailDetails, trailLines } from '../domain/trail.ts'
import { lacksValues } from '../providers/connection-values.ts'
import { collectValues, keptValuesOf } from '../providers/kept-values.ts'
import { tokenRequestIn } from '../providers/provider-endpoints.ts'
import { isInstalled } from '../providers/provider-grant.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { saying } from '../providers/provider-words.ts'
import { recordingRequests, type SentRequest } from '../providers/sent-requests.ts'
import type { RequestGuard } from '../providers/token-request.ts'
import { elapsedClock } from '../services/elapsed-clock.ts'
import { doublingPause, isStoreUnavailable, retryWrite } from '../store/retry.ts'
import { attemptRedirectUri, openAttemptSecrets } from './attempt-secrets.ts'
import { failureAudit } from './authorization-audit.ts'
import { requestEntries } from './causes/request-entries.ts'
import { accountWithin, type ConsentDetails, connectionOfGrant } from './connection-of-grant.ts'
import { beganWith, findProviderByUid, registeredClient } from './get-provider.ts'
import { forgetScopeSets } from './installation-token.ts'
import { hasGrantAlready, keptResponse, obtainGrant } from './obtained-grant.ts'
import { offerChoice } from './offer-choice.ts'
import { revokeUnlessConnected, revokeUnstored } from './revoke-grant.ts'

/**
 * The lifetime of a claim on redeeming the code. If the process dies meanwhile, the authorization counts as pending
 * again after this time, and the user may click again. Several slow responses together may take longer: then the
 * tokens are revoked instead of stored.
 */
const EXCHANGE_SECONDS = 28
/** The longest time from the claim to sending the code. The rest of the claim is for the request and storing its response. */
const LONGEST_BEFORE_SENDING_MS = 10_000
/** How long storing the tokens is retried while the database is unavailable, within the claim. */
const LONGEST_STORE_MS = 6_000

/**
 * Redeems the code of the attempt and stores the connection, once: a second caller gets `undefined`. Every failure ends
 * the authorization with its reason. A code is never sent twice, nor after its claim has ended.
 */
export async function completeAuthorization(
  broker: Broker,
  answered: AnsweredAttempt,
): Promise<Authorization | undefined> {
  return broker.liveness.whileAlive((claimedBy) => exchange(broker, answered, claimedBy))
}

/** An attempt whose authorization response has been received. */
export interface AnsweredAttempt {
  readonly stateHash: string
  /** `confirmed`: the caller's page has confirmed the user; `pending`: no such page is configured. */
  readonly from: 'pending' | 'confirmed'
  /** Decrypts the response, after the claim: a response that cannot be decrypted ends the authorization. */
  readonly response: () => URLSearchParams
  /** The lines about the response for the trail, if they are not written yet. */
  readonly lines?: string
  /** The attempt as it was read before the claim. */
  readonly attempt?: Attempt
}

async function exchange(
  broker: Broker,
  { stateHash, from, response, lines = '', attempt }: AnsweredAttempt,
  claimedBy: string,
): Promise<Authorization | undefined> {
  const { store, now } = broker
  const elapsed = elapsedClock()
  const claim = { from, deadline: now() + EXCHANGE_SECONDS, claimedBy, lines }
  const row = await store.authorizations.claim(stateHash, now(), claim)
  if (row === undefined) return undefined
  // the secrets of the attempt that was read before may be open already
  const claimed = attempt?.secrets === row.attempt.secrets ? { ...row, attempt } : row
  const sent: SentRequest[] = []
  try {
    return await redeemAndStore(broker, claimed, response(), guardOf(broker, claimed, elapsed), sent)
  } catch (error) {
    // the code was not sent; the user may have clicked again, and then the newer attempt counts
    if (error instanceof ClaimEnded) return undefined
    // the authorization is pending again when the claim has expired, so the user may click again
    if (isStoreUnavailable(error)) throw error
    const { reason, message } = failureOf(error)
    const words = error instanceof ProviderRefusal ? error.words : undefined
    const about = { authorizationId: claimed.id, reason, error: nameOf(error) }
    broker.log.warn(
      { ...about, ...(error instanceof ProviderRefusal && { why: error.message }) },
      'an authorization failed',
    )
    // a newer click may have replaced this attempt: then the authorization does not fail
    const audit = failureAudit(
      broker,
      claimed,
      reason,
      words ?? (error instanceof ProviderRefusal ? error.message : undefined),
    )
    const failed = await store.authorizations.fail(
      claimed.id,
      reason,
      message,
      now(),
      stateHash,
      audit,
      await linesOf(broker, claimed, sent, error),
    )
    if (!(error instanceof ProviderRefusal || error instanceof BrokerError)) throw error
    return failed
  }
}

/** The process was suspended until its claim had expired, before it sent the code. */
class ClaimEnded extends Error {}

interface ExchangeGuard extends RequestGuard {
  /** Why the code was not sent, unless the request has only waited too long. */
  readonly heldBack: Error | undefined
}

/**
 * Checks that the claim still holds right before the first byte of the request is sent: while a process is suspended, its
 * claim may expire, and its user may click again. A request that has waited too long, for example behind others at a
 * provider that does not answer, is not sent either, although the claim holds: the authorization then fails.
 */
function guardOf({ store }: Broker, claimed: Exchanging, elapsed: () => number): ExchangeGuard {
  let heldBack: Error | undefined
  return {
    async isStillWanted() {
      try {
        const isHeld = await store.authorizations.holdsClaim(claimed)
        if (isHeld) return elapsed() <= LONGEST_BEFORE_SENDING_MS
        heldBack = new ClaimEnded('The claim on redeeming the code has ended.')
      } catch (error) {
        heldBack = error instanceof Error ? error : new Error(String(error))
      }
      return false
    },
    get heldBack() {
      return heldBack
    },
  }
}

/** The lines for the trail about the requests of an exchange that failed, and their responses. */
async function linesOf(
  broker: Broker,
  claimed: Exchanging,
  sent: readonly SentRequest[],
  error: unknown,
): Promise<string> {
  const { providerUid } = currentStep(claimed)
  const entry = await findProviderByUid(broker, claimed.projectId, providerUid)
  if (entry === undefined) return ''
  return trailLines(...requestEntries(broker, entry.provider, sent, claimed.step, error))
}

/** Redeems the code and stores the connection. Adds the requests that it sends to `sent`. */
async function redeemAndStore(
  broker: Broker,
  claimed: Exchanging,
  response: URLSearchParams,
  guard: ExchangeGuard,
  sent: SentRequest[],
): Promise<Authorization> {
  const { store, now, log } = broker
  const { providerUid } = currentStep(claimed)
  const entry = await findProviderByUid(broker, claimed.projectId, providerUid)
  const secrets = openAttemptSecrets(broker, claimed, claimed.attempt)
  if (entry === undefined || !beganWith(broker, entry, secrets.providerIdentity))
    throw new ProviderRefusal('provider_changed', 'The provider was changed meanwhile. Ask for a new link.')

  const told = collectValues(entry.provider, { authorizationResponse: response, given: secrets.given })
  const registered = {
    ...registeredClient(broker, entry, keptValuesOf(entry.provider, told)),
    redirectUri: attemptRedirectUri(broker, secrets, entry),
  }
  if (!hasGrantAlready(entry, secrets) && lacksValues(tokenRequestIn(registered.provider)))
    throw new ProviderRefusal(
      'provider_bad_response',
      `${entry.provider.displayName} did not say, in the expected form, which of its servers answers for you. Start again from your application. If it happens again, tell the operator of this service.`,
    )
  const obtain = () => obtainGrant(broker, claimed, response, { entry, registered, secrets, told, guard })
  const granted = await recordingRequests(sent, obtain).catch((error: unknown) => {
    throw guard.heldBack ?? error
  })
  if ('choice' in granted) {
    const entries = requestEntries(broker, entry.provider, sent, claimed.step)
    return offerChoice(broker, claimed, secrets, granted, entries).catch(async (error: unknown) => {
      const { held } = granted
      const revoke = isStoreUnavailable(error) ? revokeUnstored : revokeUnlessConnected
      if (held !== undefined) await revoke(broker, claimed, registered, held.grant)
      throw error
    })
  }
  const grant = { ...granted, account: accountWithin(entry.provider, granted.account, secrets.given) }
  const finish = async () => {
    const { connection, consent } = await connectionOfGrant(broker, claimed, entry, grant, {
      response: keptResponse(entry, response),
      given: secrets.given,
    })
    const audit = broker.audit.of(claimed.projectId, {
      action: 'authorization.completed',
      userId: claimed.userId,
      providerId: entry.id,
      connectionId: connection.id,
      authorizationId: claimed.id,
      scopes: connection.scopes,
      fingerprint: broker.audit.fingerprint(grant.accessToken),
    })
    const lines = trailLines(...requestEntries(broker, entry.provider, sent, claimed.step), {
      at: now(),
      step: 'stored',
      part: claimed.step,
      details: storedDetails(connection, consent),
    })
    // a refusal of one of them says nothing after this consent
    if (isInstalled(entry.provider)) await forgetScopeSets(broker, connection)
    const options = { makeDefault: requestedAccount(claimed) !== 'new', consent, lines }
    return store.authorizations.finishStep(claimed, connection, options, now(), audit)
  }
  // the code cannot be used again, and there is no other copy of these tokens
  const finished = await retryWrite(
    () =>
      finish().catch((error: unknown) => {
        // a concurrent consent has just stored the first connection of this account, so this one renews it
        if (error instanceof BrokerError && error.code === 'already_exists') return finish()
        throw error
      }),
    async () => {
      const current = await store.authorizations.find(claimed.id)
      return current?.steps[claimed.step]?.connectionId === undefined ? undefined : current
    },
    {
      mayRetry: (elapsedMs) => elapsedMs <= LONGEST_STORE_MS,
      pauseMs: doublingPause(50, 3_200),
      onRetry: () => log.warn({ authorizationId: claimed.id }, 'a consent waits for the database'),
    },
  ).catch(async (error: unknown) => {
    if (isStoreUnavailable(error)) await revokeUnstored(broker, claimed, registered, grant)
    // another account approved than the requested one
    if (error instanceof ProviderRefusal) await revokeUnlessConnected(broker, claimed, registered, grant)
    throw error
  })
  if (finished !== undefined) return finished
  // the entry was deleted or the claim has expired, so the grant cannot be stored and is revoked
  await revokeUnlessConnected(broker, claimed, registered, grant)
  throw new ProviderRefusal(
    'provider_changed',
    'The authorization could not be finished. Ask for a new link.',
  )
}

function storedDetails({ id, scopes, account }: Connection, consent: ConsentDetails): TrailDetails {
  const { missingScopes, previousAccount } = consent
  return {
    connection_id: id,
    scopes,
    ...(missingScopes !== undefined && { missing_scopes: missingScopes }),
    ...(account.name !== '' && { account: account.name }),
    ...(previousAccount !== undefined && { previous_account: previousAccount.name || previousAccount.id }),
  }
}

function failureOf(error: unknown): { readonly reason: FailureReason; readonly message: string } {
  if (error instanceof ProviderRefusal)
    return {
      reason: error.reason,
      message:
        error.reason === 'invalid_grant'
          ? `The provider did not accept the code that it had just issued. Start again from your application.${saying('The provider', error.words)}`
          : error.message,
    }
  if (error instanceof BrokerError) return { reason: 'provider_changed', message: error.message }
  return {
    reason: 'provider_bad_response',
    message: 'Something went wrong on our side while finishing. Start again from your application.',
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown'
}
