import type { Broker } from '../broker.ts'
import { type Exchanging, type OfferedChoice, requestedAccount } from '../domain/authorization.ts'
import { coveredScopes } from '../domain/scopes.ts'
import type { Grant } from '../providers/grant.ts'
import type { Installation } from '../providers/installations.ts'
import { keptInstallation } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { type Offered, optionIn } from './offer-choice.ts'

// The grant `installation`: after the code was redeemed, the provider itself says which installations are the user's.
// Without any, our page leads to where people install the client.

/** Lists the installations with the token of the user's code. The token is not kept: nothing else needs it. */
export async function installationOf(
  broker: Broker,
  claimed: Exchanging,
  registered: RegisteredClient,
  token: Grant,
): Promise<Grant | Offered> {
  const all = await broker.oauth.installations(registered, token)
  const requested = requestedAccount(claimed)
  const ofAccount = all.filter(({ id, name }) => id === requested || name === requested)
  const options = ofAccount.length > 0 ? ofAccount : all
  const [only, ...others] = options
  return only !== undefined && others.length === 0
    ? grantOf(registered, claimed, only)
    : { choice: { options } }
}

/** The grant of the installation that the browser chose among those that were offered. */
export function chosenInstallation(
  registered: RegisteredClient,
  claimed: Exchanging,
  choice: OfferedChoice,
  response: URLSearchParams,
): Grant {
  return grantOf(registered, claimed, optionIn(choice, response))
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
