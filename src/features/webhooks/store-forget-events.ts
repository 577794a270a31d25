import { and, eq, inArray, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Database } from '../../store/database.ts'
import { isOfUser } from '../../store/row-conditions.ts'
import type { OfProject, OfUser } from '../../store/statement.ts'
import { inSlices } from '../../store/sweep.ts'
import { deliveryOrder } from './store-delivery-order.ts'

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
  const { tables, query, statement, write, dialect } = database
  const { webhooks, events, deliveries } = tables
  const { proceed } = deliveryOrder(database)

  const receivers = (p: OfProject) =>
    query.select({ id: webhooks.id }).from(webhooks).where(eq(webhooks.projectId, p.projectId))
  const some = statement((p: OfUser) => {
    const waiting = query
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
      .select({
        id: events.id,
        body: events.body,
        waits: sql<boolean>`(${waiting}) is not null`.mapWith(Boolean),
      })
      .from(events)
      .where(isOfUser(events, p))
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
  const isAmong = (id: SQLiteColumn, p: { ids: readonly string[] }) =>
    sql`${id} in (select value from ${dialect.elementsOf(p.ids)})`
  const removeDeliveries = statement((p: OfProject & { ids: readonly string[] }) =>
    query
      .delete(deliveries)
      .where(and(inArray(deliveries.webhookId, receivers(p)), isAmong(deliveries.eventId, p)))
      .returning({ webhookId: deliveries.webhookId, key: deliveries.key, state: deliveries.state }),
  )
  const removeEvents = statement((p: { ids: readonly string[] }) =>
    query.delete(events).where(isAmong(events.id, p)).returning({ id: events.id }),
  )

  return {
    async forgetUser(projectId, userId, now) {
      await inSlices(() =>
        write(undefined, function* (announce) {
          // one read decides for all events: on PostgreSQL another event may be written between two statements
          const found = yield* some({ projectId, userId })
          for (const { id, body, waits } of found) if (waits) yield* strip({ id, body: withoutUser(body) })
          const ids = found.filter(({ waits }) => !waits).map(({ id }) => id)
          // the events first: once they are deleted, no replay adds another delivery of them
          yield* removeEvents({ ids })
          // a replay may have made a deleted event due meanwhile; the next delivery of its key must not wait for it
          for (const { state, ...place } of yield* removeDeliveries({ projectId, ids }))
            if (state === 'waiting') yield* proceed(announce, place, now)
          return found
        }),
      )
    },
  }
}

function withoutUser(body: string): string {
  const { data, ...event } = JSON.parse(body) as { data: Record<string, unknown> } // `store-event-writes.ts` wrote it
  const { user_id: _, ...rest } = data
  return JSON.stringify({ ...event, data: rest })
}
