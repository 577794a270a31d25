import type { Broker } from '../broker.ts'
import { type Connection, NEW_CONNECTION } from '../domain/connection.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { newOwnedId } from '../domain/ids.ts'
import type { CheckedCredentials } from '../providers/check-credentials.ts'
import { askedValues, type ConnectionValues } from '../providers/connection-values.ts'
import type { CredentialsSettings } from '../providers/credentials.ts'
import type { Grant } from '../providers/grant.ts'
import { collectValues } from '../providers/kept-values.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { accountWithin } from './connection-of-grant.ts'
import { getActiveProvider, providerIdentity, registeredClient } from './get-provider.ts'
import { sealGrant } from './seal-grant.ts'
import { faultsOfFields, typedSecrets } from './typed-fields.ts'

/** What an administrator has of a user, in place of the user's own form. */
export interface GivenCredentials {
  readonly projectId: string
  readonly userId: string
  /** An entry's id, or a well-known one. */
  readonly provider: string
  /** All fields of the entry, secrets too. */
  readonly fields: ConnectionValues
  readonly isDefault: boolean
}

/**
 * Checks the fields at the service, and stores them as a connection of the user. A connection of the same account gets
 * them in place of its own. Throws `invalid_request`, also where the service refuses them, `provider_not_found`,
 * `provider_inactive`, and `provider_unavailable` where the service gives no clear answer.
 */
export async function addTypedConnection(
  broker: Broker,
  { projectId, userId, provider: named, fields, isDefault }: GivenCredentials,
): Promise<Connection> {
  const entry = await getActiveProvider(broker, projectId, { id: named, providerId: named })
  const { provider } = entry
  const checked = await checkFields(broker, entry, fields)
  const { grant, given } = checked
  const owner = { projectId, userId, providerUid: entry.uid }
  const account = accountWithin(provider, grant.account, given)
  const known = (await broker.store.connections.ofOwner(owner)).find(
    (connection) => connection.account.id === account.id,
  )
  const id = known?.id ?? newOwnedId('conn', projectId, userId)
  const connection = typedConnection(broker, entry, { ...owner, id, account }, checked)
  const audit = broker.audit.of(projectId, {
    action: 'connection.imported',
    userId,
    providerId: entry.id,
    connectionId: id,
    scopes: [],
    fingerprint: broker.audit.fingerprint(grant.accessToken),
  })
  const options = { replaces: true, makeDefault: isDefault }
  const result = await broker.store.connections.addImported(connection, options, audit)
  if (result === 'present')
    throw new BrokerError('store_unavailable', 'The account was connected meanwhile. Try again.', {
      retryAfter: 1,
    })
  return (await broker.store.connections.find(id)) ?? connection
}

/** What people typed, once the service has taken it. */
export interface CheckedFields {
  readonly grant: Grant
  /** The values of the fields that are not secret. */
  readonly given: ConnectionValues
}

/**
 * Checks the fields at the service. Throws `invalid_request`, also where the service refuses them, and
 * `provider_unavailable` where it gives no clear answer.
 */
export async function checkFields(
  broker: Broker,
  entry: ProviderEntry,
  fields: ConnectionValues,
): Promise<CheckedFields> {
  const { provider } = entry
  const { credentials } = provider
  if (credentials === undefined)
    throw invalidMember(
      'provider_id',
      'conflict',
      `Users approve at ${provider.displayName}, and type nothing here: begin a consent by POST /v1/auth/authorize.`,
    )
  const given = askedValues(provider, fields)
  const secrets = typedSecrets(credentials, fields)
  refuseFaults(credentials, fields, faultsOfFields(provider, credentials, given, secrets))
  const registered = registeredClient(broker, entry, given)
  const checked = await broker.oauth.checkCredentials(registered, { secrets, open: given })
  return { grant: grantIn(checked, credentials, provider.displayName), given }
}

/** The connection that holds the fields, sealed. */
export function typedConnection(
  broker: Broker,
  entry: ProviderEntry,
  row: Pick<Connection, 'id' | 'projectId' | 'userId' | 'providerUid' | 'account'>,
  { grant, given }: CheckedFields,
): Connection {
  const { provider } = entry
  const tokens = sealGrant(
    broker,
    row,
    {
      ...grant,
      scopes: [],
      userInfo: grant.userInfo ?? {},
      kept: collectValues(provider, { userInfo: grant.userInfo, given }),
    },
    { provider },
  )
  return {
    ...NEW_CONNECTION,
    ...row,
    ...tokens,
    providerIdentity: providerIdentity(broker, entry),
    createdAt: tokens.receivedAt,
    consentedAt: tokens.receivedAt,
  }
}

function refuseFaults(
  { fields: declared }: CredentialsSettings,
  fields: ConnectionValues,
  wrong: ReadonlyMap<string, string>,
): void {
  const unknown = Object.keys(fields).filter((name) => !Object.hasOwn(declared, name))
  const faults = [
    ...[...wrong].map(([name, fault]) => {
      const path = `fields.${name}`
      return {
        path,
        code: fault === 'is missing' ? 'missing' : 'invalid',
        message: `${path} ${fault}.`,
      } as const
    }),
    ...unknown.map((name) => {
      const path = `fields.${name.slice(0, 100)}`
      const known = Object.keys(declared).join(', ')
      return {
        path,
        code: 'unknown_member',
        message: `${path} is no field of the provider; it has ${known}.`,
      } as const
    }),
  ]
  const [first] = faults
  if (first !== undefined) throw new BrokerError('invalid_request', first.message, { faults })
}

function grantIn(checked: CheckedCredentials, { unchecked }: CredentialsSettings, name: string): Grant {
  if (checked.outcome === 'accepted') return checked.grant
  if (checked.outcome === 'refused')
    throw invalidMember('fields', 'invalid', `${name} does not accept these fields, so nothing was stored.`)
  if (unchecked && checked.grant !== undefined) return checked.grant
  throw new BrokerError(
    'provider_unavailable',
    `${name} gave no clear answer about these fields, so nothing was stored.`,
    { retryAfter: 5 },
  )
}
