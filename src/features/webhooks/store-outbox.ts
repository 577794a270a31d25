import { eq } from 'drizzle-orm'
import { toTimestamp } from '../../domain/clock.ts'
import { type AuthorizationRow, toAuthorization } from '../../store/authorization-row.ts'
import type { ChangeHook, HookedChange } from '../../store/change-hook.ts'
import type { Announce } from '../../store/changes.ts'
import type { Database } from '../../store/database.ts'
import type { Steps } from '../../store/statement.ts'
import type { EventType } from './domain.ts'
import { eventWrites, type Receivers } from './store-event-writes.ts'

type Owned = Extract<HookedChange, { kind: 'connection deleted' }>['connection']
type Change<Kind extends HookedChange['kind']> = Extract<HookedChange, { kind: Kind }>

/**
 * The outbox of webhooks: writes the events of a change in its transaction, if the project has a webhook. Else a change
 * costs one more read by an index.
 */
export function outbox(database: Database): ChangeHook {
  const { tables, query, statement } = database
  const { providers } = tables
  const { findReceivers, nextSequence, numbersAfter, add } = eventWrites(database)

  const providerId = statement((p: { uid: string }) =>
    query.select({ id: providers.id }).from(providers).where(eq(providers.uid, p.uid)),
  )

  function* addOfConnection(
    announce: Announce,
    receivers: Receivers,
    { id, projectId, providerUid, userId }: Owned,
    type: EventType,
    sequence: number,
    data: object,
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

  /** Writes an event of the connection with its next number. */
  function* addNext(
    announce: Announce,
    receivers: Receivers,
    connection: Owned,
    type: EventType,
    data: object,
  ): Steps<number> {
    const sequence = yield* nextSequence('connection', connection.id)
    yield* addOfConnection(announce, receivers, connection, type, sequence, data)
    return sequence
  }

  function* settled(announce: Announce, row: AuthorizationRow): Steps<undefined> {
    const receivers = yield* findReceivers(announce, row.projectId)
    if (receivers === undefined) return
    const { id, projectId, userId, steps, ...end } = toAuthorization(row)
    if (end.status !== 'completed' && end.status !== 'failed') return
    const connectionIds = steps.flatMap(({ connectionId = [] }) => connectionId)
    const data = { id, user_id: userId, status: end.status, connection_ids: connectionIds }
    const event = { projectId, key: id, sequence: 1 }
    if (end.status === 'completed')
      yield* add(announce, receivers, { ...event, type: 'authorization.completed', data })
    else
      yield* add(announce, receivers, {
        ...event,
        type: end.reason === 'expired' ? 'authorization.expired' : 'authorization.failed',
        data: { ...data, reason: end.reason },
      })
  }

  function* stored(
    announce: Announce,
    { connection, scopesBefore: before }: Change<'connection stored' | 'connection refreshed'>,
  ): Steps<undefined> {
    const { projectId, scopes } = connection
    if (before !== undefined && isSameSet(scopes, before)) return
    const receivers = yield* findReceivers(announce, projectId)
    if (receivers === undefined) return
    if (before === undefined)
      yield* addNext(announce, receivers, connection, 'connection.created', { scopes })
    else
      yield* addNext(announce, receivers, connection, 'connection.refreshed_scopes', {
        scopes,
        added: scopes.filter((scope) => !before.includes(scope)),
        removed: before.filter((scope) => !scopes.includes(scope)),
      })
  }

  function* unusable(
    announce: Announce,
    { connection, reason }: Change<'connection unusable'>,
  ): Steps<undefined> {
    const receivers = yield* findReceivers(announce, connection.projectId)
    if (receivers === undefined) return
    const data = { status: 'needs_authorization', reason }
    yield* addNext(announce, receivers, connection, 'connection.needs_authorization', data)
    if (reason === 'consent_withdrawn') {
      const revoked = { by: 'provider', revocation: 'revoked' }
      yield* addNext(announce, receivers, connection, 'connection.revoked', revoked)
    }
  }

  function* deletedWithProvider(
    announce: Announce,
    { connections: gone }: Change<'connections deleted'>,
  ): Steps<undefined> {
    const [first] = gone
    const receivers = first && (yield* findReceivers(announce, first.projectId))
    if (receivers === undefined) return
    const after = yield* numbersAfter()
    const data = { by: 'operator', revocation: 'not_attempted' }
    for (const { eventSeq = 0, ...connection } of gone) {
      const sequence = Math.max(eventSeq, after) + 1
      yield* addOfConnection(announce, receivers, connection, 'connection.deleted', sequence, data)
    }
  }

  /** Writes the events of the failed runs. A run that ended because a consent is missing does not count. */
  function* runsEnded(announce: Announce, { runs }: Change<'runs ended'>): Steps<undefined> {
    const failed = runs.filter(({ status, outcome }) => status === 'failed' && outcome === 'error')
    for (const [projectId, ofProject] of Map.groupBy(failed, (record) => record.projectId)) {
      const receivers = yield* findReceivers(announce, projectId)
      if (receivers === undefined) continue
      for (const { id, userId, toolId, errorKind = 'UNKNOWN', retryable = false } of ofProject)
        yield* add(announce, receivers, {
          projectId,
          type: 'tool.run.failed',
          key: id,
          sequence: 1,
          data: { id, user_id: userId, tool_id: toolId, error_kind: errorKind, retryable },
        })
    }
  }

  function* requirementsChanged(
    announce: Announce,
    { projectId, worker: { uid: key, id, added, removed } }: Change<'requirements changed'>,
  ): Steps<undefined> {
    const receivers = yield* findReceivers(announce, projectId)
    if (receivers === undefined) return
    const sequence = yield* nextSequence('worker', key)
    const type = 'worker.requirements_changed'
    yield* add(announce, receivers, { projectId, type, key, sequence, data: { id, added, removed } })
  }

  function* approvalChanged(announce: Announce, { approval }: Change<'approval changed'>): Steps<undefined> {
    const { id, projectId, userId, use, subject, status, rules, expiresAt } = approval
    const event = APPROVAL_EVENTS[status]
    const receivers = event && (yield* findReceivers(announce, projectId))
    if (event === undefined || receivers === undefined) return
    const [group] = rules.flatMap(({ by }) => (typeof by === 'object' ? [by.group] : []))
    const data = {
      id,
      user_id: userId,
      ...(use === 'tool' ? { tool_id: subject } : { provider_id: subject }),
      status,
      group,
      expires_at: toTimestamp(expiresAt),
    }
    yield* add(announce, receivers, { projectId, key: id, ...event, data })
  }

  function* definitionsChanged(
    announce: Announce,
    { projectId, worker: { uid: key, id, changed, added, removed, isHeld } }: Change<'definitions changed'>,
  ): Steps<undefined> {
    const receivers = yield* findReceivers(announce, projectId)
    if (receivers === undefined) return
    const sequence = yield* nextSequence('worker', key)
    const data = { id, changed, added, removed, held: isHeld }
    yield* add(announce, receivers, { projectId, type: 'worker.tools_changed', key, sequence, data })
  }

  return function* write(announce, change) {
    switch (change.kind) {
      case 'authorization settled':
        return yield* settled(announce, change.row)
      case 'connection stored':
      case 'connection refreshed':
        return yield* stored(announce, change)
      case 'connection unusable':
        return yield* unusable(announce, change)
      case 'connection deleted': {
        const receivers = yield* findReceivers(announce, change.connection.projectId)
        if (receivers === undefined) return undefined
        return yield* addNext(announce, receivers, change.connection, 'connection.deleted', change.ending)
      }
      case 'connection revoked': {
        const { connection, number, by, revocation } = change
        const receivers = yield* findReceivers(announce, connection.projectId)
        if (receivers !== undefined)
          yield* addOfConnection(announce, receivers, connection, 'connection.revoked', number + 1, {
            by,
            revocation,
          })
        return undefined
      }
      case 'connections deleted':
        return yield* deletedWithProvider(announce, change)
      case 'approval changed':
        return yield* approvalChanged(announce, change)
      case 'runs ended':
        return yield* runsEnded(announce, change)
      case 'requirements changed':
        return yield* requirementsChanged(announce, change)
      case 'definitions changed':
        return yield* definitionsChanged(announce, change)
    }
  }
}

/** The events of an approval, by the status that it gets. A receiver orders them by their sequence. */
const APPROVAL_EVENTS: Readonly<
  Record<string, { readonly type: EventType; readonly sequence: number } | undefined>
> = {
  pending: { type: 'approval.requested', sequence: 1 },
  approved: { type: 'approval.decided', sequence: 2 },
  denied: { type: 'approval.decided', sequence: 2 },
  expired: { type: 'approval.expired', sequence: 3 },
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((scope) => others.includes(scope))
}
