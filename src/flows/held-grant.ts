import type { Broker } from '../broker.ts'
import { type Authorization, currentStep } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Grant } from '../providers/grant.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import { isDeviceGrant } from '../providers/provider-grant.ts'
import type { HeldResponse } from '../store/authorization-retention.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { UnsealError } from '../store/seal.ts'
import { openAttemptSecrets } from './attempt-secrets.ts'
import { beganWith, findProviderByUid, registeredClient } from './get-provider.ts'
import { revokeUnlessConnected } from './revoke-grant.ts'
import { typedGrant } from './typed-grant.ts'

// The grant of a device code while the user has not confirmed the account, and that of a code while the user has not chosen
// the tenant: sealed in the row of the authorization.

export interface HeldGrant {
  readonly grant: Grant
  /** The authorization response, of which connections keep values; absent with a device code. */
  readonly response?: URLSearchParams
}

/** The JSON that is sealed. */
interface Held {
  readonly grant: Grant
  readonly response?: string
  readonly receivedAt: EpochSeconds
}

export function sealHeldGrant(
  { sealer, now }: Pick<Broker, 'sealer' | 'now'>,
  authorization: Authorization,
  { grant, response }: HeldGrant,
): Sealed {
  const held: Held = {
    grant,
    receivedAt: now(),
    ...(response && { response: withoutCode(response).toString() }),
  }
  return sealer.seal(JSON.stringify(held), sealingContext('authorizations', 'response', authorization))
}

function withoutCode(response: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams(response)
  kept.delete('code')
  kept.delete('state')
  return kept
}

/** The grant, with the lifetimes that are left of its tokens now. */
export function openHeldGrant(
  { sealer, now }: Pick<Broker, 'sealer' | 'now'>,
  authorization: Authorization,
  granted: Sealed,
): HeldGrant & Required<Pick<HeldGrant, 'response'>> {
  const text = sealer.open(granted, sealingContext('authorizations', 'response', authorization))
  if (!text.startsWith('{')) {
    const response = new URLSearchParams(text)
    return { grant: typedGrant(response), response } // the user has confirmed the account
  }
  const { grant, response, receivedAt } = JSON.parse(text) as Held // `sealHeldGrant` made it
  const age = now() - receivedAt
  const left = (seconds: number | undefined) =>
    seconds === undefined ? undefined : Math.max(seconds - age, 0)
  return {
    grant: { ...grant, expiresIn: left(grant.expiresIn), refreshExpiresIn: left(grant.refreshExpiresIn) },
    response: new URLSearchParams(response),
  }
}

/**
 * Revokes the grant that an authorization holds, as far as the provider can, unless it may be that of a connection of the
 * user: nothing else knows its tokens once the authorization has ended, or another attempt has begun. A failure changes
 * nothing.
 */
export async function revokeHeldGrant(broker: Broker, authorization: Authorization): Promise<void> {
  const attempt = 'attempt' in authorization ? authorization.attempt : undefined
  if (attempt === undefined) return
  const response = authorization.status === 'pending' ? authorization.granted : responseIn(authorization)
  if (response !== undefined) await revokeHeld(broker, { authorization, response, secrets: attempt.secrets })
}

function responseIn(authorization: Authorization): Sealed | undefined {
  return 'response' in authorization ? authorization.response : undefined
}

async function revokeHeld(
  broker: Broker,
  { authorization, response, secrets: sealed }: HeldResponse,
): Promise<void> {
  try {
    const { projectId } = authorization
    const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
    if (entry === undefined) return
    const secrets = openAttemptSecrets(broker, authorization, { secrets: sealed })
    const isHeld = isDeviceGrant(entry.provider) || secrets.choice !== undefined
    if (!isHeld) return // its code was never redeemed
    // after a change of the entry the tokens must not go to its new endpoints
    if (!beganWith(broker, entry, secrets.providerIdentity)) return
    const { grant } = openHeldGrant(broker, authorization, response)
    const values = { ...secrets.given, ...keptValuesOf(entry.provider, grant.kept) }
    const registered = registeredClient(broker, entry, values)
    await revokeUnlessConnected(broker, authorization, registered, grant)
  } catch (error) {
    if (!(error instanceof BrokerError || error instanceof UnsealError)) throw error
    broker.log.warn({ authorizationId: authorization.id, error: error.name }, 'a grant was not revoked')
  }
}

const MAX_OVERDUE = 200
const MAX_HELD = 1_000
const MAX_CONCURRENT = 16

/** Forgets the responses whose deadline has come, and revokes the grants among them before. */
export async function forgetResponses(broker: Broker): Promise<void> {
  const { store } = broker
  const now = broker.now()
  await revokeAll(broker, await store.authorizations.overdueResponses(now, MAX_OVERDUE))
  await store.authorizations.forgetResponses(now)
}

/** What authorizations hold for one user. */
export function heldForUser(
  { store }: Broker,
  projectId: string,
  userId: string,
): Promise<readonly HeldResponse[]> {
  return store.authorizations.heldResponses(projectId, userId, MAX_HELD)
}

/** What authorizations of the project hold at one entry, as far as one page of them goes. */
export async function heldAt(
  { store }: Broker,
  { projectId, uid }: { readonly projectId: string; readonly uid: string },
): Promise<readonly HeldResponse[]> {
  const all = await store.authorizations.heldResponses(projectId, undefined, MAX_HELD)
  return all.filter(({ authorization }) => currentStep(authorization).providerUid === uid)
}

/** Revokes the grants among them, as `revokeHeldGrant` does. */
export async function revokeAll(broker: Broker, held: readonly HeldResponse[]): Promise<void> {
  const next = held.values()
  await Promise.all(
    Array.from({ length: Math.min(MAX_CONCURRENT, held.length) }, async () => {
      for (const one of next) await revokeHeld(broker, one)
    }),
  )
}
