import type { Broker } from '../broker.ts'
import {
  type AttemptSecrets,
  currentStep,
  type Exchanging,
  requestedAccount,
  type Step,
} from '../domain/authorization.ts'
import {
  type Account,
  type Connection,
  chooseConnection,
  isScopeSet,
  NEW_CONNECTION,
} from '../domain/connection.ts'
import { newOwnedId } from '../domain/ids.ts'
import { missingScopes } from '../domain/scopes.ts'
import { valuesInUrls } from '../providers/connection-values.ts'
import { extraOfResponse, mergedExtra } from '../providers/extra-members.ts'
import type { Grant } from '../providers/grant.ts'
import { collectValues, tenantIn } from '../providers/kept-values.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import { providerIdentity } from './get-provider.ts'
import { countWithheld, grantedScopes } from './granted-scopes.ts'
import { sealGrant } from './seal-grant.ts'

/** What the authorization keeps about a consent besides the connection. */
export type ConsentDetails = Pick<Step, 'missingScopes' | 'previousAccount'>

/**
 * The connection that a grant creates or renews, with its tokens sealed but not stored yet, and the scopes or account
 * in which the consent differs from the request. The grant's account is that of `accountWithin`. Throws
 * `ProviderRefusal`: `account_mismatch` when another account approved than the requested one, `provider_bad_response`
 * when the provider should have named the account and did not.
 */
export async function connectionOfGrant(
  broker: Broker,
  claimed: Exchanging,
  entry: ProviderEntry,
  grant: Grant,
  { response, given }: { readonly response: URLSearchParams; readonly given: AttemptSecrets['given'] },
): Promise<{ readonly connection: Connection; readonly consent: ConsentDetails }> {
  const { projectId, userId } = claimed
  const owner = { projectId, userId, providerUid: entry.uid }
  const known = (await broker.store.connections.ofOwner(owner)).filter((row) => !isScopeSet(row))
  const requested = requestedAccount(claimed)
  const unnamedId = accountWithin(entry.provider, { id: tenantIn(grant.kept) ?? '', name: '' }, given).id
  const approval = { known, requested, account: grant.account, unnamedId }
  checkAccount(entry.provider, approval)
  const { id, account } = whichConnection(approval, () => newOwnedId('conn', projectId, userId))
  const identity = providerIdentity(broker, entry)
  const renewed = known.find((candidate) => candidate.id === id)
  const isUsable = renewed?.status === 'active' && renewed.providerIdentity === identity
  const earlier = isUsable ? renewed.scopes : []
  const scopes = grantedScopes(entry.provider, claimed, grant, response, earlier)
  const { accessToken, refreshToken } = grant
  const { callbackMembers = {} } = factsOf(entry.provider)
  const tokens = sealGrant(
    broker,
    { ...owner, id, account },
    {
      ...grant,
      userInfo: grant.userInfo ?? {},
      extra: mergedExtra(
        extraOfResponse(response, callbackMembers, [accessToken, refreshToken]),
        grant.extra,
      ),
      kept: collectValues(
        entry.provider,
        {
          authorizationResponse: response,
          tokenResponse: grant.extra,
          userInfo: grant.userInfo,
          given,
        },
        grant.kept,
      ),
      scopes,
    },
    { provider: entry.provider },
  )
  const missing = missingScopes(currentStep(claimed).scopes, scopes, factsOf(entry.provider))
  const previousAccount = changedFrom(known, requested, id, account)
  const connection: Connection = {
    ...NEW_CONNECTION,
    ...owner,
    ...tokens,
    id,
    account,
    providerIdentity: identity,
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
  requested: string | undefined,
  id: string,
  account: Connection['account'],
): ConsentDetails['previousAccount'] {
  const before = requested === undefined ? chooseConnection(known) : undefined
  if (before === undefined || before.id === id || before.account.id === account.id) return undefined
  return { id: before.account.id, name: before.account.name, connectionId: before.id }
}

/**
 * The account with its id as connections store it: it begins with the values that the user gave, because several
 * servers may give the same id. If the provider names no account, these values alone are the id.
 */
export function accountWithin(
  provider: Provider,
  account: Account,
  given: AttemptSecrets['given'] = {},
): Account {
  // a provider that could name a scope set would hide its connection from the user
  if (isScopeSet({ account })) return accountWithin(provider, { ...account, id: `_${account.id}` }, given)
  const values = valuesInUrls(provider, given)
  if (values === '' || account.id === values || account.id.startsWith(`${values}:`)) return account
  return { ...account, id: account.id === '' ? values : `${values}:${account.id}` }
}

/** Whether the provider has not named the connection's account, whose id is then `unnamedId`, by `accountWithin`. */
export function isUnnamed({ id, account }: Pick<Connection, 'id' | 'account'>, unnamedId: string): boolean {
  return account.id === '' || account.id === unnamedId || account.id === id
}

/** Whether an account that the provider did not name, so that its id is `unnamedId`, may be the account `accountId`. */
export function mayBeAccount(accountId: string, unnamedId: string): boolean {
  return unnamedId === '' || accountId.startsWith(`${unnamedId}:`)
}

/** The account that approved, and what it is compared with. */
interface Approval {
  readonly known: readonly Connection[]
  readonly requested: string | undefined
  readonly account: Account
  readonly unnamedId: string
}

/**
 * Throws `ProviderRefusal` if the grant's account is another one than the requested one, or if it may be another one
 * because the provider did not name it.
 */
function checkAccount(
  { displayName, userInfoRequest }: Provider,
  { known, requested, account, unnamedId }: Approval,
): void {
  if (requested === 'new') return
  const expected = chooseConnection(known, requested)
  const isExpected =
    expected === undefined
      ? requested === undefined || account.id === requested || account.name === requested
      : isUnnamed(expected, unnamedId) || expected.account.id === account.id
  if (isExpected) return
  if (
    mayBeAccount(expected?.account.id ?? requested ?? '', account.id) &&
    userInfoRequest?.triggers.onTokenGrant
  )
    throw new ProviderRefusal(
      'provider_bad_response',
      `${displayName} did not say which account approved, so nothing was stored: it may not be the account that is connected. Start again from your application. If it happens again, tell the operator of this service that the user info request fails.`,
    )
  if (requested !== undefined && account.id !== '')
    throw new ProviderRefusal(
      'account_mismatch',
      `A different account approved from the one that was requested, so nothing was stored. Start again and choose the right one at ${displayName}.`,
    )
}

/**
 * The id and account of the grant's connection. If the provider does not name the account, the requested connection is
 * renewed. For an additional account there is a new one; its own id is the account id if the empty account id is taken.
 */
function whichConnection(
  { known, requested, account, unnamedId }: Approval,
  newId: () => string,
): Pick<Connection, 'id' | 'account'> {
  if (account.id !== '') {
    const same = known.find((connection) => connection.account.id === account.id)
    if (same !== undefined || requested === 'new') return { id: same?.id ?? newId(), account }
    // a connection whose account was unknown is renewed: only now does the provider name the account
    const unnamed = known.filter((connection) => isUnnamed(connection, unnamedId))
    const renewed =
      chooseConnection(unnamed, requested ?? account.name) ??
      (requested === undefined ? chooseConnection(unnamed) : undefined)
    return { id: renewed?.id ?? newId(), account }
  }
  const same = requested === 'new' ? undefined : chooseConnection(known, requested)
  if (same !== undefined) return same
  const id = newId()
  const isTaken = known.some((connection) => connection.account.id === '')
  return { id, account: { id: isTaken ? id : '', name: account.name } }
}
