import type { Broker } from '../broker.ts'
import {
  type AttemptSecrets,
  currentStep,
  type Exchanging,
  requestedAccount,
  type Step,
} from '../domain/authorization.ts'
import { type Connection, chooseConnection } from '../domain/connection.ts'
import { newOwnedId } from '../domain/ids.ts'
import { missingScopes } from '../domain/scopes.ts'
import { askedValues } from '../providers/connection-values.ts'
import { extraOfResponse, mergedExtra } from '../providers/extra-members.ts'
import type { Grant } from '../providers/grant.ts'
import { toldValues } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { providerIdentity } from './get-provider.ts'
import { countWithheld, grantedScopes } from './granted-scopes.ts'
import { sealGrant } from './seal-grant.ts'

/** What the authorization keeps about a consent besides the connection. */
export type ConsentFacts = Pick<Step, 'missingScopes' | 'previousAccount'>

/**
 * The connection that a grant creates or renews, with its tokens sealed but not stored yet, and the scopes or account in
 * which the consent differs from the request. The grant's account is that of `accountWithin`. Throws `ProviderRefusal`
 * (`account_mismatch`) when another account approved than the requested one.
 */
export async function connectionOfGrant(
  broker: Broker,
  claimed: Exchanging,
  entry: ProviderEntry,
  grant: Grant,
  { response, given }: { readonly response: URLSearchParams; readonly given: AttemptSecrets['given'] },
): Promise<{ readonly connection: Connection; readonly consent: ConsentFacts }> {
  const { projectId, userId } = claimed
  const owner = { projectId, userId, providerUid: entry.uid }
  const known = await broker.store.connections.ofOwner(owner)
  if (isAnotherAccount(known, requestedAccount(claimed), grant))
    throw new ProviderRefusal(
      'account_mismatch',
      `Another account approved than the one that was asked for, so nothing was stored. Start again and choose the right one at ${entry.provider.displayName}.`,
    )
  const { id, account } = whichConnection(known, requestedAccount(claimed), grant, () =>
    newOwnedId('conn', projectId, userId),
  )
  const identity = providerIdentity(broker, entry)
  const renewed = known.find((one) => one.id === id)
  const standing = renewed?.status === 'active' && renewed.providerIdentity === identity
  const earlier = standing ? renewed.scopes : []
  const scopes = grantedScopes(entry.provider, claimed, grant, response, earlier)
  const { accessToken, refreshToken } = grant
  const { callbackMembers = {} } = factsOf(entry.provider)
  const extra = mergedExtra(
    extraOfResponse(response, callbackMembers, [accessToken, refreshToken]),
    grant.extra,
  )
  const kept = toldValues(entry.provider, {
    authorizationResponse: response,
    tokenResponse: grant.extra,
    userInfo: grant.userInfo,
    given,
  })
  const tokens = sealGrant(
    broker,
    { ...owner, id },
    {
      ...grant,
      userInfo: grant.userInfo ?? {},
      ...(extra !== undefined && { extra }),
      ...(kept !== undefined && { kept }),
      scopes,
    },
    { provider: entry.provider },
  )
  const missing = missingScopes(currentStep(claimed).scopes, scopes, factsOf(entry.provider))
  const previousAccount = changedFrom(known, requestedAccount(claimed), id, account)
  const connection: Connection = {
    ...owner,
    ...tokens,
    id,
    account,
    status: 'active',
    providerIdentity: identity,
    isDefault: false,
    generation: 1,
    unansweredRefreshes: 0,
    createdAt: tokens.receivedAt,
    consentedAt: claimed.attempt.startedAt,
    withheldScopes: countWithheld(renewed, missing),
  }
  const consent = {
    ...(missing.length > 0 && { missingScopes: missing }),
    ...(previousAccount !== undefined && { previousAccount }),
  }
  return { connection, consent }
}

/** The user's default account before this grant, if the grant is for another one and no account was requested. */
function changedFrom(
  known: readonly Connection[],
  meant: string | undefined,
  id: string,
  account: Connection['account'],
): ConsentFacts['previousAccount'] {
  const before = meant === undefined ? chooseConnection(known) : undefined
  if (before === undefined || before.id === id || before.account.id === account.id) return undefined
  return { id: before.account.id, name: before.account.name, connectionId: before.id }
}

/** The grant's account. If the provider names none, the values that the user gave identify it. */
export function accountWithin(
  provider: Provider,
  account: Grant['account'],
  given: AttemptSecrets['given'] = {},
): Grant['account'] {
  if (account.id !== '') return account
  return { ...account, id: Object.values(askedValues(provider, given)).join(':') }
}

/** Whether a particular account was requested and the provider names another. */
function isAnotherAccount(
  known: readonly Connection[],
  meant: string | undefined,
  { account }: Grant,
): boolean {
  if (meant === undefined || meant === 'new' || account.id === '') return false
  const connection = chooseConnection(known, meant)
  if (connection === undefined) return account.id !== meant && account.name !== meant
  const wasNamed = connection.account.id !== '' && connection.account.id !== connection.id
  return wasNamed && connection.account.id !== account.id
}

/**
 * The connection of the grant's account. If the provider does not name the account, it is the requested connection; for
 * an additional account it is a new one, which has its own id as account id.
 */
function whichConnection(
  known: readonly Connection[],
  meant: string | undefined,
  { account }: Grant,
  newId: () => string,
): Pick<Connection, 'id' | 'account'> {
  const unnamed = known.find((one) => one.account.id === '')
  if (account.id !== '') {
    // a connection whose account was unknown is this one: only now does the provider name the account
    const same = known.find((one) => one.account.id === account.id) ?? (meant === 'new' ? undefined : unnamed)
    return { id: same?.id ?? newId(), account }
  }
  const same = meant === 'new' ? undefined : chooseConnection(known, meant)
  if (same !== undefined) return same
  const id = newId()
  return { id, account: { id: unnamed === undefined ? '' : id, name: account.name } }
}
