import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import {
  type Attempt,
  type AttemptSecrets,
  authorizationAt,
  currentStep,
  type DeviceSecrets,
  type FailureReason,
  type Pending,
} from '../../domain/authorization.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { trailLines } from '../../domain/trail.ts'
import { pollAnswerOf } from '../../providers/device-authorization.ts'
import type { Grant } from '../../providers/grant.ts'
import type { RegisteredClient } from '../../providers/provider-entry.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { recordingRequests, type SentRequest } from '../../providers/sent-requests.ts'
import { doublingPause, isStoreUnavailable, retryWrite } from '../../store/retry.ts'
import { UnsealError } from '../../store/seal.ts'
import { openAttemptSecrets } from '../attempt-secrets.ts'
import { failureAudit } from '../authorization-audit.ts'
import { requestEntries } from '../causes/request-entries.ts'
import { beganWith, findProviderByUid, registeredClient } from '../get-provider.ts'
import { sealHeldGrant } from '../held-grant.ts'
import { revokeUnlessConnected } from '../revoke-grant.ts'

// Asks providers whether users have entered their codes (RFC 8628 sections 3.4 and 3.5). The row of an authorization says
// when that is due, so any process can go on after another has died.

/** How often it is looked whether a request is due. */
export const POLL_SECONDS = 1

/** Longer than a token request, the requests that follow it, and storing the grant take. */
const LEASE_SECONDS = 45
const LONGEST_STORE_MS = 6_000
const MAX_DUE = 200
const MAX_CONCURRENT = 16
/** RFC 8628 section 3.5. */
const SLOW_DOWN_SECONDS = 5

const CODE_EXPIRED = 'The code was not entered in time. Start again from your application to get a new one.'

/** How long no announced change may keep the rows unread. */
const REREAD_SECONDS = 60

/**
 * The job of a process. It reads rows only when a request is due, or after a change of authorizations by any process, so
 * that it costs an idle process nothing.
 */
export function createDevicePolling(broker: Broker): () => Promise<void> {
  const { store, now } = broker
  let isChanged = true
  let revision = store.catchUp()
  let readAt = now()
  let nextAt: EpochSeconds | undefined
  store.onChange(({ noun }) => {
    if (noun === 'authorization') isChanged = true
  })
  return async () => {
    const current = store.catchUp()
    const isDue = nextAt !== undefined && nextAt <= now()
    const isOld = Math.abs(now() - readAt) >= REREAD_SECONDS
    if (!isChanged && current === revision && !isDue && !isOld) return
    isChanged = false
    revision = current
    readAt = now()
    await pollDevices(broker)
    nextAt = await store.authorizations.nextPollAt(readAt + REREAD_SECONDS)
  }
}

/** Sends each token request that is due, once. */
export async function pollDevices(broker: Broker): Promise<void> {
  const due = await broker.store.authorizations.duePolls(broker.now(), MAX_DUE)
  const next = due.values()
  await Promise.all(
    Array.from({ length: Math.min(MAX_CONCURRENT, due.length) }, async () => {
      for (const id of next) await poll(broker, id)
    }),
  )
}

type Polled = Pending & Required<Pick<Pending, 'attempt'>>

async function poll(broker: Broker, id: string): Promise<void> {
  const { store, now, log } = broker
  const owner = randomUUID()
  const claimed = await store.authorizations.claimPoll(id, { owner, seconds: LEASE_SECONDS }, now())
  if (claimed?.attempt === undefined) return
  if (authorizationAt(claimed, now()).status !== 'pending') return store.authorizations.endPoll(id, now())
  const polled: Polled = { ...claimed, attempt: claimed.attempt }
  const sent: SentRequest[] = []
  try {
    await askForTokens(broker, polled, owner, sent)
  } catch (error) {
    if (isStoreUnavailable(error)) throw error // another process goes on when the lease has expired
    await settleFailed(broker, polled, sent, error)
    const isKnown =
      error instanceof ProviderRefusal || error instanceof BrokerError || error instanceof UnsealError
    if (!isKnown) log.error({ authorizationId: id, error }, 'a device code could not be polled')
  }
}

