import { eq } from 'drizzle-orm'
import type { Connection, NeedsAuthorizationReason } from '../domain/connection.ts'
import type { ConnectionEnding } from '../domain/webhook.ts'
import type { ConnectionOwner } from './changes.ts'
import type { Database } from './database.ts'
import { type Announce, eventWrites, type NewEvent, type Receivers } from './event-writes.ts'
import type { ById, Steps } from './statement.ts'

type Owned = ConnectionOwner & ById

/** The events of connections, each a part of the transaction that changes one. */
export function connectionEvents(database: Database) {
  const { tables, query, statement } = database
  const { providers } = tables
  const { receivers, nextSequence, add } = eventWrites(database)

  const providerId = statement((p: { uid: string }) =>
    query.select({ id: providers.id }).from(providers).where(eq(providers.uid, p.uid)),
  )

  function* tell(
    announce: Announce,
    told: Receivers,
    { id, projectId, providerUid, userId }: Owned,
    { type, sequence, data }: Pick<NewEvent, 'type' | 'sequence'> & { readonly data: object },
  ): Steps<void> {
    const [provider] = yield* providerId({ uid: providerUid })
    yield* add(announce, told, {
      projectId,
      type,
      key: id,
      sequence,
      data: { id, user_id: userId, provider_id: provider?.id, ...data },
    })
  }

  function* tellNext(
    announce: Announce,
    told: Receivers,
    connection: Owned,
    type: NewEvent['type'],
    data: object,
  ): Steps<void> {
    const sequence = yield* nextSequence('connection', connection.id)
    yield* tell(announce, told, connection, { type, sequence, data })
  }

  /** A consent or an import was stored. `before`: the scopes of the connection that it renews. */
  function* stored(
    announce: Announce,
    told: Receivers,
    connection: Connection,
    before: readonly string[] | undefined,
  ): Steps<void> {
    const { scopes } = connection
    if (before === undefined) yield* tellNext(announce, told, connection, 'connection.created', { scopes })
    else yield* scopesChanged(announce, told, connection, before)
  }

  function* scopesChanged(
    announce: Announce,
    told: Receivers,
    connection: Owned & Pick<Connection, 'scopes'>,
    before: readonly string[],
  ): Steps<void> {
    const { scopes } = connection
    if (isSameSet(scopes, before)) return
    yield* tellNext(announce, told, connection, 'connection.refreshed_scopes', {
      scopes,
      added: scopes.filter((one) => !before.includes(one)),
      removed: before.filter((one) => !scopes.includes(one)),
    })
  }

  return {
    receivers,
    stored,
    /** Tokens were refreshed. */
    *refreshed(
      announce: Announce,
      connection: Owned & Pick<Connection, 'scopes'>,
      before: readonly string[],
    ): Steps<void> {
      if (isSameSet(connection.scopes, before)) return
      const told = yield* receivers(connection.projectId)
      if (told !== undefined) yield* scopesChanged(announce, told, connection, before)
    },
    *unusable(announce: Announce, connection: Owned, reason: NeedsAuthorizationReason): Steps<void> {
      const told = yield* receivers(connection.projectId)
      if (told === undefined) return
      const status = 'needs_authorization'
      yield* tellNext(announce, told, connection, 'connection.needs_authorization', { status, reason })
      if (reason === 'consent_withdrawn')
        yield* tellNext(announce, told, connection, 'connection.revoked', {
          by: 'provider',
          revocation: 'revoked',
        })
    },
    /**
     * The connection is about to be deleted in this transaction. Returns the number of the event; `undefined`: the
     * project has no webhook.
     */
    *deleted(announce: Announce, connection: Owned, ending: ConnectionEnding): Steps<number | undefined> {
      const told = yield* receivers(connection.projectId)
      if (told === undefined) return undefined
      const sequence = yield* nextSequence('connection', connection.id)
      yield* tell(announce, told, connection, { type: 'connection.deleted', sequence, data: ending })
      return sequence
    },
    /** The provider was asked to revoke the grant of a connection that is deleted already. */
    *revoked(
      announce: Announce,
      connection: Owned,
      sequence: number,
      data: { readonly by: string; readonly revocation: string },
    ): Steps<void> {
      const told = yield* receivers(connection.projectId)
      if (told !== undefined)
        yield* tell(announce, told, connection, { type: 'connection.revoked', sequence, data })
    },
    /** These connections were deleted with the entry of their provider. */
    *deletedWithProvider(announce: Announce, gone: readonly (Owned & { eventSeq?: number })[]): Steps<void> {
      const [one] = gone
      const told = one && (yield* receivers(one.projectId))
      if (told === undefined) return
      for (const { eventSeq = 0, ...connection } of gone)
        yield* tell(announce, told, connection, {
          type: 'connection.deleted',
          sequence: eventSeq + 1,
          data: { by: 'operator', revocation: 'not_attempted' },
        })
    },
  }
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.includes(one))
}
