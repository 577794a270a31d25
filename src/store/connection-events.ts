import { eq } from 'drizzle-orm'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { ConnectionEnding } from '../domain/webhook.ts'
import type { Announce, ConnectionOwner } from './changes.ts'
import type { Database } from './database.ts'
import { eventWrites, type NewEvent, type Receivers } from './event-writes.ts'
import type { ById, Steps } from './statement.ts'

type Owned = ConnectionOwner & ById

/** Writes the events of connections, each in the transaction that changes the connection. */
export function connectionEvents(database: Database) {
  const { tables, query, statement } = database
  const { providers } = tables
  const { findReceivers, nextSequence, numbersAfter, add } = eventWrites(database)

  const providerId = statement((p: { uid: string }) =>
    query.select({ id: providers.id }).from(providers).where(eq(providers.uid, p.uid)),
  )

  function* addEvent(
    announce: Announce,
    receivers: Receivers,
    { id, projectId, providerUid, userId }: Owned,
    { type, sequence, data }: Pick<NewEvent, 'type' | 'sequence'> & { readonly data: object },
  ): Steps<void> {
    const [provider] = yield* providerId({ uid: providerUid })
    yield* add(announce, receivers, {
      projectId,
      type,
      key: id,
      sequence,
      data: { id, user_id: userId, provider_id: provider?.id, ...data },
    })
  }

  function* addNextEvent(
    announce: Announce,
    receivers: Receivers,
    connection: Owned,
    type: NewEvent['type'],
    data: object,
  ): Steps<void> {
    const sequence = yield* nextSequence('connection', connection.id)
    yield* addEvent(announce, receivers, connection, { type, sequence, data })
  }

  /** After a consent or an import was stored. `before`: the scopes of the connection that it renews. */
  function* stored(
    announce: Announce,
    receivers: Receivers,
    connection: Connection,
    before: readonly string[] | undefined,
  ): Steps<void> {
    const { scopes } = connection
    if (before === undefined)
      yield* addNextEvent(announce, receivers, connection, 'connection.created', { scopes })
    else yield* scopesChanged(announce, receivers, connection, before)
  }

  function* scopesChanged(
    announce: Announce,
    receivers: Receivers,
    connection: Owned & Pick<Connection, 'scopes'>,
    before: readonly string[],
  ): Steps<void> {
    const { scopes } = connection
    if (isSameSet(scopes, before)) return
    yield* addNextEvent(announce, receivers, connection, 'connection.refreshed_scopes', {
      scopes,
      added: scopes.filter((one) => !before.includes(one)),
      removed: before.filter((one) => !scopes.includes(one)),
    })
  }

  return {
    findReceivers,
    stored,
    /** After tokens were refreshed. `before`: the scopes of the former tokens. */
    *refreshed(
      announce: Announce,
      connection: Owned & Pick<Connection, 'scopes'>,
      before: readonly string[],
    ): Steps<void> {
      if (isSameSet(connection.scopes, before)) return
      const receivers = yield* findReceivers(connection.projectId)
      if (receivers !== undefined) yield* scopesChanged(announce, receivers, connection, before)
    },
    /** After the connection was marked as one that needs a consent. */
    *unusable(announce: Announce, connection: Owned, reason: NeedsAuthorizationReason): Steps<void> {
      const receivers = yield* findReceivers(connection.projectId)
      if (receivers === undefined) return
      const status = 'needs_authorization'
      yield* addNextEvent(announce, receivers, connection, 'connection.needs_authorization', {
        status,
        reason,
      })
      if (reason === 'consent_withdrawn')
        yield* addNextEvent(announce, receivers, connection, 'connection.revoked', {
          by: 'provider',
          revocation: 'revoked',
        })
    },
    /** Before the connection is deleted. Returns the number of the event; `undefined`: the project has no webhook. */
    *deleted(announce: Announce, connection: Owned, ending: ConnectionEnding): Steps<number | undefined> {
      const receivers = yield* findReceivers(connection.projectId)
      if (receivers === undefined) return undefined
      const sequence = yield* nextSequence('connection', connection.id)
      yield* addEvent(announce, receivers, connection, { type: 'connection.deleted', sequence, data: ending })
      return sequence
    },
    /** After the provider was asked to revoke the grant of a connection that was deleted. */
    *revoked(
      announce: Announce,
      connection: Owned,
      sequence: number,
      data: { readonly by: string; readonly revocation: string },
    ): Steps<void> {
      const receivers = yield* findReceivers(connection.projectId)
      if (receivers !== undefined)
        yield* addEvent(announce, receivers, connection, { type: 'connection.revoked', sequence, data })
    },
    /** After these connections were deleted with the entry of their provider. */
    *deletedWithProvider(announce: Announce, gone: readonly (Owned & { eventSeq?: number })[]): Steps<void> {
      const [one] = gone
      const receivers = one && (yield* findReceivers(one.projectId))
      if (receivers === undefined) return
      const after = yield* numbersAfter()
      for (const { eventSeq = 0, ...connection } of gone)
        yield* addEvent(announce, receivers, connection, {
          type: 'connection.deleted',
          sequence: Math.max(eventSeq, after) + 1,
          data: { by: 'operator', revocation: 'not_attempted' },
        })
    },
  }
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}
