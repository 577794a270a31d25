import type { Broker } from '../broker.ts'
import {
  type AttemptSecrets,
  type Authorization,
  type Exchanging,
  type InstallationChoice,
  requestedAccount,
} from '../domain/authorization.ts'
import { newOwnedToken, ownedTokenHash } from '../domain/ids.ts'
import { coveredScopes } from '../domain/scopes.ts'
import { type TrailEntry, trailLines } from '../domain/trail.ts'
import type { Grant } from '../providers/grant.ts'
import type { Installation } from '../providers/installations.ts'
import { keptInstallation } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { sealingContext } from '../store/protected-tables.ts'

// The grant `installation`: after the code was redeemed, the provider itself says which installations are the user's. The
// `installation_id` of the browser's answer is never read, since anybody can write it. One is taken; of several the same
// browser chooses one on our page; without any, our page leads to where people install the client.

/** The parameter of our own form, and of the response that takes the place of a code. */
export const CHOICE = 'choice'

/** What the user's token has brought: the grant of the installation, or what our page has to ask. */
export type Installed = { readonly grant: Grant } | { readonly choice: InstallationChoice }

/** Lists the installations with the token of the user's code. The token is not kept: nothing else needs it. */
export async function installationOf(
  broker: Broker,
  claimed: Exchanging,
  registered: RegisteredClient,
  { accessToken }: Grant,
): Promise<Installed> {
  const all = await broker.oauth.installations(registered, accessToken)
  const requested = requestedAccount(claimed)
  const ofAccount = all.filter(({ id, name }) => id === requested || name === requested)
  const options = ofAccount.length > 0 ? ofAccount : all
  const [only, ...others] = options
  if (only !== undefined && others.length === 0) return { grant: grantOf(registered, claimed, only) }
  return { choice: { options } }
}

/** The grant of the installation that the browser chose among those that were offered. */
export function chosenGrant(
  registered: RegisteredClient,
  claimed: Exchanging,
  { options }: InstallationChoice,
  response: URLSearchParams,
): Grant {
  const chosen = options.find(({ id }) => id === response.get(CHOICE))
  if (chosen === undefined)
    throw new ProviderRefusal('provider_bad_response', 'Start again from your application.')
  return grantOf(registered, claimed, chosen)
}

/** A grant without a token: the first use asks for one. Of the scopes that were asked for, those that the provider tells count. */
function grantOf(
  { provider }: RegisteredClient,
  { steps, step }: Exchanging,
  { id, name, scopes: told }: Installation,
): Grant {
  const asked = steps[step]?.scopes ?? []
  const covered = told && coveredScopes(told, factsOf(provider))
  const isWhole = asked.length === 0 && provider.unscopedTokens === true
  const granted = isWhole ? told : asked.filter((scope) => covered?.has(scope))
  return {
    accessToken: '',
    tokenType: 'Bearer',
    expiresIn: 0,
    account: { id, name },
    kept: keptInstallation(id),
    ...(told !== undefined && { scopes: granted }),
  }
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
  choice: InstallationChoice,
  entries: readonly TrailEntry[],
): Promise<Authorization> {
  const { store, sealer, now } = broker
  const { projectId, userId } = claimed
  const state = newOwnedToken(projectId, userId)
  const isInstalledFirst = choice.options.length === 0
  const kept: AttemptSecrets = {
    ...secrets,
    ...(isInstalledFirst ? { installState: state } : { choice }),
  }
  const sealed = sealer.seal(JSON.stringify(kept), sealingContext('authorizations', 'secrets', claimed))
  const offered = await store.authorizations.offer(
    claimed,
    { stateHash: ownedTokenHash(state), secrets: sealed },
    now(),
    trailLines(...entries),
  )
  if (offered === undefined)
    throw new ProviderRefusal(
      'provider_changed',
      'The authorization could not be finished. Ask for a new link.',
    )
  return offered
}
