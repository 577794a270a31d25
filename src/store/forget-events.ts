import { and, eq, inArray, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import { deliveryOrder } from './delivery-order.ts'
import { isOfUser } from './row-conditions.ts'
import type { OfUser } from './statement.ts'
import { inSlices } from './sweep.ts'

/** Removes a user from the outbox of webhooks. */
export interface ForgetEvents {
  /**
   * Deletes the user's events with their deliveries. Events whose delivery has not ended stay, so that receivers learn that
   * a connection was deleted. They lose the user's id, and name only the connection, authorization or run.
   */
  forgetUser(projectId: string, userId: string, now: EpochSeconds): Promise<void>
}

/** How many events one transaction changes. */
const AT_ONCE = 100

export function forgetEvents(database: Database): ForgetEvents {
  const { tables, query, statement, write } = database
  const { webhooks, events, deliveries } = tables
  const { proceed } = deliveryOrder(database)

  const receivers = (p: OfUser) =>
    query.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.projectId, p.projectId))
  const waiting = statement((p: OfUser) => {
    const one = query
      .select({ one: sql`1` })
      .from(deliveries)
      .where(
        and(
          inArray(deliveries.webhookId, receivers(p)),
          eq(deliveries.eventId, events.id),
          eq(deliveries.state, 'waiting'),
        ),
      )
      .limit(1)
    return query
      .select({ id: events.id, body: events.body })
      .from(events)
      .where(and(isOfUser(events, p), sql`(${one}) is not null`))
      .orderBy(events.id)
      .limit(AT_ONCE)
  })
  const strip = statement((p: { id: string; body: string }) =>
    query
      .update(events)
      .set({ body: p.body, userId: null })
      .where(eq(events.id, p.id))
      .returning({ id: events.id }),
  )
  const some = (p: OfUser) =>
    query.select({ id: events.id }).from(events).where(isOfUser(events, p)).orderBy(events.id).limit(AT_ONCE)
  const removeDeliveries = statement((p: OfUser) =>
    query
      .delete(deliveries)
      .where(and(inArray(deliveries.webhookId, receivers(p)), inArray(deliveries.eventId, some(p))))
      .returning({ webhookId: deliveries.webhookId, key: deliveries.key, state: deliveries.state }),
  )
  const removeEvents = statement((p: OfUser) =>
    query
      .delete(events)
      .where(inArray(events.id, some(p)))
      .returning({ id: events.id }),
  )

  return {
    async forgetUser(projectId, userId, now) {
      const of = { projectId, userId }
      await inSlices(() =>
        write(undefined, function* () {
          const found = yield* waiting(of)
          for (const { id, body } of found) yield* strip({ id, body: withoutUser(body) })
          return found
        }),
      )
      await inSlices(() =>
        write(undefined, function* (announce) {
          // a replay may have made one of them due meanwhile; the next delivery of its key must not wait for it
          for (const { state, ...place } of yield* removeDeliveries(of))
            if (state === 'waiting') yield* proceed(announce, place, now)
          return yield* removeEvents(of)
        }),
      )
    },
  }
}

function withoutUser(body: string): string {
  const { data, ...event } = JSON.parse(body) as { data: Record<string, unknown> } // `event-writes.ts` wrote it
  const { user_id: _, ...rest } = data
  return JSON.stringify({ ...event, data: rest })
}