async function askForTokens(
  broker: Broker,
  polled: Polled,
  owner: string,
  sent: SentRequest[],
): Promise<void> {
  const { store, oauth, now } = broker
  const { id, projectId, attempt } = polled
  const entry = await findProviderByUid(broker, projectId, currentStep(polled).providerUid)
  const secrets = openAttemptSecrets(broker, polled, attempt)
  const { device } = secrets
  if (entry === undefined || device === undefined || !beganWith(broker, entry, secrets.providerIdentity))
    throw new ProviderRefusal('provider_changed', 'The provider was changed meanwhile. Ask for a new link.')
  if (now() >= device.expiresAt) throw new ProviderRefusal('expired', CODE_EXPIRED)
  const registered = registeredClient(broker, entry, secrets.given)
  const guard = {
    isStillWanted: () => store.authorizations.holdsPoll(id, attempt.stateHash, owner, now()),
  }
  const request: Pick<AttemptSecrets, 'dpopKey'> & Pick<DeviceSecrets, 'deviceCode'> = {
    ...device,
    ...secrets,
  }
  const answer = await recordingRequests(sent, () => oauth.redeemDevice(registered, request, guard)).catch(
    (error: unknown) => {
      if (error instanceof ProviderRefusal && pollAnswerOf(error) !== 'refused') return error
      throw error
    },
  )
  if (answer instanceof ProviderRefusal) return postpone(broker, polled, owner, device, answer)
  const { account } = answer
  if (account.id === '' && account.name === '' && entry.provider.unnamedAccounts !== true) {
    await revokeUnlessConnected(broker, polled, registered, answer)
    throw new ProviderRefusal(
      'provider_bad_response',
      `${entry.provider.displayName} did not say which account approved, so nothing was stored. Start again from your application. If it happens again, tell the operator of this service that the user info request fails.`,
    )
  }
  const lines = trailLines(...requestEntries(broker, entry.provider, sent, polled.step))
  await hold(broker, polled, owner, { registered, grant: answer, lines })
}

/** Sets when the next request is due. It is never later than the end of the code, so that the authorization ends then. */
async function postpone(
  { store, now }: Broker,
  { id, attempt }: Polled,
  owner: string,
  device: DeviceSecrets,
  refusal: ProviderRefusal,
): Promise<void> {
  const seconds = nextInterval(attempt, refusal)
  const at = now() + Math.max(seconds, refusal.retryAfter ?? 0)
  await store.authorizations.postponePoll(id, owner, { at: Math.min(at, device.expiresAt), seconds })
}

function nextInterval({ pollSeconds = 5 }: Attempt, refusal: ProviderRefusal): number {
  switch (pollAnswerOf(refusal)) {
    case 'slow_down':
      return pollSeconds + SLOW_DOWN_SECONDS
    case 'unavailable':
      return pollSeconds * 2
    default:
      return pollSeconds
  }
}

/** Keeps the grant for the user's answer. One that cannot be kept is revoked: there is no other copy of its tokens. */
async function hold(
  broker: Broker,
  polled: Polled,
  owner: string,
  {
    registered,
    grant,
    lines,
  }: { readonly registered: RegisteredClient; readonly grant: Grant; readonly lines: string },
): Promise<void> {
  const { store, now, log } = broker
  const { id, attempt } = polled
  const granted = sealHeldGrant(broker, polled, { grant })
  const held = await retryWrite(
    () => store.authorizations.holdGrant(id, owner, granted, now(), lines),
    async () => {
      const current = await store.authorizations.find(id)
      const isHeld = current?.status === 'pending' && current.granted === granted
      return isHeld && current.attempt?.stateHash === attempt.stateHash ? current : undefined
    },
    {
      mayRetry: (elapsedMs) => elapsedMs <= LONGEST_STORE_MS,
      pauseMs: doublingPause(50, 3_200),
      onRetry: () => log.warn({ authorizationId: id }, 'a consent waits for the database'),
    },
  )
  // the user has cancelled or clicked once more, or the link has expired
  if (held === undefined) await revokeUnlessConnected(broker, polled, registered, grant)
}

async function settleFailed(
  broker: Broker,
  polled: Polled,
  sent: readonly SentRequest[],
  error: unknown,
): Promise<void> {
  const { store, now, log } = broker
  const { id, projectId, step, attempt } = polled
  const { reason, message } = failureOf(error)
  const words = error instanceof ProviderRefusal ? (error.words ?? error.message) : undefined
  log.warn(
    { authorizationId: id, reason, ...(words !== undefined && { why: words }) },
    'an authorization failed',
  )
  const entry = await findProviderByUid(broker, projectId, currentStep(polled).providerUid)
  const lines =
    entry === undefined ? '' : trailLines(...requestEntries(broker, entry.provider, sent, step, error))
  const audit = failureAudit(broker, polled, reason, words)
  // a newer click may have replaced this attempt: then the authorization does not fail
  await store.authorizations.fail(id, reason, message, now(), attempt.stateHash, audit, lines)
}

function failureOf(error: unknown): { readonly reason: FailureReason; readonly message: string } {
  if (error instanceof BrokerError) return { reason: 'provider_changed', message: error.message }
  if (!(error instanceof ProviderRefusal))
    return {
      reason: 'provider_bad_response',
      message: 'Something went wrong on our side while finishing. Start again from your application.',
    }
  const { code, reason, message } = error
  if (code === 'expired_token') return { reason: 'expired', message: CODE_EXPIRED }
  if (code === 'access_denied')
    return {
      reason: 'access_denied',
      message:
        'Access was not approved at the provider. To approve it after all, start again from your application.',
    }
  return { reason, message }
}
