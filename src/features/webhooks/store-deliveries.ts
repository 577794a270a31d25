import { and, eq, gt, isNotNull, isNull, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import type { Lease } from '../../store/lease.ts'
import { variantsOf } from '../../store/statement.ts'
import type { Delivery, DeliveryState, EventType, Webhook } from './domain.ts'
import { createDeliveryLists, type DeliveryLists } from './store-delivery-lists.ts'
import { deliveryOrder } from './store-delivery-order.ts'
import { hastenStatement } from './store-webhooks.ts'

/** A delivery that this process attempts now, with the body that it sends. */
export interface ClaimedDelivery extends Pick<Delivery, 'webhookId' | 'eventId' | 'key' | 'attempt'> {
  readonly owner: string
  readonly type: EventType
  readonly body: string
  /** `traceparent` of the request that wrote the event, if its trace is recorded. */
  readonly traceparent?: string
}

/** How an attempt ended. Of the response only the status is kept. */
export interface AttemptEnd {
  readonly state: DeliveryState
  readonly status?: number
  /** Why there was no response. */
  readonly error?: string
  /** Seconds until the next attempt; only while the state is `waiting`. */
  readonly retryIn?: number
}

/** What the end of an attempt says about its webhook. */
export type WebhookHealth =
  | { readonly health: 'answers' }
  /** `probeIn` returns the seconds until the next probe, by the number of failures in a row including this one. */
  | { readonly health: 'fails'; readonly probeIn: (failures: number) => number | undefined }

export interface SettledAttempt {
  /** `false`: the lease had passed to another process, and nothing was written. */
  readonly isSettled: boolean
  /** Set after a failure: for how many seconds every attempt has failed. */
  readonly failingFor?: number
}

/** Deliveries of events to webhooks. Claims and retries use the clock that nodes share (`Dialect.sharedNow`). */
export interface Deliveries extends DeliveryLists {
  /** The enabled webhooks of all projects that have a due delivery, without failing ones whose next probe is not due. */
  dueWebhooks(now: EpochSeconds): Promise<readonly Webhook[]>
  /**
   * Claims up to `limit` due deliveries of the webhook, the longest overdue first. A delivery is claimed by one process at
   * a time, and only if it is the first of its key. A claim counts as an attempt. `probe`: the seconds until the next
   * probe; with it nothing is claimed when another process has probed the webhook meanwhile.
   */
  claim(
    webhook: Pick<Webhook, 'id' | 'probeAt'>,
    lease: Lease,
    now: EpochSeconds,
    options: { readonly limit: number; readonly probe?: number | undefined },
  ): Promise<readonly ClaimedDelivery[]>
  /**
   * Writes how an attempt ended, if its claim is still valid. If the delivery has ended, the next one of its key becomes
   * due. Also updates the webhook: when a failing one answers, all its deliveries that wait for a retry become due.
   */
  settle(
    claimed: Pick<ClaimedDelivery, 'webhookId' | 'eventId' | 'key' | 'attempt' | 'owner'>,
    end: AttemptEnd,
    health: WebhookHealth,
    now: EpochSeconds,
  ): Promise<SettledAttempt>
}

export function createDeliveries(database: Database): Deliveries {
  const { tables, query, statement, read, write, dialect } = database
  const { webhooks, deliveries, events } = tables
  const hasten = hastenStatement(database)
  const { proceed } = deliveryOrder(database)

  // a subquery: PostgreSQL uses no index for a comparison with `clock_timestamp()`, which changes while a statement runs
  const sharedNow = (now: EpochSeconds) => sql<number>`(select ${dialect.sharedNow(now)})`
  const secondsFromNow = (p: { seconds: number; now: EpochSeconds }) =>
    sql<number>`${dialect.sharedNow(p.now)} + ${p.seconds}`
  const isWaiting = eq(deliveries.state, 'waiting')
  const isDue = (p: { now: EpochSeconds }) =>
    and(isWaiting, isNotNull(deliveries.dueAt), sql`${deliveries.dueAt} <= ${sharedNow(p.now)}`)
  const isProbeDue = (p: { now: EpochSeconds }) => sql`${webhooks.probeAt} <= ${sharedNow(p.now)}`
  interface OfWebhook {
    readonly webhookId: string
  }
  interface One extends OfWebhook {
    readonly eventId: string
  }
  const isOne = (p: One) => and(eq(deliveries.webhookId, p.webhookId), eq(deliveries.eventId, p.eventId))

  const due = statement((p: { now: EpochSeconds }) => {
    // a subquery for each webhook, so that no plan reads all deliveries that are due
    const first = query
      .select({ one: sql`1` })
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, webhooks.id), isDue(p)))
      .limit(1)
    return query
      .select()
      .from(webhooks)
      .where(
        and(
          eq(webhooks.enabled, true),
          or(isNull(webhooks.probeAt), isProbeDue(p)),
          sql`(${first}) is not null`,
        ),
      )
  })
  const setProbe = variantsOf((when: 'if due' | 'always') =>
    statement((p: OfWebhook & { now: EpochSeconds; seconds: number }) =>
      query
        .update(webhooks)
        .set({ probeAt: secondsFromNow(p) })
        .where(and(eq(webhooks.id, p.webhookId), when === 'if due' ? isProbeDue(p) : undefined))
        .returning({ id: webhooks.id }),
    ),
  )
  const claimable = statement((p: OfWebhook & { now: EpochSeconds; limit: number }) =>
    dialect.lock(
      query
        .select({ eventId: deliveries.eventId })
        .from(deliveries)
        .where(and(eq(deliveries.webhookId, p.webhookId), isDue(p)))
        .orderBy(deliveries.dueAt)
        .limit(p.limit),
      'for update skip locked',
    ),
  )
  const claim = statement((p: Lease & One & { now: EpochSeconds }) =>
    query
      .update(deliveries)
      .set({
        attempt: sql`${deliveries.attempt} + 1`,
        leaseOwner: p.owner,
        dueAt: secondsFromNow(p),
      })
      .where(isOne(p))
      .returning({ key: deliveries.key, attempt: deliveries.attempt }),
  )
  const eventOf = statement((p: { eventId: string }) =>
    query
      .select({ type: events.type, body: events.body, traceparent: events.traceparent })
      .from(events)
      .where(eq(events.id, p.eventId)),
  )
  const end = variantsOf((how: 'again' | 'for good') =>
    statement(
      (
        p: One &
          Omit<AttemptEnd, 'retryIn'> & {
            owner: string
            attempt: number
            seconds: number
            now: EpochSeconds
          },
      ) =>
        query
          .update(deliveries)
          .set({
            state: p.state,
            lastStatus: p.status ?? null,
            lastError: p.error ?? null,
            leaseOwner: null,
            ...(how === 'again'
              ? { dueAt: secondsFromNow(p) }
              : { dueAt: null, endedAt: dialect.sharedNow(p.now) }),
          })
          .where(
            and(isOne(p), isWaiting, eq(deliveries.leaseOwner, p.owner), eq(deliveries.attempt, p.attempt)),
          )
          .returning({ id: deliveries.eventId }),
    ),
  )
  const markHealthy = statement((p: OfWebhook) =>
    query
      .update(webhooks)
      .set({ failures: 0, failingSince: null })
      .where(and(eq(webhooks.id, p.webhookId), gt(webhooks.failures, 0)))
      .returning({ probeAt: webhooks.probeAt }),
  )
  const endProbes = statement((p: OfWebhook) =>
    query
      .update(webhooks)
      .set({ probeAt: null })
      .where(eq(webhooks.id, p.webhookId))
      .returning({ id: webhooks.id }),
  )
  const markFailing = statement((p: OfWebhook & { now: EpochSeconds }) =>
    query
      .update(webhooks)
      .set({
        failures: sql`${webhooks.failures} + 1`,
        failingSince: sql`coalesce(${webhooks.failingSince}, ${dialect.sharedNow(p.now)})`,
      })
      .where(eq(webhooks.id, p.webhookId))
      .returning({
        failures: webhooks.failures,
        failingFor: sql`${dialect.sharedNow(p.now)} - ${webhooks.failingSince}`.mapWith(Number),
      }),
  )

  return {
    ...createDeliveryLists(database),
    async dueWebhooks(now) {
      return read(due({ now }))
    },
    async claim({ id: webhookId, probeAt }, { owner, seconds }, now, { limit, probe: probeIn }) {
      return write(undefined, function* () {
        if (probeAt !== undefined && probeIn !== undefined)
          if ((yield* setProbe('if due')({ webhookId, now, seconds: probeIn })).length === 0) return []
        const claimed: ClaimedDelivery[] = []
        // a statement of its own locks the rows, since an UPDATE has no limit
        for (const { eventId } of yield* claimable({ webhookId, now, limit })) {
          const [event] = yield* eventOf({ eventId })
          const [won] = yield* claim({ webhookId, eventId, owner, seconds, now })
          if (event !== undefined && won !== undefined)
            claimed.push({ webhookId, eventId, owner, ...won, ...event })
        }
        return claimed
      })
    },
    async settle({ webhookId, eventId, key, attempt, owner }, { retryIn, ...ended }, about, now) {
      return write(undefined, function* (announce) {
        const how = retryIn === undefined ? 'for good' : 'again'
        const values = { webhookId, eventId, owner, attempt, ...ended, seconds: retryIn ?? 0, now }
        if ((yield* end(how)(values)).length === 0) return { isSettled: false }
        if (retryIn === undefined) yield* proceed(announce, { webhookId, key }, now)
        if (about.health === 'answers') {
          const [failed] = yield* markHealthy({ webhookId })
          if (failed?.probeAt !== undefined) {
            yield* endProbes({ webhookId })
            yield* hasten({ webhookId, now })
            announce({ noun: 'delivery' })
          }
          return { isSettled: true }
        }
        const [state] = yield* markFailing({ webhookId, now })
        if (state === undefined) return { isSettled: true }
        const seconds = about.probeIn(state.failures)
        if (seconds !== undefined) yield* setProbe('always')({ webhookId, now, seconds })
        return { isSettled: true, failingFor: state.failingFor ?? 0 }
      })
    },
  }
}
