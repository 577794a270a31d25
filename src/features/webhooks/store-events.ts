import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import { overAllOwners } from '../../store/all-owners.ts'
import { createExpiry } from '../../store/authorization-failures.ts'
import { authorizationChange } from '../../store/authorization-row.ts'
import type { Database } from '../../store/database.ts'
import { createFacts } from '../../store/facts.ts'
import { type Steps, variantsOf } from '../../store/statement.ts'
import { deleteInSlices, inSlices } from '../../store/sweep.ts'
import type { DeliveryState, EventType, Webhook } from './domain.ts'
import { deliveryOrder, isWaitingOfKey, type OfKey } from './store-delivery-order.ts'
import { EVENTS_FACT } from './store-event-writes.ts'
import { type ForgetEvents, forgetEvents } from './store-forget-events.ts'

/** Which events of the past are sent again to a webhook. */
export interface Replay {
  readonly since: EpochSeconds
  readonly until: EpochSeconds
  /** Absent: all types that the webhook takes. */
  readonly types?: readonly EventType[] | undefined
  /** Only events whose delivery was given up. */
  readonly onlyFailed: boolean
}

/** The last event of a part of a replay: the next part begins after it. */
export interface ReplayPosition {
  readonly at: EpochSeconds
  readonly id: string
}

export interface ReplayedPart {
  readonly replayed: number
  readonly next?: ReplayPosition
}

export interface Events extends ForgetEvents {
  /**
   * Makes up to `limit` events of the project due for the webhook once more, beginning after the event `after`. They keep
   * their ids and the order within their key. A delivery that has not ended stays unchanged.
   */
  replay(
    webhook: Webhook,
    what: Replay,
    now: EpochSeconds,
    page: { readonly after?: ReplayPosition | undefined; readonly limit: number },
  ): Promise<ReplayedPart>
  /**
   * Settles up to `limit` expired authorizations as failed, with their events, in projects that have a webhook. In other
   * projects the stored row stays: its `expiresAt` is enough to treat it as expired. Returns their ids.
   */
  expireAuthorizations(now: EpochSeconds, limit: number): Promise<readonly string[]>
  /**
   * Deletes the events that were written before `before`, with their deliveries; returns how many events. A later delivery
   * that waited for a deleted one becomes due.
   */
  sweep(before: EpochSeconds, now: EpochSeconds): Promise<number>
  /** Gives new events numbers above `above`, because numbers below it may have been given out by commits that were lost. */
  numberAbove(above: EpochSeconds): Promise<void>
}

