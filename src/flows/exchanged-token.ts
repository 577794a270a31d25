import type { Broker } from '../broker.ts'
import { type Connection, chooseConnection } from '../domain/connection.ts'
import { derivedFrom } from '../domain/derived-account.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { CachedConnection } from '../services/release.ts'
import { cachedConnections } from './cached-connections.ts'
import { isSubject } from './exchange-subject.ts'
import { tokenOf } from './shared-token.ts'

/** The connection whose token is exchanged, or the consent that is missing for it. */
export interface SubjectNeed {
  readonly entry: ProviderEntry
  /** The account that is asked for. */
  readonly account?: string | undefined
  readonly connection?: Connection | undefined
}

/**
 * The connection with the token of the needed scopes for which the token of the user's connection to `subject` is
 * exchanged: the one that `account` names, else the default. It may hold no token yet: it counts as expired then.
 * Without `held`, the user has to connect the subject first.
 */
export async function findExchangedToken(
  broker: Broker,
  need: {
    readonly projectId: string
    readonly userId: string
    readonly scopes: readonly string[]
    /** As for connections of the subject; or the id of a connection that holds an exchanged token. */
    readonly account?: string
  },
  entry: ProviderEntry,
  subject: ProviderEntry,
): Promise<{ readonly subject: SubjectNeed; readonly held?: CachedConnection }> {
  const { projectId, userId, scopes: needed, account } = need
  const owner = { projectId, userId }
  const exchanged = await cachedConnections(broker, { ...owner, providerUid: entry.uid })
  const named = exchanged.find(({ connection }) => connection.id === account)?.connection
  const ofSubject = await cachedConnections(broker, { ...owner, providerUid: subject.uid })
  const connection = chooseConnection(
    ofSubject.map((cached) => cached.connection),
    named === undefined ? account : derivedFrom(named.account.id),
  )
  const asked = { entry: subject, account: named === undefined ? account : connection?.id, connection }
  if (!isSubject(broker, subject, connection)) return { subject: asked }
  const { id, account: whose, consentedAt } = connection
  const scopes = needed.length > 0 ? needed : (named?.scopes ?? entry.provider.defaultScopes)
  const held = await tokenOf(
    broker,
    entry,
    { ...owner, id, name: whose.name, consentedAt },
    [...new Set(scopes)].sort(),
  )
  return { subject: asked, held }
}
