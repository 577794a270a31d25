import type { Broker } from '../broker.ts'
import {
  type AttemptSecrets,
  currentStep,
  type Exchanging,
  type OfferedOption,
  requestedAccount,
} from '../domain/authorization.ts'
import { chooseConnection, isScopeSet } from '../domain/connection.ts'
import type { Grant } from '../providers/grant.ts'
import { keptTenant, type ToldValues } from '../providers/kept-values.ts'
import type { RegisteredClient } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { accountWithin } from './connection-of-grant.ts'
import { type Offered, optionIn } from './offer-choice.ts'
import { revokeUnlessConnected } from './revoke-grant.ts'
import { accountAt } from './tenant-account.ts'
import { typedGrant } from './typed-grant.ts'

// A connection is for one tenant where the entry has a `choices_request`: Atlassian's sites, Xero's organizations. The provider
// itself lists those of the user. While the user chooses, the grant is held, sealed in the row of the authorization.

/** What the token response of a code leads to. */
interface Redeemed {
  readonly registered: RegisteredClient
  readonly grant: Grant
  /** The authorization response. */
  readonly response: URLSearchParams
  readonly given: AttemptSecrets['given']
  /** Values of the authorization response. */
  readonly told: ToldValues | undefined
}

/**
 * Lists the tenants with the token of the user's code. Throws `ProviderRefusal` when there is none, or when none is of the
 * account that was requested; the grant is revoked then, since nothing else has its tokens.
 */
export async function tenantOf(
  broker: Broker,
  claimed: Exchanging,
  redeemed: Redeemed,
): Promise<Grant | Offered> {
  const { registered, grant } = redeemed
  try {
    const options = await offeredTo(broker, claimed, redeemed)
    const [only, ...others] = options
    if (only !== undefined && others.length === 0) return grantFor(grant, only)
    const { response, told } = redeemed
    const kept = { ...told, ...grant.kept }
    return { choice: { options }, held: { grant: { ...grant, kept }, response } }
  } catch (error) {
    await revokeUnlessConnected(broker, claimed, registered, grant)
    throw error
  }
}

/** The grant that was held, for the tenant that the browser chose among those that were offered. */
export function chosenTenant(choice: Offered['choice'], response: URLSearchParams): Grant {
  return grantFor(typedGrant(response), optionIn(choice, response))
}

function grantFor(grant: Grant, option: OfferedOption): Grant {
  const kept = { ...grant.kept, ...option.kept, ...keptTenant(option.id) }
  return { ...grant, kept, account: accountAt(option, grant.account) }
}

/** The tenants of the account that was requested; of any account, all. */
async function offeredTo(
  { oauth, store }: Broker,
  claimed: Exchanging,
  { registered, grant, given }: Redeemed,
): Promise<readonly OfferedOption[]> {
  const { provider } = registered
  const all = await oauth.tenants(registered, grant)
  if (all.length === 0)
    throw new ProviderRefusal(
      'nothing_to_choose',
      `${provider.displayName} lists no account, site or organization that this approval covers, so nothing was stored. Have one added to your account there, then start again from your application.`,
    )
  const requested = requestedAccount(claimed)
  if (requested === undefined || requested === 'new') return all
  const { projectId, userId } = claimed
  const { providerUid } = currentStep(claimed)
  const owned = await store.connections.ofOwner({ projectId, userId, providerUid })
  const expected = chooseConnection(
    owned.filter((row) => !isScopeSet(row)),
    requested,
  )?.account.id
  const isAt = (option: OfferedOption, account: Grant['account']) =>
    accountWithin(provider, accountAt(option, account), given).id === expected
  const matching = all.filter((option) =>
    expected === undefined
      ? option.id === requested || option.name === requested
      : expected === '' || isAt(option, grant.account) || isAt(option, { id: '', name: '' }),
  )
  if (matching.length === 0)
    throw new ProviderRefusal(
      'account_mismatch',
      `${provider.displayName} does not list the account that was requested for the one that approved, so nothing was stored. Start again, and approve with the right account at ${provider.displayName}.`,
    )
  return matching
}