export function createEvents(database: Database): Events {
  const { tables, query, statement, read, write, dialect } = database
  const { webhooks, events, deliveries, authorizations } = tables
  const expire = createExpiry(database)
  const { proceed } = deliveryOrder(database)
  const facts = createFacts(database)

  // locked, so that an erasure or a sweep deletes an event before it is read here, or after its delivery is stored
  const past = statement(
    (p: {
      projectId: string
      webhookId: string
      at: EpochSeconds
      id: string
      until: EpochSeconds
      limit: number
    }) => {
      const state = query
        .select({ state: deliveries.state })
        .from(deliveries)
        .where(and(eq(deliveries.webhookId, p.webhookId), eq(deliveries.eventId, events.id)))
        .limit(1)
      return dialect.lock(
        query
          .select({
            id: events.id,
            type: events.type,
            key: events.key,
            keySeq: events.keySeq,
            at: events.at,
            state: sql<DeliveryState | undefined>`${state}`,
          })
          .from(events)
          .where(
            and(
              eq(events.projectId, p.projectId),
              sql`(${events.at}, ${events.id}) > (${p.at}, ${p.id})`,
              lte(events.at, p.until),
            ),
          )
          .orderBy(events.at, events.id)
          .limit(p.limit),
        'for key share',
      )
    },
  )
  interface Place extends OfKey {
    readonly keySeq: number
  }
  const earlier = statement((p: Place) =>
    dialect.lock(
      query
        .select({ id: deliveries.eventId })
        .from(deliveries)
        .where(and(isWaitingOfKey(tables, p), lt(deliveries.keySeq, p.keySeq)))
        .limit(1),
      'for update',
    ),
  )
  const holdLater = statement((p: Place) =>
    query
      .update(deliveries)
      .set({ dueAt: null })
      .where(and(isWaitingOfKey(tables, p), gt(deliveries.keySeq, p.keySeq), isNull(deliveries.leaseOwner)))
      .returning({ id: deliveries.eventId }),
  )
  const put = variantsOf((place: 'first' | 'later') =>
    statement((p: Place & { eventId: string; createdAt: EpochSeconds; now: EpochSeconds }) =>
      query
        .insert(deliveries)
        .values({
          webhookId: p.webhookId,
          eventId: p.eventId,
          key: p.key,
          keySeq: p.keySeq,
          state: 'waiting',
          attempt: 0,
          dueAt: place === 'first' ? dialect.sharedNow(p.now) : null,
          createdAt: p.createdAt,
        })
        .onConflictDoUpdate({
          target: [deliveries.webhookId, deliveries.eventId],
          set: { state: 'waiting', attempt: 0, dueAt: sql`excluded.due_at`, leaseOwner: null, endedAt: null },
          setWhere: ne(deliveries.state, 'waiting'),
        })
        .returning({ id: deliveries.eventId }),
    ),
  )
  const overdue = overAllOwners(database, authorizations, (p: { now: EpochSeconds; limit: number }, part) => {
    const withWebhook = query.select({ id: webhooks.projectId }).from(webhooks)
    return query
      .select({ id: authorizations.id, expiresAt: authorizations.expiresAt })
      .from(authorizations)
      .where(
        and(
          inArray(authorizations.projectId, withWebhook),
          isNotNull(authorizations.shareKey),
          lte(authorizations.expiresAt, p.now),
          or(ne(authorizations.status, 'exchanging'), lte(authorizations.deadline, p.now)),
          part,
        ),
      )
      .limit(p.limit)
  })
  const sweepEvents = deleteInSlices(database, events, { id: events.id }, (p: { before: EpochSeconds }) =>
    lt(events.at, p.before),
  )
  const sweepDeliveries = statement((p: { before: EpochSeconds }) => {
    const isOld = lt(deliveries.createdAt, p.before)
    const some = query
      .select({ webhookId: deliveries.webhookId, eventId: deliveries.eventId })
      .from(deliveries)
      .where(isOld)
      .limit(dialect.sweptAtOnce)
    return query
      .delete(deliveries)
      .where(sql`(${deliveries.webhookId}, ${deliveries.eventId}) in ${some}`)
      .returning({ webhookId: deliveries.webhookId, key: deliveries.key, state: deliveries.state })
  })

  /** Makes one event due for the webhook, or lets it wait for an earlier event of its key. */
  function* replayOne(
    webhookId: string,
    { id: eventId, key, keySeq, at: createdAt }: PastEvent,
    now: EpochSeconds,
  ): Steps<void> {
    const place = { webhookId, key, keySeq }
    const isFirst = (yield* earlier(place)).length === 0
    yield* put(isFirst ? 'first' : 'later')({ ...place, eventId, createdAt, now })
    if (isFirst) yield* holdLater(place)
  }

  return {
    ...forgetEvents(database),
    numberAbove: (above) => facts.put(EVENTS_FACT, String(above)),
    async replay({ id: webhookId, projectId, types: taken }, what, now, { after, limit }) {
      const { since, until, types = taken, onlyFailed } = what
      const { at, id } = after ?? { at: since, id: '' }
      return write(undefined, function* (announce) {
        const found = yield* past({ projectId, webhookId, at, id, until, limit })
        const wanted = found.filter(
          ({ type, state }) =>
            state !== 'waiting' &&
            (!onlyFailed || state === 'failed') &&
            taken?.includes(type) !== false &&
            types?.includes(type) !== false,
        )
        for (const event of wanted) yield* replayOne(webhookId, event, now)
        if (wanted.length > 0) announce({ noun: 'delivery' })
        const last = found.length < limit ? undefined : found.at(-1)
        return { replayed: wanted.length, ...(last && { next: { at: last.at, id: last.id } }) }
      })
    },
    async expireAuthorizations(now, limit) {
      const expired: string[] = []
      for (const row of await overdue({ now, limit }, read)) {
        const isExpired = await write(undefined, function* (announce) {
          if (!(yield* expire(announce, row))) return false
          announce(authorizationChange(row))
          return true
        })
        if (isExpired) expired.push(row.id)
      }
      return expired
    },
    async sweep(before, now) {
      // the events first: once they are deleted, no replay adds another delivery of them
      const count = await sweepEvents({ before })
      await inSlices(() =>
        write(undefined, function* (announce) {
          const swept = yield* sweepDeliveries({ before })
          for (const { state, ...place } of swept)
            if (state === 'waiting') yield* proceed(announce, place, now)
          return swept
        }),
      )
      return count
    },
  }
}

interface PastEvent {
  readonly id: string
  readonly key: string
  readonly keySeq: number
  readonly at: EpochSeconds
}
