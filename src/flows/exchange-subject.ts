import type { Broker } from '../broker.ts'
import type { Connection } from '../domain/connection.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { typeOf } from '../providers/provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { isUserless, ownerOf } from '../providers/provider-grant.ts'
import { providerIdentity, providersOf, requireActive } from './get-provider.ts'
import type { ProviderBook } from './provider-book.ts'

// The entry whose connections' tokens an entry exchanges for its own (RFC 8693).

type Exchanging = Pick<ProviderEntry, 'id' | 'provider'>

/** Refuses an entry that an administrator gives a subject which cannot be exchanged. Throws `invalid_request`. */
export async function checkSubject(broker: Broker, projectId: string, entry: Exchanging): Promise<void> {
  if (entry.provider.grant?.subject === undefined) return
  const fault = subjectFault(await providersOf(broker, projectId), entry)
  if (fault !== undefined) throw invalidMember('oauth2.grant.subject.connection', 'invalid', fault)
}

/**
 * The entry whose token is exchanged. Throws `provider_incomplete` when it was deleted or changed so that its tokens cannot
 * be exchanged, and `provider_inactive`.
 */
export function getSubjectEntry(book: ProviderBook, entry: Exchanging): ProviderEntry {
  const fault = subjectFault(book, entry)
  const subject = namedSubject(book, entry)
  if (fault !== undefined || subject === undefined)
    throw new BrokerError('provider_incomplete', `The provider "${entry.id}" cannot be used. ${fault}`)
  return requireActive(subject)
}

/** Throws `invalid_request` while other entries of the project exchange tokens of the entry `id`. */
export async function refuseWhileExchanged(broker: Broker, projectId: string, id: string): Promise<void> {
  const { entries } = await providersOf(broker, projectId)
  const others = entries.filter(({ provider }) => provider.grant?.subject?.connection === id)
  if (others.length > 0)
    throw invalidMember(
      'id',
      'conflict',
      `The provider "${id}" cannot be deleted: ${others.map((other) => `"${other.id}"`).join(', ')} exchanges its tokens (oauth2.grant.subject). Delete or change that first.`,
    )
}

/** Whether the connection's token may be exchanged: it works, and was approved for the present settings of the entry. */
export function isSubject(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection | undefined,
): connection is Connection {
  return (
    connection?.providerUid === entry.uid &&
    connection.status === 'active' &&
    connection.providerIdentity === providerIdentity(broker, entry)
  )
}

function namedSubject(book: ProviderBook, { provider: { grant } }: Exchanging): ProviderEntry | undefined {
  const id = grant?.subject?.connection ?? ''
  const entry = book.byId(id)
  return entry?.id === id ? entry : undefined
}

function subjectFault(book: ProviderBook, entry: Exchanging): string | undefined {
  const id = entry.provider.grant?.subject?.connection
  const named = `oauth2.grant.subject.connection names "${id}"`
  if (id === entry.id) return `${named}, the entry itself.`
  const subject = namedSubject(book, entry)
  if (subject === undefined) return `${named}, and this project has no such provider. Add it first.`
  const { provider, source } = subject
  if (typeOf(provider) !== 'oauth2')
    return `${named}, whose type is ${typeOf(provider)}: only tokens of OAuth 2 can be exchanged.`
  if (provider.grant?.type === 'token_exchange')
    return `${named}, whose tokens are themselves exchanged ones. Name the provider that users connect.`
  if (isUserless(provider) || ownerOf(provider) === 'project')
    return `${named}, whose connections are no user's. Only tokens of users' own connections are exchanged.`
  if (provider.dpop !== undefined)
    return `${named}, whose tokens are bound to a key (dpop), so no other server can accept them.`
  if (source === 'server')
    return `${named}, which opens a remote MCP server: its tokens are for that server alone.`
  return undefined
}
