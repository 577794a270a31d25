import { and, eq, gt, inArray, isNotNull, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import { EXPIRED_MESSAGE } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { EventType, Webhook } from '../domain/webhook.ts'
import { authorizationEvents } from './authorization-events.ts'
import { failStatements } from './authorization-failures.ts'
import type { Database } from './database.ts'
import { deliveryOrder } from './delivery-order.ts'
import { type ForgetEvents, forgetEvents } from './forget-events.ts'
import { type Steps, variantsOf } from './statement.ts'
import { deleteInSlices, inSlices } from './sweep.ts'

/** A part of a webhook's past that is sent again. */
export interface Replay {
  readonly since: EpochSeconds
  readonly until: EpochSeconds
  /** Absent: all that the webhook takes. */
  readonly types?: readonly EventType[] | undefined
  /** Only what was given up. */
  readonly onlyFailed: boolean
}

/** Where a replay goes on: after this event. */
export interface ReplayPlace {
  readonly at: EpochSeconds
  readonly id: string
}

export interface ReplayedPart {
  readonly replayed: number
  readonly next?: ReplayPlace
}

export interface Events extends ForgetEvents {
  /**
   * Makes up to `limit` of the project's events due once more for the webhook, from the one after `after` on. They keep
   * their ids, those of one key come in their order, and a delivery that is waiting stays unchanged.
   */
  replay(
    webhook: Webhook,
    what: Replay,
    now: EpochSeconds,
    page: { readonly after?: ReplayPlace | undefined; readonly limit: number },
  ): Promise<ReplayedPart>
  /**
   * Settles authorizations that have expired as failed, with their events: in projects that have a webhook, and up to
   * `limit` at a time. Elsewhere an expired one is recognised by its time. Returns their ids.
   */
  expireAuthorizations(now: EpochSeconds, limit: number): Promise<readonly string[]>
  /**
   * Deletes what was written before `before`, with its deliveries; returns how many events. A later delivery that waited
   * for one of them is due.
   */
  sweep(before: EpochSeconds, now: EpochSeconds): Promise<number>
}

export function createEvents(database: Database): Events {
  const { tables, query, statement, read, write, dialect } = database
  const { webhooks, events, deliveries, authorizations } = tables
  const fail = failStatements(database)
  const { proceed } = deliveryOrder(database)
  const { settled } = authorizationEvents(database)

  const past = statement(
    (p: {
      projectId: string
      webhookId: string
      at: EpochSeconds
      id: string
      until: EpochSeconds
      limit: number
    }) =>
      query
        .select({
          id: events.id,
          type: events.type,
          key: events.key,
          keySeq: events.keySeq,
          at: events.at,
          state: deliveries.state,
        })
        .from(events)
        .leftJoin(deliveries, and(eq(deliveries.webhookId, p.webhookId), eq(deliveries.eventId, events.id)))
        .where(
          and(
            eq(events.projectId, p.projectId),
            sql`(${events.at}, ${events.id}) > (${p.at}, ${p.id})`,
            lte(events.at, p.until),
          ),
        )
        .orderBy(events.at, events.id)
        .limit(p.limit),
  )
  interface Place {
    readonly webhookId: string
    readonly key: string
    readonly keySeq: number
  }
  const isOfKey = (p: Omit<Place, 'keySeq'>) =>
    and(eq(deliveries.webhookId, p.webhookId), eq(deliveries.key, p.key), eq(deliveries.state, 'waiting'))
  const earlier = statement((p: Place) =>
    dialect.lock(
      query
        .select({ id: deliveries.eventId })
        .from(deliveries)
        .where(and(isOfKey(p), lt(deliveries.keySeq, p.keySeq)))
        .limit(1),
      'for update',
    ),
  )
  const holdLater = statement((p: Place) =>
    query
      .update(deliveries)
      .set({ dueAt: null })
      .where(and(isOfKey(p), gt(deliveries.keySeq, p.keySeq), isNull(deliveries.leaseOwner)))
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
          dueAt: place === 'first' ? dialect.leaseNow(p.now) : null,
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
  const overdue = statement((p: { now: EpochSeconds; limit: number }) => {
    const told = query.select({ id: webhooks.projectId }).from(webhooks)
    return query
      .select({ id: authorizations.id, expiresAt: authorizations.expiresAt })
      .from(authorizations)
      .where(
        and(
          inArray(authorizations.projectId, told),
          isNotNull(authorizations.shareKey),
          lte(authorizations.expiresAt, p.now),
          or(ne(authorizations.status, 'exchanging'), lte(authorizations.deadline, p.now)),
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

  /** Makes one event due for the webhook, or lets it wait for the one before it in its key. */
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
    async replay({ id: webhookId, projectId, types: taken }, what, now, { after, limit }) {
      const { since, until, types = taken, onlyFailed } = what
      const { at, id } = after ?? { at: since, id: '' }
      const found = await read(past({ projectId, webhookId, at, id, until, limit }))
      const wanted = found.filter(
        ({ type, state }) =>
          state !== 'waiting' &&
          (!onlyFailed || state === 'failed') &&
          taken?.includes(type) !== false &&
          types?.includes(type) !== false,
      )
      if (wanted.length > 0)
        await write(undefined, function* (announce) {
          for (const event of wanted) yield* replayOne(webhookId, event, now)
          announce({ noun: 'delivery' })
          return true
        })
      const last = found.length < limit ? undefined : found.at(-1)
      return { replayed: wanted.length, ...(last && { next: { at: last.at, id: last.id } }) }
    },
    async expireAuthorizations(now, limit) {
      const expired: string[] = []
      for (const { id, expiresAt } of await read(overdue({ now, limit }))) {
        const values = { id, reason: 'expired', message: EXPIRED_MESSAGE, now: expiresAt } as const
        const row = await write(undefined, function* (announce) {
          const [failed] = yield* fail('any attempt')({
            ...values,
            stateHash: '',
            browserHash: '',
            lines: '',
          })
          if (failed === undefined) return undefined
          announce({ noun: 'authorization', id })
          yield* settled(announce, failed)
          return failed
        })
        if (row !== undefined) expired.push(id)
      }
      return expired
    },
    async sweep(before, now) {
      await inSlices(dialect.sweptAtOnce, () =>
        write(undefined, function* (announce) {
          const swept = yield* sweepDeliveries({ before })
          for (const { state, ...place } of swept)
            if (state === 'waiting') yield* proceed(announce, place, now)
          return swept
        }),
      )
      return sweepEvents({ before })
    },
  }
}

interface PastEvent {
  readonly id: string
  readonly key: string
  readonly keySeq: number
  readonly at: EpochSeconds
}
