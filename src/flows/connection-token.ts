import type { Broker } from '../broker.ts'
import type { Authorization, Step } from '../domain/authorization.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError } from '../domain/errors.ts'
import { isProxyOnly } from '../providers/provider-grant.ts'
import type { Release } from '../services/release.ts'
import { causeOfStored } from './causes/explain-connection.ts'
import { getAccessToken } from './get-access-token.ts'
import { getConnection } from './get-connection.ts'
import { findProviderByUid } from './get-provider.ts'
import { releaseTokens } from './release-tokens.ts'
import { type TokenNeed, unavailableError } from './token-need.ts'

type Refreshing = Pick<TokenNeed, 'forceRefresh'>

/**
 * Releases the token of a connection, refreshed if necessary. Throws `not_found`, also if the provider was removed, `proxy_only`,
 * `authorization_required` if the user must approve again, and `provider_unavailable`.
 */
export async function getConnectionToken(
  broker: Broker,
  projectId: string,
  id: string,
  options: Refreshing,
): Promise<Release> {
  const connection = await getConnection(broker, projectId, id)
  await refuseProxyOnly(broker, connection)
  const release = await findConnectionToken(broker, connection, options)
  if (release !== undefined) return release
  const entry = await findProviderByUid(broker, projectId, connection.providerUid)
  if (entry === undefined) throw new BrokerError('not_found', 'The provider of this connection was removed.')
  throw new BrokerError(
    'authorization_required',
    `The user must approve ${entry.provider.displayName} again: authorization required. Begin one by POST /v1/auth/authorize.`,
    { why: await causeOfStored(broker, id) },
  )
}

async function refuseProxyOnly(broker: Broker, { projectId, providerUid }: Connection): Promise<void> {
  const entry = await findProviderByUid(broker, projectId, providerUid)
  if (entry === undefined || !isProxyOnly(entry.provider)) return
  throw new BrokerError(
    'proxy_only',
    `What ${entry.provider.displayName} is used with is not handed out. Send requests to its API through /proxy/${entry.id}/, or call a tool.`,
  )
}

/** Like `getConnectionToken`, but `undefined` if the user must approve again or the provider was removed. */
export async function findConnectionToken(
  broker: Broker,
  connection: Connection,
  options?: Refreshing,
): Promise<Release | undefined> {
  const { id, providerUid } = connection
  const [release] = await releaseTokens(
    broker,
    () => tokensOf(broker, connection, [{ providerUid, connectionId: id }], options),
    (found) => found,
  )
  return release
}

/**
 * Releases the tokens of a completed authorization, in the order of its steps. If one is missing, releases none, because
 * callers expect the token of the first provider at the first place. Throws `provider_unavailable`.
 */
export async function authorizationTokens(
  broker: Broker,
  authorization: Authorization,
): Promise<readonly Release[]> {
  return releaseTokens(
    broker,
    () => tokensOf(broker, authorization, authorization.steps),
    (found) => found,
  )
}

async function tokensOf(
  broker: Broker,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
  steps: readonly Pick<Step, 'providerUid' | 'connectionId' | 'brings'>[],
  options?: Refreshing,
): Promise<readonly Release[]> {
  const releases: Release[] = []
  for (const { providerUid: uid, connectionId: account, brings } of steps) {
    if (account === undefined) continue
    for (const { providerUid, scopes } of brings ?? [{ providerUid: uid, scopes: [] }]) {
      const entry = await findProviderByUid(broker, projectId, providerUid)
      if (entry === undefined) return []
      const token = await getAccessToken(broker, { projectId, userId, entry, scopes, account, ...options })
      if (token.outcome === 'provider_unavailable') throw unavailableError(token)
      if (token.outcome === 'authorization_required') return []
      releases.push(token)
    }
  }
  return releases
}
