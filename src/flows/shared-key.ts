import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import { sharedKeyAccountId } from '../domain/derived-account.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newOwnedId } from '../domain/ids.ts'
import { NO_USER, type SharedConnection } from '../domain/shared-connection.ts'
import type { ConnectionValues } from '../providers/connection-values.ts'
import { readSecrets } from '../providers/credentials.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { UnsealError } from '../store/seal.ts'
import { checkFields, typedConnection } from './add-typed-connection.ts'
import { providerIdentity } from './get-provider.ts'
import { markUnusable } from './mark-unusable.ts'
import { openAccess, openRefreshToken } from './seal-grant.ts'
import { askOperator, findKey } from './shared-token.ts'

// The key of a connection of the project: what users would type, sealed in one connection without a user. It stays when
// the sharing changes, because each release checks the sharing again.

/**
 * The connection that holds the fields, once the service has taken them; `undefined` without fields. Throws
 * `invalid_request`, also where the service refuses them, and `provider_unavailable` where it gives no clear answer.
 */
export async function sharedKey(
  broker: Broker,
  entry: ProviderEntry,
  shared: SharedConnection,
  fields: ConnectionValues | undefined,
): Promise<Connection | undefined> {
  if (fields === undefined) return undefined
  if (entry.provider.credentials === undefined)
    throw invalidMember(
      'fields',
      'conflict',
      `"${entry.id}" asks for its tokens itself, and takes no fields.`,
    )
  const checked = await checkFields(broker, entry, fields)
  const { id, projectId, providerUid, name } = shared
  const known = (await findKey(broker, shared))?.connection
  const row = {
    id: known?.id ?? newOwnedId('conn', projectId, NO_USER),
    projectId,
    userId: NO_USER,
    providerUid,
    account: { id: sharedKeyAccountId(id), name: checked.grant.account.name || name },
  }
  const key = typedConnection(broker, entry, row, checked)
  // the clock of another node may be ahead; this key is the later one
  return { ...key, consentedAt: Math.max(key.consentedAt, known?.consentedAt ?? 0) }
}

/**
 * Has the service check the stored key again. Throws `authorization_required` when it is refused, which is noted, and when
 * it may not be sent because the entry has other endpoints now. Nothing is stored when the key was replaced or the
 * connection deleted meanwhile: the check was of a key that must not come back.
 */
export async function testKey(broker: Broker, entry: ProviderEntry, shared: SharedConnection): Promise<void> {
  const connection = (await findKey(broker, shared))?.connection
  const fields = connection && openFields(broker, entry, connection)
  if (fields === undefined || connection?.providerIdentity !== providerIdentity(broker, entry))
    throw askOperator(broker, entry)
  try {
    const key = await sharedKey(broker, entry, shared, fields)
    const current = await broker.store.connections.find(connection.id)
    if (current?.generation === connection.generation)
      await broker.store.sharedConnections.change(shared, shared, undefined, key)
  } catch (error) {
    if (!(error instanceof BrokerError && error.code === 'invalid_request')) throw error
    await markUnusable(broker, entry, connection, { reason: 'credential_refused' })
    throw askOperator(broker, entry)
  }
}

/**
 * Whether a key stays in use although the API refused it: the service takes it by its own check, or says nothing clear. A 401
 * may be about one path alone. Without a check the API's word counts against a user's own key, and not against one of the
 * project: each user of a shared key can have the API refuse requests, and must not take the key from all others so.
 */
export async function isStillTaken(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
): Promise<boolean> {
  if (connection.providerIdentity !== providerIdentity(broker, entry)) return false
  if (entry.provider.testRequest === undefined) {
    if (connection.userId !== NO_USER) return false
    broker.log.warn(
      { provider: entry.id, connection: connection.id },
      'an API refuses a key of the project, and its provider has no test request that would tell whether the key is wrong: it stays in use',
    )
    return true
  }
  const fields = openFields(broker, entry, connection)
  if (fields === undefined) return false
  try {
    await checkFields(broker, entry, fields)
    return true
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return error.code !== 'invalid_request'
  }
}

/** What was typed; `undefined` if it was altered in the database. */
function openFields(
  broker: Broker,
  { provider }: ProviderEntry,
  connection: Connection,
): ConnectionValues | undefined {
  try {
    const { accessToken, kept } = openAccess(broker, connection)
    const typed = openRefreshToken(broker, connection) ?? accessToken
    return { ...keptValuesOf(provider, kept), ...readSecrets(typed) }
  } catch (error) {
    if (error instanceof UnsealError) return undefined
    throw error
  }
}
