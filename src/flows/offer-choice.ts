import type { Broker } from '../broker.ts'
import type {
  AttemptSecrets,
  Authorization,
  Exchanging,
  OfferedChoice,
  OfferedOption,
} from '../domain/authorization.ts'
import { newOwnedToken, ownedTokenHash } from '../domain/ids.ts'
import { type TrailEntry, trailLines } from '../domain/trail.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { sealingContext } from '../store/protected-tables.ts'
import { doublingPause, retryWrite } from '../store/retry.ts'
import { type HeldGrant, sealHeldGrant } from './held-grant.ts'

// After a code was redeemed, some providers list what the connection may be for: installations of the client
// (`installation-choice.ts`), or tenants (`tenant-choice.ts`). One is taken; of several the same browser chooses one on our
// page (`choose-offered.ts`). What the browser's answer says of them is never read, since anybody can write it.

/** The parameter of our own form, and of the response that takes the place of a code. */
export const CHOICE = 'choice'

/** How long keeping a choice is retried while the database is unavailable, within the claim on the code. */
const LONGEST_STORE_MS = 6_000

/** What our page has to ask. */
export interface Offered {
  /** Without options: where people install the client. */
  readonly choice: OfferedChoice
  /** The grant that waits for the choice. Absent: nothing needs the tokens that the code brought. */
  readonly held?: HeldGrant
}

/**
 * Keeps the choice with the attempt, whose browser alone may make it. The attempt gets a new state that no browser has: no
 * response of the provider can take the place of the choice. Without options, that state goes with the browser to the
 * page on which the client is installed, and comes back by it. A code that comes along is not redeemed, since that page
 * takes no PKCE challenge: the user approves by a new attempt.
 */
export async function offerChoice(
  broker: Broker,
  claimed: Exchanging,
  { codeVerifier: _, nonce: __, choice: ___, ...secrets }: AttemptSecrets,
  { choice, held }: Offered,
  entries: readonly TrailEntry[],
): Promise<Authorization> {
  const { store, sealer, now, log } = broker
  const { id, projectId, userId } = claimed
  const state = newOwnedToken(projectId, userId)
  const isInstalledFirst = choice.options.length === 0
  const kept: AttemptSecrets = {
    ...secrets,
    ...(isInstalledFirst ? { installState: state } : { choice }),
  }
  const attempt = {
    stateHash: ownedTokenHash(state),
    secrets: sealer.seal(JSON.stringify(kept), sealingContext('authorizations', 'secrets', claimed)),
    granted: held && sealHeldGrant(broker, claimed, held),
  }
  // the code cannot be redeemed again
  const offered = await retryWrite(
    () => store.authorizations.offer(claimed, attempt, now(), trailLines(...entries)),
    async () => {
      const current = await store.authorizations.find(id)
      const isKept = current?.status === 'pending' && current.attempt?.stateHash === attempt.stateHash
      return isKept ? current : undefined
    },
    {
      mayRetry: (elapsedMs) => elapsedMs <= LONGEST_STORE_MS,
      pauseMs: doublingPause(50, 3_200),
      onRetry: () => log.warn({ authorizationId: id }, 'a consent waits for the database'),
    },
  )
  if (offered === undefined)
    throw new ProviderRefusal(
      'provider_changed',
      'The authorization could not be finished. Ask for a new link.',
    )
  return offered
}

/** The option that the browser chose. Throws `ProviderRefusal` for anything that was not offered. */
export function optionIn({ options }: OfferedChoice, response: URLSearchParams): OfferedOption {
  const chosen = options.find(({ id }) => id === response.get(CHOICE))
  if (chosen === undefined)
    throw new ProviderRefusal('provider_bad_response', 'Start again from your application.')
  return chosen
}
